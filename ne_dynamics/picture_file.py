"""Pictures: panels and headings in one style, and files that are there whole or not at all."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.prepared_file import write_whole_bytes

with optional_dependency('the pictures need matplotlib', 'plot'):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

TEXT_COLOUR = '#333333'


def make_panels(
    size: tuple[float, float], rows: int, columns: int, **options: Any
) -> tuple[Any, list[Any]]:
    """Return a figure of a size [in], and its panels row by row, with a quiet grid and no box.

    The options are those of `Figure.subplots`. No display is needed.
    """
    figure = Figure(figsize=size, dpi=110)
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axes in panels:
        axes.grid(True, color='#d9d9d9', linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8.5, colors=TEXT_COLOUR, length=3)
        for side in ('top', 'right'):
            axes.spines[side].set_visible(False)
    return figure, panels


def set_title(axes: Any, text: str, **style: Any) -> None:
    """Put a title above the left end of a panel."""
    axes.set_title(text, loc='left', **{'fontsize': 10, 'color': TEXT_COLOUR, **style})


def add_heading(figure: Any, text: str, labelled: Any = None, columns: int = 0) -> None:
    """Put a heading above all panels, and below it the legend of a panel if one is given.

    The legend has so many columns; 0: as many as the figure has room for.
    """
    height = figure.get_figheight()
    top = figure.suptitle(
        text, x=0.012, y=1.0 - 0.12 / height, ha='left', va='top', fontsize=12, color='#111111'
    )
    top.set_in_layout(False)
    room = 0.36
    if labelled is not None:
        handles, labels = labelled.get_legend_handles_labels()
        fitting = max(1, min(len(handles), math.floor(figure.get_figwidth() / 2.3)))
        legend = figure.legend(
            handles,
            labels,
            loc='upper left',
            bbox_to_anchor=(0.006, 1.0 - room / height),
            ncols=columns or fitting,
            frameon=False,
            fontsize=9,
            handlelength=2.4,
        )
        legend.set_in_layout(False)
        room = 0.66
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - room / height), h_pad=1.1, w_pad=1.4)


def write_picture(figure: Any, path: Path) -> None:
    """Write a figure in the format that the name of the file ends with; its folder is made.

    Raises
    ------
    OSError
        When it cannot be written; it names the file.
    """
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lstrip('.').lower(), dpi='figure')
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole_bytes(path, picture.getvalue())
