"""A printed row and where its figures come from: measured, derived or impossible."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.papers.counting.sources import Source

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
        return MEASURED if all(source.measured for source in self.sources) else DERIVED
