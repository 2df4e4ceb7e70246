"""Pictures of closed-loop runs: tracking error and effort, one panel a joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import optional_dependency
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.picture_file import add_heading, make_panels, set_title, write_picture
from ne_dynamics.simulation.demo.pictures.run_style import Drawn

with optional_dependency('the plots need matplotlib', 'plot'):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator


COLUMNS = 3
"""Of panels in a picture."""

SMALLEST_ERROR = 1e-3
"""Smaller ones are not drawn [mrad or mm]."""


def plot_errors(path: Path, robot: Robot, runs: Drawn, title: str) -> None:
    """Draw the absolute tracking error over time, logarithmic, all panels to one scale."""
    figure, panels = _make_grid(robot)
    largest = max(1e3 * float(run.peak_error.max()) for _, run in runs)
    for index, axes in enumerate(panels):
        for style, run in runs:
            axes.plot(
                run.time,
                np.maximum(1e3 * np.abs(run.error[:, index]), 0.1 * SMALLEST_ERROR),
                **style.drawn(),
            )
        set_logarithmic(axes, SMALLEST_ERROR, 2.0 * max(largest, 1.0))
        unit = 'mm' if robot.joints[index].type.is_prismatic else 'mrad'
        _name_ordinate(axes, index, '|error|', unit, 'mrad')
    _finish(figure, panels, runs, title, path)


def plot_efforts(path: Path, robot: Robot, runs: Drawn, title: str) -> None:
    """Draw the efforts that the motors applied over time, each panel to its own scale."""
    figure, panels = _make_grid(robot)
    for index, axes in enumerate(panels):
        draw_efforts(axes, runs, index)
        axes.set_ylim(*find_room([run.effort[1:, index] for _, run in runs]))
        unit, limit = robot.joints[index].type.effort_unit, robot.joints[index].effort_limit
        _name_ordinate(axes, index, 'effort', unit, 'N m')
        if math.isfinite(limit) and limit > 0.0:
            axes.set_title(f'limit ±{limit:g} {unit}', loc='right', fontsize=8, color='#777777')
    _finish(figure, panels, runs, title, path)


def draw_efforts(axes: Any, runs: Drawn, joint: int) -> None:
    """Draw the effort of a joint's motor."""
    for style, run in runs:
        # The effort of a state was held over the period before it; the first is none.
        axes.plot(run.time[1:], run.effort[1:, joint], drawstyle='steps-pre', **style.drawn())
    axes.axhline(0.0, color='#888888', linewidth=0.8, zorder=0)


def set_logarithmic(axes: Any, low: float, high: float) -> None:
    """Make the ordinate of a panel logarithmic, with plain numbers at powers of ten."""
    axes.set_yscale('log')
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(base=10.0, numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
    axes.yaxis.set_minor_locator(NullLocator())


def find_room(values: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the ends of an ordinate on which all values have some room around them."""
    low, high = min(map(np.min, values)), max(map(np.max, values))
    margin = 0.08 * max(high - low, 1e-3)
    return low - margin, high + margin


def _name_ordinate(axes: Any, index: int, what: str, unit: str, usual: str) -> None:
    """Name the ordinate of a row's first panel, and others whose unit is not the usual one."""
    if index % COLUMNS == 0:
        axes.set_ylabel(f'{what} [{unit}]')
    elif unit != usual:
        axes.set_ylabel(f'[{unit}]')


def _make_grid(robot: Robot) -> tuple[Any, list[Any]]:
    rows, columns = math.ceil(robot.n / COLUMNS), min(COLUMNS, robot.n)
    size = 4.0 * columns + 0.6, 2.35 * rows + 0.9
    figure, panels = make_panels(size, rows, columns, sharex=True)
    for spare in panels[robot.n :]:
        spare.set_visible(False)
    panels = panels[: robot.n]
    for index, axes in enumerate(panels):
        set_title(axes, robot.joint_names[index])
        if index + columns >= robot.n:
            axes.set_xlabel('time [s]')
            axes.tick_params(labelbottom=True)
    return figure, panels


def _finish(figure: Any, panels: list[Any], runs: Drawn, title: str, path: Path) -> None:
    panels[0].set_xlim(0.0, max(float(run.time[-1]) for _, run in runs))
    add_heading(figure, title, panels[0], len(runs))
    write_picture(figure, path)
