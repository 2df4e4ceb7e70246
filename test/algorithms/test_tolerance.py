"""A tolerance is relative to what each joint itself has to give, and its effect is bounded."""

from __future__ import annotations

import numpy as np
import pytest
import textbook
from robot_chain import chain_of
from tolerance_robots import KINDS, machine_with_finger, mounted, usual

import ne_dynamics as ned
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.rounding import torque_bound
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.model.robot import Inertia, JointType, Transform
from ne_dynamics.papers import robots
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.0, 0.0, -9.80665)
SEEDS = range(10)


def motions(robot, seed, count=30):
    """Return random (q, qd, qdd), each of shape (n, count)."""
    return np.random.default_rng([seed, robot.n]).uniform(-2.0, 2.0, (3, robot.n, count))


def efforts(mechanism, motion):
    """Return the recursion's efforts in extended precision, shape (n, count)."""
    q, qd, qdd = (list(rows.astype(np.longdouble)) for rows in motion)
    return np.array(
        newton_euler(mechanism, q, qd, qdd, gravity=GRAVITY, joint_effects=False)
    ).astype(np.longdouble)


def textbook_efforts(robot, motion):
    """Return the efforts of a recursion that shares no code, shape (n, count)."""
    columns = np.moveaxis(motion, 2, 0)
    return np.array([textbook.inverse_dynamics(robot, *each, GRAVITY) for each in columns]).T


@pytest.mark.kept(3)
@pytest.mark.parametrize('kind', KINDS)
def test_no_joint_feels_the_default_tolerance(kind):
    """Each torque is right to 1e-11 of that joint's own, on robots of many sizes in one."""
    changes = 0
    for seed in SEEDS:
        robot = KINDS[kind](seed)
        mechanism = build_mechanism(robot)
        changes += len(mechanism.changes)
        motion = motions(robot, seed, count=8)
        expected = textbook_efforts(robot, motion)
        error = np.abs(efforts(mechanism, motion) - expected)
        scale = np.abs(expected).max(axis=1, keepdims=True)
        assert (error <= 1e-11 * scale).all(), (seed, (error / scale).max(axis=1))
    assert changes > 5 * len(SEEDS), 'next to nothing was taken as exact: the test means nothing'


@pytest.mark.kept(3)
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('tolerance', [DEFAULT_TOLERANCE, 1e-7, 1e-4])
def test_what_a_tolerance_changes_is_within_its_bound(kind, tolerance):
    for seed in SEEDS:
        robot = KINDS[kind](seed, spread=10.0 * tolerance)
        exact, mechanism = build_mechanism(robot, 0.0), build_mechanism(robot, tolerance)
        plain = build_mechanism(robot, tolerance, regroup=False)
        motion = motions(robot, seed)
        expected = efforts(exact, motion)
        change = np.abs(efforts(mechanism, motion) - expected).max(axis=1)
        scale = np.abs(expected).max(axis=1)
        assert (change <= 10.0 * tolerance * scale).all()
        q, qd, qdd = np.abs(motion).max(axis=2).tolist()
        bound = np.array(torque_bound(mechanism, plain, q=q, qd=qd, qdd=qdd, gravity=GRAVITY))
        own_rounding = 100.0 * np.finfo(np.longdouble).eps * scale
        assert (change <= bound + own_rounding).all(), (seed, change, bound)


def test_a_finger_on_a_machine_of_tonnes_keeps_its_inertia():
    """Forward dynamics moves a finger of 1e-7 kg m^2 at the end of a machine of five tonnes."""
    bodies = [
        Inertia(mass, np.zeros(3), moment * np.eye(3))
        for mass, moment in ((5000.0, 2e5), (0.01, 1e-7))
    ]
    hinge = JointType.REVOLUTE, (0.0, 0.0, 1.0), Transform.identity()
    dynamics = ned.Dynamics(chain_of([(*hinge, body) for body in bodies]), backend='python')
    np.testing.assert_allclose(dynamics.mass_matrix([0.0, 0.0])[1], [1e-7, 1e-7], rtol=1e-12)
    acceleration = dynamics.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 1e-7])
    np.testing.assert_allclose(acceleration, [0.0, 1.0], atol=1e-9)


def test_a_tilt_too_small_for_the_machine_is_kept_for_its_finger():
    """What is dropped depends on the joint that feels it: the same number, kept and dropped."""
    left = []
    for seed in SEEDS:
        robot = machine_with_finger(seed, spread=1e-11)
        for exact, body in zip(
            build_mechanism(robot, 0.0).bodies, build_mechanism(robot).bodies, strict=True
        ):
            pairs = zip(exact.inertia.second_moments, body.inertia.second_moments, strict=True)
            left += [found for value, found in pairs if 0.0 < abs(value) < 1e-9]
    assert 0.0 in left
    assert any(left)


COUNTED = {
    'UR5': (lambda: robots.ur5().robot, (152, 126)),
    'Panda': (lambda: robots.panda().robot, (315, 292)),
    'Puma 560': (lambda: robots.puma560().robot, (200, 171)),
    'six axes': (
        lambda: ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp'),
        (229, 200),
    ),
}
"""What loads robots, with multiplications and additions of their inverse dynamics."""


@pytest.mark.kept(2)
@pytest.mark.parametrize(('load', 'most'), COUNTED.values(), ids=COUNTED)
def test_known_robots_take_no_more_operations_than_before(load, most):
    """Counts of the default tolerance, and torques against the textbook."""
    try:
        robot = load()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    count = ned.Dynamics(robot, backend='python').operation_counts()['inverse_dynamics']
    assert count[0] <= most[0]
    assert count[1] <= most[1]
    rigid = robot.without_friction().with_joint_values('rotor_inertia', np.zeros(robot.n))
    motion = motions(robot, 0, count=8)
    expected = textbook_efforts(rigid, motion)
    error = np.abs(efforts(build_mechanism(robot), motion) - expected)
    assert (error <= 1e-11 * np.abs(expected).max(axis=1, keepdims=True)).all()


def test_where_a_robot_is_mounted_changes_no_number_of_it():
    """A robot a kilometre from the origin has the equations of one at the origin."""
    for seed in SEEDS:
        robot = usual(seed)
        here = build_mechanism(robot).bodies
        there = build_mechanism(mounted(robot, (600.0, -800.0, 30.0))).bodies
        assert here == there
