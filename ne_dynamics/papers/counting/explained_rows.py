"""A printed row and where its figures come from: measured, derived or impossible."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.papers.counting.measured_costs import CountSetting
from ne_dynamics.papers.counting.printed_tables import TABLES, TOTAL
from ne_dynamics.papers.counting.sources import Source, printed_rows, summed_terms

MEASURED, DERIVED, IMPOSSIBLE = 'measured', 'derived', 'impossible'


@dataclass(frozen=True)
class ExplainedRow:
    """A printed row and where its figures come from.

    Attributes
    ----------
    table, row : str
        As in :mod:`~ne_dynamics.papers.counting.printed_tables`.
    sources : tuple of Source
        Their sum is what is printed; empty when nothing gives it.
    why : str
        How a derivation is meant, where the print differs from what the work takes, or why nothing
        gives it.
    ours : tuple of Source
        What does the same work in the code, where that costs another number of operations; their
        sum is shown beside the print.
    """

    table: str
    row: str
    sources: tuple[Source, ...] = ()
    why: str = ''
    ours: tuple[Source, ...] = ()

    @property
    def status(self) -> str:
        """Measured: the forms, run, give the print. Derived: it follows. Impossible: neither."""
        if not self.sources:
            return IMPOSSIBLE
        return MEASURED if all(source.is_measured for source in self.sources) else DERIVED


def terms(setting: CountSetting, *names: str) -> tuple[Source, ...]:
    """Return terms of a form as the source of a row; all of them when none is named."""
    return (summed_terms(setting, *names),)


def rows_by_term(table: str, setting: CountSetting, *names: str) -> tuple[ExplainedRow, ...]:
    """Return rows that are measured as the terms of the same names."""
    return tuple(ExplainedRow(table, name, terms(setting, name)) for name in names)


def sum_of_rows(table: str) -> tuple[Source, ...]:
    """Return all rows of a table but the total as the source of the total."""
    return (printed_rows(table, *(name for name in TABLES[table] if name != TOTAL)),)
