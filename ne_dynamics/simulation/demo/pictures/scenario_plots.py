"""Pictures of the demo's scenarios, one a scenario."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.picture_file import (
    TEXT_COLOUR,
    add_heading,
    make_panels,
    set_title,
    write_picture,
)
from ne_dynamics.simulation.demo.pictures.demo_plots import (
    draw_efforts,
    find_room,
    set_logarithmic,
)
from ne_dynamics.simulation.demo.pictures.run_style import Drawn, Style
from ne_dynamics.simulation.recording import SessionRecording

LEVEL_COLOURS = ('#2a9d6f', '#e69f00', '#d1495b', '#8c8c8c')
LEVEL_NAMES = ('OK', 'WARN', 'ERROR', 'STALE')
"""Of diagnostics, by their level."""


SMALLEST_ERROR = 1e-2
"""Smaller ones are not drawn [mrad or mm]."""

SHADE = '#f3e6d8'
DASHED = (0.0, (4.0, 3.0))


def plot_tool_load(
    path: Path, robot: Robot, runs: Drawn, title: str, events: Mapping[float, str]
) -> None:
    """Draw the error, and the effort of the joint in which the runs differ most.

    Events are what happens at a time [s].
    """
    figure, (error, effort) = make_panels((9.6, 6.4), 2, 1, sharex=True)
    _draw_errors(error, runs)
    _draw_efforts(effort, robot, runs, _joint_of_most_effort(robot, runs))
    for when, text in events.items():
        for axes in (error, effort):
            axes.axvline(when, color=TEXT_COLOUR, linewidth=0.9, linestyle=DASHED)
        error.annotate(
            text,
            (when, 1.0),
            xycoords=('data', 'axes fraction'),
            xytext=(4.0, -11.0),
            textcoords='offset points',
            fontsize=9,
            color=TEXT_COLOUR,
        )
    effort.set_xlabel('time [s]')
    add_heading(figure, title, error)
    write_picture(figure, path)


def plot_tilted_base(
    path: Path,
    panels: Sequence[tuple[str, Drawn, Callable[[FloatArray], FloatArray]]],
    title: str,
) -> None:
    """Draw errors above the angle of the base, a column a base.

    Panels are title, runs, and the angle of the base [deg] at times [s].
    """
    columns = len(panels)
    figure, grid = make_panels(
        (5.2 * columns + 0.4, 5.4),
        2,
        columns,
        sharex='col',
        sharey='row',
        height_ratios=(3.0, 1.0),
    )
    errors, angles = grid[:columns], grid[columns:]
    for axes, below, (name, runs, angle) in zip(errors, angles, panels, strict=True):
        _draw_errors(axes, runs)
        set_title(axes, name)
        times = runs[0][1].time
        below.plot(times, angle(times), color=TEXT_COLOUR, linewidth=1.4)
        below.set_xlim(0.0, float(times[-1]))
        below.axhline(0.0, color='#888888', linewidth=0.8, zorder=0)
        below.set_xlabel('time [s]')
    for axes in errors[1:]:
        axes.set_ylabel('')
    angles[0].set_ylabel('tilt [deg]')
    add_heading(figure, title, errors[-1])
    write_picture(figure, path)


def plot_model_error(
    path: Path,
    cases: Sequence[str],
    laws: Sequence[Style],
    errors: FloatArray,
    over_time: Mapping[str, Sequence[SessionRecording]],
    title: str,
) -> None:
    """Draw bars of the RMS errors, and errors over time.

    Errors, shape (cases, laws), are the RMS over run and joints [rad, m]; over time there are, for
    some cases, a recording a law.
    """
    columns = 1 + len(over_time)
    widths = (1.8, *(1.0 for _ in over_time))
    figure, (bars, *curves) = make_panels(
        (4.0 * columns + 1.6, 4.2), 1, columns, width_ratios=widths
    )
    _draw_bars(bars, cases, laws, 1e3 * errors)
    for axes, (name, recordings) in zip(curves, over_time.items(), strict=True):
        _draw_errors(axes, list(zip(laws, recordings, strict=True)))
        set_title(axes, name)
        axes.set_xlabel('time [s]')
    add_heading(figure, title, bars)
    write_picture(figure, path)


def plot_sensor_loss(
    path: Path,
    robot: Robot,
    state_runs: Drawn,
    wrench_runs: Drawn,
    lost: tuple[float, float],
    title: str,
) -> None:
    """Draw what happens while joint states are lost, and beside it while the wrench is.

    They are lost from one time to another [s].
    """
    figure, grid = make_panels((11.6, 7.6), 3, 2, sharex=True, height_ratios=(2.4, 2.0, 1.0))
    for column, (runs, what) in enumerate(((state_runs, 'joint_states'), (wrench_runs, 'wrench'))):
        above, middle, below = grid[column::2]
        joint = int(runs[-1][1].peak_error.argmax())
        if column == 0:
            _draw_positions(above, robot, runs, joint)
        else:
            _draw_errors(above, runs)
        set_title(above, f'{what} lost', fontsize=10.5, pad=20)
        _draw_efforts(middle, robot, runs, joint)
        _draw_reports(below, runs)
        below.set_xlabel('time [s]')
        for axes in (above, middle, below):
            axes.axvspan(*lost, color=SHADE, linewidth=0.0, zorder=0)
        above.legend(
            loc='lower left',
            bbox_to_anchor=(-0.02, 0.985),
            ncols=3,
            frameon=False,
            fontsize=8.5,
            handlelength=2.2,
            columnspacing=1.4,
        )
    add_heading(figure, title)
    write_picture(figure, path)


def plot_chunks(path: Path, robot: Robot, runs: Drawn, title: str) -> None:
    """Draw the errors, and a part of the effort of the joint in which the runs differ most."""
    figure, (error, effort) = make_panels((9.6, 6.4), 2, 1)
    _draw_errors(error, runs)
    joint = _joint_of_most_effort(robot, runs)
    _draw_efforts(effort, robot, runs, joint)
    duration = float(runs[0][1].time[-1])
    # Half a second: the steps of the efforts are to be seen.
    begin, end = 0.5 * duration, min(0.5 * duration + 0.5, duration)
    effort.set_xlim(begin, end)
    shown = [run.effort[(run.time >= begin) & (run.time <= end), joint] for _, run in runs]
    effort.set_ylim(*find_room(shown))
    error.axvspan(begin, end, color=SHADE, linewidth=0.0, zorder=0)
    error.set_xlabel('time [s]')
    effort.set_xlabel('time [s], of the part that is shaded above')
    add_heading(figure, title, error)
    write_picture(figure, path)


def plot_weak_motors(
    path: Path,
    runs: Drawn,
    distances: Sequence[FloatArray],
    speeds: Sequence[FloatArray],
    limits: FloatArray,
    title: str,
) -> None:
    """Draw distance from the path, speed on it, and the load of the motors of the last two runs.

    By run, shape (N,): distances [rad or m], and speeds, 1 as it was sent. Limits, shape (n,), are
    those of the weak motors [N m or N].
    """
    figure, grid = make_panels((11.6, 6.6), 2, 2, sharex=True)
    (away, first_load, pace, second_load) = grid
    for (style, recording), distance, speed in zip(runs, distances, speeds, strict=True):
        shown = np.maximum(1e3 * distance, 0.1 * SMALLEST_ERROR)
        away.plot(recording.time, shown, **style.drawn())
        pace.plot(recording.time, speed, **style.drawn())
    largest = 1e3 * max(float(distance.max()) for distance in distances)
    _logarithmic(away, SMALLEST_ERROR, max(largest, 1.0))
    away.set_ylabel('distance from the path [mrad]')
    pace.set_ylabel('speed on the path')
    pace.set_ylim(0.0, 1.2)
    for axes, (style, recording) in zip((first_load, second_load), runs[-2:], strict=True):
        for index, name in enumerate(recording.joint_names):
            load = 100.0 * np.abs(recording.effort[1:, index]) / limits[index]
            axes.plot(recording.time[1:], load, linewidth=1.2, label=name)
        axes.axhline(100.0, color=TEXT_COLOUR, linewidth=0.9, linestyle=DASHED)
        axes.set_ylim(0.0, 120.0)
        axes.set_ylabel('load of the motors [%]')
        set_title(axes, style.label, color=style.colour)
    first_load.legend(
        loc='upper left', ncols=6, frameon=False, fontsize=8, handlelength=1.0, columnspacing=0.9
    )
    for axes in (pace, second_load):
        axes.set_xlabel('time [s]')
    away.set_xlim(0.0, float(runs[0][1].time[-1]))
    add_heading(figure, title, away)
    write_picture(figure, path)


# -- parts ----------------------------------------------------------------------------------


def _draw_errors(axes: Any, runs: Drawn) -> None:
    """Draw the RMS over the joints of the error at each time, logarithmic."""
    smallest, largest = math.inf, SMALLEST_ERROR
    for style, recording in runs:
        error = 1e3 * np.sqrt(np.mean(recording.error**2, axis=1))
        largest = max(largest, float(error.max()))
        # Nearly all of it: at the start every error is 0.
        smallest = min(smallest, float(np.quantile(error, 0.05)))
        axes.plot(recording.time, np.maximum(error, 0.1 * SMALLEST_ERROR), **style.drawn())
    _logarithmic(axes, max(SMALLEST_ERROR, smallest), largest)
    axes.set_xlim(0.0, float(runs[0][1].time[-1]))
    axes.set_ylabel('error, RMS of all joints [mrad]')


def _draw_bars(axes: Any, cases: Sequence[str], laws: Sequence[Style], errors: FloatArray) -> None:
    """Draw a group of bars for each case, a bar for each law, shape (cases, laws) [mrad]."""
    width = 0.8 / len(laws)
    for index, style in enumerate(laws):
        middle = np.arange(len(cases)) + (index - 0.5 * (len(laws) - 1)) * width
        values = errors[:, index]
        drawn = axes.bar(middle, values, 0.92 * width, color=style.colour, label=style.label)
        shown = [_short(value) for value in values]
        axes.bar_label(drawn, shown, padding=2.0, fontsize=6.5, color=TEXT_COLOUR)
    _logarithmic(axes, float(errors.min()), float(errors.max()))
    labels = [textwrap.fill(case, 9) for case in cases]
    axes.set_xticks(np.arange(len(cases)), labels, fontsize=9)
    axes.grid(False, axis='x')
    axes.set_ylabel('RMS error of all joints [mrad]')


def _draw_positions(axes: Any, robot: Robot, runs: Drawn, joint: int) -> None:
    """Draw the position of a joint, and what was planned for it."""
    unit = robot.joints[joint].type.position_unit
    planned = runs[0][1]
    axes.plot(
        planned.time,
        planned.desired[:, joint],
        color=TEXT_COLOUR,
        linewidth=1.1,
        linestyle=DASHED,
        label='planned',
        zorder=4.0,
    )
    for style, recording in runs:
        axes.plot(recording.time, recording.position[:, joint], **style.drawn())
    axes.set_ylabel(f'{robot.joint_names[joint]} [{unit}]')


def _draw_efforts(axes: Any, robot: Robot, runs: Drawn, joint: int) -> None:
    """Draw the effort of a joint's motor."""
    draw_efforts(axes, runs, joint)
    unit = robot.joints[joint].type.effort_unit
    axes.set_ylabel(f'effort of {robot.joint_names[joint]} [{unit}]')


def _draw_reports(axes: Any, runs: Drawn) -> None:
    """Draw for each run when the node answered, and the level of its diagnostics."""
    for row, (style, recording) in enumerate(runs):
        answered = ~np.isnan(recording.heeded).any(axis=1)
        axes.fill_between(
            recording.time,
            row - 0.16,
            row + 0.16,
            where=answered,
            step='mid',
            color=style.colour,
            alpha=0.35,
            linewidth=0.0,
        )
        for item in recording.diagnoses:
            if 0.0 < item.time <= recording.time[-1]:
                axes.plot(
                    item.time,
                    row,
                    marker='o',
                    markersize=7.0,
                    color=LEVEL_COLOURS[item.level],
                    markeredgecolor='white',
                    clip_on=False,
                )
                axes.annotate(
                    LEVEL_NAMES[item.level],
                    (item.time, row),
                    xytext=(0.0, 8.0),
                    textcoords='offset points',
                    ha='center',
                    fontsize=7.5,
                    color=LEVEL_COLOURS[item.level],
                )
    axes.set_ylim(-0.5, len(runs) - 0.2)
    axes.set_yticks([])
    axes.set_ylabel('bar: commands\ndot: diagnostics', fontsize=8.5)


def _joint_of_most_effort(robot: Robot, runs: Drawn) -> int:
    """Return the joint in which the efforts of the runs differ most, by its largest effort."""
    length = min(len(recording.time) for _, recording in runs)
    efforts = np.array([recording.effort[:length] for _, recording in runs])
    limits = robot.limits('effort_limit')
    limits = np.where((limits > 0.0) & np.isfinite(limits), limits, 1.0)
    return int((np.ptp(efforts, axis=0).max(axis=0) / limits).argmax())


def _short(value: float) -> str:
    return f'{value:.0f}' if value >= 10.0 else f'{value:.1f}' if value >= 1.0 else f'{value:.2f}'


def _logarithmic(axes: Any, low: float, high: float) -> None:
    set_logarithmic(axes, 0.6 * low if low > SMALLEST_ERROR else low, 2.5 * high)
