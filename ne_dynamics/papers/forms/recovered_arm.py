"""The Denavit-Hartenberg arm that a robot was made from, recovered from the robot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import Inertia, Link, Robot, Transform
from ne_dynamics.papers.forms.arm import (
    CONVENTIONS,
    Arm,
    DHLink,
    check_convention,
    cosine_sine,
)
from ne_dynamics.papers.forms.fitted_arm import require_chain

ROUNDING = 1e-9
"""Distance of a pose from a Denavit-Hartenberg row that is none [rad, and of the length]."""


def arm_from_robot(robot: Robot, convention: str | None = None) -> Arm:
    """Return the Denavit-Hartenberg arm that a robot was made from.

    Body i must be moved by joint i about or along z, and the robot's link ``link_i`` must stand
    where frame i stands, as :func:`~ne_dynamics.load_dh` and :meth:`Arm.robot` place it. Other
    links of body i (a tool, a payload) are lumped into link i.

    Parameters
    ----------
    robot : Robot
    convention : str, optional
        'standard' or 'modified'; by default the one that the frames are in, and 'standard' when
        they are in both (all twists and link lengths zero).

    Returns
    -------
    Arm
        Its rows have the coordinate's offset in ``theta`` or ``d``. Angles that only the choice
        of frame 0 fixes may differ from those of the file; the arm is the same.

    Raises
    ------
    ModelError
        When the robot is not a chain, has mimic joints, or its frames are not in the convention.
    """
    if convention is not None:
        check_convention(convention)
    require_chain(robot)
    for body in robot.bodies:
        if body.axis.tolist() != [0.0, 0.0, 1.0]:
            raise ModelError(
                f'joint {body.joint_name!r}: expected the z axis of its frame as axis, got '
                f'{body.axis.tolist()}'
            )
    reasons = []
    for candidate in CONVENTIONS if convention is None else (convention,):
        try:
            return _recovered(robot, candidate)
        except ModelError as error:
            reasons.append(str(error))
    raise ModelError(f'robot {robot.name!r} is not in Denavit-Hartenberg frames: {reasons[-1]}')


def _recovered(robot: Robot, convention: str) -> Arm:
    if convention == 'modified':
        base, tables = _modified_tables(robot)
    else:
        base, tables = _standard_tables(robot)
    rows: list[DHLink] = []
    for index, (body, joint, table) in enumerate(
        zip(robot.bodies, robot.joints, tables, strict=True)
    ):
        frame = robot.link(f'link_{index + 1}')
        if frame.body != index:
            raise ModelError(f'link {frame.name!r}: expected part of body {body.name!r}')
        if not joint.friction.is_off:
            raise ModelError(
                f'joint {joint.name!r}: friction: expected viscous and Coulomb friction alone, '
                'which the documents know, got more'
            )
        inertia = _lumped_inertia(robot, index, frame)
        rows.append(replace(DHLink.at_joint(joint, *table), inertia=inertia))
    last = robot.link(f'link_{robot.n}')
    tool = Transform.identity()
    if robot.tip_link is not None and robot.tip_link != last.name:
        if robot.tip.body != robot.n - 1:
            raise ModelError(
                f'tip {robot.tip_link!r}: expected it on the last link, got it on an inner one'
            )
        tool = last.pose_in_body.inverse() @ robot.tip.pose_in_body
    return Arm(convention, tuple(rows), base=base, tool=tool, name=robot.name)


def _lumped_inertia(robot: Robot, body: int, frame: Link) -> Inertia:
    """Return the inertia of all links of a body, in the frame of one of them."""
    total = frame.inertia
    for link in robot.links:
        if link.body == body and link is not frame:
            total += link.inertia.transformed(frame.pose_in_body.inverse() @ link.pose_in_body)
    return total


Parameters = tuple[float, float, float, float]
"""theta, d, a, alpha."""


def _standard_tables(robot: Robot) -> tuple[Transform, list[Parameters]]:
    frames = [robot.link(f'link_{index + 1}').pose_in_body for index in range(robot.n)]
    base = Transform.identity()
    first = robot.bodies[0].pose_in_parent
    tables = []
    for index, (body, after) in enumerate(zip(robot.bodies, frames, strict=True)):
        before = first if index == 0 else frames[index - 1].inverse() @ body.pose_in_parent
        if index == 0 and not _is_screw_about_z(before):
            # Frame 0 may be turned and shifted about z_0 at will: let the joint start from it.
            base, before = first, Transform.identity()
        what = f'joint {body.joint_name!r}'
        theta, shift_before = _screw_about_z(before, what)
        alpha, a, shift_after = _screw_about_x(after, what)
        if body.joint_type.is_prismatic:
            if abs(shift_after) > ROUNDING:
                raise ModelError(f'{what}: expected no shift along z after it, got {shift_after}')
            tables.append((theta, shift_before, a, alpha))
        else:
            tables.append((theta, shift_before + shift_after, a, alpha))
    return base, tables


def _modified_tables(robot: Robot) -> tuple[Transform, list[Parameters]]:
    base = Transform.identity()
    tables = []
    for index, body in enumerate(robot.bodies):
        frame = robot.link(f'link_{index + 1}')
        if not _is_identity(frame.pose_in_body):
            raise ModelError(f'link {frame.name!r}: expected the frame of body {body.name!r}')
        rotation, position = body.pose_in_parent.rotation, body.pose_in_parent.translation
        alpha = math.atan2(-rotation[1, 2], rotation[2, 2])
        theta = math.atan2(-rotation[0, 1], rotation[0, 0])
        cosine, sine = cosine_sine(alpha)
        d = -sine * position[1] + cosine * position[2]
        along_y = cosine * position[1] + sine * position[2]
        if abs(rotation[0, 2]) > ROUNDING:
            wrong = (
                'across x of the frame before, got one with component '
                f'{rotation[0, 2]:.3g} along it'
            )
        elif abs(along_y) > ROUNDING * max(1.0, float(np.abs(position).max())):
            wrong = f'that meets x of the frame before, got one {along_y:.3g} m beside it'
        else:
            tables.append((theta, float(d), float(position[0]), alpha))
            continue
        if index > 0:
            raise ModelError(f'joint {body.joint_name!r}: expected an axis {wrong}')
        base = body.pose_in_parent
        tables.append((0.0, 0.0, 0.0, 0.0))
    return base, tables


def _is_screw_about_z(pose: Transform) -> bool:
    off_axis = [*pose.rotation[:2, 2], *pose.rotation[2, :2], *pose.translation[:2]]
    return bool(np.abs(off_axis).max() <= ROUNDING and pose.rotation[2, 2] > 0.0)


def _screw_about_z(pose: Transform, what: str) -> tuple[float, float]:
    if not _is_screw_about_z(pose):
        raise ModelError(
            f'{what}: expected a screw about z of the frame before, got {pose.matrix}'
        )
    angle = math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])
    return angle, float(pose.translation[2])


def _screw_about_x(pose: Transform, what: str) -> tuple[float, float, float]:
    rotation, position = pose.rotation, pose.translation
    off_axis = [*rotation[0, 1:], *rotation[1:, 0], position[1]]
    if np.abs(off_axis).max() > ROUNDING or rotation[0, 0] < 0.0:
        raise ModelError(f'{what}: expected a screw about x of its frame, got {pose.matrix}')
    return math.atan2(rotation[2, 1], rotation[1, 1]), float(position[0]), float(position[2])


def _is_identity(pose: Transform) -> bool:
    return bool(np.abs(pose.matrix - np.eye(4)).max() <= ROUNDING)
