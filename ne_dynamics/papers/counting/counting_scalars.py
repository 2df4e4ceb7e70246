"""Scalars that count the operations done on them.

A :class:`Counting` is a float that enters each of its products, sums and functions into a
:class:`Tally`. After a form has run on such scalars, the tally holds its cost, term by term under
the names of the documents' tables.

There are two ways to count.

naive
    Every operation that the formulas set forth counts, multiplications by a stored 0 or 1
    included: a rotation of a vector takes 9 multiplications and 6 additions. This is how the
    authors count. What does not change with the motion (a sum of two constant vectors) is
    computed beforehand and does not count.
skipping
    A product with an exact constant 0 or 1 and a sum with an exact 0 cost nothing.

In both, a change of sign costs nothing, a subtraction is an addition, and a division is a
multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Union

from ne_dynamics.papers.counting.costs import Count
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.bookkeeping import Bookkeeping, keep_float
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction

Operand = Union['Counting', float]


class Tally:
    """Numbers of operations by term, entered by counting scalars.

    Parameters
    ----------
    skip_trivial : bool
        Whether products with 0 and 1 and sums with 0 cost nothing.
    """

    def __init__(self, skip_trivial: bool = False) -> None:
        self.skip_trivial = skip_trivial
        self._terms: dict[str, list[int]] = {}
        self.enter('')

    def enter(self, term: str) -> None:
        """Count what follows under this term."""
        self._current = self._terms.setdefault(term, [0, 0, 0])

    def number(self, value: float) -> Counting:
        """Return a counting scalar that enters its operations here."""
        return Counting(value, self)

    def numbers(self, values: Sequence[float]) -> list[Counting]:
        """Return counting scalars."""
        return [Counting(value, self) for value in values]

    def multiplication(self) -> None:
        """Enter one product or quotient."""
        self._current[0] += 1

    def addition(self) -> None:
        """Enter one sum or difference."""
        self._current[1] += 1

    def function(self) -> None:
        """Enter one function value."""
        self._current[2] += 1

    @property
    def terms(self) -> dict[str, Count]:
        """Counts by term, in the order in which the terms were entered first."""
        return {
            term: Count(*numbers) for term, numbers in self._terms.items() if term or any(numbers)
        }

    @property
    def total(self) -> Count:
        """Sum over all terms."""
        return sum(self.terms.values(), Count())


class Counting:
    """A float that counts.

    Parameters
    ----------
    value : float
    tally : Tally
    """

    __slots__ = ('tally', 'value')

    def __init__(self, value: float, tally: Tally) -> None:
        self.value = float(value)
        self.tally = tally

    @property
    def bookkeeping(self) -> Bookkeeping:
        """What a form reports here: its terms, and constants that count when counting is naive."""
        tally = self.tally
        return Bookkeeping(tally.enter, keep_float if tally.skip_trivial else tally.number)

    def __repr__(self) -> str:
        return f'Counting({self.value!r})'

    def __float__(self) -> float:
        return self.value

    def __neg__(self) -> Counting:
        return Counting(-self.value, self.tally)

    def __add__(self, other: Operand) -> Counting:
        if self.tally.skip_trivial and not isinstance(other, Counting) and other == 0.0:
            return self
        self.tally.addition()
        return Counting(self.value + float(other), self.tally)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Counting:
        return self + (-other)

    def __rsub__(self, other: Operand) -> Counting:
        return -self + other

    def __mul__(self, other: Operand) -> Operand:
        if self.tally.skip_trivial and not isinstance(other, Counting):
            if other == 0.0:
                return 0.0
            if other in (1.0, -1.0):
                return self if other == 1.0 else -self
        self.tally.multiplication()
        return Counting(self.value * float(other), self.tally)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if not isinstance(other, Counting):
            return self * (1.0 / float(other))
        self.tally.multiplication()
        return Counting(self.value / other.value, self.tally)

    def __rtruediv__(self, other: float) -> Operand:
        if self.tally.skip_trivial and other == 0.0:
            return 0.0
        self.tally.multiplication()
        return Counting(float(other) / self.value, self.tally)

    def _function(self, value: float) -> Counting:
        self.tally.function()
        return Counting(value, self.tally)

    def sin(self) -> Counting:
        """Return the sine."""
        return self._function(math.sin(self.value))

    def cos(self) -> Counting:
        """Return the cosine."""
        return self._function(math.cos(self.value))

    def sign(self) -> Counting:
        """Return -1, 0 or 1."""
        return self._function(float((self.value > 0.0) - (self.value < 0.0)))


def count_operations(
    function: InverseDynamicsFunction,
    arm: Arm,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.8),
    skip_trivial: bool = False,
    wrench: bool = False,
    **options: bool | str,
) -> Tally:
    """Count one call of an inverse dynamics.

    Parameters
    ----------
    function : callable
        The ``inverse_dynamics`` of a
        :class:`~ne_dynamics.papers.forms.formulation.Formulation`.
    arm : Arm
        E.g. from :func:`~ne_dynamics.papers.counting.counting_arm.make_counting_arm`.
    gravity : sequence of 3 floats
        In the base link's axes [m/s^2]; the documents have it along z.
    skip_trivial : bool
        See :class:`Tally`.
    wrench : bool
        Whether there is a wrench at the tip.
    **options
        For the function.
    """
    tally = Tally(skip_trivial)
    q, qd, qdd = (
        tally.numbers([shift + 0.1 * index for index in range(arm.n)]) for shift in (0.2, 0.3, 0.7)
    )
    load = tally.numbers([1.0] * 6) if wrench else None
    function(arm, q, qd, qdd, gravity=gravity, wrench=load, **options)
    return tally
