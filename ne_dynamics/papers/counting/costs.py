"""Numbers of operations as formulas in the number of joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.polynomials import Polynomial, fit

FITTED_FROM = 2
"""Joints from which costs are fitted: a recursion's first link may be cheaper."""


class Cost(NamedTuple):
    """Multiplications and additions as polynomials in the number of joints."""

    multiplications: Polynomial
    additions: Polynomial

    def __str__(self) -> str:
        """Return both formulas."""
        return f'{self.multiplications}; {self.additions}'

    def for_joints(self, n: int) -> OperationCount:
        """Return both numbers for n joints."""
        return OperationCount(int(self.multiplications(n)), int(self.additions(n)))


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    formulas = list(costs)
    return Cost(
        sum((cost.multiplications for cost in formulas), Polynomial(())),
        sum((cost.additions for cost in formulas), Polynomial(())),
    )


def fit_cost(count: Callable[[int], OperationCount], largest: int) -> Cost:
    """Return the formulas that meet the counts of 2 to `largest` joints exactly.

    Raises
    ------
    InputError
        When no polynomial meets the counts.
    """
    counts = {n: count(n) for n in range(FITTED_FROM, largest + 1)}
    return Cost(
        fit({n: found.multiplications for n, found in counts.items()}),
        fit({n: found.additions for n, found in counts.items()}),
    )
