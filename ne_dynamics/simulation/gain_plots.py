"""A design of gains as a picture: margins over the workspace, and step responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.gains import GainDesign, GainMode
from ne_dynamics.picture_file import make_panels, set_title, write_picture
from ne_dynamics.printable import escape_controls
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED

LABELS = {
    GainMode.COMPUTED_TORQUE: ('node, computed_torque', RED),
    GainMode.FEEDFORWARD_PD: ('node, feedforward_pd', ORANGE),
    GainMode.JTC: ('joint_trajectory_controller', BLUE),
    GainMode.MIT: ('drives (MIT mode)', GREY),
}

LARGEST_MARGIN = 20.0
"""Gain margins beyond this stand at the edge of the picture."""

JOINT_COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#22262b')
"""Of the joints, apart for colour-blind readers too; after the last the first comes again."""


def plot_design(path: Path, design: GainDesign) -> None:
    """Draw a row for each mode: margins of all poses on the left, step responses on the right.

    Parameters
    ----------
    path : Path
    design : GainDesign
    """
    rows = len(design.modes)
    size = 11.0, 2.9 * rows
    figure, panels = make_panels(size, rows, 2)
    for left, right, mode in zip(panels[::2], panels[1::2], design.modes, strict=True):
        label, color = LABELS[mode]
        _draw_margins(left, design, mode, color)
        set_title(left, f'{label}: margins')
        _draw_steps(right, design, mode)
        set_title(right, f'{label}: step response')
    figure.tight_layout()
    write_picture(figure, path)


def _draw_margins(axes: Any, design: GainDesign, mode: GainMode, color: str) -> None:
    margins = design.of(mode).choice.margins
    half = len(margins.phase) // 2
    for part, marker, what in (
        (slice(0, half), 'o', 'lightest arm'),
        (slice(half, None), '^', 'heaviest arm'),
    ):
        axes.scatter(
            np.minimum(margins.gain[part], LARGEST_MARGIN),
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
    axes.set_xlim(1.0, 1.1 * LARGEST_MARGIN)
    axes.set_ylim(0.0, 92.0)
    axes.set_xticks((1.0, 2.0, 5.0, 10.0, 20.0), ('1', '2', '5', '10', '20 or more'))
    axes.set_xlabel('gain margin (factor)')
    axes.set_ylabel('phase margin [deg]')
    axes.legend(fontsize=7, frameon=False, loc='lower right')


def _draw_steps(axes: Any, design: GainDesign, mode: GainMode) -> None:
    steps = design.of(mode).steps
    for index, joint in enumerate(design.joints):
        curves = steps.error[:, :, index]
        # One hue a joint, which a reader tells from the others; the mode is in the title.
        hue = JOINT_COLOURS[index % len(JOINT_COLOURS)]
        axes.fill_between(
            steps.times,
            curves.min(axis=1),
            curves.max(axis=1),
            color=hue,
            alpha=0.12,
            linewidth=0.0,
        )
        name = escape_controls(joint.name)
        axes.plot(steps.times, np.median(curves, axis=1), color=hue, label=name)
    settled = steps.settling_time[np.isfinite(steps.settling_time)]
    axes.set_xlim(0.0, 1.5 * settled.max() if settled.size else steps.times[-1])
    axes.axhline(0.0, color='0.6', linewidth=0.6)
    axes.set_xlabel('time [s]')
    axes.set_ylabel('position error / step')
    axes.legend(fontsize=7, ncols=2, frameon=False)
