"""Every result of `with_parameters` has compiled entries, with its own numbers."""

import inspect

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

pytestmark = pytest.mark.usefixtures('compiler')

Q = np.linspace(0.1, 0.9, 6)
EXACT = {'rtol': 1e-11, 'atol': 1e-11}


@pytest.fixture
def nominal():
    """Return the compiled dynamics of the shipped arm, with no program of any function yet."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return ned.Dynamics(robot, backend='compiled')


def make_sibling(nominal, number):
    """Return dynamics whose numbers are their own, and the same in Python."""
    given = {
        'inertial': (1.0 + 0.1 * number) * nominal.inertial_parameters(),
        'viscous_friction': np.full(6, 0.3 * number),
    }
    robot = ned.Dynamics(nominal.robot, backend='python').with_parameters(**given).robot
    return nominal.with_parameters(**given), ned.Dynamics(robot, backend='python')


def has_entry(dynamics, method='inverse_dynamics'):
    """Return whether a compiled entry stands in the method's place."""
    return inspect.isbuiltin(getattr(dynamics, method))


def check_entry(dynamics, expected, *more):
    """Assert that the first call puts an entry in place, and that both compute what is right."""
    right = expected.inverse_dynamics(Q, Q, Q, *more)
    for _ in range(3):
        np.testing.assert_allclose(dynamics.inverse_dynamics(Q, Q, Q, *more), right, **EXACT)
        assert has_entry(dynamics)


def test_every_sibling_has_an_entry_with_its_own_numbers(nominal):
    """The first, the second and the third, called in turn, and again after all of them are."""
    siblings = [make_sibling(nominal, number) for number in range(3)]
    assert not any(has_entry(dynamics) for dynamics, _ in siblings)
    for dynamics, expected in siblings * 2:
        check_entry(dynamics, expected)
        rows = [np.tile(Q, (5, 1))] * 3
        right = expected.inverse_dynamics(*rows)
        np.testing.assert_allclose(dynamics.inverse_dynamics(*rows), right, **EXACT)


@pytest.mark.parametrize(('friction', 'takes_it'), [(0.99e6, True), (1.01e6, False)])
@pytest.mark.parametrize('key', ['viscous_friction', 'coulomb_friction'])
def test_machine_code_takes_parameters_up_to_a_million(nominal, key, friction, takes_it):
    """Larger ones, with which it might overflow unseen, are computed by Python."""
    check_entry(*make_sibling(nominal, 1))
    changed = nominal.with_parameters(**{key: np.full(6, friction)})
    expected = ned.Dynamics(changed.robot, backend='python').inverse_dynamics(Q, Q, Q)
    for _ in range(2):
        np.testing.assert_allclose(changed.inverse_dynamics(Q, Q, Q), expected, rtol=1e-11)
    assert has_entry(changed) is takes_it
