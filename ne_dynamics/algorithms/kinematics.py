"""Poses and Jacobians over generic scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import joint_rotation
from ne_dynamics.algorithms.scalars.elementary import add, cross, scale
from ne_dynamics.algorithms.scalars.scalar import Matrix, Scalar, Vector
from ne_dynamics.model.robot import BASE, Link, Transform

Pose = tuple[list[Vector], Vector]
"""The three axes of a frame and its origin, each a vector of the base link's axes."""


def _split_pose(pose: Transform) -> Pose:
    return pose.rotation.T.tolist(), pose.translation.tolist()


def _turn_axes(axes: list[Vector], axis: str, c: Scalar, s: Scalar) -> list[Vector]:
    """Return the axes of a frame turned about its own z or x axis."""
    first, second = (0, 1) if axis == 'z' else (1, 2)
    a, b = axes[first], axes[second]
    result = list(axes)
    result[first] = add(scale(c, a), scale(s, b))
    result[second] = [c * y - s * x for x, y in zip(a, b, strict=True)]
    return result


def locate_point(pose: Pose, local: Sequence[Scalar]) -> Vector:
    """Return a point of a frame in the axes in which the frame's pose is given."""
    axes, origin = pose
    for axis, length in zip(axes, local, strict=True):
        origin = add(origin, scale(length, axis))
    return origin


def body_poses(
    mechanism: Mechanism, q: Sequence[Scalar], last: int | None = None
) -> dict[int, Pose]:
    """Return the poses of the bodies from the base to body `last`, in the base link's frame.

    Without `last`: those of all bodies.
    """
    path: Sequence[int] = range(len(mechanism.bodies))
    if last is not None:
        path = []
        while last != BASE:
            path.insert(0, last)
            last = mechanism.bodies[last].parent
    poses: dict[int, Pose] = {BASE: _split_pose(mechanism.base_pose)}
    for index in path:
        body = mechanism.bodies[index]
        axes, _ = poses[body.parent]
        origin = locate_point(poses[body.parent], body.position)
        for axis, c, s in joint_rotation(body, q[body.coordinate]):
            axes = _turn_axes(axes, axis, c, s)
        if body.is_prismatic:
            shift = body.multiplier * q[body.coordinate] + body.offset
            origin = add(origin, scale(shift, axes[2]))
        poses[index] = axes, origin
    return poses


def link_poses(mechanism: Mechanism, links: Sequence[Link], q: Sequence[Scalar]) -> list[Pose]:
    """Return the poses of the frames of several links in the base link's frame."""
    poses = body_poses(mechanism, q)
    return [_compute_link_pose(mechanism, link, poses) for link in links]


def link_pose(mechanism: Mechanism, link: Link, q: Sequence[Scalar]) -> Pose:
    """Return the pose of a link's frame in the base link's frame."""
    return _compute_link_pose(mechanism, link, body_poses(mechanism, q, link.body))


def _compute_link_pose(mechanism: Mechanism, link: Link, poses: dict[int, Pose]) -> Pose:
    return locate_pose(poses[link.body], mechanism.frame_pose(link))


def locate_pose(pose: Pose, local: Transform) -> Pose:
    """Return the pose of a frame that is given in another, in the axes of that one's pose."""
    axes, _ = pose
    local_axes, local_origin = _split_pose(local)
    zero: Vector = [0.0, 0.0, 0.0]
    turned = [locate_point((axes, zero), axis) for axis in local_axes]
    return turned, locate_point(pose, local_origin)


def jacobian(mechanism: Mechanism, link: Link, q: Sequence[Scalar], axes: str) -> Matrix:
    """Return the geometric Jacobian of a link's frame, 6 rows of n scalars.

    Rows 0-2 give the velocity of the frame's origin, rows 3-5 the angular velocity, in the base
    link's axes (``axes='base'``) or in the link's own (``axes='tip'``). With ``axes='world'`` rows
    0-2 give, in the base link's axes, the velocity of that point which moves with the link and is
    at the base link's origin.
    """
    poses = body_poses(mechanism, q, link.body)
    link_axes, tip = _compute_link_pose(mechanism, link, poses)
    if axes == 'world':
        tip = [0.0, 0.0, 0.0]
    columns: Matrix = [[0.0] * 6 for _ in range(mechanism.n)]
    for index, (body_axes, origin) in poses.items():
        if index == BASE:
            continue
        body = mechanism.bodies[index]
        z = body_axes[2]
        linear: Vector = z
        angular: Vector = [0.0, 0.0, 0.0]
        if not body.is_prismatic:
            # A turn about an axis through the body's origin moves the tip by z x (tip - origin).
            linear = cross(z, [a - b for a, b in zip(tip, origin, strict=True)])
            angular = z
        if axes == 'tip':
            linear, angular = (
                _resolve_in_axes(link_axes, linear),
                _resolve_in_axes(link_axes, angular),
            )
        part = [body.multiplier * value for value in (*linear, *angular)]
        columns[body.coordinate] = [
            own + more for own, more in zip(columns[body.coordinate], part, strict=True)
        ]
    return [[column[row] for column in columns] for row in range(6)]


def _resolve_in_axes(axes: list[Vector], vector: Vector) -> Vector:
    return [sum((a * b for a, b in zip(axis, vector, strict=True)), 0.0) for axis in axes]
