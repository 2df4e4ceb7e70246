"""The picture of the study: the error of the test motion of each arm, four ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.picture_file import write_picture

with optional_dependency('the picture needs matplotlib', 'plot'):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

WAYS = (
    ('given', 'computed torque, given URDF', '#b35c00', 'o'),
    ('pd_gravity', 'PD with the gravity of the given URDF', '#7a3f9d', 's'),
    ('identified', 'computed torque, commissioned', '#1259a8', 'D'),
    ('true', 'computed torque, true model and friction', '#22262b', '|'),
)
"""Key of the results, label, colour and mark."""


def draw_study(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Draw the results of the study.

    Parameters
    ----------
    rows : sequence of mapping
        Of ``results.json``.
    file : Path
        PNG.
    """
    figure = Figure(figsize=(7.5, 1.3 + 0.36 * len(rows)), dpi=110, layout='constrained')
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    places = [len(rows) - 1 - number for number in range(len(rows))]
    for key, label, tone, mark in WAYS:
        known = [
            (1e3 * row[key], place)
            for row, place in zip(rows, places, strict=True)
            if row.get(key) is not None
        ]
        if known:
            axes.plot(
                *zip(*known, strict=True),
                linestyle='none',
                marker=mark,
                color=tone,
                label=label,
                markersize=12 if mark == '|' else 6,
                markeredgewidth=2.2 if mark == '|' else 1.0,
            )
    axes.set_yticks(places, [row['arm'] for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xscale('log')
    axes.set_xlabel('RMS error of the test motion, all joints [mrad]')
    axes.grid(axis='x', which='both', color='#dfe2e6', linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    figure.legend(loc='outside upper left', ncols=2, fontsize=8.5, frameon=False)
    write_picture(figure, file)
