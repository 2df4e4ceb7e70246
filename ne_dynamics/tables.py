"""How tables are written, for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def name_error_unit(is_prismatic: Iterable[bool]) -> str:
    """Return the unit of thousandths of the positions of joints: mrad, mm, or both."""
    units = {'mm' if one else 'mrad' for one in is_prismatic}
    return ' or '.join(sorted(units, reverse=True))


def align_lines(
    heading: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], *, is_text: bool = False
) -> list[str]:
    """Return lines with aligned columns, two spaces between them.

    Parameters
    ----------
    heading : sequence of sequence of str
        Lines above, each with as many cells as the rows.
    rows : sequence of sequence of str
    is_text : bool
        All columns to the left; otherwise all but the first to the right, as numbers are.

    Returns
    -------
    list of str
    """
    lines = [*heading, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        '  '.join(
            cell.ljust(width) if is_text or index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def text_table(
    heading: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], *, is_text: bool = False
) -> str:
    """Return what :func:`align_lines` gives as one text."""
    return '\n'.join(align_lines(heading, rows, is_text=is_text))


def markdown_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the lines of a table in Markdown.

    Parameters
    ----------
    heading : sequence of str
    rows : iterable of sequence of str

    Returns
    -------
    str
    """
    lines = [heading, ['---'] * len(heading), *rows]
    cells = ([cell.replace('|', '\\|') for cell in line] for line in lines)
    return '\n'.join(f'| {" | ".join(line)} |' for line in cells)
