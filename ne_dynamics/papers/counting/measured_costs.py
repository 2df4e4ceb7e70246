"""What a form costs as a formula in the number of joints, measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.counting.counting_scalars import Count, Tally, count_operations
from ne_dynamics.papers.counting.polynomials import Polynomial, fit
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction

FITTED_FROM = 2
"""A recursion's first link may be cheaper than its share."""

GAINS = Count(2, 4)
"""What 003 adds for each joint: qdd + Kv ed + Kp e with diagonal gains."""


class Cost(NamedTuple):
    """Multiplications and additions as polynomials in the number of joints."""

    multiplications: Polynomial
    additions: Polynomial

    def text(self) -> str:
        """Return both formulas."""
        return f'{self.multiplications}; {self.additions}'

    def at(self, n: int) -> str:
        """Return both numbers for n joints."""
        return f'{self.multiplications(n)}; {self.additions(n)}'


class CostMeter:
    """Counts what the forms cost, once for each arm and way of counting.

    Parameters
    ----------
    largest : int
        Number of joints up to which formulas are fitted.
    """

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self._tallies: dict[tuple[str, int, bool, bool, bool], Tally] = {}

    def take_tally(
        self,
        name: str,
        n: int,
        principal_axes: bool = False,
        as_published: bool = False,
        skip_trivial: bool = False,
    ) -> Tally:
        """Return the tally of one inverse dynamics.

        Parameters
        ----------
        name : str
            Of the form.
        n : int
            Number of joints.
        principal_axes : bool
            Whether inertia tensors are diagonal.
        as_published : bool
            Whether the tip wrench, and positions and velocities where the form gives them, count.
        skip_trivial : bool
            Whether products with 0 and 1 and sums with 0 cost nothing.
        """
        key = (name, n, principal_axes, as_published, skip_trivial)
        if key not in self._tallies:
            form = FORMULATIONS[name]
            function: InverseDynamicsFunction = form.inverse_dynamics
            if as_published and name == 'angeles':
                function = partial(function, with_positions=True)
            self._tallies[key] = count_operations(
                function,
                make_counting_arm(form.covers, n, principal_axes),
                wrench=as_published,
                skip_trivial=skip_trivial,
            )
        return self._tallies[key]

    def count(self, name: str, n: int, skip_trivial: bool = False) -> Count:
        """Return all operations of one inverse dynamics, see :meth:`take_tally`."""
        return self.take_tally(name, n, skip_trivial=skip_trivial).total

    def fit_cost(
        self,
        name: str,
        terms: Sequence[str] = (),
        principal_axes: bool = False,
        as_published: bool = False,
        with_gains: bool = False,
    ) -> Cost:
        """Return formulas that meet the counts of every number of joints.

        Parameters
        ----------
        name, principal_axes, as_published
            As for :meth:`take_tally`.
        terms : sequence of str
            Of the form, summed; empty for all of them.
        with_gains : bool
            Whether :data:`GAINS` are added.

        Raises
        ------
        InputError
            When no polynomial meets the counts.
        """
        counts = {}
        for n in range(FITTED_FROM, self.largest + 1):
            tally = self.take_tally(name, n, principal_axes, as_published)
            parts = [tally.terms.get(term, Count()) for term in terms] or [tally.total]
            if with_gains:
                parts.append(Count(GAINS.multiplications * n, GAINS.additions * n))
            counts[n] = sum(parts, Count())
        return Cost(
            fit({n: count.multiplications for n, count in counts.items()}),
            fit({n: count.additions for n, count in counts.items()}),
        )
