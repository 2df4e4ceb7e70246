"""The two ways from pose A to pose B of 000 section 4.

The document has the tip go along the straight line from A to B with constant orientation, and it
has every joint move with a trapezoid of velocity (figure 6). With the second all joints are linear
functions of one another, which they are not along the line: no motion is both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.profiles import trapezoidal_profile
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.kinematics import compute_pose_errors, inverse_kinematics
from ne_dynamics.model.robot import FloatArray

POSE_A = (2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731)
POSE_B = (10.4705, 8.7346, 44.3932, -17.1186, -51.8741, 13.6195)
"""Joint positions as printed [deg]."""

PRINTED_POSITIONS = ((-0.1, 0.35, 1.63), (-0.1, 0.35, 1.83))
"""Tip positions as printed [m]."""

PRINTED_ORIENTATION = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""Columns n, o as printed for both poses, and n x o."""


@dataclass(frozen=True, eq=False)
class JointMotion:
    """A motion of the joints.

    Attributes
    ----------
    time : array, shape (N,)
        [s]
    q, qd, qdd : array, shape (N, 6)
        [rad], [rad/s], [rad/s^2]
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


@dataclass(frozen=True)
class Departure:
    """How far a motion leaves what the document prescribes, at most.

    Attributes
    ----------
    from_line : float
        Of the tip from the straight line from A to B [m].
    from_orientation : float
        Of the tip's axes from the printed ones [rad].
    from_trapezoid : float
        Of a joint from the trapezoid between its printed angles at the same time [rad].
    """

    from_line: float
    from_orientation: float
    from_trapezoid: float


def trace_joints(duration: float, time: FloatArray) -> JointMotion:
    """Return the motion whose joints have trapezoids of velocity between the printed angles.

    The duration is T [s]; times have shape (N,) [s].
    """
    start, end = np.deg2rad(POSE_A), np.deg2rad(POSE_B)
    return JointMotion(time, *trapezoidal_profile(start, end, duration, time))


def trace_line(dynamics: Dynamics, duration: float, time: FloatArray) -> JointMotion:
    """Return the motion whose tip goes straight from A to B, with a trapezoid of its velocity.

    The duration is T [s]; times have shape (N,) [s].

    Raises
    ------
    InverseKinematicsError
        When a joint's limits do not let the tip follow.
    """
    profile = trapezoidal_profile(*PRINTED_POSITIONS, duration, time)
    position = np.deg2rad(POSE_A)
    rows = []
    for point in profile.position:
        position = inverse_kinematics(dynamics, _make_pose(point), position)
        rows.append(position)
    q = np.array(rows)
    jacobians = dynamics.jacobian(q)
    # J qd = [v; 0], and its derivative: J qdd + J' qd = [a; 0].
    qd = _solve(jacobians, _as_twists(profile.velocity))
    drift = np.einsum('nij,nj->ni', dynamics.jacobian_rate(q, qd), qd)
    qdd = _solve(jacobians, _as_twists(profile.acceleration) - drift)
    return JointMotion(time, q, qd, qdd)


def measure_departures(
    dynamics: Dynamics, motion: JointMotion
) -> tuple[Departure, FloatArray, FloatArray]:
    """Return how far a motion leaves what the document prescribes, and at each time the tip.

    Its distances from the line from A to B [m], and its angles from the printed orientation
    [rad], have the shape (N,).
    """
    poses = dynamics.forward_kinematics(motion.q)
    start, end = np.array(PRINTED_POSITIONS)
    direction = (end - start) / np.linalg.norm(end - start)
    offsets = poses[:, :3, 3] - start
    across = offsets - np.outer(offsets @ direction, direction)
    distances = np.asarray(np.linalg.norm(across, axis=1))
    turns = compute_pose_errors(poses, _make_pose(start))[:, 3:]
    angles = np.asarray(np.linalg.norm(turns, axis=1))
    trapezoids = trace_joints(float(motion.time[-1]), motion.time).q
    departure = Departure(
        float(distances.max()), float(angles.max()), float(np.abs(motion.q - trapezoids).max())
    )
    return departure, distances, angles


def _make_pose(point: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3] = PRINTED_ORIENTATION
    pose[:3, 3] = point
    return pose


def _as_twists(linear: FloatArray) -> FloatArray:
    """Return rows of shape (6,) without rotation."""
    return np.hstack([linear, np.zeros_like(linear)])


def _solve(matrices: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrices, rows[:, :, None])[:, :, 0])
