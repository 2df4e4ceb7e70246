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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ne_dynamics.algorithms.mechanism_body import MechanismBody, RigidInertia
from ne_dynamics.algorithms.scalars.negligible import NegligibleNumbers
from ne_dynamics.algorithms.scalars.rotation_split import split_rotation
from ne_dynamics.model.robot import BASE, FloatArray, FrictionModel, Link, Robot, Transform

if TYPE_CHECKING:
    from ne_dynamics.algorithms.scalars.sensitivity import EffortSensitivity

FOOT_SINE = 0.1
"""Below this sine of the angle between two axes their common normal is too ill-conditioned to
place an origin on; the origin then stays level with the parent's."""

DEFAULT_TOLERANCE = 1e-12
"""Part of a joint's own effort that a number must matter to be more than rounding."""


class MechanismDrive(NamedTuple):
    """A drive that turns with several coordinates.

    Attributes
    ----------
    ratios : tuple of (int, float)
        Index of each coordinate, and the turns of the shaft for each of its own.
    reflected_inertia, viscous_friction, coulomb_friction : float
        At the shaft.
    friction : FrictionModel
    """

    ratios: tuple[tuple[int, float], ...]
    reflected_inertia: float
    viscous_friction: float
    coulomb_friction: float
    friction: FrictionModel


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
    friction : tuple of FrictionModel
        What friction is beyond the viscous and that of Coulomb, one each coordinate.
    changes : dict
        What treating numbers as exact changed: (body, field, position) to the size of the
        change, see :class:`~ne_dynamics.algorithms.scalars.negligible.NegligibleNumbers`.
    drives : tuple of MechanismDrive
        Those that turn with several coordinates.
    """

    bodies: tuple[MechanismBody, ...]
    body_poses: tuple[Transform, ...]
    base_pose: Transform
    viscous_friction: tuple[float, ...]
    coulomb_friction: tuple[float, ...]
    reflected_inertia: tuple[float, ...]
    friction: tuple[FrictionModel, ...]
    changes: Mapping[tuple[int, str, int], float]
    drives: tuple[MechanismDrive, ...] = ()

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.viscous_friction)

    def frame_pose(self, link: Link) -> Transform:
        """Return the pose of a link's frame in the chosen frame of the body it belongs to."""
        if link.body == BASE:
            return self.base_pose.inverse() @ link.pose_in_body
        return self.body_poses[link.body].inverse() @ link.pose_in_body


def _make_perpendicular(axis: FloatArray, hint: FloatArray) -> FloatArray | None:
    """Return the unit part of hint at right angles to axis; None where there is none."""
    rest = hint - axis * float(axis @ hint)
    norm = float(np.linalg.norm(rest))
    if norm <= 1e-9:
        return None
    # A short rest has the rounding of a long hint in it: it is made perpendicular once more.
    rest = rest / norm
    rest = rest - axis * float(axis @ rest)
    return np.asarray(rest / np.linalg.norm(rest))


def _make_any_perpendicular(axis: FloatArray) -> FloatArray:
    hint = np.zeros(3)
    hint[int(np.argmin(np.abs(axis)))] = 1.0
    found = _make_perpendicular(axis, hint)
    assert found is not None
    return found


def _find_primary_children(robot: Robot) -> list[int | None]:
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
        A small sine or cosine of a constant angle, length or moment is treated as zero when that
        changes no joint's effort by more than about this part of the largest effort of that
        joint itself (see :mod:`ne_dynamics.algorithms.scalars.negligible`). 0 switches it off.
    regroup : bool
        False keeps each link's own inertial parameters (for a regressor per link).
    """
    body_poses = _choose_body_poses(robot, tolerance)
    base_pose = _choose_base_pose(robot, body_poses)
    chosen, rotations = _express_bodies(robot, body_poses, base_pose)
    reach, root_length = _measure_lengths(robot)

    def make_sensitivity() -> EffortSensitivity:
        # A robot without small numbers does not need it.
        from ne_dynamics.algorithms.scalars.sensitivity import EffortSensitivity

        return EffortSensitivity(chosen, robot.n, reach or 1.0, base_pose.rotation)

    negligible = NegligibleNumbers(chosen, tolerance, make_sensitivity)
    # Masses near the largest float overflow: then no number is negligible.
    with np.errstate(over='ignore', invalid='ignore'):
        simplified = negligible.simplify_geometry(rotations, reach, root_length)
        if regroup:
            simplified = _regroup(simplified)
        simplified = negligible.simplify_inertias(simplified)
    return Mechanism(
        tuple(simplified),
        tuple(body_poses),
        base_pose,
        changes=negligible.changes,
        **_describe_joints(robot),
    )


def _describe_joints(robot: Robot) -> dict[str, Any]:
    """Return friction, rotor inertias and drives, by the fields of a mechanism."""
    keys = 'viscous_friction', 'coulomb_friction', 'reflected_inertia', 'friction'
    found: dict[str, Any] = {
        key: tuple(getattr(joint, key) for joint in robot.joints) for key in keys
    }
    names = robot.joint_names
    found['drives'] = tuple(
        MechanismDrive(
            tuple((names.index(name), ratio) for name, ratio in drive.items),
            drive.reflected_inertia,
            drive.viscous_friction,
            drive.coulomb_friction,
            drive.friction,
        )
        for drive in robot.coupled_drives
    )
    return found


def _express_bodies(
    robot: Robot, body_poses: list[Transform], base_pose: Transform
) -> tuple[list[MechanismBody], list[FloatArray]]:
    """Return the bodies in the chosen frames, and their constant rotations in their parents."""
    bodies = robot.bodies
    alone = sum(body.parent == BASE for body in bodies) == 1
    chosen: list[MechanismBody] = []
    rotations: list[FloatArray] = []
    for index, body in enumerate(bodies):
        if body.parent == BASE and alone:
            relative = Transform.identity()  # the base frame was chosen so
        else:
            parent_pose = base_pose if body.parent == BASE else body_poses[body.parent]
            relative = parent_pose.inverse() @ body.pose_in_parent @ body_poses[index]
        rotations.append(relative.rotation)
        turn, twist, spin = split_rotation(relative.rotation)
        x, y, z = (float(value) for value in relative.translation)
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
                (x, y, z),
                _express_inertia(robot, index, body_poses[index]),
            )
        )
    return chosen, rotations


def _measure_lengths(robot: Robot) -> tuple[float, float]:
    """Return how far the robot reaches from its first joints, and how far those are, at most."""
    reaches: list[float] = []
    root_length = 0.0
    for body in robot.bodies:
        length = float(np.linalg.norm(body.pose_in_parent.translation))
        if body.parent == BASE:
            root_length = max(root_length, length)
            reaches.append(0.0)
        else:
            reaches.append(reaches[body.parent] + length)
    return max(reaches, default=0.0), root_length


def _choose_body_poses(robot: Robot, tolerance: float) -> list[Transform]:
    """Return the pose of each chosen frame in the body frame of the model."""
    primary = _find_primary_children(robot)
    poses: list[Transform] = []
    for index, body in enumerate(robot.bodies):
        axis = body.axis / np.linalg.norm(body.axis)
        normal, origin = _place(robot, index, axis, primary[index], poses, tolerance)
        if normal is None:
            normal = _choose_leaf_normal(robot, index, axis, poses)
        poses.append(Transform(np.column_stack([normal, np.cross(axis, normal), axis]), origin))
    return poses


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
            normal = _make_perpendicular(axis, product / sine)
            if sine > FOOT_SINE:
                shift = float(point @ np.cross(child_axis, product)) / sine**2
                return normal, shift * axis
        else:
            normal = _make_perpendicular(axis, point)
    if body.parent == BASE:
        return normal, np.zeros(3)
    to_parent = body_poses[body.parent].inverse() @ body.pose_in_parent
    level = float((to_parent.rotation @ axis) @ to_parent.translation)
    return normal, -level * axis


def _choose_leaf_normal(
    robot: Robot, index: int, axis: FloatArray, body_poses: list[Transform]
) -> FloatArray:
    """Return an x axis that needs no constant angle after the parent's frame."""
    body = robot.bodies[index]
    if body.parent == BASE:
        return _make_any_perpendicular(axis)
    rotation = body.pose_in_parent.rotation.T @ body_poses[body.parent].rotation
    product = np.cross(rotation[:, 2], axis)
    hint = product if float(np.linalg.norm(product)) > 1e-9 else rotation[:, 0]
    found = _make_perpendicular(axis, hint)
    return _make_any_perpendicular(axis) if found is None else found


def _choose_base_pose(robot: Robot, body_poses: list[Transform]) -> Transform:
    """Return the chosen base frame: that of the first body at zero when it is the only one."""
    first = [index for index, body in enumerate(robot.bodies) if body.parent == BASE]
    if len(first) != 1:
        return Transform.identity()
    return robot.bodies[first[0]].pose_in_parent @ body_poses[first[0]]


def _express_inertia(robot: Robot, index: int, pose: Transform) -> RigidInertia:
    inertia = robot.bodies[index].inertia.transformed(pose.inverse())
    tensor = inertia.inertia_about_origin
    pseudo = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    return RigidInertia.from_arrays(inertia.mass, inertia.first_moment, pseudo)


class Moments(NamedTuple):
    """Mass [kg], first moment (3,) [kg m] and pseudo-inertia (3, 3) [kg m^2] about an origin."""

    mass: float
    first: FloatArray
    pseudo: FloatArray


def split_moments(body: MechanismBody, given: Moments) -> tuple[Moments, Moments]:
    """Return what of a body's moments it keeps, and what its parent may carry as well.

    Parameters
    ----------
    body : MechanismBody
    given : Moments
        In the body's frame.

    Returns
    -------
    kept : Moments
        In the body's frame.
    moved : Moments
        In the parent's frame.

    Both are linear in what is given.
    """
    mass, first, pseudo = given
    if body.is_prismatic:
        rotation = body.constant_rotation
        moved = Moments(0.0, np.zeros(3), rotation @ pseudo @ rotation.T)
        return Moments(mass, first, np.zeros((3, 3))), moved
    axis = body.tilt[:, 2]
    origin = np.array(body.position)
    mixed = np.outer(origin, axis)
    moved = Moments(
        mass,
        mass * origin + first[2] * axis,
        pseudo[2, 2] * np.outer(axis, axis)
        + first[2] * (mixed + mixed.T)
        + mass * np.outer(origin, origin),
    )
    pseudo = pseudo.copy()
    pseudo[2, 2] = 0.0
    return Moments(0.0, np.array([first[0], first[1], 0.0]), pseudo), moved


def _regroup(bodies: list[MechanismBody]) -> list[MechanismBody]:
    """Move to each parent what it may carry as well."""
    result = list(bodies)
    for index in reversed(range(len(result))):
        body = result[index]
        own = body.inertia
        given = Moments(own.mass, np.array(own.first_moment), own.pseudo_inertia)
        kept, moved = split_moments(body, given)
        result[index] = replace(body, inertia=RigidInertia.from_arrays(*kept))
        if body.parent != BASE:
            parent = result[body.parent]
            own = parent.inertia
            lumped = RigidInertia.from_arrays(
                own.mass + moved.mass,
                np.array(own.first_moment) + moved.first,
                own.pseudo_inertia + moved.pseudo,
            )
            result[body.parent] = replace(parent, inertia=lumped)
    return result
