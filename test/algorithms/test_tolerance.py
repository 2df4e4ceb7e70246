"""A tolerance is relative to what each joint itself has to give, and its effect is bounded."""

from __future__ import annotations

import numpy as np
import pytest
import textbook
from tolerance_robots import KINDS

import ne_dynamics as ned
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.rounding import torque_bound
from ne_dynamics.errors import MissingDependencyError
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
