"""Values in the options of ``ne_dynamics excite``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from ne_dynamics.cli.options.numbers import number
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray

Value = tuple[str, float]
"""A joint, or '' for a value without name, and the value."""


def read_value(text: str) -> Value:
    """Return NAME=VALUE, or VALUE alone with the name ''."""
    name, separator, amount = text.rpartition('=')
    if separator and not name:
        raise argparse.ArgumentTypeError(f'expected VALUE or NAME=VALUE, got {text!r}')
    return name, number(amount)


def read_share(text: str) -> float:
    """Return a number above 0 and at most 1."""
    value = number(text)
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f'expected more than 0 and at most 1, got {text!r}')
    return value


def arrange_limits(values: Sequence[Value], names: Sequence[str], option: str) -> dict[str, float]:
    """Return limits by joint; one without a name is that of all joints.

    Raises
    ------
    InputError
        When a joint is unknown.
    """
    result: dict[str, float] = {}
    for name, value in values:
        if name and name not in names:
            raise InputError(
                f'{option}: expected a joint, one of {", ".join(names)}, got {name!r}'
            )
        result.update({name: value} if name else dict.fromkeys(names, value))
    return result


def arrange_start(
    values: Sequence[Value], names: Sequence[str], default: Mapping[str, float] | FloatArray
) -> FloatArray:
    """Return a pose of values in the joints' order, or by name; the others by default.

    Raises
    ------
    InputError
        When there are too many or too few, or a joint is unknown or named twice.
    """
    listed = [value for name, value in values if not name]
    if listed:
        if len(listed) != len(values) or len(listed) != len(names):
            raise InputError(
                f'--start: expected {len(names)} positions, {", ".join(names)}, or NAME=VALUE '
                f'for some, got {len(values)} values'
            )
        return np.array(listed)
    pose = dict(zip(names, np.asarray(default).tolist(), strict=True))
    seen: set[str] = set()
    for name, value in values:
        if name not in pose or name in seen:
            what = (
                'twice'
                if name in seen
                else f'for an unknown joint; the joints are {", ".join(names)}'
            )
            raise InputError(f'--start: expected one value for a joint, got {name!r} {what}')
        seen.add(name)
        pose[name] = value
    return np.array([pose[name] for name in names])
