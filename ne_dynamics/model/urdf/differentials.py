"""Read the rotors of differential transmissions, whose two motors turn with two joints.

With the reductions n of actuators and joints, ros_control's ``DifferentialTransmission`` turns its
actuators at

    n_actuator1 (n_joint1 qd_1 + n_joint2 qd_2)    n_actuator2 (n_joint1 qd_1 - n_joint2 qd_2)

A rotor inertia (``drake:rotor_inertia`` in the ``actuator``) makes each a
:class:`~ne_dynamics.model.coupled_drive.CoupledDrive`; without one it adds nothing.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.robot import ModelFinding
from ne_dynamics.model.urdf.rotor_elements import ROTOR_INERTIA, is_differential
from ne_dynamics.model.urdf.rotors import REDUCTION, quote_named, read_rotor
from ne_dynamics.model.urdf.xml_values import get_required, read_numbers


def read_differentials(
    root: ElementTree.Element, joint_types: Mapping[str, str], findings: list[ModelFinding]
) -> tuple[CoupledDrive, ...]:
    """Return the coupled drives of all differential transmissions.

    Parameters
    ----------
    root : Element
        The ``robot``, with the tags of Drake in :data:`~.rotor_elements.DRAKE`.
    joint_types : mapping of str to str
        The types of the joints by their names.
    findings : list of ModelFinding
        What is noticed is added.

    Raises
    ------
    ModelError
        When a transmission has no two joints and actuators, a joint does not exist, a number is
        none, negative or 0 where it must not be, or two drives have the same name.
    """
    drives: dict[str, CoupledDrive] = {}
    for transmission in root.findall('transmission'):
        if not is_differential(transmission):
            continue
        for drive in _read_drives(transmission, joint_types, findings):
            if drive.name in drives:
                raise ModelError(
                    f'{quote_named(transmission)}: expected names of transmissions and actuators '
                    f'that tell rotors apart, got the drive {drive.name!r} twice'
                )
            drives[drive.name] = drive
    return tuple(drives.values())


def _read_drives(
    transmission: ElementTree.Element, joint_types: Mapping[str, str], findings: list[ModelFinding]
) -> list[CoupledDrive]:
    what = quote_named(transmission)
    joints = _order_by_role(transmission, 'joint')
    actuators = _order_by_role(transmission, 'actuator')
    if len(joints) != 2 or len(actuators) != 2:
        raise ModelError(
            f'{what}: expected two <joint> and two <actuator> in a differential transmission with '
            f'a rotor inertia, got {len(joints)} and {len(actuators)}'
        )
    names = [get_required(joint, 'name', f'{what}: joint') for joint in joints]
    for name in names:
        if name not in joint_types:
            raise ModelError(
                f'{what}: joint: expected a joint of the robot, got {name!r}, which does not exist'
            )
    first, second = (_read_reduction(joint, what) for joint in joints)
    drives: list[CoupledDrive] = []
    for actuator, sign in zip(actuators, (1.0, -1.0), strict=True):
        if actuator.find(ROTOR_INERTIA) is not None:
            source = f'{what}, {quote_named(actuator)}'
            rotor = read_rotor(actuator, [actuator], source, what, findings)
            label = actuator.get('name') or f'actuator {len(drives) + 1}'
            drive = CoupledDrive(
                f'{transmission.get("name", "")} {label}'.strip(),
                tuple(names),
                (first, sign * second),
                rotor.inertia,
                rotor.gear_ratio,
            )
            drives.append(drive)
            findings.append(
                ModelFinding(
                    'info',
                    'coupled-drive',
                    f'coupled drive {drive.name!r}',
                    f'{source}: rotor inertia {rotor.inertia:g} and reduction '
                    f'{rotor.gear_ratio:g} turn with {drive.formula}',
                )
            )
    return drives


def _order_by_role(transmission: ElementTree.Element, tag: str) -> Sequence[ElementTree.Element]:
    """Return the joints or actuators, by ``<role>`` (joint1, joint2) where these are given."""
    return sorted(
        transmission.findall(tag), key=lambda each: (each.findtext('role') or '').strip()
    )


def _read_reduction(joint: ElementTree.Element, what: str) -> float:
    """Return the reduction of a joint, 1 where none is given."""
    text = joint.findtext(REDUCTION)
    if text is None:
        return 1.0
    return read_numbers(text, 1, f'{what}, {quote_named(joint)}: {REDUCTION}')[0]
