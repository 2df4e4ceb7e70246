"""Numbers as JSON can hold them."""

import json
import math

import numpy as np

from ne_dynamics.json_numbers import as_json_numbers, finite_or_none


def test_what_is_not_finite_is_none_and_all_is_plain():
    given = np.array([[1.5, math.nan], [math.inf, -math.inf]])
    assert as_json_numbers(given) == [[1.5, None], [None, None]]
    assert as_json_numbers(np.float64(2.0)) == finite_or_none(np.float64(2.0)) == 2.0
    assert as_json_numbers(math.nan) is finite_or_none(-math.inf) is None
    assert as_json_numbers(np.zeros((0, 3))) == []
    assert json.loads(json.dumps(as_json_numbers(given[0]), allow_nan=False)) == [1.5, None]
