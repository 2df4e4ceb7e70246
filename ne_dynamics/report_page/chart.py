"""Drawings as SVG that stands inside an HTML page and follows its colours.

A drawing names its colours by :data:`PALETTE`. In the SVG each becomes a variable of the page,
which has one value on light ground and on paper and another on dark ground. Text stays text. No
name from outside belongs in a drawing: those are in the page around it, where they are escaped.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ne_dynamics.errors import optional_dependency

with optional_dependency('the report needs matplotlib', 'report'):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

PALETTE = {
    'ink': ('#22262b', '#e4e6e9'),
    'muted': ('#5c636c', '#a3abb5'),
    'grid': ('#dfe2e6', '#3a4049'),
    'measured': ('#8a929c', '#8f98a3'),
    'given': ('#b35c00', '#f0a04b'),
    'model': ('#1259a8', '#6db1ff'),
    'other': ('#7a3f9d', '#c9a2ea'),
    'held': ('#f1ead0', '#3d3722'),
    'noise': ('#0a7a54', '#4fcf9d'),
}
"""Colours by what they stand for: on light ground and on paper, and on dark ground."""

PREFIX = 'chart-prefix-'
"""Begins every identifier in a drawing; the page puts a number in its place."""

WIDTH = 4.5
"""Of a drawing [in]. A telephone shows it in about its own size."""

FONT_SIZE = 9.5
MOST_POINTS = 1200
"""Drawn of a line: more cannot be seen."""

SVG = 'http://www.w3.org/2000/svg'
XLINK = 'http://www.w3.org/1999/xlink'

_REFERENCE = re.compile(r'url\(#([^)]+)\)')


def colour(name: str) -> str:
    """Return a colour of the palette as matplotlib takes it."""
    return PALETTE[name][0]


def make_panels(heights: Sequence[float], *, share_x: bool = True) -> tuple[Figure, list[Axes]]:
    """Return a drawing with panels one below the other, in the style of the page.

    Parameters
    ----------
    heights : sequence of float
        Of the panels [in].
    share_x : bool
        Whether the panels have one axis along, named below the last.
    """
    figure = Figure(figsize=(WIDTH, sum(heights) + 0.5), layout='constrained')
    FigureCanvasSVG(figure)
    panels = figure.subplots(
        len(heights), 1, squeeze=False, sharex=share_x, height_ratios=list(heights)
    )
    result = list(panels.flat)
    for axes in result:
        axes.set_facecolor('none')
        axes.grid(True, color=colour('grid'), linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(
            labelsize=FONT_SIZE - 1.0, color=colour('muted'), labelcolor=colour('muted')
        )
        for side, spine in axes.spines.items():
            spine.set_visible(side in ('left', 'bottom'))
            spine.set_color(colour('muted'))
        axes.xaxis.label.set_color(colour('ink'))
        axes.yaxis.label.set_color(colour('ink'))
    return figure, result


def label_axes(axes: Axes, x: str, y: str) -> None:
    """Name what is along the axes of a panel, each with its unit; '' for none."""
    for put, text in ((axes.set_xlabel, x), (axes.set_ylabel, y)):
        if text:
            put(text, fontsize=FONT_SIZE, parse_math=False)


def thin_line(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a line with no more points than can be seen, and all of its peaks.

    Parameters
    ----------
    x, y : array, shape (N,)
        NaN where the line is broken.

    Returns
    -------
    x, y : array, shape (K,)
        Of each of up to :data:`MOST_POINTS` / 2 pieces the lowest and the highest point.
    """
    if x.size <= MOST_POINTS:
        return x, y
    chosen: list[int] = []
    for piece in np.array_split(np.arange(x.size), MOST_POINTS // 2):
        values = y[piece]
        if np.isnan(values).any():
            chosen += piece[np.isnan(values)][:1].tolist()
        if not np.isnan(values).all():
            chosen += {int(piece[np.nanargmin(values)]), int(piece[np.nanargmax(values)])}
    order = np.unique(chosen)
    return x[order], y[order]


def draw_svg(figure: Figure) -> str:
    """Return a drawing as SVG for the inside of a page.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    str
        Without a size, which the page gives; no identifier but those that are referred to, each
        beginning with :data:`PREFIX`; nothing from outside.
    """
    stream = io.StringIO()
    options: dict[Any, Any] = {'svg.fonttype': 'none', 'svg.hashsalt': 'ne_dynamics'}
    nothing: dict[str, Any] = dict.fromkeys(('Date', 'Creator', 'Format', 'Type'))
    with matplotlib.rc_context(options):
        figure.savefig(stream, format='svg', transparent=True, metadata=nothing)
    text = stream.getvalue()
    for name, (light, _) in PALETTE.items():
        text = text.replace(light, f'var(--{name})')
    root = ElementTree.fromstring(text[text.index('<svg') :])
    _name_by_reference(root)
    for key in ('width', 'height', 'version'):
        root.attrib.pop(key, None)
    ElementTree.register_namespace('', SVG)
    ElementTree.register_namespace('xlink', XLINK)
    return ElementTree.tostring(root, encoding='unicode')


def _name_by_reference(root: ElementTree.Element) -> None:
    """Keep the identifiers that are referred to, and let them begin with the prefix."""
    link = f'{{{XLINK}}}href'
    wanted = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            found = _REFERENCE.findall(value)
            if key == link and value.startswith('#'):
                # What HTML knows as a reference inside of SVG.
                element.set(key, f'#{PREFIX}{value[1:]}')
                found = [value[1:]]
            elif found:
                element.set(key, _REFERENCE.sub(rf'url(#{PREFIX}\1)', value))
            wanted.update(found)
    for element in root.iter():
        name = element.attrib.pop('id', None)
        if name in wanted:
            element.set('id', f'{PREFIX}{name}')
