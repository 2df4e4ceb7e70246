"""Numbers as JSON can hold them: it knows neither NaN nor infinity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def finite_or_none(value: float) -> float | None:
    """Return a number as a plain float; None where it is NaN or infinite.

    Parameters
    ----------
    value : float
        Of Python or NumPy.

    Returns
    -------
    float or None
    """
    return float(value) if math.isfinite(value) else None


def as_json_numbers(values: ArrayLike) -> Any:
    """Return numbers as plain floats, None where they are NaN or infinite.

    Parameters
    ----------
    values : array-like, any shape
        Of numbers.

    Returns
    -------
    float or None, or nested lists of them
        As many levels of lists as the array has axes.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return finite_or_none(float(array))
    return [as_json_numbers(each) for each in array]
