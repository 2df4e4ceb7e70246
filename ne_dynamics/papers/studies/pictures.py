"""Pictures of the studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.papers.studies.puma_simulation import BIT, Reading, Run
from ne_dynamics.picture_file import write_picture

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingDependencyError(
        f'the pictures need matplotlib: pip install "ne_dynamics[plot]" ({error})'
    ) from error

GRID_COLOUR = '#d9d9d9'
TEXT_COLOUR = '#333333'
JOINT_COLOURS = ('#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9')


def draw_errors(path: Path, runs: Mapping[tuple[Reading, str], Run]) -> None:
    """Draw position errors over time beside the document's bound.

    Parameters
    ----------
    path : path
        PNG file to write.
    runs : mapping of (Reading, str) to Run
        By reading, a row of panels each, and profile, a column each.
    """
    figure, panels = _panels(sharey='row')
    end = max(float(result.time[-1]) for result in runs.values())
    for axes, ((reading, profile), result) in zip(panels, runs.items(), strict=True):
        for sign in (1.0, -1.0):
            axes.axhline(
                sign * 1e4 * BIT,
                color='#222222',
                linewidth=1.2,
                dashes=(5, 3),
                label='one bit of the converter, 4.26e-4 rad' if sign > 0.0 else None,
            )
        axes.axhline(0.0, color='#888888', linewidth=0.8)
        for joint, colour in enumerate(JOINT_COLOURS):
            axes.plot(
                result.time,
                1e4 * result.error[:, joint],
                color=colour,
                linewidth=1.2,
                label=f'joint {joint + 1}',
            )
        axes.set_title(f'{reading.value}: {profile}', loc='left', fontsize=10, color=TEXT_COLOUR)
        axes.set_xlim(0.0, end)
    for reading, axes in zip(Reading, panels[::3], strict=True):
        errors = [result.error for (own, _), result in runs.items() if own is reading]
        room = 1.15e4 * max(BIT, *(float(np.abs(error).max()) for error in errors))
        axes.set_ylim(-room, room)
    _finish(
        figure,
        panels,
        f'Puma 560 under the computed-torque law, {end:g} s, positions read in 12 bits: position '
        'error',
        'error [1e-4 rad]',
        path,
        legend_columns=7,
    )


def _panels(sharey: Literal['none', 'all', 'row'] = 'none') -> tuple[Any, list[Any]]:
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


def _finish(
    figure: Any, panels: list[Any], title: str, unit: str, path: Path, legend_columns: int = 4
) -> None:
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
        ncols=legend_columns,
        frameon=False,
        fontsize=9.5,
    )
    for artist in (heading, legend):
        artist.set_in_layout(False)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.9), h_pad=1.2, w_pad=1.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_picture(figure, path)
