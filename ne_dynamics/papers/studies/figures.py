"""Figures of the studies: their paper, panels, headings and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.picture_file import write_picture

with optional_dependency('the pictures need matplotlib', 'plot'):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

GRID_COLOUR = '#d9d9d9'
TEXT_COLOUR = '#333333'


def make_panels(width: float, height: float, *shape: int, **sharing: Any) -> tuple[Any, list[Any]]:
    """Return a figure of a size [inches] and its panels, row by row, with a grid and no box."""
    figure = Figure(figsize=(width, height), dpi=100)
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(*shape, **sharing).flat)
    for axes in panels:
        axes.grid(True, color=GRID_COLOUR, linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ('top', 'right'):
            axes.spines[side].set_visible(False)
    return figure, panels


def set_small_ticks(axes: Any, colour: str = TEXT_COLOUR) -> None:
    """Give the ticks small figures."""
    axes.tick_params(labelsize=8.5, colors=colour, length=3)


def set_title(axes: Any, text: str) -> None:
    """Put a title above the left end of a panel."""
    axes.set_title(text, loc='left', fontsize=10, color=TEXT_COLOUR)


def add_heading(
    figure: Any, labelled: Any, text: str, columns: int, heights: tuple[float, float, float]
) -> None:
    """Put a heading and the legend of a panel above all panels.

    Parameters
    ----------
    figure, labelled : figure and panel
    text : str
    columns : int
        Of the legend.
    heights : tuple of float
        Of the heading, the legend and the room for panels, of the figure's height.
    """
    heading_height, legend_height, room = heights
    heading = figure.suptitle(
        text, x=0.012, y=heading_height, ha='left', va='top', fontsize=12, color='#111111'
    )
    legend = figure.legend(
        *labelled.get_legend_handles_labels(),
        loc='upper left',
        bbox_to_anchor=(0.006, legend_height),
        ncols=columns,
        frameon=False,
        fontsize=9.5,
    )
    for artist in (heading, legend):
        artist.set_in_layout(False)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, room), h_pad=1.2, w_pad=1.6)


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure to a PNG file, whose folder is made when it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_picture(figure, path)
