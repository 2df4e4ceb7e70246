"""What a file of extras says of the joints, see :mod:`ne_dynamics.model.extras`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot_parts import JOINT_KEYS, Joint, replace_numbers
from ne_dynamics.model.yaml_text import parse_yaml
from ne_dynamics.model.yaml_values import check_mapping, read_number, show_value

UNFINISHED = 'unfinished'
"""Key of a file that stands for one while it and its URDF are replaced: such a file is refused."""

LONGEST_REASON = 300
"""Characters of it that an error repeats."""


def read_joints(given: bytes | Mapping[str, Any], source: str) -> dict[str, Mapping[str, float]]:
    """Return the numbers of joints in a file's text, or in what would be in it, by name.

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
    rows = check_mapping(document, ('joints',), source).get('joints')
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
