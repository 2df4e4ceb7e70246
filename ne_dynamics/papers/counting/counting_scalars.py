"""Scalars that count the operations done on them.

A :class:`Counting` is a float that enters each of its products, sums and functions into a
:class:`Tally`. After a form has run on such scalars, the tally holds its cost, term by term under
the names of the documents' tables. A scalar also remembers the term that it comes from, so that
the tally knows which term waits for which: neither costs nor arrows are written down by hand.

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

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.task_graph import GraphTask, TaskGraph
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.bookkeeping import Bookkeeping, keep_float
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction

Operand = Union['Counting', float]

PRODUCT, SUM, FUNCTION = range(3)
"""Kinds of operations, by their place in a count."""


class Tally:
    """Numbers of operations by term, entered by counting scalars.

    Parameters
    ----------
    skip_trivial : bool
        Whether products with 0 and 1 and sums with 0 cost nothing.
    """

    def __init__(self, skip_trivial: bool = False) -> None:
        self.skip_trivial = skip_trivial
        self._names: list[str] = []
        self._costs: list[list[int]] = []
        self._before: list[set[int]] = []
        self.enter('')

    def enter(self, term: str) -> None:
        """Count what follows under this term, as a task of its own."""
        self._names.append(term)
        self._costs.append([0, 0, 0])
        self._before.append(set())

    def number(self, value: float) -> Counting:
        """Return a counting scalar that enters its operations here, and waits for nothing."""
        return Counting(value, self)

    def keep(self, value: Operand) -> Counting:
        """Return a stored constant as a counting scalar."""
        return value if isinstance(value, Counting) else self.number(value)

    def numbers(self, values: Sequence[float]) -> list[Counting]:
        """Return counting scalars."""
        return [Counting(value, self) for value in values]

    def operate(self, kind: int, value: float, *operands: Operand) -> Counting:
        """Enter one operation of a kind, and return its result."""
        task = len(self._names) - 1
        self._costs[task][kind] += 1
        for each in operands:
            if isinstance(each, Counting) and each.origin not in (None, task):
                self._before[task].add(each.origin)
        return Counting(value, self, task)

    @property
    def terms(self) -> dict[str, OperationCount]:
        """Counts by term, in the order in which the terms were entered first."""
        terms: dict[str, OperationCount] = {}
        for name, cost in zip(self._names, self._costs, strict=True):
            terms[name] = terms.get(name, OperationCount()) + OperationCount(*cost)
        return {name: cost for name, cost in terms.items() if name or cost != OperationCount()}

    @property
    def total(self) -> OperationCount:
        """Sum over all terms."""
        return OperationCount(*map(sum, zip(*self._costs, strict=True)))

    def build_graph(self) -> TaskGraph:
        """Return the tasks that cost something: what was done from one term's name to the next."""
        kept = [index for index, cost in enumerate(self._costs) if any(cost)]
        place = {index: position for position, index in enumerate(kept)}
        return TaskGraph(
            tuple(
                GraphTask(
                    self._names[index],
                    OperationCount(*self._costs[index]),
                    tuple(sorted(place[other] for other in self._before[index])),
                )
                for index in kept
            )
        )


class Counting:
    """A float that counts.

    Parameters
    ----------
    value : float
    tally : Tally
    origin : int or None
        Index of the task that it comes from; None for inputs and constants.
    """

    __slots__ = ('origin', 'tally', 'value')

    def __init__(self, value: float, tally: Tally, origin: int | None = None) -> None:
        self.value = float(value)
        self.tally = tally
        self.origin = origin

    @property
    def bookkeeping(self) -> Bookkeeping:
        """What a form reports here: its terms, and constants that count when counting is naive."""
        tally = self.tally
        return Bookkeeping(tally.enter, keep_float if tally.skip_trivial else tally.keep)

    def __repr__(self) -> str:
        return f'Counting({self.value!r})'

    def __float__(self) -> float:
        return self.value

    def __neg__(self) -> Counting:
        return Counting(-self.value, self.tally, self.origin)

    def __add__(self, other: Operand) -> Counting:
        if self.tally.skip_trivial and not isinstance(other, Counting) and other == 0.0:
            return self
        return self.tally.operate(SUM, self.value + float(other), self, other)

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
        return self.tally.operate(PRODUCT, self.value * float(other), self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if not isinstance(other, Counting):
            return self * (1.0 / float(other))
        return self.tally.operate(PRODUCT, self.value / other.value, self, other)

    def __rtruediv__(self, other: float) -> Operand:
        if self.tally.skip_trivial and other == 0.0:
            return 0.0
        return self.tally.operate(PRODUCT, float(other) / self.value, self)

    def sin(self) -> Counting:
        """Return the sine."""
        return self.tally.operate(FUNCTION, math.sin(self.value), self)

    def cos(self) -> Counting:
        """Return the cosine."""
        return self.tally.operate(FUNCTION, math.cos(self.value), self)

    def sign(self) -> Counting:
        """Return -1, 0 or 1."""
        sign = float((self.value > 0.0) - (self.value < 0.0))
        return self.tally.operate(FUNCTION, sign, self)


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
