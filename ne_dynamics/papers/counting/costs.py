"""Numbers of operations, for one arm and as formulas in the number of joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ne_dynamics.papers.counting.polynomials import Polynomial, fit
from ne_dynamics.papers.thresholds import FORMS


@dataclass(frozen=True)
class Count:
    """Numbers of operations.

    Attributes
    ----------
    multiplications, additions : int
        Divisions and subtractions included.
    functions : int
        Sines, cosines, signs and square roots.
    """

    multiplications: int = 0
    additions: int = 0
    functions: int = 0

    def __add__(self, other: Count) -> Count:
        """Return the sum of two counts."""
        return Count(
            self.multiplications + other.multiplications,
            self.additions + other.additions,
            self.functions + other.functions,
        )

    def __sub__(self, other: Count) -> Count:
        """Return the difference of two counts."""
        return Count(
            self.multiplications - other.multiplications,
            self.additions - other.additions,
            self.functions - other.functions,
        )

    @property
    def arithmetic(self) -> int:
        """Multiplications and additions together."""
        return self.multiplications + self.additions

    def text(self) -> str:
        """Return multiplications and additions."""
        return f'{self.multiplications}; {self.additions}'


class Cost(NamedTuple):
    """Multiplications and additions as polynomials in the number of joints."""

    multiplications: Polynomial
    additions: Polynomial

    def text(self) -> str:
        """Return both formulas."""
        return f'{self.multiplications}; {self.additions}'

    def for_joints(self, n: int) -> Count:
        """Return both numbers for n joints."""
        return Count(int(self.multiplications(n)), int(self.additions(n)))

    def at(self, n: int) -> str:
        """Return both numbers for n joints as a text."""
        return self.for_joints(n).text()


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    formulas = list(costs)
    return Cost(
        sum((cost.multiplications for cost in formulas), Polynomial(())),
        sum((cost.additions for cost in formulas), Polynomial(())),
    )


def fit_cost(count: Callable[[int], Count], largest: int) -> Cost:
    """Return the formulas that meet the counts of 2 to `largest` joints exactly.

    Raises
    ------
    InputError
        When no polynomial meets the counts.
    """
    counts = {n: count(n) for n in range(FORMS.fitted_from, largest + 1)}
    return Cost(
        fit({n: found.multiplications for n, found in counts.items()}),
        fit({n: found.additions for n, found in counts.items()}),
    )
