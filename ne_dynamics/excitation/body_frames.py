"""Where the bodies of an arm are in many poses, and how points of them move with the joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.kinematics.body_poses import compute_body_poses
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import BASE

IntArray = NDArray[np.intp]


class BodyFrames:
    """Frames of the bodies in N poses; the base comes last, so that its index is right.

    Parameters
    ----------
    dynamics : Dynamics
    positions : array, shape (N, n)
        [rad or m]

    Attributes
    ----------
    rotations : array, shape (N, b + 1, 3, 3)
    origins : array, shape (N, b + 1, 3)
        In the base frame [m].
    """

    def __init__(self, dynamics: Dynamics, positions: FloatArray) -> None:
        robot = dynamics.robot
        self._robot = robot
        poses = compute_body_poses(dynamics, np.atleast_2d(positions))
        samples = poses.shape[0]
        self.rotations = np.concatenate(
            [poses[:, :, :3, :3], np.broadcast_to(np.eye(3), (samples, 1, 3, 3))], axis=1
        )
        self.origins = np.concatenate([poses[:, :, :3, 3], np.zeros((samples, 1, 3))], axis=1)
        self._moves = find_movers(dynamics)

    def differentiate(
        self, samples: IntArray, bodies: IntArray, points: FloatArray, directions: FloatArray
    ) -> FloatArray:
        """Return how points of bodies go along directions with each joint, shape (k, n).

        Samples and bodies have the shape (k,), points and directions (k, 3) in the base frame.
        """
        result = np.zeros((samples.size, self._robot.n))
        for index, body in enumerate(self._robot.bodies):
            axis = self.rotations[samples, index] @ body.axis
            if body.joint_type.is_prismatic:
                rate = axis
            else:
                rate = np.cross(axis, points - self.origins[samples, index])
            along = body.multiplier * (rate * directions).sum(axis=1)
            result[:, body.coordinate] += np.where(self._moves[bodies, index], along, 0.0)
        return result


def find_movers(dynamics: Dynamics) -> NDArray[np.bool_]:
    """Return which bodies' joints move which body, shape (b + 1, b); the base comes last."""
    bodies = dynamics.robot.bodies
    moves = np.zeros((len(bodies) + 1, len(bodies)), dtype=bool)
    for index, body in enumerate(bodies):
        if body.parent != BASE:
            moves[index] = moves[body.parent]
        moves[index, index] = True
    return moves


def bound_rates(
    dynamics: Dynamics, body: int, first: int, farthest: float, travel: FloatArray
) -> FloatArray:
    """Return how fast a point of a body moves at most with each joint, shape (n,) [m/rad or 1].

    Seen from another body, the first: an ancestor, or the base. Points of the body are nowhere
    farther from its frame's origin than `farthest` [m], and prismatic joints from 0 than `travel`,
    shape (n,) [m].
    """
    robot = dynamics.robot
    rates = np.zeros(robot.n)
    reach = farthest
    while body not in (first, BASE):
        own = robot.bodies[body]
        gain = abs(own.multiplier)
        rates[own.coordinate] += gain * (1.0 if own.joint_type.is_prismatic else reach)
        reach += float(np.linalg.norm(own.pose_in_parent.translation))
        if own.joint_type.is_prismatic:
            reach += gain * float(travel[own.coordinate]) + abs(own.offset)
        body = own.parent
    return rates
