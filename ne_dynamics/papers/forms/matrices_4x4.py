"""Arithmetic of 4x4 matrices, rows of generic scalars, every entry computed."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar, Scalars


def multiply_4x4(a: Sequence[Scalars], b: Sequence[Scalars]) -> Matrix:
    """Return the product of two 4x4 matrices, rows."""
    columns = list(zip(*b, strict=True))
    return [[r[0] * c[0] + r[1] * c[1] + r[2] * c[2] + r[3] * c[3] for c in columns] for r in a]


def add_4x4(a: Matrix, b: Matrix) -> Matrix:
    """Return a + b."""
    return [
        [x + y for x, y in zip(first, second, strict=True)]
        for first, second in zip(a, b, strict=True)
    ]


def scale_4x4(factor: Scalar, a: Matrix) -> Matrix:
    """Return factor * a."""
    return [[factor * x for x in row] for row in a]


def transpose_4x4(a: Matrix) -> Matrix:
    """Return a^t."""
    return [list(column) for column in zip(*a, strict=True)]


def trace_4x4(a: Matrix) -> Scalar:
    """Return Tr{a}."""
    return a[0][0] + a[1][1] + a[2][2] + a[3][3]


def trace_of_product(a: Matrix, b: Matrix) -> Scalar:
    """Return Tr{a b^t}: only the diagonal is formed (001 appendix)."""
    return add_up(
        [x * y for row, other in zip(a, b, strict=True) for x, y in zip(row, other, strict=True)]
    )


def add_up(shares: Scalars) -> Scalar:
    """Return the sum, which takes one addition less than there are shares."""
    total = shares[0]
    for share in shares[1:]:
        total = total + share
    return total
