"""Values of options: from a text to what it says, or an error that says what was expected."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
            raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
        return value

    return read_number


number = make_reader('a finite number')


def numbers(text: str) -> tuple[float, ...]:
    """Return finite numbers, of X,X,X."""
    try:
        return tuple(map(number, text.split(',')))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f'expected numbers with commas between, got {text!r}'
        ) from None


def make_pair_reader(
    expected: str, separator: str, read: Callable[[str, str], Any]
) -> Callable[[str], Any]:
    """Return the reader of two texts with a separator between, of which the first is not empty."""

    def read_pair(text: str) -> Any:
        # A joint may have a separator in its name, and a number has none.
        parts = text.rpartition(separator) if read is _read_number else text.partition(separator)
        name, found, value = parts
        try:
            if name and found:
                return read(name, value)
        except (argparse.ArgumentTypeError, ValueError):
            pass
        raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')

    return read_pair


def _read_number(name: str, value: str) -> tuple[str, float]:
    return name, number(value)


def _match_names(old: str, new: str) -> tuple[str, str]:
    if not new or old.count('*') != new.count('*') or old.count('*') > 1:
        raise ValueError
    return old, new


def columns(text: str) -> Any:
    """Return the layout of a CSV file that somebody describes."""
    from ne_dynamics.errors import InputError
    from ne_dynamics.logs.readers.layouts import by_hand

    try:
        return by_hand(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


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
    'named_number': make_pair_reader('JOINT=NUMBER', '=', _read_number),
    'xacro_argument': make_pair_reader('NAME:=VALUE', ':=', lambda name, value: (name, value)),
    'name_pair': make_pair_reader('NAME=NAME, with one * in both or none', '=', _match_names),
    'columns': columns,
    'time_unit': ('s', 'ms', 'us', 'ns'),
}
"""By the names that the tables of options call them."""
