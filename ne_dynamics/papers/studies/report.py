"""The result of a study: tables, data, and the files of its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ne_dynamics.tables import markdown_table, text_table

Progress = Callable[[float, float], None]
"""``progress(done, total)``: told how far a study is."""


def ignore_progress(done: float, total: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class ReportTable:
    """Rows of text under a heading.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences of str
    note : str
        Below the table.
    in_document : bool
        Whether the Markdown of a report has the table; its text always has.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ''
    in_document: bool = True

    def text(self) -> str:
        """Return the table for a terminal."""
        body = text_table([self.columns], self.rows, is_text=True)
        return '\n'.join([self.title, body, *([self.note] if self.note else [])])

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rows = [list(map(_escaped, line)) for line in (self.columns, *self.rows)]
        note = ['', _escaped(self.note).replace('|', '\\|')] if self.note else []
        body = markdown_table(rows[0], rows[1:])
        return '\n'.join([f'**{self.title}**', '', body, *note])


def _escaped(cell: str) -> str:
    return cell.replace('*', '\\*').replace('_', '\\_')


DISAGREEMENT = 1e-9
"""That rounding does not make, by the largest number expected."""


def list_disagreements(
    found: Mapping[str, float], tolerances: Mapping[str, float]
) -> tuple[str, ...]:
    """Return what differs by more than its tolerance, or by what is no number, as sentences.

    Both are by the name of what is compared.
    """
    return tuple(
        f'{name}: expected a disagreement of at most {tolerances[name]:.0e}, got {value:.0e}'
        for name, value in found.items()
        if not value <= tolerances[name]
    )


@dataclass(frozen=True)
class StudyReport:
    """The result of a study.

    Attributes
    ----------
    name : str
        Of the subcommand.
    tables : tuple of ReportTable
    data : dict
        The same and more, for ``--json``, in SI units.
    pictures : list of Path
    disagreements : tuple of str
        What differs by more than the study's tolerance, one sentence each; empty when all is well.
    """

    name: str
    tables: tuple[ReportTable, ...]
    data: dict[str, object]
    pictures: list[Path] = field(default_factory=list)
    disagreements: tuple[str, ...] = ()

    def text(self) -> str:
        """Return everything for a terminal."""
        blocks = [table.text() for table in self.tables]
        if self.pictures:
            blocks.append('Picture: ' + ', '.join(map(str, self.pictures)))
        return '\n\n'.join(blocks)

    def markdown(self) -> str:
        """Return the tables for a document in Markdown."""
        shown = (table.markdown() for table in self.tables if table.in_document)
        return '\n\n'.join(shown) + '\n'

    def as_json(self) -> dict[str, object]:
        """Return what ``--json`` prints."""
        return {'study': self.name, **self.data, 'pictures': [str(path) for path in self.pictures]}
