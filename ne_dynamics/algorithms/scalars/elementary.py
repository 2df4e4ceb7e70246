"""The few functions that generic scalars need beyond + - * /.

A generic scalar is a ``float``, a NumPy array (one entry a sample), or any object with the
arithmetic operators and methods ``sin``, ``cos``, ``sign``, ``exp``, ``tanh``, ``sqrt``,
``absolute``, ``nearest`` and ``clamp`` (see :mod:`ne_dynamics.codegen.symbols`). Vectors are lists
of three scalars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ne_dynamics.algorithms.scalars.scalar import Scalar, SymbolicScalar


def sin(x: Scalar) -> Scalar:
    """Return the sine of a generic scalar."""
    if isinstance(x, (int, float)):
        return math.sin(x)
    return np.sin(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).sin()


def cos(x: Scalar) -> Scalar:
    """Return the cosine of a generic scalar."""
    if isinstance(x, (int, float)):
        return math.cos(x)
    return np.cos(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).cos()


def sign(x: Scalar) -> Scalar:
    """Return -1, 0 or 1; NaN stays."""
    if isinstance(x, (int, float)):
        return float(x > 0) - float(x < 0) if x == x else x
    return np.sign(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).sign()


def exp(x: Scalar) -> Scalar:
    """Return the exponential of a generic scalar; of a float infinity when it overflows."""
    if isinstance(x, (int, float)):
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf
    return np.exp(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).exp()


def tanh(x: Scalar) -> Scalar:
    """Return the hyperbolic tangent of a generic scalar."""
    if isinstance(x, (int, float)):
        return math.tanh(x)
    return np.tanh(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).tanh()


def sqrt(x: Scalar) -> Scalar:
    """Return the square root of a generic scalar; NaN of what is negative."""
    if isinstance(x, (int, float)):
        return math.nan if x < 0.0 else math.sqrt(x)
    return np.sqrt(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).sqrt()


def absolute(x: Scalar) -> Scalar:
    """Return the magnitude of a generic scalar."""
    if isinstance(x, (int, float)):
        return math.fabs(x)
    return np.abs(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).absolute()


def nearest(x: Scalar) -> Scalar:
    """Return the nearest whole number, of two the even one; what is not finite stays."""
    if isinstance(x, (int, float)):
        return float(round(x)) if math.isfinite(x) else x
    return np.rint(x) if isinstance(x, np.ndarray) else cast(SymbolicScalar, x).nearest()


def clamp(x: Scalar, limit: Scalar) -> Scalar:
    """Return x, held within plus and minus the magnitude of a limit.

    An x that is not finite, and a limit that is NaN, give NaN: what is broken does not become the
    limit. An infinite limit is none.
    """
    if isinstance(x, np.ndarray) or isinstance(limit, np.ndarray):
        value, size = cast(Any, x), np.abs(cast(Any, limit))
        held = np.minimum(np.maximum(value, -size), size)
        return cast(Scalar, np.where(np.isfinite(value), held, np.nan))
    if not isinstance(x, (int, float)):
        return cast(SymbolicScalar, x).clamp(limit)
    if not isinstance(limit, (int, float)):
        return cast(SymbolicScalar, limit).clamp_number(x)
    size = math.fabs(limit)
    if not math.isfinite(x):
        return math.nan
    if math.isnan(size) or x > size:
        return size
    return -size if x < -size else x


def label(values: Sequence[Scalar], stem: str) -> list[Scalar]:
    """Name a vector for the generated text (``stem_x`` ...); other scalars pass unchanged."""
    return [
        value.labelled(f'{stem}_{axis}') if hasattr(value, 'labelled') else value
        for value, axis in zip(values, 'xyz', strict=True)
    ]


def add(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Return a + b."""
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def scale(factor: Scalar, a: Sequence[Scalar]) -> list[Scalar]:
    """Return factor * a."""
    return [factor * a[0], factor * a[1], factor * a[2]]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Return a x b."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def multiply(matrix: Sequence[Sequence[Scalar]], a: Sequence[Scalar]) -> list[Scalar]:
    """Return the product of a 3x3 matrix (rows) and a vector."""
    return [dot(row, a) for row in matrix]
