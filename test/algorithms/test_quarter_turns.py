"""Frames at quarter turns to each other: rounding in a rotation matrix changes nothing."""

import itertools

import numpy as np
import pytest
import textbook
from robot_chain import chain_of

from ne_dynamics.algorithms.kinematics import link_pose
from ne_dynamics.algorithms.mechanism import build_mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.rotation_split import split_rotation
from ne_dynamics.model.robot import Inertia, JointType, Transform

GRAVITY = (0.3, -0.2, -9.80665)

QUARTERS = [
    Transform.from_xyz_rpy((0.0, 0.0, 0.0), np.array(steps) * np.pi / 2).rotation
    for steps in itertools.product(range(-2, 3), repeat=3)
]


def rotation_of(pairs):
    """Return Rz(turn) Rx(twist) Rz(spin)."""
    angles = [np.arctan2(sine, cosine) for cosine, sine in pairs]
    z, x, _ = np.eye(3)[[2, 0, 1]]
    turn, twist, spin = map(textbook.rotation_about, (z, x, z), angles)
    return turn @ twist @ spin


@pytest.mark.kept(4)
@pytest.mark.parametrize('noise', [0.0, 1e-320, 1e-200, 1e-30, 1e-17, 1e-16, 2.2e-16])
def test_a_split_rotation_is_the_rotation_whatever_rounding_left_in_it(noise):
    """Quarter turns with any entries at the size of rounding come out to rounding."""
    rng = np.random.default_rng(0)
    for exact in QUARTERS:
        for _ in range(20):
            # One entry in three stays as it is: a zero beside a rounding is the hard case.
            change = noise * rng.uniform(-1.0, 1.0, (3, 3)) * (rng.random((3, 3)) < 0.67)
            rotation = np.round(exact) + change
            pairs = split_rotation(rotation)
            for cosine, sine in pairs:
                assert abs(np.hypot(cosine, sine) - 1.0) < 1e-15
            np.testing.assert_allclose(rotation_of(pairs), rotation, rtol=0, atol=2e-15)


def quarter_turn_robot(seed):
    """Return a chain whose frames are at quarter turns and whose axes are coordinate axes."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(int(rng.integers(2, 5))):
        kind = JointType.PRISMATIC if rng.random() < 0.2 else JointType.REVOLUTE
        pose = Transform.from_xyz_rpy(
            rng.choice([0.0, 0.0, 0.3, -0.5], 3), rng.integers(-2, 3, 3) * np.pi / 2
        )
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        mass = rng.uniform(0.5, 4.0)
        spread = mass * rng.uniform(0.03, 0.3, 3) ** 2
        inertia = Inertia(mass, rng.uniform(-0.3, 0.3, 3), np.diag(spread.sum() - spread))
        parts.append((kind, axis, pose, inertia))
    return chain_of(parts)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('tolerance', 'count'), [(0.0, 200), (1e-12, 60), (1e-7, 60)])
def test_chains_of_quarter_turns_agree_with_the_textbook(tolerance, count):
    for seed in range(count):
        robot = quarter_turn_robot(seed)
        q, qd, qdd = np.random.default_rng([seed, 1]).uniform(-2.0, 2.0, (3, robot.n))
        mechanism = build_mechanism(robot, tolerance)
        axes, origin = link_pose(mechanism, robot.tip, q.tolist())
        expected = textbook.link_pose(robot, q, robot.tip)
        np.testing.assert_allclose(np.array(axes).T, expected[:3, :3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(origin, expected[:3, 3], rtol=0, atol=2e-14)
        efforts = newton_euler(mechanism, q.tolist(), qd.tolist(), qdd.tolist(), gravity=GRAVITY)
        wanted = textbook.inverse_dynamics(robot, q, qd, qdd, GRAVITY)
        error = np.abs(np.array(efforts) - wanted)
        assert (error <= 5e-14 * np.abs(wanted).max()).all(), (seed, error, wanted)
