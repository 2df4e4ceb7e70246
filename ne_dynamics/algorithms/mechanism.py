"""The robot as the recursion wants it: frames chosen so that the fewest numbers are not zero.

The torque at a joint does not depend on the frames in which links are described. This module
chooses them (modified Denavit-Hartenberg placement: z along the joint, x along the common normal
to the next joint, after Craig and, for branches, Khalil and Kleinfinger 1986) and regroups the
inertial parameters: the part of a link's mass distribution that lies on its own revolute axis
turns with the link without changing, so the link before may carry it as well; the second moments
of a link on a prismatic joint likewise. Mass, axial first moment and axial second moment of every
revolute link become zero this way (Khalil and Bennis 1995, base inertial parameters), and with
them the products in which they stand.

The regrouped values are not those of physical bodies; the joint torques, the mass matrix and all
that follows from them are unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.model.robot import BASE, FloatArray, Link, Robot, Transform

FOOT_SINE = 0.1
"""Below this sine of the angle between two axes their common normal is too ill-conditioned to
place an origin on; the origin then stays level with the parent's."""

DEFAULT_TOLERANCE = 1e-12
"""Geometry below this (relative to the robot's size) is treated as the exact 0 or 1."""


@dataclass(frozen=True)
class RigidInertia:
    """Inertial parameters about the origin of a frame.

    Attributes
    ----------
    mass : float
        [kg]
    first_moment : tuple of 3 float
        Mass times centre of mass [kg m].
    second_moments : tuple of 6 float
        Integrals of xx, yy, zz, xy, xz, yz over the mass [kg m^2] (the pseudo-inertia; the
        inertia tensor is ``trace(J) * 1 - J``).
    """

    mass: float
    first_moment: tuple[float, float, float]
    second_moments: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class MechanismBody:
    """One moving body in its chosen frame.

    The frame's axes in those of the parent's frame are ``Rz(turn) Rx(twist) Rz(angle)``, its
    origin is ``position + displacement * z``, where for a revolute joint
    ``angle = spin + multiplier * q + offset`` and for a prismatic one ``angle = spin`` and
    ``displacement = multiplier * q + offset``.

    Attributes
    ----------
    parent : int
        Index of the parent body, -1 for the base.
    is_prismatic : bool
    coordinate : int
    multiplier, offset : float
    turn, twist, spin : tuple of 2 float
        Cosine and sine of the constant angles.
    position : tuple of 3 float
        [m]
    inertia : RigidInertia
        Regrouped.
    """

    parent: int
    is_prismatic: bool
    coordinate: int
    multiplier: float
    offset: float
    turn: tuple[float, float]
    twist: tuple[float, float]
    spin: tuple[float, float]
    position: tuple[float, float, float]
    inertia: RigidInertia


@dataclass(frozen=True)
class Mechanism:
    """A robot in the chosen frames; everything the recursion reads.

    Attributes
    ----------
    bodies : tuple of MechanismBody
    body_poses : tuple of Transform
        Pose of each chosen frame in the body frame of the model.
    base_pose : Transform
        Pose of the chosen base frame in the base link's frame.
    viscous_friction, coulomb_friction, reflected_inertia : tuple of float
        One each coordinate.
    changes : dict
        What treating numbers as exact changed, at most: (body, field, position) to the size of
        the change; the fields are turn, twist, spin, position, first and second.
    """

    bodies: tuple[MechanismBody, ...]
    body_poses: tuple[Transform, ...]
    base_pose: Transform
    viscous_friction: tuple[float, ...]
    coulomb_friction: tuple[float, ...]
    reflected_inertia: tuple[float, ...]
    changes: Mapping[tuple[int, str, int], float]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.viscous_friction)

    def frame_pose(self, link: Link) -> Transform:
        """Return the pose of a link's frame in the chosen frame of the body it belongs to."""
        if link.body == BASE:
            return self.base_pose.inverse() @ link.pose_in_body
        return self.body_poses[link.body].inverse() @ link.pose_in_body


class _Snapper:
    """Treats numbers within a tolerance of an exact value as that value, and remembers."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.changes: dict[tuple[int, str, int], float] = {}

    def pair(self, cosine: float, sine: float, body: int, field: str) -> tuple[float, float]:
        norm = math.hypot(cosine, sine)
        cosine, sine = cosine / norm, sine / norm
        if abs(sine) <= self.tolerance:
            exact = math.copysign(1.0, cosine), 0.0
        elif abs(cosine) <= self.tolerance:
            exact = 0.0, math.copysign(1.0, sine)
        else:
            return cosine, sine
        # Both entries move by no more than the small one.
        small = min(abs(cosine), abs(sine))
        if small > 0.0:
            self.changes[body, field, 0] = self.changes[body, field, 1] = small
        return exact

    def values(
        self, numbers: Iterable[float], size: float, body: int, field: str
    ) -> tuple[float, ...]:
        result = []
        for position, number in enumerate(numbers):
            small = 0.0 < abs(number) <= self.tolerance * size
            if small:
                self.changes[body, field, position] = abs(float(number))
            result.append(0.0 if small else float(number))
        return tuple(result)

    def vector(
        self, numbers: FloatArray, size: float, body: int, field: str
    ) -> tuple[float, float, float]:
        x, y, z = self.values([float(number) for number in numbers], size, body, field)
        return x, y, z


def _perpendicular(axis: FloatArray, hint: FloatArray) -> FloatArray | None:
    """Return the unit part of hint at right angles to axis; None where there is none."""
    rest = hint - axis * float(axis @ hint)
    norm = float(np.linalg.norm(rest))
    return rest / norm if norm > 1e-9 else None


def _any_perpendicular(axis: FloatArray) -> FloatArray:
    hint = np.zeros(3)
    hint[int(np.argmin(np.abs(axis)))] = 1.0
    found = _perpendicular(axis, hint)
    assert found is not None
    return found


def _primary_children(robot: Robot) -> list[int | None]:
    """Return for each body, then for the base, the child with the most bodies beyond it."""
    weight = [1] * len(robot.bodies)
    for index in reversed(range(len(robot.bodies))):
        parent = robot.bodies[index].parent
        if parent != BASE:
            weight[parent] += weight[index]
    primary: list[int | None] = [None] * (len(robot.bodies) + 1)
    for index, body in enumerate(robot.bodies):
        best = primary[body.parent]
        if best is None or weight[index] > weight[best]:
            primary[body.parent] = index
    return primary


def build_mechanism(
    robot: Robot, tolerance: float = DEFAULT_TOLERANCE, regroup: bool = True
) -> Mechanism:
    """Choose frames and regroup inertias.

    Parameters
    ----------
    robot : Robot
    tolerance : float
        Sines and cosines of constant angles within this of 0 or 1, lengths within this times the
        largest length, and inertial parameters within this times the largest of their kind are
        treated as exact. 0 switches it off.
    regroup : bool
        False keeps each link's own inertial parameters (for a regressor per link).

    Returns
    -------
    Mechanism
    """
    snap = _Snapper(tolerance)
    bodies = robot.bodies
    primary = _primary_children(robot)
    size = max(
        [float(np.abs(body.pose_in_parent.translation).max()) for body in bodies], default=0.0
    )
    body_poses: list[Transform] = []
    normals: list[FloatArray | None] = []
    for index, body in enumerate(bodies):
        axis = body.axis / np.linalg.norm(body.axis)
        normal, origin = _place(robot, index, axis, primary[index], body_poses, tolerance)
        normals.append(normal)
        if normal is None:
            normal = _leaf_normal(robot, index, axis, body_poses)
        body_poses.append(
            Transform(np.column_stack([normal, np.cross(axis, normal), axis]), origin)
        )
    base_pose = _base_pose(robot, body_poses)
    chosen = []
    for index, body in enumerate(bodies):
        parent_pose = base_pose if body.parent == BASE else body_poses[body.parent]
        relative = parent_pose.inverse() @ body.pose_in_parent @ body_poses[index]
        turn, twist, spin = _euler_pairs(relative.rotation, snap, index)
        # The model's joint moves about the axis through the body's own origin, which the chosen
        # origin shares up to a shift along the axis, so joint positions keep their zero.
        chosen.append(
            MechanismBody(
                body.parent,
                body.joint_type.is_prismatic,
                body.coordinate,
                body.multiplier,
                body.offset,
                turn,
                twist,
                spin,
                snap.vector(relative.translation, size, index, 'position'),
                _inertia_in(robot, index, body_poses[index]),
            )
        )
    if regroup:
        chosen = _regrouped(chosen)
    chosen = _snapped_inertias(chosen, snap)
    return Mechanism(
        tuple(chosen),
        tuple(body_poses),
        base_pose,
        tuple(joint.viscous_friction for joint in robot.joints),
        tuple(joint.coulomb_friction for joint in robot.joints),
        tuple(joint.reflected_inertia for joint in robot.joints),
        snap.changes,
    )


def _place(
    robot: Robot,
    index: int,
    axis: FloatArray,
    child: int | None,
    body_poses: list[Transform],
    tolerance: float,
) -> tuple[FloatArray | None, FloatArray]:
    """Return the x axis (None when free) and the origin of a body's frame, in its body frame."""
    body = robot.bodies[index]
    normal: FloatArray | None = None
    if child is not None:
        child_pose = robot.bodies[child].pose_in_parent
        child_axis = child_pose.rotation @ robot.bodies[child].axis
        child_axis = child_axis / np.linalg.norm(child_axis)
        point = child_pose.translation
        product = np.cross(axis, child_axis)
        sine = float(np.linalg.norm(product))
        if sine > max(tolerance, 1e-14):
            # Of nearly parallel axes the product has rounding along the axis: take it out.
            normal = _perpendicular(axis, product / sine)
            if sine > FOOT_SINE:
                shift = float(point @ np.cross(child_axis, product)) / sine**2
                return normal, shift * axis
        else:
            normal = _perpendicular(axis, point)
    if body.parent == BASE:
        return normal, np.zeros(3)
    to_parent = body_poses[body.parent].inverse() @ body.pose_in_parent
    level = float((to_parent.rotation @ axis) @ to_parent.translation)
    return normal, -level * axis


def _leaf_normal(
    robot: Robot, index: int, axis: FloatArray, body_poses: list[Transform]
) -> FloatArray:
    """Return an x axis that needs no constant angle after the parent's frame."""
    body = robot.bodies[index]
    if body.parent == BASE:
        return _any_perpendicular(axis)
    rotation = body.pose_in_parent.rotation.T @ body_poses[body.parent].rotation
    product = np.cross(rotation[:, 2], axis)
    hint = product if float(np.linalg.norm(product)) > 1e-9 else rotation[:, 0]
    found = _perpendicular(axis, hint)
    return _any_perpendicular(axis) if found is None else found


def _base_pose(robot: Robot, body_poses: list[Transform]) -> Transform:
    """Return the chosen base frame: that of the first body at zero when it is the only one."""
    first = [index for index, body in enumerate(robot.bodies) if body.parent == BASE]
    if len(first) != 1:
        return Transform.identity()
    return robot.bodies[first[0]].pose_in_parent @ body_poses[first[0]]


def _euler_pairs(
    rotation: FloatArray, snap: _Snapper, index: int
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    """Split a rotation into Rz(turn) Rx(twist) Rz(spin), each as (cosine, sine)."""
    sine = math.hypot(float(rotation[2, 0]), float(rotation[2, 1]))
    twist = snap.pair(float(rotation[2, 2]), sine, index, 'twist')
    if twist[1] == 0.0:
        spin = snap.pair(float(rotation[0, 0]), -float(rotation[0, 1]), index, 'spin')
        return (1.0, 0.0), twist, spin
    turn = snap.pair(-float(rotation[1, 2]), float(rotation[0, 2]), index, 'turn')
    # From what is left after the turn: a small twist leaves the turn uncertain, and the spin
    # makes up for it.
    c, s = turn
    spin = snap.pair(
        float(c * rotation[0, 0] + s * rotation[1, 0]),
        -float(c * rotation[0, 1] + s * rotation[1, 1]),
        index,
        'spin',
    )
    return turn, twist, spin


def _inertia_in(robot: Robot, index: int, pose: Transform) -> RigidInertia:
    inertia = robot.bodies[index].inertia.transformed(pose.inverse())
    tensor = inertia.inertia_about_origin
    pseudo = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    return _rigid_inertia(inertia.mass, inertia.first_moment, pseudo)


def _rigid_inertia(mass: float, first_moment: FloatArray, pseudo: FloatArray) -> RigidInertia:
    x, y, z = (float(value) for value in first_moment)
    entries = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    xx, yy, zz, xy, xz, yz = (float(pseudo[entry]) for entry in entries)
    return RigidInertia(float(mass), (x, y, z), (xx, yy, zz, xy, xz, yz))


def _pseudo_matrix(inertia: RigidInertia) -> FloatArray:
    xx, yy, zz, xy, xz, yz = inertia.second_moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _constant_rotation(body: MechanismBody) -> FloatArray:
    """Return Rz(turn) Rx(twist): its third column is the joint axis in the parent's frame."""
    (cg, sg), (ca, sa) = body.turn, body.twist
    return np.array([[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0.0, sa, ca]])


def _regrouped(bodies: list[MechanismBody]) -> list[MechanismBody]:
    """Move to each parent what it may carry as well."""
    result = list(bodies)
    for index in reversed(range(len(result))):
        body = result[index]
        mass = body.inertia.mass
        first = np.array(body.inertia.first_moment)
        pseudo = _pseudo_matrix(body.inertia)
        if body.is_prismatic:
            cb, sb = body.spin
            spin = np.array([[cb, -sb, 0.0], [sb, cb, 0.0], [0.0, 0.0, 1.0]])
            rotation = _constant_rotation(body) @ spin
            moved = (0.0, np.zeros(3), rotation @ pseudo @ rotation.T)
            kept = _rigid_inertia(mass, first, np.zeros((3, 3)))
        else:
            axis = _constant_rotation(body)[:, 2]
            origin = np.array(body.position)
            mixed = np.outer(origin, axis)
            moved = (
                mass,
                mass * origin + first[2] * axis,
                pseudo[2, 2] * np.outer(axis, axis)
                + first[2] * (mixed + mixed.T)
                + mass * np.outer(origin, origin),
            )
            pseudo = pseudo.copy()
            pseudo[2, 2] = 0.0
            kept = _rigid_inertia(0.0, np.array([first[0], first[1], 0.0]), pseudo)
        result[index] = replace(body, inertia=kept)
        if body.parent != BASE:
            parent = result[body.parent]
            own = parent.inertia
            lumped = _rigid_inertia(
                own.mass + moved[0],
                np.array(own.first_moment) + moved[1],
                _pseudo_matrix(own) + moved[2],
            )
            result[body.parent] = replace(parent, inertia=lumped)
    return result


def _snapped_inertias(bodies: list[MechanismBody], snap: _Snapper) -> list[MechanismBody]:
    first = max([abs(v) for body in bodies for v in body.inertia.first_moment], default=0.0)
    second = max([abs(v) for body in bodies for v in body.inertia.second_moments], default=0.0)
    result = []
    for index, body in enumerate(bodies):
        inertia = body.inertia
        xx, yy, zz, xy, xz, yz = snap.values(inertia.second_moments, second, index, 'second')
        result.append(
            replace(
                body,
                inertia=RigidInertia(
                    inertia.mass,
                    snap.vector(np.array(inertia.first_moment), first, index, 'first'),
                    (xx, yy, zz, xy, xz, yz),
                ),
            )
        )
    return result
