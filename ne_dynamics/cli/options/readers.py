"""Values of options: from a text to what it says, or an error that says what was expected."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.errors import InputError

LEAST_ABOVE_ZERO = math.nextafter(0.0, 1.0)


def make_reader(
    expected: str,
    read: Callable[[str], Any] = float,
    least: float = -math.inf,
    most: float = math.inf,
) -> Callable[[str], Any]:
    """Return the reader of a finite number, `float` or `int`, between bounds that are allowed.

    The error says what is expected.
    """

    def read_number(text: str) -> Any:
        try:
            value = read(text)
            is_good = math.isfinite(value) and least <= value <= most
        except (ValueError, OverflowError):
            is_good = False
        if not is_good:
            raise InputError(f'expected {expected}, got {text!r}')
        return value

    return read_number


number = make_reader('a finite number')


def numbers(text: str) -> tuple[float, ...]:
    """Return finite numbers, of X,X,X."""
    try:
        return tuple(map(number, text.split(',')))
    except InputError:
        raise InputError(f'expected numbers with commas between, got {text!r}') from None


def named_number(text: str) -> tuple[str, float]:
    """Return a name and a finite number, of JOINT=NUMBER."""
    # A joint may have a separator in its name, and a number has none.
    name, _, value = text.rpartition('=')
    with contextlib.suppress(InputError):
        if name:
            return name, number(value)
    raise InputError(f'expected JOINT=NUMBER, got {text!r}')


def xacro_argument(text: str) -> tuple[str, str]:
    """Return a name and a value, which may be empty, of NAME:=VALUE."""
    name, found, value = text.partition(':=')
    if not (name and found):
        raise InputError(f'expected NAME:=VALUE, got {text!r}')
    return name, value


def name_pair(text: str) -> tuple[str, str]:
    """Return two names, of NAME=NAME."""
    old, _, new = text.partition('=')
    if not (old and new and old.count('*') == new.count('*') < 2):
        expected = 'NAME=NAME, with one * in both or none'
        raise InputError(f'expected {expected}, got {text!r}')
    return old, new


def columns(text: str) -> Any:
    """Return the layout of a CSV file that somebody describes."""
    from ne_dynamics.logs.readers.layouts import by_hand

    return by_hand(text)


READERS: dict[str, Callable[[str], Any] | Sequence[Any]] = {
    'str': str,
    'int': int,
    'float': float,
    'path': Path,
    'number': number,
    'numbers': numbers,
    'positive': make_reader('a number > 0', float, LEAST_ABOVE_ZERO),
    'not_negative': make_reader('a number >= 0', float, 0.0),
    'share': make_reader('more than 0 and at most 1', float, LEAST_ABOVE_ZERO, 1.0),
    'part': make_reader('a part from 0 to 0.9', float, 0.0, 0.9),
    'tolerance': make_reader('0 <= tolerance < 0.01', float, 0.0, math.nextafter(0.01, 0.0)),
    'count': make_reader('a whole number >= 1', int, 1),
    'natural': make_reader('a whole number >= 0', int, 0),
    'jobs': make_reader('a number of processes from 1 to 256', int, 1, 256),
    'named_number': named_number,
    'xacro_argument': xacro_argument,
    'name_pair': name_pair,
    'columns': columns,
    'time_unit': ('s', 'ms', 'us', 'ns'),
}
"""By the names that the tables of options call them."""
