"""Numbers as JSON can hold them."""

import enum
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ne_dynamics.json_numbers import as_json, as_json_numbers, finite_or_none


def test_what_is_not_finite_is_none_and_all_is_plain():
    given = np.array([[1.5, math.nan], [math.inf, -math.inf]])
    assert as_json_numbers(given) == [[1.5, None], [None, None]]
    assert as_json_numbers(np.float64(2.0)) == finite_or_none(np.float64(2.0)) == 2.0
    assert as_json_numbers(math.nan) is finite_or_none(-math.inf) is None
    assert as_json_numbers(np.zeros((0, 3))) == []
    assert json.loads(json.dumps(as_json_numbers(given[0]), allow_nan=False)) == [1.5, None]


class Colour(enum.Enum):
    """One of them."""

    RED = 'red'


@dataclass(frozen=True)
class Found:
    """Something of everything."""

    name: str
    values: np.ndarray
    parts: tuple


def test_whatever_is_found_becomes_json():
    inner = Found('inner', np.array([[1.0, math.inf]]), ())
    outer = Found('outer', np.float64(2.0), (inner, Colour.RED, Path('a/b'), None, True, 3, -0.5))
    parts = [{'name': 'inner', 'values': [[1.0, None]], 'parts': []}, 'red', 'a/b', None, True, 3]
    expected = {'name': 'outer', 'values': 2.0, 'parts': [*parts, -0.5]}
    assert as_json({'found': outer}) == {'found': expected}
    assert json.loads(json.dumps(as_json(outer), allow_nan=False)) == expected
