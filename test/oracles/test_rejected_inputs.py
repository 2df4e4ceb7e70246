"""Arrays and names that cannot be used are refused with an error of our tree that says why."""

from dataclasses import replace

import numpy as np
import pytest
from method_tables import PLAIN
from oracle_measure import GRAVITY
from rotor_trees import load_rotor_tree, rotor_dynamics

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError, NeDynamicsError

N = 4
TREE = 1200, N

BAD_VALUES = {
    'NaN': ([0.0, np.nan, 0.0, 0.0], r'finite numbers, got nan at index \(1,\)'),
    'infinity': ([0.0, 0.0, np.inf, 0.0], r'finite numbers, got inf at index \(2,\)'),
    'minus infinity': ([-np.inf, 0.0, 0.0, 0.0], r'finite numbers, got -inf at index \(0,\)'),
    'too short': (np.zeros(N - 1), r'shape \(4,\)'),
    'too long': (np.zeros(N + 1), r'shape \(4,\)'),
    'empty': ([], r'shape \(4,\)'),
    'a number': (0.5, 'shape'),
    'a scalar': (np.float64(1.0), 'shape'),
    'three axes': (np.zeros((1, 1, N)), 'shape'),
    'rows too short': (np.zeros((2, N - 1)), 'shape'),
    'transposed': (np.zeros((N, 2)), 'shape'),
    'string': ('up', 'real numbers'),
    'strings': (['a', 'b', 'c', 'd'], 'real numbers'),
    'numbers as strings': (['0.1', '0.2', '0.3', '0.4'], 'real numbers'),
    'None': (None, 'real numbers'),
    'None inside': ([0.0, None, 0.0, 0.0], 'real numbers'),
    'ragged': ([[0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], ''),
    'booleans': (np.ones(N, dtype=bool), 'real numbers'),
    'complex': ([0.0, 1j, 0.0, 0.0], 'real numbers'),
    'objects': (np.ones(N, dtype=object), 'real numbers'),
    'dates': (np.zeros(N, dtype='M8[s]'), 'real numbers'),
    'structured': (np.zeros(N, dtype=[('a', 'f8')]), 'real numbers'),
    'dict': ({'joint_1': 0.0}, 'real numbers'),
}
"""What is no array of numbers, one each joint, and what the message says."""


@pytest.fixture
def dynamics(backend):
    """The dynamics of a random tree of four coordinates: what is refused leaves no trace."""
    return rotor_dynamics(*TREE, backend)


@pytest.mark.parametrize(
    ('function', 'bad'), [(function, bad) for function, names in PLAIN.items() for bad in names]
)
def test_joint_arrays(dynamics, function, bad):
    """Also when machine code answers already."""
    good = {name: np.zeros(N) for name in PLAIN[function]}
    getattr(dynamics, function)(**good)
    for what, (value, message) in BAD_VALUES.items():
        with pytest.raises(InputError, match=rf'^{bad}: .*{message}'):
            pytest.fail(f'{what}: {getattr(dynamics, function)(**{**good, bad: value})}')


LOADS = {'wrench': 6, 'base_motion': 9, 'payload': 10, 'external_wrenches': 6}
"""Numbers that each load has; one in a mapping for wrenches on links."""


def list_bad_loads(size):
    """Return what is not so many finite numbers, nor two rows of them."""
    return {
        'one too few': np.zeros(size - 1),
        'one too many': np.zeros(size + 1),
        'a column': np.zeros((size, 1)),
        'a row too many': np.zeros((3, size)),
        'three axes': np.zeros((1, size, 1)),
        'nothing': [],
        'a number': 1.0,
        'NaN': [0.0] * (size - 1) + [np.nan],
        'infinity': [0.0] * (size - 1) + [np.inf],
        'a text': 'heavy',
        'texts': ['a'] * size,
        'None inside': [None] * size,
        'complex': [1j] * size,
    }


@pytest.mark.parametrize(
    ('function', 'load'),
    [(name, load) for name in ('inverse_dynamics', 'forward_dynamics') for load in LOADS]
    + [('gravity_torque', 'payload'), ('mass_matrix', 'payload')],
)
@pytest.mark.parametrize('rows', [(), (2,)], ids=['sample', 'batch'])
def test_loads(dynamics, function, load, rows):
    """Named with what was expected; the next good call gives what one gave before."""
    method, tip = getattr(dynamics, function), dynamics.robot.tip_link
    joints = [np.zeros((*rows, N))] * len(PLAIN[function])
    before = method(*joints)
    is_on_link = load == 'external_wrenches'
    name = rf"external_wrenches\['{tip}'\]" if is_on_link else load
    takes_place = function.endswith('dynamics') and not is_on_link
    before_it = [None] * list(LOADS).index(load)
    for what, value in list_bad_loads(LOADS[load]).items():
        ways = [((), {load: {tip: value} if is_on_link else value})]
        ways += [((*before_it, value), {})] if takes_place else []
        for places, keywords in ways * 2:
            with pytest.raises(InputError, match=rf'^{name}: expected'):
                pytest.fail(f'{what}: {method(*joints, *places, **keywords)}')
        np.testing.assert_array_equal(method(*joints), before)


@pytest.mark.parametrize('function', ['inverse_dynamics', 'forward_dynamics'])
def test_wrenches_on_links(dynamics, function):
    """They are a mapping, by name only, from links that the robot has."""
    method, joints = getattr(dynamics, function), [np.zeros(N)] * 3
    for value in (np.ones(6), [1.0] * 6, 'arm', 7, [('arm', np.ones(6))]):
        with pytest.raises(NeDynamicsError, match='external_wrenches: expected a mapping'):
            method(*joints, external_wrenches=value)
    for link in ('nowhere', '', None, 3, ('arm',)):
        with pytest.raises(NeDynamicsError, match=r'link|external_wrenches'):
            method(*joints, external_wrenches={link: np.ones(6)})
    with pytest.raises(TypeError):
        method(*joints, None, None, None, {dynamics.robot.tip_link: np.ones(6)})


def test_nothing_is_carried_without_a_tip(backend):
    """Without a tip a payload or a wrench is an error with a base motion too; none is not."""
    robot = replace(load_rotor_tree(*TREE), tip_link=None)
    tree = ned.Dynamics(robot, gravity=GRAVITY, backend=backend)
    joints, base = [np.zeros(N)] * 3, np.ones(9)
    for _ in range(3):
        for loads in ((None, None, np.ones(10)), (None, base, np.ones(10)), (np.ones(6), base)):
            with pytest.raises(ModelError, match='tip'):
                tree.inverse_dynamics(*joints, *loads)
        with pytest.raises(InputError, match='wrench'):
            tree.inverse_dynamics(*joints, np.full(6, np.nan), base)
        expected = tree.inverse_dynamics(*joints, None, base)
        for loads in ((np.zeros(6), base), (np.zeros(6), base, None), (None, base, None)):
            np.testing.assert_array_equal(tree.inverse_dynamics(*joints, *loads), expected)


@pytest.mark.parametrize(
    'gravity',
    [(0.0, 0.0), 9.81, (0.0, 0.0, np.nan), (0.0, 0.0, np.inf), 'down', None, np.zeros((3, 1))],
    ids=repr,
)
def test_gravity(gravity):
    with pytest.raises(InputError, match='gravity'):
        ned.Dynamics(load_rotor_tree(*TREE), gravity=gravity, backend='python')


@pytest.mark.parametrize(
    'function', [name for name, names in PLAIN.items() if 'qd' in names and len(names) > 1]
)
def test_velocities_so_large_that_the_result_overflows(dynamics, function):
    """Finite input gives finite output or an error, never infinity, for a sample and a batch."""
    method = getattr(dynamics, function)
    for rows in ((), (3,), (9,)):
        good = {name: np.full((*rows, N), 0.3) for name in PLAIN[function]}
        for speed in (1e150, 1e200, 1.7e308) * 2:
            result, message = 0.0, 'overflow'
            try:
                result = method(**{**good, 'qd': np.full((*rows, N), speed)})
            except InputError as error:
                message = str(error)
            assert np.isfinite(result).all()
            assert 'overflow' in message
            assert np.isfinite(method(**good)).all()
