"""Where a count comes from: a run of a form, a number of elementary operations, another row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from ne_dynamics.papers.counting.costs import Cost, Count, sum_costs
from ne_dynamics.papers.counting.elementary_costs import measure_elementary_cost
from ne_dynamics.papers.counting.measured_costs import CostMeter, CountSetting, measure_gains
from ne_dynamics.papers.counting.polynomials import Polynomial, fit, polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES


class Source(Protocol):
    """A share of a count."""

    @property
    def measured(self) -> bool:
        """Whether code of a form was run to get it."""

    def cost(self, meter: CostMeter) -> Cost:
        """Return multiplications and additions."""

    def text(self) -> str:
        """Return what it is, for a table."""


@dataclass(frozen=True)
class SummedTerms:
    """Terms of a form that was run, summed.

    Attributes
    ----------
    setting : CountSetting
    names : tuple of str
        Empty for all of them.
    """

    setting: CountSetting
    names: tuple[str, ...] = ()
    measured = True

    def cost(self, meter: CostMeter) -> Cost:
        """Return what was measured."""
        return meter.fit_cost(self.setting, self.names)

    def text(self) -> str:
        """Return form and terms."""
        return f'{self.setting.text()}: {" + ".join(self.names) or "all"}'


@dataclass(frozen=True)
class OneLink:
    """A term of a form, of one link: what the arm with this link takes more than without it.

    Attributes
    ----------
    setting : CountSetting
    name : str
    link : int
        From 1.
    """

    setting: CountSetting
    name: str
    link: int
    measured = True

    def cost(self, meter: CostMeter) -> Cost:
        """Return what was measured."""
        with_it, without = (
            meter.take_tally(self.setting, n).terms[self.name] if n > 0 else Count()
            for n in (self.link, self.link - 1)
        )
        more = with_it - without
        return Cost(polynomial(more.multiplications), polynomial(more.additions))

    def text(self) -> str:
        """Return form, term and link."""
        return f'{self.setting.text()}: {self.name} of link {self.link}'


@dataclass(frozen=True)
class GainTerms:
    """The acceleration of the control law of 003, with diagonal gains."""

    measured = True

    def cost(self, meter: CostMeter) -> Cost:
        """Return what was measured."""
        return measure_gains(meter.largest)

    def text(self) -> str:
        """Return what it is."""
        return 'computed_torque_law, zeros of diagonal gains skipped'


@dataclass(frozen=True)
class Done:
    """An elementary operation, so many times.

    Attributes
    ----------
    times : Polynomial
        Negative for what a document leaves out.
    what : str
        Of :data:`~ne_dynamics.papers.counting.elementary_costs.ELEMENTARY`.
    """

    times: Polynomial
    what: str
    measured = False

    def cost(self, meter: CostMeter) -> Cost:
        """Return the number of times by what was measured of one."""
        one = measure_elementary_cost(self.what)
        return Cost(self.times.scaled(one.multiplications), self.times.scaled(one.additions))

    def text(self) -> str:
        """Return number, operation and what one costs."""
        one = measure_elementary_cost(self.what)
        times = str(self.times)
        times = f'({times})' if ' + ' in times or ' - ' in times else times
        return f'{times} x {self.what} ({one.text()})'


@dataclass(frozen=True)
class PrintedRows:
    """Other printed rows, summed.

    Attributes
    ----------
    table : str
    names : tuple of str
    at : int, optional
        Number of joints to put in.
    """

    table: str
    names: tuple[str, ...]
    at: int | None = None
    measured = False

    def cost(self, meter: CostMeter) -> Cost:
        """Return what is printed."""
        cost = sum_costs(TABLES[self.table][name] for name in self.names)
        if self.at is None:
            return cost
        return Cost(*(polynomial(formula(self.at)) for formula in cost))

    def text(self) -> str:
        """Return table and rows."""
        names = ' + '.join(self.names) if len(self.names) < 3 else 'its rows'
        return f'{self.table}, {names}' + ('' if self.at is None else f' at n = {self.at}')


def count_times(index_sets: Callable[[int], Iterable[object]]) -> Polynomial:
    """Return how often a sum or loop over joints is entered, as a formula, by enumerating it.

    Parameters
    ----------
    index_sets : callable
        Returns the index sets for n joints, one for each time.
    """
    return fit({n: sum(1 for _ in index_sets(n)) for n in range(1, 9)})


def add_costs(sources: Iterable[Source], meter: CostMeter) -> Cost:
    """Return the sum of the costs of all sources."""
    return sum_costs(source.cost(meter) for source in sources)
