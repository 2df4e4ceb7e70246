"""A report as one HTML file: text, tables and pictures, without a script and without a network.

``page`` says what a report is made of, ``chart`` turns a drawing into SVG that follows the colours
of the page, and ``page_html`` makes the HTML. Nothing here knows what the report is about.

Begin with ``page.py``.
"""

from typing import TYPE_CHECKING

from ne_dynamics.loaded_later import load_later

if TYPE_CHECKING:
    from ne_dynamics.report_page.page import (
        Column,
        Figure,
        Item,
        LegendEntry,
        Page,
        Paragraph,
        Section,
        Table,
        Tone,
    )
    from ne_dynamics.report_page.page_html import render_page

__all__ = [
    'Column',
    'Figure',
    'Item',
    'LegendEntry',
    'Page',
    'Paragraph',
    'Section',
    'Table',
    'Tone',
    'render_page',
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = load_later(__name__)
