"""Check the plain data that a YAML document holds."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ne_dynamics.errors import ModelError

# YAML 1.1 takes 1e-3 (no point, or no sign in the exponent) for a text.
_NUMBER = re.compile(r'[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')


def check_mapping(value: Any, keys: Sequence[str], what: str) -> Mapping[str, Any]:
    """Return a value that must be a mapping with no other keys.

    Raises
    ------
    ModelError
        The message begins with `what`, the name of the value.
    """
    if not isinstance(value, Mapping):
        raise ModelError(
            f'{what}: expected a mapping with the keys {", ".join(keys)}, got {show_value(value)}'
        )
    for key in value:
        if key not in keys:
            raise ModelError(f'{what}: unknown key {key!r}; the keys are {", ".join(keys)}')
    return value


def show_value(value: Any) -> str:
    """Return a value as an error shows it."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        text = f'a {type(value).__name__} too large to be shown'
    return 'nothing' if value is None else text if len(text) < 60 else text[:57] + '...'


def read_any_number(value: Any, what: str) -> float:
    """Return a value that must be a number, finite or not.

    Raises
    ------
    ModelError
        The message begins with `what`, the name of the value.
    """
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    raise ModelError(f'{what}: expected a number, got {show_value(value)}')


def read_number(value: Any, what: str) -> float:
    """Return a value that must be a finite number.

    Raises
    ------
    ModelError
        The message begins with `what`, the name of the value.
    """
    number = read_any_number(value, what)
    if not math.isfinite(number):
        raise ModelError(f'{what}: expected a finite number, got {show_value(value)}')
    return number
