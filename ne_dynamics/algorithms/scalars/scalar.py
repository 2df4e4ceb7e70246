"""What the algorithms compute with: anything that has the arithmetic of a number."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar


class Scalar(Protocol):
    """A float, a NumPy array of one entry a sample, or a symbol.

    Results are scalars of the same kind, or floats where symbols fold.
    """

    # The operand is Any: a float takes floats, an array floats and arrays, a symbol floats and
    # symbols, and no type of an operand is right for all three. What meets in the algorithms is
    # one kind of scalar and floats.

    def __add__(self, other: Any, /) -> Scalar: ...

    def __radd__(self, other: Any, /) -> Scalar: ...

    def __sub__(self, other: Any, /) -> Scalar: ...

    def __rsub__(self, other: Any, /) -> Scalar: ...

    def __mul__(self, other: Any, /) -> Scalar: ...

    def __rmul__(self, other: Any, /) -> Scalar: ...

    def __truediv__(self, other: Any, /) -> Scalar: ...

    def __rtruediv__(self, other: Any, /) -> Scalar: ...

    def __neg__(self) -> Scalar: ...


class SymbolicScalar(Scalar, Protocol):
    """A scalar that is neither a float nor an array: it brings its own functions."""

    def sin(self) -> Scalar:
        """Return the sine."""
        ...

    def cos(self) -> Scalar:
        """Return the cosine."""
        ...

    def sign(self) -> Scalar:
        """Return -1, 0 or 1."""
        ...

    def exp(self) -> Scalar:
        """Return the exponential."""
        ...

    def tanh(self) -> Scalar:
        """Return the hyperbolic tangent."""
        ...

    def sqrt(self) -> Scalar:
        """Return the square root."""
        ...

    def absolute(self) -> Scalar:
        """Return the magnitude."""
        ...

    def nearest(self) -> Scalar:
        """Return the nearest whole number, of two the even one."""
        ...

    def clamp(self, limit: Any, /) -> Scalar:
        """Return the scalar, held within plus and minus the magnitude of a limit."""
        ...

    def clamp_number(self, number: float, /) -> Scalar:
        """Return a number, held within plus and minus the magnitude of the scalar."""
        ...


Vector = list[Scalar]
"""Scalars; of a vector in space three."""

Matrix = list[list[Scalar]]
"""Rows of scalars."""

AnyScalar = TypeVar('AnyScalar', bound=Scalar)
"""The kind of scalar that a caller computes with; what it gets back may have become a float."""
