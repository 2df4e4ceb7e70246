"""What a form tells about itself to a scalar that keeps books, e.g. one that counts.

A form names the row of the document's table that its next lines belong to, and the constants
that stand in an array beside changing numbers. Floats, arrays and symbols take no notice. A
scalar that does has an attribute ``bookkeeping``, a :class:`Bookkeeping`, as
:class:`~ne_dynamics.papers.counting.counting_scalars.Counting` has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ne_dynamics.papers.forms.generic_scalars import ConstantMaker, Scalar


class Bookkeeping(NamedTuple):
    """Where a form reports its terms and its constants.

    Attributes
    ----------
    term : callable
        ``term(name)``: what follows belongs to this row of the document's table.
    number : callable
        ``number(value)``: the scalar for a constant that stands in an array beside changing
        numbers.
    """

    term: Callable[[str], None]
    number: ConstantMaker


def bookkeeping(*scalars: Scalar) -> Bookkeeping:
    """Return the bookkeeping of the first scalar that has one, and one without effect if none."""
    for scalar in scalars:
        books = getattr(scalar, 'bookkeeping', None)
        if isinstance(books, Bookkeeping):
            return books
    return _NO_BOOKKEEPING


def keep_float(value: float) -> float:
    """Return a constant as it is."""
    return value


def _ignore_term(name: str) -> None:
    pass


_NO_BOOKKEEPING = Bookkeeping(_ignore_term, keep_float)
