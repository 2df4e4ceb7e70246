"""Thresholds: numbers that no parameter sets, each with its unit and reason.

Each subpackage has its own in `thresholds.py`, as fields of frozen dataclasses. `make readme`
writes them all into doc/thresholds.md.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, TypeVar

Value = float | tuple[float, ...]
_Value = TypeVar('_Value', int, float, tuple[float, ...])


def threshold(default: _Value, unit: str, reason: str) -> _Value:
    """Return a field of a dataclass.

    Parameters
    ----------
    default : int, float or tuple of them
        The value that counts.
    unit : str
        '' for none.
    reason : str
        What it is for, and how it was found where that is known.
    """
    made: _Value = field(default=default, metadata={'unit': unit, 'reason': reason})
    return made


def list_thresholds(thresholds: Any) -> list[tuple[str, Value, str, str]]:
    """Return name, value, unit and reason of each of a set of thresholds."""
    return [
        (
            each.name,
            getattr(thresholds, each.name),
            each.metadata['unit'],
            each.metadata['reason'],
        )
        for each in fields(thresholds)
    ]
