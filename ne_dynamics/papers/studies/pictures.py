"""The picture of the Puma study: position errors by reading and profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ne_dynamics.papers.studies.puma_simulation import BIT, LawEvaluation, PumaRun
from ne_dynamics.picture_file import add_heading, make_panels, set_title, write_picture

JOINT_COLOURS = ('#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9')


def draw_errors(path: Path, runs: Mapping[tuple[LawEvaluation, str], PumaRun]) -> None:
    """Draw position errors over time beside the document's bound, by reading and profile."""
    figure, panels = make_panels((12.4, 5.7), 2, 3, sharex=True, sharey='row')
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
        set_title(axes, f'{reading.value}: {profile}')
        axes.set_xlim(0.0, end)
    for reading, axes in zip(LawEvaluation, panels[::3], strict=True):
        errors = [result.error for (own, _), result in runs.items() if own is reading]
        room = 1.15e4 * max(BIT, *(float(np.abs(error).max()) for error in errors))
        axes.set_ylim(-room, room)
    for row in (0, 3):
        panels[row].set_ylabel('error [1e-4 rad]')
    for axes in panels[3:]:
        axes.set_xlabel('time [s]')
    text = (
        f'Puma 560 under the computed-torque law, {end:g} s, positions read in 12 bits: position '
        'error'
    )
    add_heading(figure, text, panels[0], 7)
    write_picture(figure, path)
