"""The chosen frames and regrouped inertias change no torque, however the axes lie."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
import textbook
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.algorithms.kinematics import link_pose
from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE, build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import Body, Inertia, Joint, JointType, Link, Robot, Transform
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.3, -0.2, -9.80665)

TREES = [(seed, joints) for joints in (4, 9) for seed in range(6)]

SHIPPED = ['six_axis_arm.urdf', 'puma560_standard_dh.yaml', 'puma560_modified_dh.yaml']


def tree_robot(seed, joints):
    """Return a random tree with a tip."""
    tree = random_tree(seed, joints)
    return replace(ned.load_urdf(tree.urdf), tip_link=tree.tip)


@functools.cache
def all_robots():
    """Return random trees and shipped robots."""
    return [tree_robot(*tree) for tree in TREES] + [
        ned.load_model(shipped_file(name)) for name in SHIPPED
    ]


# ---- robots with axes that lie in special ways


REVOLUTE, PRISMATIC = JointType.REVOLUTE, JointType.PRISMATIC

PATTERNS = {
    'revolute': (REVOLUTE,) * 4,
    'mixed': (REVOLUTE, PRISMATIC, REVOLUTE, PRISMATIC),
    'prismatic first': (PRISMATIC, PRISMATIC, REVOLUTE, REVOLUTE),
    'prismatic': (PRISMATIC,) * 3,
}


MEETINGS = ('skew', 'intersecting', 'same origin')


def random_rotation(rng):
    """Return a rotation matrix."""
    axis = rng.normal(size=3)
    return textbook.rotation_about(axis / np.linalg.norm(axis), rng.uniform(-np.pi, np.pi))


def random_inertia(rng):
    """Return the inertia of a real body."""
    mass = rng.uniform(0.5, 4.0)
    spread = np.diag(mass * rng.uniform(0.03, 0.3, 3) ** 2)
    axes = random_rotation(rng)
    tensor = axes @ (np.trace(spread) * np.eye(3) - spread) @ axes.T
    return Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))


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
    joints, bodies, links = [], [], [Link('base', -1, Transform.identity(), None)]
    previous = None
    for index, kind in enumerate(types):
        rotation = random_rotation(rng)
        position = rng.uniform(-0.5, 0.5, 3)
        axis = rng.normal(size=3)
        if previous is not None:
            hint = np.cross(previous, rng.normal(size=3))
            tilt = textbook.rotation_about(hint / np.linalg.norm(hint), angle)
            axis = rotation.T @ tilt @ previous
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
        joints.append(Joint(f'joint_{index}', kind, viscous_friction=0.1, rotor_inertia=0.01))
        pose = Transform(rotation, position)
        bodies.append(Body(f'link_{index}', f'joint_{index}', index - 1, kind, axis, pose, index))
        links.append(
            Link(f'link_{index}', index, Transform.identity(), links[-1].name, random_inertia(rng))
        )
        previous = axis
    return Robot(
        'chain', tuple(joints), tuple(bodies), tuple(links), 'base', f'link_{len(types) - 1}'
    )


def motion(robot, seed=0):
    """Return random (q, qd, qdd)."""
    return np.random.default_rng([seed, robot.n]).uniform(-2.0, 2.0, (3, robot.n))


def efforts(mechanism, q, qd, qdd, **options):
    """Return the recursion's result on plain floats."""
    options.setdefault('gravity', GRAVITY)
    return np.array(newton_euler(mechanism, q.tolist(), qd.tolist(), qdd.tolist(), **options))


def relative_error(computed, expected):
    """Return the largest difference relative to the largest torque."""
    return np.abs(computed - expected).max() / np.abs(expected).max()


ANGLES = (
    0.0,
    1e-15,
    1e-13,
    1e-12,
    1e-11,
    1e-9,
    1e-7,
    1e-6,
    1e-4,
    1e-3,
    0.05,
    0.0999,
    0.1001,
    1.0,
    np.pi / 2 - 1e-9,
    np.pi / 2,
    np.pi - 0.05,
    np.pi - 1e-6,
    np.pi - 1e-9,
    np.pi - 1e-11,
    np.pi,
)


@pytest.mark.kept(4)
@pytest.mark.parametrize('axis_aligned', [False, True], ids=['any axes', 'z axes'])
@pytest.mark.parametrize('angle', ANGLES)
def test_torques_are_right_however_close_to_parallel_axes_are(angle, axis_aligned):
    """Chains whose axes differ by any small angle agree with a textbook recursion."""
    for seed, (pattern, meeting) in enumerate(itertools.product(PATTERNS.values(), MEETINGS)):
        robot = chain(seed, pattern, angle, meeting, axis_aligned)
        arguments = motion(robot, seed)
        expected = textbook.inverse_dynamics(robot, *arguments, GRAVITY)
        exact = build_mechanism(robot, tolerance=0.0)
        assert relative_error(efforts(exact, *arguments), expected) < 1e-12
        # A change of at most the tolerance, magnified by what the geometry does.
        usual = build_mechanism(robot)
        assert relative_error(efforts(usual, *arguments), expected) < 1e-10


@pytest.mark.kept(4)
@pytest.mark.parametrize('angle', ANGLES)
def test_poses_are_right_however_close_to_parallel_axes_are(angle):
    for pattern in PATTERNS.values():
        robot = chain(1, pattern, angle)
        q, _, _ = motion(robot)
        for tolerance, allowed in ((0.0, 1e-13), (DEFAULT_TOLERANCE, 1e-11)):
            axes, origin = link_pose(build_mechanism(robot, tolerance), robot.tip, q.tolist())
            expected = textbook.link_pose(robot, q, robot.tip)
            np.testing.assert_allclose(np.array(axes).T, expected[:3, :3], rtol=0, atol=allowed)
            np.testing.assert_allclose(origin, expected[:3, 3], rtol=0, atol=allowed)


# ---- any robot


@pytest.mark.kept(4)
@pytest.mark.parametrize('index', range(len(TREES) + len(SHIPPED)))
def test_torques_agree_with_a_textbook_recursion(index):
    """Trees of all joint types agree: plain, with a wrench, on a moving base."""
    robot = all_robots()[index]
    mechanism = build_mechanism(robot)
    rng = np.random.default_rng(index)
    wrench, base = rng.uniform(-10.0, 10.0, 6), rng.uniform(-2.0, 2.0, 9)
    for seed in range(3):
        arguments = motion(robot, seed)
        plain = textbook.inverse_dynamics(robot, *arguments, GRAVITY)
        assert relative_error(efforts(mechanism, *arguments), plain) < 1e-12
        loaded = textbook.inverse_dynamics(robot, *arguments, GRAVITY, wrench=wrench)
        computed = efforts(mechanism, *arguments, wrench=wrench.tolist(), tip=robot.tip)
        assert relative_error(computed, loaded) < 1e-12
        moving = textbook.inverse_dynamics(robot, *arguments, GRAVITY, wrench, base)
        computed = efforts(
            mechanism,
            *arguments,
            wrench=wrench.tolist(),
            tip=robot.tip,
            base_motion=base.tolist(),
        )
        assert relative_error(computed, moving) < 1e-12


@pytest.mark.parametrize('index', range(len(TREES) + len(SHIPPED)))
def test_regrouping_and_tolerance_change_no_torque(index):
    """With each link's own inertia, with base parameters, with and without the tolerance."""
    robot = all_robots()[index]
    arguments = motion(robot, index)
    expected = efforts(build_mechanism(robot, 0.0, regroup=False), *arguments)
    for tolerance in (0.0, DEFAULT_TOLERANCE):
        for regroup in (False, True):
            mechanism = build_mechanism(robot, tolerance, regroup)
            assert relative_error(efforts(mechanism, *arguments), expected) < 1e-12


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
    kinds = [(REVOLUTE, PRISMATIC)[k] for k in rng.integers(0, 2, 6)]
    kinds[0] = REVOLUTE
    joints, bodies, links = [], [], [Link('base', -1, Transform.identity(), None)]
    for index, kind in enumerate(kinds):
        mimics = index > 1 and rng.random() < 0.3
        coordinate = int(rng.integers(len(joints))) if mimics else len(joints)
        if not mimics:
            joints.append(Joint(f'joint_{index}', kind))
        error = rng.uniform(-ROUND_OFF, ROUND_OFF, 6)
        angles = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], 3) + error[:3]
        position = rng.choice([0.0, 0.0, 0.3, -0.5], 3) + 0.5 * error[3:]
        parent = index - 1 if rng.random() < 0.8 else int(rng.integers(-1, index))
        bodies.append(
            Body(
                f'link_{index}',
                f'joint_{index}',
                parent,
                kind,
                np.eye(3)[rng.integers(3)],
                Transform.from_xyz_rpy(position, angles),
                coordinate,
                float(rng.uniform(0.05, 1.5)) if mimics else 1.0,
                float(rng.uniform(-1.0, 1.0)) if mimics else 0.0,
            )
        )
        parent_link = 'base' if parent < 0 else f'link_{parent}'
        links.append(
            Link(f'link_{index}', index, Transform.identity(), parent_link, random_inertia(rng))
        )
    return Robot('rounded', tuple(joints), tuple(bodies), tuple(links), 'base')


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
    ball = Inertia(1.0, np.zeros(3), np.diag([0.1, 0.1, 0.1]))
    z = np.array([0.0, 0.0, 1.0])
    bodies = (
        Body('a', 'a', -1, REVOLUTE, np.array([1.0, 0.0, 0.0]), Transform.identity(), 0),
        Body('b', 'b', 0, PRISMATIC, z, Transform.identity(), 1),
        Body('c', 'c', 1, REVOLUTE, z, Transform.from_xyz_rpy((0.5, 0.0, 0.0), rpy), 2),
    )
    robot = Robot(
        'tilted',
        tuple(Joint(body.joint_name, body.joint_type) for body in bodies),
        bodies,
        (
            Link('base', -1, Transform.identity(), None),
            Link('a', 0, Transform.identity(), 'base', ball),
            Link('b', 1, Transform.identity(), 'a', ball),
            Link('c', 2, Transform.identity(), 'b', ball),
        ),
        'base',
    )
    dynamics = ned.Dynamics(robot, (0.0, 0.0, 0.0), 'python', tolerance=1e-3)
    zeros, qdd = np.zeros(3), np.array([0.0, 0.0, 1.0])
    expected = textbook.inverse_dynamics(robot, zeros, zeros, qdd, np.zeros(3))
    change = np.abs(dynamics.inverse_dynamics(zeros, zeros, qdd) - expected)
    assert (change <= dynamics.rounding_bound(qd=0.0, qdd=qdd, q=0.0) + 1e-12).all()


def test_a_tolerance_makes_rounded_quarter_turns_exact():
    """A file that writes 1.5707963 costs what the exact quarter turn costs, once allowed."""
    exact = chain(0, (REVOLUTE,) * 5, np.pi / 2)
    rounded = chain(0, (REVOLUTE,) * 5, 1.5707963)

    def cost(robot, tolerance):
        dynamics = ned.Dynamics(robot, backend='python', tolerance=tolerance)
        return sum(dynamics.operation_counts()['inverse_dynamics'])

    assert cost(rounded, 1e-7) == cost(exact, DEFAULT_TOLERANCE)
    assert cost(rounded, DEFAULT_TOLERANCE) > cost(exact, DEFAULT_TOLERANCE)


@pytest.mark.parametrize('tolerance', [-1e-12, 0.01, 1.0, np.inf, np.nan])
def test_a_tolerance_out_of_range_is_an_input_error(tolerance):
    with pytest.raises(InputError, match=r'tolerance: expected 0 <= tolerance < 0\.01'):
        ned.Dynamics(rounded_tree(0), tolerance=tolerance)
