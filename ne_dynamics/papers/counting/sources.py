"""Where a count comes from: a run of a form, a number of elementary operations, another row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.papers.counting.costs import Cost, sum_costs
from ne_dynamics.papers.counting.elementary_costs import measure_elementary_cost
from ne_dynamics.papers.counting.measured_costs import CostMeter, CountSetting, measure_gains
from ne_dynamics.papers.counting.polynomials import Polynomial, fit, polynomial
from ne_dynamics.papers.counting.printed_tables import TABLES


class Source(NamedTuple):
    """A share of a count.

    Attributes
    ----------
    text : str
        What it is, for a table.
    measure : callable
        Returns multiplications and additions with a meter.
    is_measured : bool
        Whether code of a form is run to get them.
    is_printed : bool
        Whether they are those of other printed rows.
    """

    text: str
    measure: Callable[[CostMeter], Cost]
    is_measured: bool = False
    is_printed: bool = False


def summed_terms(setting: CountSetting, *names: str) -> Source:
    """Return terms of a form that is run, summed; without names all of them."""
    text = f'{setting.text()}: {" + ".join(names) or "all"}'
    return Source(text, lambda meter: meter.fit_cost(setting, names), is_measured=True)


def one_link(setting: CountSetting, name: str, link: int) -> Source:
    """Return a term of a form, of one link: what the arm with it takes more than without it.

    Links are counted from 1.
    """

    def measure(meter: CostMeter) -> Cost:
        with_it, without = (
            meter.take_tally(setting, n).terms[name] if n > 0 else OperationCount()
            for n in (link, link - 1)
        )
        more = with_it - without
        return Cost(polynomial(more.multiplications), polynomial(more.additions))

    return Source(f'{setting.text()}: {name} of link {link}', measure, is_measured=True)


GAIN_TERMS = Source(
    'computed_torque_law, zeros of diagonal gains skipped',
    lambda meter: measure_gains(meter.largest),
    is_measured=True,
)
"""The acceleration of the control law of 003, with diagonal gains."""


def done(times: Polynomial, what: str) -> Source:
    """Return an elementary operation, so many times.

    Parameters
    ----------
    times : Polynomial
        Negative for what a document leaves out.
    what : str
        Of :data:`~ne_dynamics.papers.counting.elementary_costs.ELEMENTARY`.
    """
    one = measure_elementary_cost(what)
    shown = f'({times})' if ' + ' in str(times) or ' - ' in str(times) else str(times)
    cost = Cost(times.scaled(one.multiplications), times.scaled(one.additions))
    return Source(f'{shown} x {what} ({one})', lambda _: cost)


def printed_rows(table: str, *names: str, at: int | None = None) -> Source:
    """Return other printed rows, summed; with a number of joints put in if one is given."""
    text = f'{table}, {" + ".join(names) if len(names) < 3 else "its rows"}'
    cost = sum_costs(TABLES[table][name] for name in names)
    if at is not None:
        text += f' at n = {at}'
        cost = Cost(*(polynomial(formula(at)) for formula in cost))
    return Source(text, lambda _: cost, is_printed=True)


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
    return sum_costs(source.measure(meter) for source in sources)
