"""Numbers as JSON can hold them: it knows neither NaN nor infinity."""

from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Mapping
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


def as_json(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Parameters
    ----------
    value : dataclass, mapping, sequence, array, enumeration, path, text or number
        Any of them in one another.

    Returns
    -------
    dict, list, str, bool, int, float or None
        Dataclasses by the names of their fields; numbers that are NaN or infinite are None.
    """
    if isinstance(value, enum.Enum):
        return as_json(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float | np.number | np.ndarray):
        return as_json_numbers(value)
    if dataclasses.is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value]
