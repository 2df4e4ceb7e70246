"""What a file of extras says of joints and drives, see :mod:`ne_dynamics.model.extras`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import NUMBER_KEYS, CoupledDrive
from ne_dynamics.model.robot_parts import JOINT_KEYS, Joint, replace_numbers
from ne_dynamics.model.yaml_text import parse_yaml
from ne_dynamics.model.yaml_values import check_mapping, read_number, show_value

UNFINISHED = 'unfinished'
"""Key of a file that stands for one while it and its URDF are replaced: such a file is refused."""

DRIVES = 'coupled_drives'
"""Section of the drives that turn with several joints."""

LONGEST_REASON = 300
"""Characters of it that an error repeats."""


def read_document(
    given: bytes | Mapping[str, Any], source: str
) -> tuple[dict[str, Mapping[str, float]], tuple[CoupledDrive, ...]]:
    """Return numbers of joints by name, and coupled drives, of a file's text or its content.

    Raises
    ------
    ModelError
        See :func:`~ne_dynamics.model.extras.read_extras`.
    """
    document: Any = parse_yaml(given, source) if isinstance(given, bytes) else given
    if isinstance(document, Mapping) and UNFINISHED in document:
        raise ModelError(
            f'{source}: expected a file that was written to its end, got one whose writing was '
            f'interrupted: {str(document[UNFINISHED])[:LONGEST_REASON]}'
        )
    sections = check_mapping(document, ('joints', DRIVES), source)
    if DRIVES not in sections:
        return _read_joints(sections.get('joints'), source), ()
    joints = _read_joints(sections.get('joints', {}), source)
    return joints, _read_drives(sections[DRIVES], source)


def _read_joints(rows: Any, source: str) -> dict[str, Mapping[str, float]]:
    if not isinstance(rows, Mapping):
        raise ModelError(
            f'{source}: joints: expected a mapping from names of joints, got {show_value(rows)}'
        )
    joints: dict[str, Mapping[str, float]] = {}
    for name, row in rows.items():
        if not isinstance(name, str) or not name:
            raise ModelError(f'{source}: joints: expected names of joints, got {name!r}')
        what = f'{source}: joint {name!r}'
        numbers = {
            key: read_number(value, f'{what}: {key}')
            for key, value in check_mapping(row, JOINT_KEYS, what).items()
        }
        # A joint of the same numbers says what is wrong with them.
        replace_numbers(Joint(name), numbers, f'{source}: ')
        joints[name] = numbers
    return joints


def _read_drives(rows: Any, source: str) -> tuple[CoupledDrive, ...]:
    if not isinstance(rows, Mapping):
        raise ModelError(
            f'{source}: {DRIVES}: expected a mapping from names of drives, got {show_value(rows)}'
        )
    return tuple(_read_drive(name, row, source) for name, row in rows.items())


def _read_drive(name: Any, row: Any, source: str) -> CoupledDrive:
    if not isinstance(name, str) or not name:
        raise ModelError(f'{source}: {DRIVES}: expected names of drives, got {name!r}')
    what = f'{source}: coupled drive {name!r}'
    values = check_mapping(row, ('ratios', *NUMBER_KEYS), what)
    ratios = values.get('ratios')
    if not isinstance(ratios, Mapping) or len(ratios) < 2:
        raise ModelError(
            f'{what}: ratios: expected a mapping from the names of two joints or more to numbers, '
            f'got {show_value(ratios)}'
        )
    for joint in ratios:
        if not isinstance(joint, str) or not joint:
            raise ModelError(f'{what}: ratios: expected names of joints, got {joint!r}')
    numbers = {
        key: read_number(value, f'{what}: {key}')
        for key, value in values.items()
        if key != 'ratios'
    }
    shares = [read_number(ratio, f'{what}: ratio of joint {j!r}') for j, ratio in ratios.items()]
    try:
        return CoupledDrive(name, tuple(ratios), tuple(shares), **numbers)
    except ModelError as error:
        raise ModelError(f'{source}: {error}') from error
