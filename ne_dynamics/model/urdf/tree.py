"""Turn the description of a URDF into a :class:`~ne_dynamics.model.robot.Robot`.

The links must make one tree. How the description is understood:

- Links that are not descendants of the base link are left out.
- Fixed joints, joints that are not on the way from base to tip, and joints that are asked to be
  locked do not move; what hangs on them is lumped into the body they are part of.
- A mimic joint follows its coordinate: position = multiplier * coordinate + offset, through
  chains of mimic joints too. When its coordinate is locked, it is locked at its own angle; when
  it is itself off the way to the tip, it is locked where its coordinate's zero (or locked
  position) puts it. Its damping and friction are added to the coordinate's, with the same
  dissipated power: multiplier^2 * damping and abs(multiplier) * friction. So is its rotor, with
  the same kinetic energy; a coordinate with several rotors has what they add as its rotor
  inertia, and gear ratio 1. Its limits are not used.
- A drive that turns with several joints turns with the coordinates that move them: a joint that
  follows counts with its multiplier, and one that does not move drops out.
- Floating and planar joints have no place in a manipulator's joint space. Off the way to the tip
  they are locked at identity, with a warning; on it they are an error.
- Friction and drives that a URDF has no place for come from a file beside it, see
  :mod:`ne_dynamics.model.extras`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.errors import ModelError
from ne_dynamics.model.extras import (
    Extras,
    ModelExtras,
    find_misnamed_extras,
    read_extras,
)
from ne_dynamics.model.rigid_body import Transform, axis_angle_rotation
from ne_dynamics.model.robot import BASE, Body, Joint, JointType, Link, ModelFinding, Robot
from ne_dynamics.model.robot_parts import DRIVE_KEYS, FRICTION_KEYS
from ne_dynamics.model.urdf.description import (
    UNSUPPORTED_TYPES,
    JointDescription,
    RobotDescription,
)
from ne_dynamics.model.urdf.link_tree import JointCoupling, LinkTree
from ne_dynamics.model.urdf.rotor_elements import RotorDescription
from ne_dynamics.model.urdf.xml import read_urdf

if TYPE_CHECKING:
    from ne_dynamics.model.coupled_drive import CoupledDrive


def load_urdf(
    path_or_xml: str | os.PathLike[str] | bytes,
    base_link: str | None = None,
    tip_link: str | None = None,
    locked_joints: Mapping[str, float] | None = None,
    extras: Extras = None,
) -> Robot:
    """Load a robot from a URDF.

    Parameters
    ----------
    path_or_xml : str, path or bytes
        File name, or the XML itself (anything that starts with ``<``).
    base_link : str, optional
        Link whose frame is the base frame; default: the root of the tree.
    tip_link : str, optional
        Last link of the chain; joints that are not between base and tip are locked. Default: all
        joints below the base move. The tip is then the link that the last joint moves if the
        moving bodies form one chain; otherwise the robot has no tip.
    locked_joints : mapping of str to float, optional
        Joints to lock, by name, with their positions [rad or m]. Joints that `tip_link` locks are
        at 0 unless they are named here.
    extras : str, path or mapping, optional
        Friction and drives of joints, which replace the numbers in the URDF: a YAML file or its
        content, see :mod:`ne_dynamics.model.extras`. Default: the file ``<stem>.extras.yaml``
        beside the URDF if it exists; ``extras={}`` disables it.

    Returns
    -------
    Robot
        Joints in the order from base to tip; for a tree depth first, in the order of the file.

    Raises
    ------
    ModelError
        When a file cannot be read, the description is not one valid robot, or the extras do not
        fit it. The message names the element, what was found and what was expected.
    """
    locked = _check_mapping(locked_joints)
    description = read_urdf(path_or_xml)
    found = read_extras(extras, path_or_xml)
    if extras is None:
        misnamed = find_misnamed_extras(path_or_xml)
        description = replace(description, findings=(*description.findings, *misnamed))
    with np.errstate(over='ignore', invalid='ignore'):
        # Overflow ends in values that are not finite, which the frozen classes refuse.
        return _RobotBuilder(description, base_link, tip_link, locked, found).build()


LARGEST_MULTIPLIER = 1e75
"""Of a mimic joint: its square times a friction is still a number."""


def _check_mapping(locked_joints: object) -> dict[str, float]:
    if locked_joints is not None and not isinstance(locked_joints, Mapping):
        raise ModelError(
            'locked_joints: expected a mapping from joint name to position, '
            f'got {type(locked_joints).__name__}'
        )
    return dict(locked_joints or {})


def _read_position(value: object, name: str) -> float:
    """Return the position of a locked joint, or raise an error that names it."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ModelError(f'locked_joints: {name!r}: expected a position, got {value!r}')
    try:
        position = float(value)
    except OverflowError:
        position = math.inf
    if not math.isfinite(position):
        shown = repr(value) if isinstance(value, float) else 'overflow'
        raise ModelError(f'locked_joints: {name!r}: expected a finite position, got {shown}')
    return position


class _RobotBuilder:
    """Turns links and joints into a tree of moving bodies."""

    def __init__(
        self,
        description: RobotDescription,
        base_link: str | None,
        tip_link: str | None,
        locked_joints: dict[str, float],
        extras: ModelExtras | None = None,
    ) -> None:
        self._description = description
        self._findings = list(description.findings)
        self._links = description.links
        self._joints = description.joints
        self._tree = tree = LinkTree(description, base_link, tip_link)
        if not tree.is_whole:
            self._findings.append(
                ModelFinding(
                    'info',
                    'links-left-out',
                    f'link {tree.base!r}',
                    f'links that are not beyond the base link {tree.base!r} are left out',
                )
            )
        self._locked = self._check_locks(locked_joints)
        self._extras = ModelExtras({}, '') if extras is None else extras
        self._check_extras()
        self._motions = tree.resolve_couplings(self._locked)
        # What `build` adds to, joint by joint.
        self._placed: dict[str, tuple[int, Transform]] = {}
        self._built: list[Link] = []
        self._bodies: list[Body] = []
        self._movers: list[tuple[JointDescription, JointCoupling]] = []
        self._still: list[str] = []

    # -- which joint moves how --------------------------------------------------------------

    def _check_locks(self, locked: dict[str, float]) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, value in locked.items():
            joint = self._joints.get(name)
            if joint is None or not joint.moves:
                movable = sorted(joint.name for joint in self._joints.values() if joint.moves)
                got = 'which does not exist' if joint is None else f'which is {joint.type}'
                raise ModelError(
                    f'locked_joints: expected a joint that can move, got {name!r}, {got}; '
                    f'the joints are {", ".join(movable)}'
                )
            values[name] = _read_position(value, name)
            lower, upper = joint.limits['lower'], joint.limits['upper']
            if not lower <= values[name] <= upper:
                self._findings.append(
                    ModelFinding(
                        'warning',
                        'locked-outside-limits',
                        f'joint {name!r}',
                        f'locked at {values[name]:g}: expected a position between {lower:g} and '
                        f'{upper:g}',
                    )
                )
        return values

    def _check_extras(self) -> None:
        movable = [joint.name for joint in self._joints.values() if joint.moves]
        for name in self._extras.joint_names:
            joint = self._joints.get(name)
            if joint is None or not joint.moves:
                kind = '' if joint is None else joint.type
                raise self._extras.make_joint_error(name, kind, movable)
            numbers = self._extras.numbers(name)
            others = [key for key in numbers if key not in DRIVE_KEYS]
            if joint.mimic is not None and others:
                raise ModelError(
                    f'{self._extras.source}: joint {name!r}: expected {", ".join(DRIVE_KEYS)} '
                    f'alone, because it mimics {joint.mimic.joint!r}, got {others[0]}'
                )

    # -- bodies and links -------------------------------------------------------------------

    def build(self) -> Robot:
        """Return the robot."""
        tree = self._tree
        base = self._links[tree.base]
        identity = Transform.identity()
        self._built = [Link(base.name, BASE, identity, None, base.inertia, base.has_inertial)]
        self._placed = {tree.base: (BASE, identity)}
        for joint in tree.below_base:
            self._place(joint)
        if not self._bodies:
            raise ModelError(
                f'robot {self._description.name!r}: expected a joint that moves between '
                f'{tree.base!r} and {tree.tip or "the ends of the tree"!r}, got none'
            )
        if self._still:
            self._findings.append(
                ModelFinding(
                    'info',
                    'joints-locked',
                    'robot',
                    'joints off the way to the tip are locked, their links lumped: '
                    + ', '.join(self._still),
                )
            )
        names = [joint.name for joint, motion in self._movers if motion.coordinate == joint.name]
        self._findings.extend(self._extras.describe(joint.name for joint, _ in self._movers))
        return Robot(
            name=self._description.name,
            joints=self._build_coordinates(names),
            bodies=tuple(
                replace(body, coordinate=names.index(str(motion.coordinate)))
                for body, (_, motion) in zip(self._bodies, self._movers, strict=True)
            ),
            links=tuple(self._built),
            base_link=tree.base,
            tip_link=tree.tip if tree.tip is not None else _find_chain_end(self._bodies),
            findings=tuple(self._findings),
            source=self._description.source,
            coupled_drives=self._build_drives(),
        )

    def _place(self, joint: JointDescription) -> None:
        """Add the child of a joint: a body of its own, or a link of the body before the joint."""
        body, pose = self._placed[joint.parent]
        pose = self._compose(pose, joint.origin, joint)
        motion = self._motions.get(joint.name)
        if (
            motion is not None
            and joint.name in self._tree.moving
            and motion.coordinate is not None
        ):
            self._movers.append((joint, motion))
            self._bodies.append(
                Body(
                    name=joint.child,
                    joint_name=joint.name,
                    parent=body,
                    joint_type=JointType(joint.type),
                    axis=joint.axis,
                    pose_in_parent=pose,
                    coordinate=0,  # known when all coordinates are
                    multiplier=motion.multiplier,
                    offset=motion.offset,
                )
            )
            body, pose = len(self._bodies) - 1, Transform.identity()
        elif motion is not None:
            pose = self._compose(pose, self._compute_locked_pose(joint, motion), joint)
            if joint.name not in self._locked:
                self._still.append(joint.name)
                self._report_locked(joint, motion)
        elif joint.type in UNSUPPORTED_TYPES:
            self._findings.append(
                ModelFinding(
                    'warning',
                    'unsupported-joint-locked',
                    f'joint {joint.name!r}',
                    f'a {joint.type} joint off the way to the tip: locked at identity',
                )
            )
        self._placed[joint.child] = (body, pose)
        child = self._links[joint.child]
        self._built.append(
            Link(child.name, body, pose, joint.parent, child.inertia, child.has_inertial)
        )

    @staticmethod
    def _compose(first: Transform, second: Transform, joint: JointDescription) -> Transform:
        try:
            return first @ second
        except ModelError as error:
            raise ModelError(f'joint {joint.name!r}: pose: {error}') from error

    @staticmethod
    def _compute_locked_pose(joint: JointDescription, motion: JointCoupling) -> Transform:
        # A coordinate that moves on the way to the tip counts with its zero here.
        try:
            if joint.type == 'prismatic':
                return Transform.from_translation(joint.axis * motion.offset)
            return Transform.from_rotation(axis_angle_rotation(joint.axis, motion.offset))
        except ModelError as error:
            raise ModelError(f'joint {joint.name!r}: locked position: {error}') from error

    def _report_locked(self, joint: JointDescription, motion: JointCoupling) -> None:
        if joint.mimic is None:
            return
        if joint.name in self._tree.moving:
            reason = f'the joint {joint.mimic.joint!r} that it follows does not move'
        elif motion.coordinate is not None:
            reason = (
                f'it follows {motion.coordinate!r}, which moves, but is not on the way to the tip'
            )
        else:
            return
        self._findings.append(
            ModelFinding(
                'warning',
                'mimic-locked',
                f'joint {joint.name!r}',
                f'{reason}: locked at {motion.offset:g}',
            )
        )

    def _build_coordinates(self, names: list[str]) -> tuple[Joint, ...]:
        viscous = dict.fromkeys(names, 0.0)
        coulomb = dict.fromkeys(names, 0.0)
        rotors: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for joint, motion in self._movers:
            coordinate = str(motion.coordinate)
            if abs(motion.multiplier) > LARGEST_MULTIPLIER:
                raise ModelError(
                    f'joint {joint.name!r}: mimic multiplier: expected at most '
                    f'{LARGEST_MULTIPLIER:g} in magnitude, got {motion.multiplier:g}'
                )
            numbers = self._extras.numbers(joint.name)
            damping = numbers.get('viscous_friction', joint.damping)
            friction = numbers.get('coulomb_friction', joint.friction)
            viscous[coordinate] += motion.multiplier * motion.multiplier * damping
            coulomb[coordinate] += abs(motion.multiplier) * friction
            rotor = joint.rotor or RotorDescription(0.0, 1.0, '')
            inertia = numbers.get('rotor_inertia', rotor.inertia)
            if inertia > 0.0 or 'gear_ratio' in numbers:
                ratio = numbers.get('gear_ratio', rotor.gear_ratio) * motion.multiplier
                rotors[coordinate].append((inertia, ratio))
                if not {'rotor_inertia', 'gear_ratio'} & numbers.keys():
                    self._report_rotor(joint, rotor, motion)
        joints = [
            Joint(
                name=name,
                type=JointType(self._joints[name].type),
                **self._joints[name].limits,  # type: ignore[arg-type]
                viscous_friction=viscous[name],
                coulomb_friction=coulomb[name],
                rotor_inertia=inertia,
                gear_ratio=ratio,
            )
            for name, (inertia, ratio) in zip(
                names, map(_combine_rotors, rotors.values()), strict=True
            )
        ]
        return tuple(self._extras.apply_to(joint, FRICTION_KEYS) for joint in joints)

    def _build_drives(self) -> tuple[CoupledDrive, ...]:
        """Return the coupled drives over the coordinates; those of extras stand for others."""
        given = {drive.name: drive for drive in self._description.coupled_drives}
        given |= {drive.name: drive for drive in self._extras.drives}
        motions = {
            joint.name: (str(motion.coordinate), motion.multiplier)
            for joint, motion in self._movers
        }
        found = [drive.move_to_coordinates(motions) for drive in given.values()]
        return tuple(drive for drive in found if drive is not None)

    def _report_rotor(
        self, joint: JointDescription, rotor: RotorDescription, motion: JointCoupling
    ) -> None:
        unit = 'kg' if joint.type == 'prismatic' else 'kg m^2'
        reflected = rotor.gear_ratio * rotor.gear_ratio * rotor.inertia
        follows = ''
        if motion.coordinate != joint.name:
            follows = f' at this joint, which follows {motion.coordinate!r}'
        self._findings.append(
            ModelFinding(
                'info',
                'rotor-inertia',
                f'joint {joint.name!r}',
                f'{rotor.source}: rotor inertia {rotor.inertia:g} and reduction '
                f'{rotor.gear_ratio:g} add {reflected:.4g} {unit}{follows}',
            )
        )


def _combine_rotors(rotors: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the rotor inertia and the gear ratio of a coordinate with any number of rotors."""
    if len(rotors) == 1:
        return rotors[0]
    return sum(ratio * ratio * inertia for inertia, ratio in rotors), 1.0


def _find_chain_end(bodies: list[Body]) -> str | None:
    """Return the link that the last joint moves, when every body moves the next."""
    if all(body.parent == index - 1 for index, body in enumerate(bodies)):
        return bodies[-1].name
    return None
