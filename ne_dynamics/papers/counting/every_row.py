"""Every printed row of the documents, explained."""

from __future__ import annotations

from ne_dynamics.papers.counting import rows_of_001, rows_of_003, rows_of_004
from ne_dynamics.papers.counting.explained_rows import ExplainedRow

EVERY_ROW: tuple[ExplainedRow, ...] = (*rows_of_001.ROWS, *rows_of_003.ROWS, *rows_of_004.ROWS)
"""In the order of the documents."""
