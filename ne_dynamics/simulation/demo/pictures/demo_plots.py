"""Pictures of closed-loop runs: tracking error and effort, one panel a joint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.picture_file import write_picture
from ne_dynamics.simulation.demo.pictures.run_style import Style
from ne_dynamics.simulation.thresholds import DEMO

with optional_dependency('the plots need matplotlib', 'plot'):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

if TYPE_CHECKING:
    from ne_dynamics.simulation.recording import RunRecording


GRID_COLOUR = '#d9d9d9'
TEXT_COLOUR = '#333333'


def plot_errors(
    path: Path,
    robot: Robot,
    runs: Mapping[str, RunRecording],
    styles: Mapping[str, Style],
    title: str,
) -> None:
    """Draw the absolute tracking error over time, logarithmic, all panels to one scale.

    Parameters
    ----------
    path : path
        PNG file to write.
    robot : Robot
    runs : mapping of str to RunRecording
        In the order of the legend.
    styles : mapping of str to Style
    title : str
    """
    figure, panels = _grid(robot)
    largest = max(1e3 * float(run.peak_error.max()) for run in runs.values())
    for index, axes in enumerate(panels):
        for key, run in runs.items():
            axes.plot(
                run.time,
                np.maximum(1e3 * np.abs(run.error[:, index]), 0.1 * DEMO.smallest_demo_error),
                **styles[key].drawn(),
            )
        set_logarithmic(axes, DEMO.smallest_demo_error, 2.0 * max(largest, 1.0))
        if index % DEMO.plot_columns == 0:
            axes.set_ylabel(f'|error| [{_error_unit(robot, index)}]')
        elif _error_unit(robot, index) != 'mrad':
            axes.set_ylabel(f'[{_error_unit(robot, index)}]')
    _finish(figure, panels, runs, styles, title, path)


def plot_efforts(
    path: Path,
    robot: Robot,
    runs: Mapping[str, RunRecording],
    styles: Mapping[str, Style],
    title: str,
) -> None:
    """Draw the efforts that the motors applied over time, each panel to its own scale.

    Parameters
    ----------
    path : path
        PNG file to write.
    robot : Robot
    runs : mapping of str to RunRecording
        In the order of the legend.
    styles : mapping of str to Style
    title : str
    """
    figure, panels = _grid(robot)
    for index, axes in enumerate(panels):
        for key, run in runs.items():
            axes.plot(
                # The effort of a state was held over the period before it; the first is none.
                run.time[1:],
                run.effort[1:, index],
                drawstyle='steps-pre',
                **styles[key].drawn(),
            )
        axes.axhline(0.0, color='#888888', linewidth=0.8, zorder=0)
        axes.set_ylim(*_room([run.effort[1:, index] for run in runs.values()]))
        unit = robot.joints[index].type.effort_unit
        limit = robot.joints[index].effort_limit
        if index % DEMO.plot_columns == 0:
            axes.set_ylabel(f'effort [{unit}]')
        elif unit != 'N m':
            axes.set_ylabel(f'[{unit}]')
        if math.isfinite(limit) and limit > 0.0:
            axes.set_title(f'limit ±{limit:g} {unit}', loc='right', fontsize=8, color='#777777')
    _finish(figure, panels, runs, styles, title, path)


def set_logarithmic(axes: Any, low: float, high: float) -> None:
    """Make the ordinate of a panel logarithmic, with plain numbers at powers of ten."""
    axes.set_yscale('log')
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(base=10.0, numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
    axes.yaxis.set_minor_locator(NullLocator())


def empty_figure(width: float, height: float) -> Any:
    """Return a figure of a size [inch] that needs no display."""
    figure = Figure(figsize=(width, height), dpi=110)
    FigureCanvasAgg(figure)
    return figure


def set_plain(axes: Any) -> None:
    """Give a panel a quiet grid and no frame."""
    axes.grid(True, color=GRID_COLOUR, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8.5, colors=TEXT_COLOUR, length=3)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def _error_unit(robot: Robot, index: int) -> str:
    return 'mm' if robot.joints[index].type.is_prismatic else 'mrad'


def _room(values: Sequence[FloatArray]) -> tuple[float, float]:
    low = min(float(value.min()) for value in values)
    high = max(float(value.max()) for value in values)
    margin = 0.08 * max(high - low, 1e-3)
    return low - margin, high + margin


def _grid(robot: Robot) -> tuple[Figure, list[Any]]:
    rows = math.ceil(robot.n / DEMO.plot_columns)
    columns = min(DEMO.plot_columns, robot.n)
    figure = empty_figure(4.0 * columns + 0.6, 2.35 * rows + 0.9)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
    panels = list(grid.flat)
    for spare in panels[robot.n :]:
        spare.set_visible(False)
    panels = panels[: robot.n]
    for index, axes in enumerate(panels):
        axes.set_title(robot.joint_names[index], loc='left', fontsize=10, color=TEXT_COLOUR)
        set_plain(axes)
        if index + columns >= robot.n:
            axes.set_xlabel('time [s]')
            axes.tick_params(labelbottom=True)
    return figure, panels


def _finish(
    figure: Figure,
    panels: list[Any],
    runs: Mapping[str, RunRecording],
    styles: Mapping[str, Style],
    title: str,
    path: Path,
) -> None:
    end = max(float(run.time[-1]) for run in runs.values())
    for axes in panels:
        axes.set_xlim(0.0, end)
    height = figure.get_figheight()
    heading = figure.suptitle(
        title, x=0.012, y=1.0 - 0.12 / height, ha='left', va='top', fontsize=12, color='#111111'
    )
    legend = figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc='upper left',
        bbox_to_anchor=(0.006, 1.0 - 0.36 / height),
        ncols=len(runs),
        frameon=False,
        fontsize=9.5,
        handlelength=2.8,
    )
    for line in legend.get_lines():
        line.set_linewidth(max(2.0, float(line.get_linewidth())))
    for artist in (heading, legend):
        artist.set_in_layout(False)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.62 / height), h_pad=1.2, w_pad=1.2)
    write_picture(figure, path)
