"""Velocities of bodies and links, and wrenches at the joints, over generic scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import Rotation, joint_rotation, newton_euler, to_child
from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector
from ne_dynamics.model.robot import BASE, Link, Transform


@dataclass(frozen=True)
class BodyVelocity:
    """How a body moves, in its own chosen axes.

    Attributes
    ----------
    rotation : Rotation
        From the parent's axes to the body's.
    shift : scalar
        Displacement of a prismatic joint [m]; 0 of a revolute one.
    brought : tuple of 2 vectors
        Angular velocity [rad/s], and velocity of the origin [m/s], that the parent gives.
    angular, linear : vector
        The same with the joint's own rate.
    """

    rotation: Rotation
    shift: Scalar
    brought: tuple[Vector, Vector]
    angular: Vector
    linear: Vector


def body_velocities(
    mechanism: Mechanism, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[BodyVelocity]:
    """Return the velocities of all bodies over a base at rest, from the base outward."""
    motions: list[BodyVelocity] = []
    for body in mechanism.bodies:
        rotation = joint_rotation(body, q[body.coordinate])
        rate = body.multiplier * qd[body.coordinate]
        if body.parent == BASE:
            w: Vector = [0.0, 0.0, 0.0]
            v: Vector = [0.0, 0.0, 0.0]
        else:
            parent = motions[body.parent]
            w = to_child(rotation, parent.angular)
            arm = cross(parent.angular, body.position)
            v = to_child(rotation, add(parent.linear, arm))
        shift: Scalar = 0.0
        if body.is_prismatic:
            shift = body.multiplier * q[body.coordinate] + body.offset
            v = [v[0] + w[1] * shift, v[1] - w[0] * shift, v[2]]
        brought = w, v
        if body.is_prismatic:
            v = [v[0], v[1], v[2] + rate]
        else:
            w = [w[0], w[1], w[2] + rate]
        motions.append(BodyVelocity(rotation, shift, brought, w, v))
    return motions


def _turn_into(pose: Transform, vector: Vector) -> Vector:
    return multiply(pose.rotation.T.tolist(), vector)


def locate_velocity(pose: Transform, motion: BodyVelocity) -> Vector:
    """Return linear, then angular velocity of a frame of a body, in its own axes.

    `pose` is that of the frame in the body's chosen frame.
    """
    linear = add(motion.linear, cross(motion.angular, pose.translation.tolist()))
    return [*_turn_into(pose, linear), *_turn_into(pose, motion.angular)]


def link_velocities(
    mechanism: Mechanism, links: Sequence[Link], q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Vector]:
    """Return the velocity of each link's origin [m/s], then its angular velocity [rad/s].

    In the link's own axes, over a base at rest.
    """
    motions = body_velocities(mechanism, q, qd)
    return [
        [0.0] * 6
        if link.body == BASE
        else locate_velocity(mechanism.frame_pose(link), motions[link.body])
        for link in links
    ]


def joint_wrenches(
    plain: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    **surroundings: Any,
) -> list[Vector]:
    """Return the force [N], then the moment [N m], onto each body through its joint.

    At the origin of the model's body frame and in its axes. `plain` is built with
    ``regroup=False``; the other arguments, with gravity, loads and tip, are those of
    :func:`~ne_dynamics.algorithms.newton_euler.newton_euler`.
    """
    found: list[tuple[Vector, Vector]] = []
    newton_euler(plain, q, qd, qdd, joint_effects=False, wrenches=found, **surroundings)
    rows = []
    for pose_in_body, (force, moment) in zip(plain.body_poses, found, strict=True):
        pose = pose_in_body.inverse()
        arm = [-value for value in pose.translation.tolist()]
        rows.append([*_turn_into(pose, force), *_turn_into(pose, add(moment, cross(arm, force)))])
    return rows
