"""What gravity of any direction does to every inertial parameter.

A body at the origin o and with the axes R, both in base axes, has with the inertial parameters
(m, c, I) the weight m g at o + R c / m. On a joint before it, with the axis z at p, that is

    -g . (z x (m (o - p) + R c))    of a joint that turns,    -m g . z    of one that slides.
"""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.kinematics.body_poses import compute_body_poses
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import BASE


def compute_gravity_columns(
    dynamics: Dynamics, position: FloatArray, gravity: FloatArray
) -> FloatArray:
    """Return the effort of gravity by each inertial parameter, shape (M, n, bodies, 10).

    Parameters
    ----------
    dynamics : Dynamics
        Of whatever gravity.
    position : array, shape (M, n)
        [rad or m]
    gravity : array, shape (3,)
        Acceleration of gravity in base axes [m/s^2].
    """
    robot = dynamics.robot
    columns = np.zeros((position.shape[0], robot.n, len(robot.bodies), PER_BODY))
    poses = np.moveaxis(compute_body_poses(dynamics, position), 1, 0)
    rotations, origins = poses[:, :, :3, :3], poses[:, :, :3, 3]
    axes = [rotation @ body.axis for rotation, body in zip(rotations, robot.bodies, strict=True)]
    for index in range(len(robot.bodies)):
        before = index
        while before != BASE:
            body = robot.bodies[before]
            own = columns[:, body.coordinate, index]
            if body.joint_type.is_prismatic:
                own[:, 0] -= body.multiplier * axes[before] @ gravity
            else:
                # g . (z x a) = (g x z) . a
                turned = body.multiplier * np.cross(gravity, axes[before])
                own[:, 0] -= (turned * (origins[index] - origins[before])).sum(axis=1)
                own[:, 1:4] -= np.einsum('mi,mik->mk', turned, rotations[index])
            before = body.parent
    return columns


def turn_gravity(gravity: FloatArray, tilt: tuple[float, float]) -> FloatArray:
    """Return gravity in the axes of a base that is tilted, shape (3,).

    Parameters
    ----------
    gravity : array, shape (3,)
        In the axes of the base as it was given [m/s^2].
    tilt : tuple of two float
        Turns of gravity about the x axis of the base, or what of it is perpendicular to gravity,
        and about the axis that is perpendicular to that and to gravity [rad].
    """
    size = float(np.linalg.norm(gravity))
    if not size > 0.0 or not any(tilt):
        return gravity
    down = gravity / size
    start = np.eye(3)[0] if abs(down[0]) < 0.9 else np.eye(3)[1]
    first = start - (start @ down) * down
    first /= np.linalg.norm(first)
    turn = tilt[0] * first + tilt[1] * np.cross(first, down)
    angle = float(np.linalg.norm(turn))
    turned: FloatArray = math.cos(angle) * gravity + math.sin(angle) / angle * np.cross(
        turn, gravity
    )
    return turned
