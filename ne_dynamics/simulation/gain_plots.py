"""A design of gains as a picture: margins over the workspace, and step responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.errors import optional_dependency
from ne_dynamics.gains import GainDesign, GainMode
from ne_dynamics.picture_file import write_picture
from ne_dynamics.printable import escape_controls
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED

LABELS = {
    GainMode.COMPUTED_TORQUE: ('node, computed_torque', RED),
    GainMode.FEEDFORWARD_PD: ('node, feedforward_pd', ORANGE),
    GainMode.JTC: ('joint_trajectory_controller', BLUE),
    GainMode.MIT: ('drives (MIT mode)', GREY),
}

WIDTH, ROW = 11.0, 2.9
"""[inches]"""

LARGEST_GAIN = 20.0
"""Gain margins beyond this stand at the edge of the picture."""


def plot_design(path: Path, design: GainDesign) -> None:
    """Draw a row for each mode: margins of all poses on the left, step responses on the right.

    Parameters
    ----------
    path : Path
    design : GainDesign

    Raises
    ------
    MissingDependencyError
        When matplotlib is missing.
    """
    with optional_dependency('--plot needs matplotlib', 'plot'):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    rows = len(design.modes)
    figure = Figure(figsize=(WIDTH, ROW * rows), layout='constrained')
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, 2, squeeze=False)
    for (left, right), (mode, one) in zip(axes, design.modes.items(), strict=True):
        label, color = LABELS[mode]
        _draw_margins(left, design, mode, color)
        left.set_title(f'{label}: margins', fontsize=10)
        times = one.steps.times
        for index, joint in enumerate(design.joints):
            curves = one.steps.error[:, :, index]
            shade = 0.25 + 0.75 * index / max(1, len(design.joints) - 1)
            right.fill_between(
                times,
                curves.min(axis=1),
                curves.max(axis=1),
                color=color,
                alpha=0.12,
                linewidth=0.0,
            )
            right.plot(
                times,
                np.median(curves, axis=1),
                color=color,
                alpha=shade,
                label=escape_controls(joint.name),
            )
        settled = one.steps.settling_time[np.isfinite(one.steps.settling_time)]
        right.set_xlim(0.0, 1.5 * settled.max() if settled.size else times[-1])
        right.axhline(0.0, color='0.6', linewidth=0.6)
        right.set_title(f'{label}: an error of 1, joint by joint, over all arms', fontsize=10)
        right.set_xlabel('time [s]')
        right.set_ylabel('error left')
        right.legend(fontsize=7, ncols=2, frameon=False)
    write_picture(figure, path, dpi=110)


def _draw_margins(axes: Any, design: GainDesign, mode: GainMode, color: str) -> None:
    margins = design.of(mode).choice.margins
    half = len(margins.phase) // 2
    for part, marker, what in (
        (slice(0, half), 'o', 'lightest arm'),
        (slice(half, None), '^', 'heaviest arm'),
    ):
        axes.scatter(
            np.minimum(margins.gain[part], LARGEST_GAIN),
            np.minimum(margins.phase[part], 90.0),
            s=16,
            marker=marker,
            color=color,
            alpha=0.6,
            label=f'{what}, {half} poses',
        )
    axes.axhline(design.request.phase_margin, color='0.5', linestyle=':', linewidth=1.0)
    axes.axvline(design.request.gain_margin, color='0.5', linestyle=':', linewidth=1.0)
    axes.set_xscale('log')
    axes.set_xlim(1.0, 1.1 * LARGEST_GAIN)
    axes.set_ylim(0.0, 92.0)
    axes.set_xticks((1.0, 2.0, 5.0, 10.0, 20.0), ('1', '2', '5', '10', '20 or more'))
    axes.set_xlabel('gain margin (factor)')
    axes.set_ylabel('phase margin [deg]')
    axes.legend(fontsize=7, frameon=False, loc='lower right')
