"""Pictures of the studies, one panel a joint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.papers.studies.puma import BOUND, Run

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingDependencyError(
        f'the pictures need matplotlib: pip install "ne_dynamics[plot]" ({error})'
    ) from error

GRID_COLOUR = '#d9d9d9'
TEXT_COLOUR = '#333333'


def draw_errors(path: Path, runs: Mapping[str, Run]) -> None:
    """Draw position errors over time beside the document's bound.

    Parameters
    ----------
    path : path
        PNG file to write.
    runs : mapping of str to Run
        By law; the first is drawn solid, the second dashed over it.
    """
    figure, panels = _panels(sharey=True)
    styles = (
        {'color': '#56a5d8', 'linewidth': 3.2},
        {'color': '#222222', 'linewidth': 1.2, 'dashes': (4, 3)},
    )
    end = max(float(result.time[-1]) for result in runs.values())
    largest = max(float(np.abs(result.error).max()) for result in runs.values())
    for joint, axes in enumerate(panels):
        for sign in (1.0, -1.0):
            axes.axhline(
                sign * 1e4 * BOUND,
                color='#d1495b',
                linewidth=1.2,
                label='one bit of the converter, 4.26e-4 rad' if sign > 0.0 else None,
            )
        axes.axhline(0.0, color='#888888', linewidth=0.8)
        for (name, result), style in zip(runs.items(), styles, strict=True):
            axes.plot(result.time, 1e4 * result.error[:, joint], label=name, **style)
        axes.set_title(f'joint {joint + 1}', loc='left', fontsize=10, color=TEXT_COLOUR)
        axes.set_xlim(0.0, end)
        room = 1.15e4 * max(BOUND, largest)
        axes.set_ylim(-room, room)
    _finish(
        figure,
        panels,
        f'Puma 560 under the computed-torque law, {end:g} s: position error',
        'error [1e-4 rad]',
        path,
    )


def _panels(sharey: bool = False) -> tuple[Any, list[Any]]:
    figure = Figure(figsize=(12.4, 5.7), dpi=100)
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(2, 3, sharex=True, sharey=sharey).flat)
    for axes in panels:
        axes.grid(True, color=GRID_COLOUR, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8.5, colors=TEXT_COLOUR, length=3)
        for side in ('top', 'right'):
            axes.spines[side].set_visible(False)
    return figure, panels


def _finish(figure: Any, panels: list[Any], title: str, unit: str, path: Path) -> None:
    for index, axes in enumerate(panels):
        if index % 3 == 0:
            axes.set_ylabel(unit)
        if index >= 3:
            axes.set_xlabel('time [s]')
    heading = figure.suptitle(
        title, x=0.012, y=0.985, ha='left', va='top', fontsize=12, color='#111111'
    )
    legend = figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc='upper left',
        bbox_to_anchor=(0.006, 0.945),
        ncols=4,
        frameon=False,
        fontsize=9.5,
    )
    for artist in (heading, legend):
        artist.set_in_layout(False)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.9), h_pad=1.2, w_pad=1.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
