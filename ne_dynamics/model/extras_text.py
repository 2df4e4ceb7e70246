"""Write what a URDF has no place for as the YAML file beside it.

The counterpart of :mod:`~ne_dynamics.model.extras`. A URDF holds viscous and Coulomb friction, so
they are left to it; rotor inertia, gear ratio, the rest of friction and coupled drives are written
when the text of the URDF alone would not give them. Digits are as many as a number needs to come
back the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import yaml

from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import NUMBER_KEYS, CoupledDrive
from ne_dynamics.model.extras import LARGEST_EXTRAS_FILE, ModelExtras
from ne_dynamics.model.extras_document import DRIVES, read_document
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.model.robot_parts import DRIVE_KEYS, FRICTION_KEYS
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.model.urdf.xml import read_urdf

IN_URDF = ('viscous_friction', 'coulomb_friction')
"""Numbers that every URDF has a place for."""

DRIVE = tuple(key for key in DRIVE_KEYS if key not in IN_URDF)
"""Those of a joint's drive that it may have none for."""

HEADER = (
    '# Friction and drives of the joints, beside the URDF of the same name: SI, at the joint.\n'
)


def write_extras(urdf_text: str, robot: Robot, given: ModelExtras | None = None) -> str:
    """Return the extras with which a URDF is a robot.

    Parameters
    ----------
    urdf_text : str
        What :func:`~ne_dynamics.identification.writing.write_back.write_urdf` returned for the
        robot: it has its viscous and Coulomb friction.
    robot : Robot
    given : ModelExtras, optional
        Extras that the robot was loaded with. What they say of joints that do not move in it is
        kept.

    Returns
    -------
    str
        YAML; '' when the URDF says it all.

    Raises
    ------
    ModelError
        When a joint is not in the text, or what was written does not come back as the robot's
        numbers, digit for digit.
    """
    joints = _collect_joints(urdf_text, robot, given)
    drives = _collect_drives(urdf_text, robot, given)
    if not joints and not drives:
        return ''
    text = format_extras(joints, drives)
    read = read_document(text.encode('utf-8'), 'the extras that were written')
    if read != (joints, drives):
        raise ModelError('extras: expected what was written to come back the same, got another')
    _check(_load_joints(urdf_text, robot, read[0]), robot)
    _check_drives(_load_drives(urdf_text, robot, drives), robot)
    return text


def format_extras(
    joints: Mapping[str, Mapping[str, float]], drives: Sequence[CoupledDrive] = ()
) -> str:
    """Return extras of joints, and coupled drives, as YAML.

    Parameters
    ----------
    joints : mapping of str to mapping of str to float
        By name of the joint: numbers by key.
    drives : sequence of CoupledDrive

    Raises
    ------
    ModelError
        When the file would be larger than is read.
    """
    document: dict[str, Any] = {
        'joints': {name: dict(numbers) for name, numbers in joints.items()}
    }
    if drives:
        document[DRIVES] = {drive.name: _list_numbers(drive) for drive in drives}
    names = [*joints, *(name for drive in drives for name in (drive.name, *drive.joints))]
    text = HEADER + str(
        yaml.dump(
            document,
            Dumper=yaml.SafeDumper,
            # YAML folds some line ends into spaces: what cannot be seen is escaped.
            allow_unicode=all(name.isprintable() for name in names),
            sort_keys=False,
            default_flow_style=False,
            width=2**20,
        )
    )
    size = len(text.encode('utf-8'))
    if size > LARGEST_EXTRAS_FILE:
        raise ModelError(f'extras: expected at most {LARGEST_EXTRAS_FILE} bytes, got {size}')
    return text


def _collect_joints(
    urdf_text: str, robot: Robot, given: ModelExtras | None
) -> dict[str, dict[str, float]]:
    """Return the numbers by joint: those that were given, and those that are new."""
    coordinates = {body.joint_name: body.coordinate for body in robot.bodies}
    joints: dict[str, dict[str, float]] = {}
    for name, numbers in (given.joints if given is not None else {}).items():
        kept = dict(numbers)
        if name in coordinates:
            # The URDF has the sum of all that move together.
            kept = {key: value for key, value in kept.items() if key in DRIVE}
        joints[name] = kept
    for joint in robot.joints:
        own = {key: value for key, value in joints.get(joint.name, {}).items() if key in DRIVE}
        joints[joint.name] = own | _list_changes(joint.friction, FrictionModel(), FRICTION_KEYS)
    present = _load_joints(urdf_text, robot, joints)
    for index, joint in enumerate(robot.joints):
        found = present[joint.name]
        if all(getattr(found, key) == getattr(joint, key) for key in DRIVE):
            continue
        for name, coordinate in coordinates.items():
            # One rotor stands for those of all joints that follow this one.
            if coordinate == index and name != joint.name:
                joints[name] = {'rotor_inertia': 0.0}
        joints[joint.name] |= {key: getattr(joint, key) for key in DRIVE}
    return {name: numbers for name, numbers in joints.items() if numbers}


def _list_numbers(drive: CoupledDrive) -> dict[str, Any]:
    """Return what the file says of a drive: what differs from nothing."""
    none = CoupledDrive(drive.name, drive.joints, drive.ratios)
    return {'ratios': dict(drive.items), **_list_changes(drive, none, NUMBER_KEYS)}


def _collect_drives(
    urdf_text: str, robot: Robot, given: ModelExtras | None
) -> tuple[CoupledDrive, ...]:
    """Return the drives that the URDF does not have, over the joints that it moves."""
    present = {drive.name: drive for drive in _load_drives(urdf_text, robot, ())}
    known = {drive.name: drive for drive in (given.drives if given is not None else ())}
    whole = {drive.name: drive for drive in read_urdf(urdf_text).coupled_drives} | known
    loaded = {drive.name: drive for drive in _load_drives(urdf_text, robot, known.values())}
    # Those of joints that do not move in the robot are kept.
    found = {name: drive for name, drive in known.items() if name not in loaded}
    for drive in robot.coupled_drives:
        if present.get(drive.name) == drive and drive.name not in known:
            continue
        found[drive.name] = drive
        before = loaded.get(drive.name)
        if before is not None and before.items == drive.items:
            # Joints that follow, and those that do not move, stay in it.
            numbers = {key: getattr(drive, key) for key in NUMBER_KEYS}
            found[drive.name] = replace(whole[drive.name], **numbers)
    return tuple(found.values())


def _load_drives(
    urdf_text: str, robot: Robot, drives: Iterable[CoupledDrive]
) -> list[CoupledDrive]:
    """Return the drives of the robot's joints that a URDF has beside these."""
    extras = {DRIVES: {drive.name: _list_numbers(drive) for drive in drives}}
    loaded = load_urdf(urdf_text, robot.base_link, robot.tip_link, extras=extras)
    own = {name: (name, 1.0) for name in robot.joint_names}
    found = [drive.move_to_coordinates(own) for drive in loaded.coupled_drives]
    return [drive for drive in found if drive is not None]


def _check_drives(present: Sequence[CoupledDrive], robot: Robot) -> None:
    """Refuse extras whose drives are not the robot's."""
    drives = present, robot.coupled_drives
    left, right = (sorted(each, key=attrgetter('name')) for each in drives)
    if left != right:
        raise ModelError(
            f'coupled drives: expected what was written to come back the same, got {left} for '
            f'{right}'
        )


def _list_changes(part: Any, none: Any, keys: Iterable[str]) -> dict[str, float]:
    """Return the numbers in which a part differs from nothing."""
    return {key: getattr(part, key) for key in keys if getattr(part, key) != getattr(none, key)}


def _load_joints(
    urdf_text: str, robot: Robot, joints: Mapping[str, Mapping[str, float]]
) -> dict[str, Joint]:
    extras = {'joints': joints} if joints else {}
    loaded = load_urdf(urdf_text, robot.base_link, robot.tip_link, extras=extras)
    present = {joint.name: joint for joint in loaded.joints}
    for joint in robot.joints:
        if joint.name not in present:
            raise ModelError(f'joint {joint.name!r}: expected it in the URDF, got none')
    return present


def _check(present: Mapping[str, Joint], robot: Robot) -> None:
    """Refuse extras that do not come back as the robot's."""
    for joint in robot.joints:
        found = present[joint.name]
        for key in (*DRIVE, 'friction'):
            left, right = getattr(found, key), getattr(joint, key)
            if left != right:
                raise ModelError(
                    f'joint {joint.name!r}: {key}: expected what was written to come back the '
                    f'same, got {left} for {right}'
                )
