"""What a report is made of: sections of paragraphs, lists, tables and figures."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

LONGEST_TEXT = 400
"""Characters of a name or a cell that are shown; the middle of a longer one is left out."""

LONGEST_CAPTION = 80
"""The same, of the name above a figure."""


class Tone(enum.Enum):
    """How good or bad it is what a text says."""

    PLAIN = 'plain'
    GOOD = 'good'
    WARNING = 'warning'
    ERROR = 'error'


@dataclass(frozen=True)
class Paragraph:
    """A text of its own.

    Attributes
    ----------
    text : str
    tone : Tone
    """

    text: str
    tone: Tone = Tone.PLAIN
    kind: ClassVar[str] = 'paragraph'


@dataclass(frozen=True)
class Item:
    """An entry of a list: what it is about, and what is said of it.

    Attributes
    ----------
    term : str
        '' for none.
    text : str
    tone : Tone
    """

    term: str
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Items:
    """A list.

    Attributes
    ----------
    items : tuple of Item
    """

    items: tuple[Item, ...]
    kind: ClassVar[str] = 'items'


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    head : str
        With the unit of what is below it.
    is_number : bool
        Numbers stand at the right.
    """

    head: str
    is_number: bool = False


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row names it.

    Attributes
    ----------
    caption : str
    columns : tuple of Column
    rows : tuple of tuple of str
        A cell for each column.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    kind: ClassVar[str] = 'table'


@dataclass(frozen=True)
class Figure:
    """A picture.

    Attributes
    ----------
    title : str
        Above it.
    svg : str
        What :func:`~ne_dynamics.report_page.chart.draw_svg` returned.
    alternative : str
        What is to be seen, for those who do not see it.
    """

    title: str
    svg: str
    alternative: str


@dataclass(frozen=True)
class LegendEntry:
    """What a colour stands for.

    Attributes
    ----------
    colour : str
        Of :data:`~ne_dynamics.report_page.chart.PALETTE`.
    text : str
    mark : str
        'line', 'dashes', 'area' or 'dot'.
    """

    colour: str
    text: str
    mark: str = 'line'


@dataclass(frozen=True)
class Figures:
    """Pictures that share a legend, beside one another where there is room.

    Attributes
    ----------
    figures : tuple of Figure
    legend : tuple of LegendEntry
    """

    figures: tuple[Figure, ...]
    legend: tuple[LegendEntry, ...] = ()
    kind: ClassVar[str] = 'figures'


Block = Paragraph | Items | Table | Figures


@dataclass(frozen=True)
class Section:
    """A part with a heading.

    Attributes
    ----------
    heading : str
    blocks : tuple of Block
    """

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes
    ----------
    title : str
    subtitle : str
        What was read.
    verdict : Paragraph
        What came out, in a sentence.
    sections : tuple of Section
    footer : str
        Who wrote it, and when.
    """

    title: str
    subtitle: str
    verdict: Paragraph
    sections: tuple[Section, ...]
    footer: str = ''


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text without its middle where it is longer than that."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f'{text[: longest - end - 1]}\N{HORIZONTAL ELLIPSIS}{text[-end:]}'
