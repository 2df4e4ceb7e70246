"""Picture of measured and computed efforts, one panel a joint."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.evaluation import Evaluation, JointResidual
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.picture_file import make_panels, set_title
from ne_dynamics.prepared_file import write_whole_bytes
from ne_dynamics.printable import escape_controls

MEASURED_COLOUR = '#9a9a9a'
MODEL_COLOUR = '#1f5fa8'
DIFFERENCE_COLOUR = '#c8501e'


def plot_efforts(path: Path, robot: Robot, evaluation: Evaluation) -> None:
    """Draw measured effort, the model's, and their difference to a PNG file, which is whole."""
    columns = min(3, robot.n)
    rows = math.ceil(robot.n / columns)
    size = 4.4 * columns + 0.4, 2.5 * rows + 0.9
    figure, panels = make_panels(size, rows, columns, sharex=True)
    signals = evaluation.signals
    measured, computed = signals.effort, evaluation.model_effort
    series = (
        ('measured', measured, MEASURED_COLOUR, 2.4),
        ('model', computed, MODEL_COLOUR, 1.1),
        ('difference', measured - computed, DIFFERENCE_COLOUR, 1.0),
    )
    times, gaps = break_at_gaps(signals.times)
    for index, axes in enumerate(panels):
        if index >= robot.n:
            axes.set_visible(False)
            continue
        for label, values, colour, width in series:
            drawn = np.insert(values[:, index], gaps, np.nan)
            axes.plot(times, drawn, color=colour, linewidth=width, label=label)
        _dress(axes, evaluation.joints[index])
        if index + columns >= robot.n:
            axes.set_xlabel('time [s]')
            axes.tick_params(labelbottom=True)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='upper center', ncol=3, frameon=False, fontsize=10)
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.45 / figure.get_figheight()))
    picture = io.BytesIO()
    figure.savefig(picture, format='png')
    write_whole_bytes(path, picture.getvalue())


def _dress(axes: Any, result: JointResidual) -> None:
    """Give the panel of a joint its title and line at zero."""
    axes.axhline(0.0, color='#888888', linewidth=0.6, zorder=0)
    # A name is no formula, whatever dollar signs are in it.
    set_title(axes, f'{escape_controls(result.name)} [{result.unit}]', parse_math=False)
    if math.isfinite(result.explained):
        explained = f'{100.0 * result.explained:.1f} % explained'
        axes.set_title(explained, loc='right', fontsize=8.5, color='#555555')


def break_at_gaps(times: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return times from the first, with a NaN where the log has a gap, and where those go."""
    steps = np.diff(times)
    gaps = np.flatnonzero(steps > 3.0 * np.median(steps)) + 1
    return np.insert(times - times[0], gaps, np.nan), gaps
