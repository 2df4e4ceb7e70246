"""Check what is handed to the methods of :class:`~ne_dynamics.dynamics.Dynamics`.

Every path of a call goes through the same checks: shapes first, numbers that are not finite by
name and place, an array for the result last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray

_FLOAT = np.dtype(np.float64)


class Given(NamedTuple):
    """An argument as it was given.

    Attributes
    ----------
    name : str
    value : array-like
    size : int
        Scalars of one sample.
    serves_all : bool
        Whether a single one may go with a batch.
    is_nonnegative : bool
        Whether no number of it may be below zero.
    """

    name: str
    value: ArrayLike
    size: int
    serves_all: bool = False
    is_nonnegative: bool = False


def _is_masked(value: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Return whether a value is a masked array.

    NumPy loads ``np.ma`` when it is named, a tenth of the time to the first result: only for what
    is more than a plain array.
    """
    return (
        isinstance(value, np.ndarray)
        and type(value) is not np.ndarray
        and isinstance(value, np.ma.MaskedArray)
    )


def read_array(value: ArrayLike, name: str) -> FloatArray:
    """Return real numbers as an array of whatever shape, or raise an error that names them.

    Raises
    ------
    InputError
        On anything but real numbers, and on masked arrays: their mask would be lost.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT:
        return value
    if _is_masked(value):
        raise InputError(
            f'{name}: expected an array without mask, got a masked array of shape '
            f'{value.shape} with {int(np.sum(np.ma.getmaskarray(value)))} masked entries'
        )
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different length
        raise InputError(f'{name}: expected an array of numbers, got {value!r}') from error
    if array.dtype.kind not in 'fiu':
        raise InputError(
            f'{name}: expected real numbers, got {array.dtype.name}: {np.array2string(array)}'
        )
    with np.errstate(over='ignore'):  # what is too large is not finite then
        return array.astype(np.float64, copy=False)


def read_rows(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return an array of shape (N, count), or raise an error that names the argument.

    Raises
    ------
    InputError
        On anything but real numbers of shape (count,) or (N, count), and on masked arrays: their
        mask would be lost.
    """
    array = read_array(value, name)
    if array.ndim not in (1, 2) or array.shape[-1] != count:
        raise InputError(f'{name}: expected shape ({count},) or (N, {count}), got {array.shape}')
    return array.reshape(-1, count)


def require_finite(given: Sequence[Given], arrays: Sequence[FloatArray]) -> None:
    """Raise an error that names the argument and the place of a number that it does not take.

    Raises
    ------
    InputError
        When a number is not finite, or is negative where it must not be.
    """
    for argument, array in zip(given, arrays, strict=True):
        # A square sum is finite only when its terms are; one that is not is looked at closely.
        if not math.isfinite(np.vdot(array, array)) and not np.isfinite(array).all():
            raise _make_number_error(argument, array, ~np.isfinite(array), 'finite numbers')
        if argument.is_nonnegative and (array < 0.0).any():
            raise _make_number_error(argument, array, array < 0.0, 'numbers >= 0')


def _make_number_error(
    given: Given, array: FloatArray, is_wrong: NDArray[np.bool_], expected: str
) -> InputError:
    """Return the error for the first number of an argument that is wrong."""
    row, column = (int(i) for i in np.argwhere(is_wrong)[0])
    index = (column,) if np.ndim(given.value) == 1 else (row, column)
    return InputError(
        f'{given.name}: expected {expected}, got {array[row, column]} at index {index}'
    )


def check_rows(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return a finite (N, count) array, or raise an error that names the argument.

    Raises
    ------
    InputError
    """
    array = read_rows(value, name, count)
    require_finite([Given(name, value, count)], [array])
    return array


def check_vector(value: ArrayLike, name: str, count: int) -> FloatArray:
    """Return a finite (count,) array, or raise an error that names the argument.

    Raises
    ------
    InputError
    """
    vector = read_array(value, name)
    if vector.shape != (count,):
        raise InputError(f'{name}: expected shape ({count},), got {vector.shape}')
    require_finite([Given(name, value, count)], [vector[np.newaxis]])
    return vector


def match_samples(given: Sequence[Given]) -> tuple[list[FloatArray], bool]:
    """Check shapes and bring arguments to one number of samples, set by the first.

    Parameters
    ----------
    given : sequence of Given

    Returns
    -------
    list of arrays, shape (N, count)
    bool
        Whether there is one sample of shape (count,).

    Raises
    ------
    InputError
        When shapes do not go together. Nothing is repeated but a single one of what may serve
        all samples.
    """
    arrays = [read_rows(each.value, each.name, each.size) for each in given]
    first, first_value = given[0].name, given[0].value
    dimensions = _count_dimensions(first_value)
    single = dimensions == 1
    samples = arrays[0].shape[0]
    for index, (name, value, count, serves_all, _) in enumerate(given):
        own = _count_dimensions(value)
        if own == dimensions and arrays[index].shape[0] == samples:
            continue
        if own == 1 and serves_all:
            arrays[index] = np.broadcast_to(arrays[index], (samples, count))
            continue
        expected = f'({count},)' if single else f'({samples}, {count})'
        raise InputError(
            f'{name}: expected shape {expected} to go with {first} of shape '
            f'{np.shape(first_value)}, got {np.shape(value)}'
        )
    return arrays, single


def _count_dimensions(value: ArrayLike) -> int:
    return value.ndim if type(value) is np.ndarray else np.ndim(value)


def check_result(out: object, shape: tuple[int, ...], arrays: Sequence[FloatArray]) -> FloatArray:
    """Return the array that takes a result, or raise an error that says what is wrong with it.

    Parameters
    ----------
    out : array
    shape : tuple of int
        Of the result.
    arrays : sequence of arrays
        The arguments.

    Raises
    ------
    InputError
        When it is no writeable float64 array of that shape in C order, or overlaps an argument.
    """
    if not isinstance(out, np.ndarray) or _is_masked(out):
        raise InputError(f'out: expected an array, got {type(out).__name__}')
    if out.dtype != _FLOAT or not out.dtype.isnative:
        raise InputError(f'out: expected dtype float64, got {out.dtype}')
    if out.shape != shape:
        raise InputError(f'out: expected shape {shape}, got {out.shape}')
    flags = out.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise InputError(
            'out: expected a writeable, aligned array in C order, got one that is '
            + ', '.join(
                text
                for text, holds in (
                    ('read-only', not flags.writeable),
                    ('not aligned', not flags.aligned),
                    ('not contiguous', not flags.c_contiguous),
                )
                if holds
            )
        )
    if any(np.may_share_memory(out, array) for array in arrays):
        raise InputError('out: expected memory of its own, got an array that overlaps an argument')
    return np.asarray(out)  # a subclass may index otherwise
