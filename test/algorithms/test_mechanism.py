"""The chosen frames and regrouped inertias change no torque, however the axes lie."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import textbook
from random_inertias import random_inertia
from random_robots import random_tree
from robot_chain import chain_of

import ne_dynamics as ned
from ne_dynamics.algorithms.kinematics import link_pose
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Inertia, JointType, Transform

GRAVITY = (0.3, -0.2, -9.80665)


def tree_robot(seed, joints):
    """Return a random tree with a tip."""
    tree = random_tree(seed, joints)
    return replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)


# ---- robots with axes that lie in special ways


REVOLUTE, PRISMATIC = JointType.REVOLUTE, JointType.PRISMATIC

PATTERNS = {
    'revolute': (REVOLUTE,) * 4,
    'mixed': (REVOLUTE, PRISMATIC, REVOLUTE, PRISMATIC),
    'prismatic first': (PRISMATIC, PRISMATIC, REVOLUTE, REVOLUTE),
    'prismatic': (PRISMATIC,) * 3,
}


MEETINGS = ('skew', 'intersecting', 'same origin')


def turn_towards(axis, angle, rng):
    """Return the rotation by an angle about a random direction across an axis."""
    across = np.cross(axis, rng.normal(size=3))
    return textbook.rotation_about(across / np.linalg.norm(across), angle)


def chain(seed, types, angle, meeting='skew', axis_aligned=False):
    """Return a chain of which each axis is tilted against the one before.

    Parameters
    ----------
    seed : int
    types : sequence of JointType
    angle : float
        Between successive axes [rad].
    meeting : str
        'skew' (a random point on the next axis), 'intersecting', 'same origin'.
    axis_aligned : bool
        Whether joint axes are a coordinate axis of their frame, as in most files.
    """
    rng = np.random.default_rng(seed)
    parts, previous = [], None
    for kind in types:
        rotation = turn_towards(rng.normal(size=3), rng.uniform(-np.pi, np.pi), rng)
        position = rng.uniform(-0.5, 0.5, 3)
        axis = rng.normal(size=3)
        if previous is not None:
            axis = rotation.T @ turn_towards(previous, angle, rng) @ previous
            if meeting == 'intersecting':
                position = previous * rng.uniform(-0.5, 0.5)
            elif meeting == 'same origin':
                position = np.zeros(3)
        axis /= np.linalg.norm(axis)
        if axis_aligned:
            # Turn the body's frame so that its z axis is the joint's axis.
            first = np.cross(axis, rng.normal(size=3))
            first /= np.linalg.norm(first)
            rotation = rotation @ np.column_stack([first, np.cross(axis, first), axis])
            axis = np.array([0.0, 0.0, 1.0])
        parts.append((kind, axis, Transform(rotation, position), random_inertia(rng)))
        previous = axis
    return chain_of(parts, viscous_friction=0.1, rotor_inertia=0.01)


def motion(robot, seed=0):
    """Return random (q, qd, qdd)."""
    return np.random.default_rng([seed, robot.n]).uniform(-2.0, 2.0, (3, robot.n))


def efforts(mechanism, q, qd, qdd, **options):
    """Return the recursion's result on plain floats."""
    motion = q.tolist(), qd.tolist(), qdd.tolist()
    return np.array(newton_euler(mechanism, *motion, gravity=GRAVITY, **options))


def relative_error(computed, expected):
    """Return the largest difference relative to the largest torque."""
    return np.abs(computed - expected).max() / np.abs(expected).max()


ANGLES = (
    *(0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-6, 1e-4, 1e-3, 0.05, 0.0999, 0.1001, 1.0),
    *(np.pi / 2 - 1e-9, np.pi / 2, np.pi - 0.05, np.pi - 1e-6, np.pi - 1e-9, np.pi - 1e-11, np.pi),
)


@pytest.mark.kept(4)
@pytest.mark.parametrize('axis_aligned', [False, True], ids=['any axes', 'z axes'])
@pytest.mark.parametrize('angle', ANGLES)
def test_chains_agree_with_the_textbook_however_close_to_parallel_axes_are(angle, axis_aligned):
    """Torques and poses; a tolerance changes as much, magnified by what the geometry does."""
    for seed, (pattern, meeting) in enumerate(itertools.product(PATTERNS.values(), MEETINGS)):
        robot = chain(seed, pattern, angle, meeting, axis_aligned)
        arguments = motion(robot, seed)
        expected = textbook.inverse_dynamics(robot, *arguments, GRAVITY)
        place = textbook.link_pose(robot, arguments[0], robot.tip)
        for tolerance, torque, pose in ((0.0, 1e-12, 1e-13), (DEFAULT_TOLERANCE, 1e-10, 1e-11)):
            mechanism = build_mechanism(robot, tolerance)
            assert relative_error(efforts(mechanism, *arguments), expected) < torque
            axes, origin = link_pose(mechanism, robot.tip, arguments[0].tolist())
            np.testing.assert_allclose(np.array(axes).T, place[:3, :3], rtol=0, atol=pose)
            np.testing.assert_allclose(origin, place[:3, 3], rtol=0, atol=pose)


# ---- any robot


@pytest.mark.long
def test_long_chains_agree_and_their_operations_grow_with_their_length():
    """Forty joints agree with the textbook; the last ten cost as much as the ten before."""
    counts = []
    for n in (20, 30, 40):
        robot = chain(4, (REVOLUTE,) * n, 1.0)
        dynamics = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
        arguments = motion(robot, 1)
        expected = textbook.inverse_dynamics(robot, *arguments, GRAVITY)
        assert relative_error(dynamics.inverse_dynamics(*arguments), expected) < 1e-12
        counts.append(sum(dynamics.operation_counts()['inverse_dynamics']))
    earlier, later = np.diff(counts)
    assert abs(later - earlier) <= 0.02 * earlier


# ---- the tolerance


ROUND_OFF = 1e-5
"""Size of the errors in the next robots' geometry; the tolerance is ten times that."""


def rounded_tree(seed):
    """Return a tree of quarter turns, parallel axes and zeros, each a little off.

    With prismatic and mimic joints; inertias in general position.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for index in range(6):
        kind = (REVOLUTE, PRISMATIC)[rng.integers(0, 2) if index else 0]
        error = rng.uniform(-ROUND_OFF, ROUND_OFF, 6)
        angles = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], 3) + error[:3]
        position = rng.choice([0.0, 0.0, 0.3, -0.5], 3) + 0.5 * error[3:]
        pose = Transform.from_xyz_rpy(position, angles)
        parts.append((kind, np.eye(3)[rng.integers(3)], pose, random_inertia(rng)))
    robot = chain_of(parts)
    joints, bodies, links = list(robot.joints[:2]), list(robot.bodies), list(robot.links)
    for index in range(2, 6):
        body = bodies[index]
        if rng.random() < 0.2:
            parent = int(rng.integers(-1, index))
            body = replace(body, parent=parent)
            links[index + 1] = replace(links[index + 1], parent=links[parent + 1].name)
        if rng.random() < 0.3:
            factor, offset = rng.uniform(0.05, 1.5), rng.uniform(-1.0, 1.0)
            source = int(rng.integers(len(joints)))
            body = replace(body, coordinate=source, multiplier=factor, offset=offset)
        else:
            body = replace(body, coordinate=len(joints))
            joints.append(robot.joints[index])
        bodies[index] = body
    return replace(robot, joints=tuple(joints), bodies=tuple(bodies), links=tuple(links))


@pytest.mark.kept(2)
@pytest.mark.parametrize('seed', range(12))
def test_the_effect_of_a_loose_tolerance_is_within_its_bound(seed):
    """What a tolerance changes in any torque is at most what `rounding_bound` says."""
    robot = rounded_tree(seed)
    dynamics = ned.Dynamics(robot, GRAVITY, 'python', tolerance=10.0 * ROUND_OFF)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, 50, robot.n))
    expected = np.array(
        [
            textbook.inverse_dynamics(robot, *arguments, GRAVITY)
            for arguments in zip(q, qd, qdd, strict=True)
        ]
    )
    change = np.abs(dynamics.inverse_dynamics(q, qd, qdd) - expected).max(axis=0)
    scale = np.abs(expected).max()
    assert change.max() > 1e-9 * scale, 'the tolerance changed nothing: the test means nothing'
    assert change.max() < 1e-2 * scale
    bound = dynamics.rounding_bound(qd=2.0, qdd=2.0, q=2.0)
    assert (change <= bound + 1e-12 * scale).all(), (change, bound)


@pytest.mark.parametrize('rpy', [(1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (7e-5, -7e-5, 0.0)])
def test_the_bound_sees_a_tilt_in_any_direction(rpy):
    """An axis taken for parallel to a slide is bounded whichever way it was tilted."""
    ball = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    tilt = Transform.from_xyz_rpy((0.5, 0.0, 0.0), rpy)
    robot = chain_of(
        [
            (REVOLUTE, (1.0, 0.0, 0.0), Transform.identity(), ball),
            (PRISMATIC, (0.0, 0.0, 1.0), Transform.identity(), ball),
            (REVOLUTE, (0.0, 0.0, 1.0), tilt, ball),
        ]
    )
    dynamics = ned.Dynamics(robot, (0.0, 0.0, 0.0), 'python', tolerance=1e-3)
    zeros, qdd = np.zeros(3), np.array([0.0, 0.0, 1.0])
    expected = textbook.inverse_dynamics(robot, zeros, zeros, qdd, np.zeros(3))
    change = np.abs(dynamics.inverse_dynamics(zeros, zeros, qdd) - expected)
    assert (change <= dynamics.rounding_bound(qd=0.0, qdd=qdd, q=0.0) + 1e-12).all()


@pytest.mark.parametrize('tolerance', [-1e-12, 0.01, 1.0, np.inf, np.nan])
def test_a_tolerance_out_of_range_is_an_input_error(tolerance):
    with pytest.raises(InputError, match=r'tolerance: expected 0 <= tolerance < 0\.01'):
        ned.Dynamics(rounded_tree(0), tolerance=tolerance)
