"""Records of what is right, kept as JSON in `test/golden`, and what differs from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / 'golden'
EQUATIONS = FOLDER / 'equations'
AGAIN = 'If that is meant, record anew with `make golden-net`, and say in the commit what and why.'


def read_record(name: str) -> Any:
    """Return a stored record."""
    return json.loads(record_path(name).read_text(encoding='utf-8'))


def write_record(name: str, record: Any) -> Path:
    """Store a record, and return its file."""
    path = record_path(name)
    path.write_text(json.dumps(record, indent=2, allow_nan=False) + '\n', encoding='utf-8')
    return path


def record_path(name: str) -> Path:
    """Return the file of a record."""
    return FOLDER / f'{name}.json'


def list_differences(
    stored: Any, found: Any, tolerance: float = 0.0, *, deviation_tolerance: float = 0.0
) -> Iterator[str]:
    """Yield what of a record is not as it was stored, with its place.

    Parameters
    ----------
    stored, found : mappings, lists, texts and numbers
    tolerance : float
        For floating-point numbers, as a part of them; of one that has a ``deviation`` beside it
        (``{'value': ..., 'deviation': ...}``), as a part of the larger of the two.
    deviation_tolerance : float
        For the deviations themselves, as a part of them.
    """
    yield from _compare(stored, found, '', 0.0, tolerance, deviation_tolerance)


def _compare(
    stored: Any, found: Any, place: str, scale: float, tolerance: float, of_deviation: float
) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(found, dict):
        for key in stored.keys() | found.keys():
            here = f'{place}{"/" if place else ""}{key}'
            if key not in found:
                yield f'{here}: {stored[key]!r} is gone'
            elif key not in stored:
                yield f'{here}: {found[key]!r} is new'
            elif key == 'deviation':
                yield from _compare(stored[key], found[key], here, 0.0, of_deviation, 0.0)
            else:
                size = abs(stored.get('deviation', 0.0)) if key == 'value' else 0.0
                yield from _compare(stored[key], found[key], here, size, tolerance, of_deviation)
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for index, pair in enumerate(zip(stored, found, strict=True)):
            yield from _compare(*pair, f'{place}[{index}]', 0.0, tolerance, of_deviation)
    elif isinstance(stored, float) and isinstance(found, float):
        allowed = tolerance * max(abs(stored), scale)
        if not abs(found - stored) <= allowed:
            yield f'{place}: {stored!r} became {found!r}, of which {allowed:.2g} is allowed'
    elif stored != found or type(stored) is not type(found):
        yield f'{place}: {stored!r} became {found!r}'
