"""Values that are checked once, and read-only from then on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import ModelError

_T = TypeVar('_T')


def frozen_array(value: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return a read-only float copy of `value`.

    Parameters
    ----------
    value : array-like
    shape : tuple of int
        Expected shape.
    what : str
        Name for the error message.

    Returns
    -------
    array, shape `shape`, not writeable

    Raises
    ------
    ModelError
        When the shape differs, or a value is not a finite number.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f'{what}: expected numbers of shape {shape}, got {value!r}') from error
    if array.shape != shape:
        raise ModelError(f'{what}: expected shape {shape}, got {array.shape}')
    if not np.isfinite(array).all():
        raise ModelError(f'{what}: expected finite numbers, got {array.tolist()}')
    array.setflags(write=False)
    return array


def checked_number(value: Any, what: str, *, may_be_infinite: bool = False) -> float:
    """Return a value as float.

    Parameters
    ----------
    value : number
    what : str
        Name for the error message.
    may_be_infinite : bool
        Whether infinity is a value, as it is for a limit.

    Raises
    ------
    ModelError
        When the value is no number, NaN, or infinite where it must not be.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f'{what}: expected a number, got {value!r}') from error
    if np.isnan(number) and may_be_infinite:
        raise ModelError(f'{what}: expected a number, got NaN')
    if not may_be_infinite and not np.isfinite(number):
        raise ModelError(f'{what}: expected a finite number, got {number}')
    return number


class Frozen:
    """Base of the frozen dataclasses: what copies or unpickles one goes through its constructor.

    The copy protocol and pickle would otherwise fill a new object behind the back of its
    constructor, with arrays that can be written to. A subclass that is a dataclass keeps its
    class and its fields. One with a constructor of its own defines ``__reduce__``.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor and its arguments, for `copy` and `pickle`."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.init}
        return _construct, (type(self), values)


def _construct(cls: type[_T], values: Mapping[str, Any]) -> _T:
    return cls(**values)


def settle_drive(part: Any, keys: Iterable[str], what: str) -> None:
    """Check the numbers of a drive, in a part with rotor_inertia and gear_ratio, and set them.

    Raises
    ------
    ModelError
        When one is no finite number, one but the ratio is negative, or a rotor has no ratio.
    """
    for key in keys:
        value = checked_number(getattr(part, key), f'{what}: {key}')
        if value < 0.0 and key != 'gear_ratio':
            raise ModelError(f'{what}: {key}: expected >= 0, got {value}')
        object.__setattr__(part, key, value)
    if part.rotor_inertia > 0.0 and part.gear_ratio == 0.0:
        raise ModelError(
            f'{what}: gear_ratio: expected other than 0 with a rotor_inertia of '
            f'{part.rotor_inertia:g}, got 0'
        )
