"""Efforts multiplied out into terms: what they add up to, and how many there are."""

from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import JointType
from ne_dynamics.papers import robots
from ne_dynamics.papers.counting.expansion import count_terms, expand_efforts
from ne_dynamics.shipped import shipped_file

ROBOTS = {
    'six-link': lambda: ned.load_dh(shipped_file('six_link_dh.yaml')),
    'Puma 560': lambda: robots.puma560().robot,
    'general arm of 3 joints': lambda: robots.chain(3),
}


def evaluate(expansion, q, qd, qdd):
    """Return the sum of all terms at a motion."""
    values = {'sin': np.sin(q), 'cos': np.cos(q), 'qd': qd, 'qdd': qdd}
    return sum(
        constant * np.prod([values[kind][joint] ** power for kind, joint, power in factors])
        for factors, constant in expansion.terms.items()
    )


@pytest.mark.parametrize('name', ROBOTS)
def test_the_terms_add_up_to_the_inverse_dynamics(name):
    """At random motions, without friction and rotors."""
    robot = ROBOTS[name]()
    nothing = np.zeros(robot.n)
    for key in ('viscous_friction', 'coulomb_friction', 'rotor_inertia'):
        robot = robot.with_joint_values(key, nothing)
    dynamics = ned.Dynamics(robot, (0.0, 0.0, -9.8), backend='python')
    terms = expand_efforts(robot)
    for motion in np.random.default_rng(3).uniform(-2.0, 2.0, (5, 3, robot.n)):
        found = [evaluate(effort, *motion) for effort in terms]
        np.testing.assert_allclose(found, dynamics.inverse_dynamics(*motion), atol=1e-10)


def test_the_manipulator_of_000_has_several_thousand_terms():
    """2930, which is what its section 1 says of six joints; rounding decides about none."""
    assert count_terms(ROBOTS['six-link']()) == 2930
    sizes = [abs(v) for each in expand_efforts(ROBOTS['six-link']()) for v in each.terms.values()]
    assert min(sizes) > 1e-6
    assert [count_terms(robots.chain(n)) for n in (1, 2, 3, 4)] == [3, 36, 312, 2326]


def test_a_joint_that_slides_is_refused():
    """Powers of a displacement are not counted here."""
    robot = robots.chain(2)
    first = replace(robot.bodies[0], joint_type=JointType.PRISMATIC)
    sliding = replace(robot, bodies=(first, *robot.bodies[1:]))
    with pytest.raises(InputError, match='expected joints that turn'):
        expand_efforts(sliding)
