"""A report as HTML: everything in one text, nothing from outside, no script."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ne_dynamics.errors import optional_dependency
from ne_dynamics.printable import escape_controls
from ne_dynamics.report_page.chart import PALETTE, PREFIX
from ne_dynamics.report_page.page import LONGEST_CAPTION, Figure, Page, shorten

with optional_dependency('the report needs Jinja2', 'report'):
    from jinja2 import Environment, StrictUndefined, Template
    from markupsafe import Markup

TEMPLATE = Path(__file__).with_name('page.html.jinja')


def render_page(page: Page) -> str:
    """Return a report as HTML.

    Parameters
    ----------
    page : Page
        Any text in it may come from outside: it is shown, and does nothing. What does not print,
        marks that turn the direction of writing among it, is written as an escape.
    """
    # One number after another for all drawings of the page.
    numbers = iter(range(1_000_000))

    def place_svg(figure: Figure) -> Markup:
        label = Markup('<svg role="img" aria-label="{}: {}"').format(
            _make_printable(shorten(figure.title, LONGEST_CAPTION)),
            _make_printable(figure.alternative),
        )
        drawing = figure.svg.replace(PREFIX, f'chart-{next(numbers)}-')
        return label + Markup(drawing.removeprefix('<svg'))

    return _read_template().render(
        page=page,
        palette=PALETTE,
        place_svg=place_svg,
        caption=lambda text: shorten(text, LONGEST_CAPTION),
    )


@lru_cache(maxsize=1)
def _read_template() -> Template:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_printable,
    )
    return environment.from_string(TEMPLATE.read_text(encoding='utf-8'))


def _make_printable(value: object) -> object:
    """Return what the template puts out, without what a name may do to the text around it."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return shorten(escape_controls(value))
    return value
