"""The picture of the six-link study: torques by joint, and below them the motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.algorithms.profiles import trapezoidal_profile
from ne_dynamics.papers.studies.six_link import PATHS, Way
from ne_dynamics.picture_file import add_heading, make_panels, set_title, write_picture

COLOURS = ('#0072b2', '#e69f00', '#009e73', '#d1495b', '#8c6bb1', '#56b4e9')
OTHER_COLOUR = '#888888'


def draw_ways(path: Path, ways: dict[str, Way]) -> None:
    """Draw the first way, its torques and their parts; of the other the torques alone."""
    figure, panels = make_panels((12.4, 8.3), 3, 3, sharex=True)
    shown, other = ways
    duration = float(ways[shown].motion.time[-1])
    for joint, axes in enumerate(panels[:6]):
        _draw_joint(axes, joint, ways[shown], ways[other], other)
    for row in (0, 3):
        panels[row].set_ylabel('torque [N m]')
    _draw_profile(panels[6], duration)
    _draw_velocities(panels[7], ways[shown], shown)
    _draw_departure(panels[8], ways['joint'])
    for axes in panels:
        for third in (1, 2):
            axes.axvline(third * duration / 3.0, color='#bbbbbb', linewidth=0.8, dashes=(3, 3))
        axes.set_xlim(0.0, duration)
    for axes in panels[6:]:
        axes.set_xlabel('time [s]')
    text = (
        f'Six-link manipulator, pose A to pose B in {duration:g} s, {PATHS[shown]}: '
        'joint torques and their parts'
    )
    add_heading(figure, text, panels[0])
    write_picture(figure, path)


def _draw_joint(axes: Any, joint: int, way: Way, other: Way, other_name: str) -> None:
    torques = way.torques
    shares = (
        ('gravity', torques.gravity, '#0072b2'),
        ('inertia', torques.inertia, '#e69f00'),
        ('Coriolis and centrifugal', torques.coriolis, '#009e73'),
    )
    axes.axhline(0.0, color='#888888', linewidth=0.8)
    time = way.motion.time
    axes.plot(time, torques.total[:, joint], color='#222222', linewidth=2.4, label='torque')
    for label, values, colour in shares:
        axes.plot(time, values[:, joint], color=colour, linewidth=1.4, label=label)
    axes.plot(
        other.motion.time,
        other.torques.total[:, joint],
        color=OTHER_COLOUR,
        linewidth=1.2,
        dashes=(4, 2),
        label=f'torque with {PATHS[other_name]}',
    )
    set_title(axes, f'joint {joint + 1}')


def _draw_profile(axes: Any, duration: float) -> None:
    """Draw the velocity and acceleration of figure 6, as shares of the way."""
    time = np.linspace(0.0, duration, 1201)
    profile = trapezoidal_profile(0.0, 1.0, duration, time)
    axes.plot(time, profile.velocity, color='#222222', linewidth=2.0)
    axes.set_ylabel('velocity [of the way / s]')
    axes.set_ylim(-1.15 * profile.velocity.max(), 1.15 * profile.velocity.max())
    right = _add_right_axis(axes)
    right.plot(time, profile.acceleration, color='#d1495b', linewidth=1.4)
    right.set_ylabel('acceleration [of the way / s²]', color='#d1495b', fontsize=9)
    right.set_ylim(-1.15 * profile.acceleration.max(), 1.15 * profile.acceleration.max())
    set_title(axes, 'profile of figure 6')


def _draw_velocities(axes: Any, way: Way, name: str) -> None:
    axes.axhline(0.0, color='#888888', linewidth=0.8)
    for joint, colour in enumerate(COLOURS):
        axes.plot(
            way.motion.time,
            np.rad2deg(way.motion.qd[:, joint]),
            color=colour,
            linewidth=1.4,
            label=f'q{joint + 1}',
        )
    axes.set_ylabel('velocity [deg/s]')
    lowest, highest = axes.get_ylim()
    axes.set_ylim(lowest - 0.25 * (highest - lowest), highest)
    axes.legend(
        loc='lower center',
        ncols=6,
        frameon=False,
        fontsize=8.5,
        handlelength=0.9,
        columnspacing=1.1,
    )
    set_title(axes, f'joint velocities, {PATHS[name]}')


def _draw_departure(axes: Any, way: Way) -> None:
    axes.plot(way.motion.time, 1e3 * way.distances, color='#222222', linewidth=2.0)
    axes.set_ylabel('off the line [mm]')
    axes.set_ylim(bottom=0.0)
    right = _add_right_axis(axes)
    right.plot(way.motion.time, np.rad2deg(way.angles), color='#d1495b', linewidth=1.4)
    right.set_ylabel('off the orientation [deg]', color='#d1495b', fontsize=9)
    right.set_ylim(bottom=0.0)
    set_title(axes, f'the tip with {PATHS["joint"]}')


def _add_right_axis(axes: Any) -> Any:
    right = axes.twinx()
    right.tick_params(labelsize=8.5, colors='#d1495b', length=3)
    for side in ('top', 'left'):
        right.spines[side].set_visible(False)
    return right
