"""Denavit-Hartenberg frames fitted to the joint axes of any chain, e.g. one from a URDF.

A table needs only the axes: x_i lies along the common normal from the axis of joint i to that of
joint i+1. What the frames do not fix is chosen so that numbers vanish: frame 0 is where theta_1
and d_1 are zero, frame n is on the last axis, and where axes are parallel d_i is zero.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import accumulate
from operator import matmul

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import FloatArray, Robot, Transform
from ne_dynamics.model.separate_drives import refuse_coupled_drives
from ne_dynamics.papers.forms.arm import Arm, DHLink, check_convention

PARALLEL = 1e-7
"""Axes at less than this angle count as parallel [rad]; see :func:`fit_arm`."""


def fit_arm(robot: Robot, convention: str = 'standard') -> Arm:
    """Return a chain as an arm in Denavit-Hartenberg frames of our choice.

    Parameters
    ----------
    robot : Robot
        A chain whose joints each have a coordinate of their own. Its tip becomes frame n+1 when
        it is on the last link, otherwise frame n is.
    convention : str
        'standard' or 'modified'.

    Returns
    -------
    Arm
        With the robot's joint positions, friction of the documents' kinds and rotors. Axes less
        than :data:`PARALLEL` apart are made parallel: their common normal would lie out of reach
        and cost more digits than the angle.

    Raises
    ------
    ModelError
        When the robot has no joint, is a tree, or has mimic joints, or the convention is unknown.
    """
    check_convention(convention)
    require_chain(robot)
    arm = _fit_standard(robot)
    return arm if convention == 'standard' else to_modified(arm)


def require_chain(robot: Robot) -> None:
    """Refuse a robot that is no chain of joints with a coordinate and a drive each.

    Raises
    ------
    ModelError
        As :func:`fit_arm` does.
    """
    if not robot.bodies:
        raise ModelError(f'robot {robot.name!r}: expected at least one joint that moves, got none')
    if not robot.is_chain:
        raise ModelError(
            f'robot {robot.name!r}: expected a chain, got a tree; a tip link cuts one out'
        )
    refuse_coupled_drives(robot.coupled_drives, f'robot {robot.name!r}')
    for index, body in enumerate(robot.bodies):
        if (body.coordinate, body.multiplier, body.offset) != (index, 1.0, 0.0):
            raise ModelError(
                f'joint {body.joint_name!r}: expected a coordinate of its own, in order of the '
                'chain; got a mimic joint or another order'
            )


def to_modified(arm: Arm) -> Arm:
    """Return the same arm in modified frames: frame i moves back to the axis of joint i.

    Parameters
    ----------
    arm : Arm
        In standard frames.
    """
    rows = []
    alpha, a = 0.0, 0.0
    for link in arm.links:
        back = _screw('x', link.alpha, link.a)
        inertia = link.inertia.transformed(back)
        rows.append(replace(link, alpha=alpha, a=a, inertia=inertia))
        alpha, a = link.alpha, link.a
    tool = _screw('x', alpha, a) @ arm.tool
    return Arm('modified', tuple(rows), base=arm.base, tool=tool, name=arm.name)


def _screw(axis: str, turn: float, shift: float) -> Transform:
    row = DHLink(alpha=turn, a=shift) if axis == 'x' else DHLink(theta=turn, d=shift)
    return row.transform('standard', 0.0)


def _fit_standard(robot: Robot) -> Arm:
    # Of the bodies in the base link's frame, at joint position zero.
    steps = (body.pose_in_parent for body in robot.bodies)
    poses = list(accumulate(steps, matmul, initial=Transform.identity()))[1:]
    axes = [pose.rotation @ body.axis for pose, body in zip(poses, robot.bodies, strict=True)]
    points = [pose.translation for pose in poses]
    smallest = 1e-12 * max(1.0, *(float(np.abs(point).max()) for point in points))
    frame = _first_frame(axes, points, smallest)
    base = frame
    rows = []
    for index, (body, joint) in enumerate(zip(robot.bodies, robot.joints, strict=True)):
        theta = d = a = alpha = 0.0
        if index + 1 < robot.n:
            theta, d, a, alpha = _fit_row(frame, axes[index + 1], points[index + 1], smallest)
        row = DHLink.at_joint(joint, theta, d, a, alpha)
        frame = frame @ row.transform('standard', 0.0)
        inertia = body.inertia.transformed(frame.inverse() @ poses[index])
        rows.append(replace(row, inertia=inertia))
    tool = Transform.identity()
    if robot.tip_link is not None and robot.tip.body == robot.n - 1:
        tool = frame.inverse() @ poses[-1] @ robot.tip.pose_in_body
    return Arm('standard', tuple(rows), base=base, tool=tool, name=robot.name)


def _first_frame(axes: list[FloatArray], points: list[FloatArray], smallest: float) -> Transform:
    """Return frame 0, in the base link's frame: z on the first axis, x as x_1 at zero."""
    z = axes[0]
    across = np.eye(3)[int(np.argmin(np.abs(z)))]
    frame = _frame(z, across, points[0])
    if len(axes) == 1:
        return frame
    theta, d, _, _ = _fit_row(frame, axes[1], points[1], smallest)
    return frame @ _screw('z', theta, d)


def _frame(z: FloatArray, near_x: FloatArray, origin: FloatArray) -> Transform:
    x = near_x - (near_x @ z) * z
    x = x / np.linalg.norm(x)
    return Transform(np.column_stack([x, np.cross(z, x), z]), origin)


def _fit_row(
    frame: Transform, next_axis: FloatArray, next_point: FloatArray, smallest: float
) -> tuple[float, float, float, float]:
    """Return theta, d, a, alpha that put the next frame's z on an axis; all in one frame's axes.

    Parameters
    ----------
    frame : Transform
        Frame i-1, in the frame that axis and point are in.
    next_axis, next_point : array, shape (3,)
        Of joint i+1.
    smallest : float
        Lengths below it are zero [m].
    """
    axis = frame.rotation.T @ next_axis
    point = frame.rotation.T @ (next_point - frame.translation)
    # z is (0, 0, 1) here: z x axis = (-axis_y, axis_x, 0).
    sine = math.hypot(axis[0], axis[1])
    if sine < PARALLEL:
        a, d = math.hypot(point[0], point[1]), 0.0
        theta = math.atan2(point[1], point[0]) if a > smallest else 0.0
        alpha = 0.0 if axis[2] > 0.0 else math.pi
    else:
        normal = np.array([-axis[1], axis[0]]) / sine
        a = float(normal @ point[:2])
        # The foot on the next axis has no component across the normal: point + t axis.
        t = -float(axis[:2] @ point[:2]) / (sine * sine)
        d = float(point[2] + t * axis[2])
        alpha = math.atan2(sine, axis[2])
        if a < -smallest:
            normal, a, alpha = -normal, -a, -alpha
        theta = math.atan2(normal[1], normal[0])
    d, a = (0.0 if abs(length) <= smallest else length for length in (d, a))
    return theta, d, a, alpha
