"""Motors that are too weak for a motion: the clock goes on, or the arm stays on its path."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.path_distance import SampledPath
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, RED, Style
from ne_dynamics.simulation.demo.scenario import Scenario
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import figure
from ne_dynamics.simulation.recording import SessionRecording
from ne_dynamics.tables import text_table

UNWATCHED = {
    'following_error.position': [0.0],
    'following_error.velocity': [0.0],
    'saturation.timeout': 0.0,
}
"""The arm is not stopped for the error that is to be seen."""


class PathFigures(NamedTuple):
    """What a run came to on its path.

    Attributes
    ----------
    path_deviation : float
        Largest distance from the path, in joint space [rad or m].
    longest_saturation, saturation : float
        How long a motor was at its limit at once, and in all [s].
    arrival : float
        When the motion that was asked for was at its end [s]; infinite where it was not.
    slowest : float
        Least speed on the path; 1 is that of the motion as it was sent.
    """

    path_deviation: float
    longest_saturation: float
    saturation: float
    arrival: float
    slowest: float


class WeakMotors(Scenario):
    """A motion asks for more than the motors have."""

    name = 'weak-motors'
    story = 'a motion needs 150 % of the motors: as sent, or slower on its path'
    duration = 1.0
    short_duration = 1.0
    asked_share = 1.5
    """Part of the motors' efforts of the motion, followed as sent."""
    holding_share = 0.85
    """Largest part of the motors' efforts that holds the arm on its way."""

    @cached_property
    def effort_limits(self) -> FloatArray:
        """What the weak motors have, shape (n,) [N m or N]: the node keeps to it."""
        asked, holding = self._efforts
        limits = np.maximum(asked / self.asked_share, holding / self.holding_share)
        # A joint that takes nothing, as a base that turns upright, needs a limit all the same.
        smallest = 1e-3 * float(limits.max())
        return np.asarray(np.maximum(limits, smallest))

    @cached_property
    def _efforts(self) -> tuple[FloatArray, FloatArray]:
        """Return the largest efforts of the motion, and those that hold it, shape (n,) each."""
        times = np.linspace(0.0, self.motion.duration, 2001)
        position, velocity, acceleration = self.motion.sample(times)
        asked = self.dynamics.inverse_dynamics(position, velocity, acceleration)
        holding = self.dynamics.gravity_torque(position)
        return np.abs(asked).max(axis=0), np.abs(holding).max(axis=0)

    @cached_property
    def path(self) -> SampledPath:
        """The path of the motion."""
        step = 1e-4
        times = np.arange(0.0, self.motion.duration + 0.5 * step, step)
        return SampledPath(times, self.motion.sample(times)[0])

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return strong motors, and weak ones by the clock and along the path."""
        weak = {**UNWATCHED, 'effort_limits': self.effort_limits.tolist()}
        rest = self.motion.duration
        runs = (
            ScenarioRun('strong', Style('motors strong enough', GREY, 1.6), UNWATCHED, rest=rest),
            ScenarioRun(
                'follow',
                Style('weak motors, when_infeasible: follow', BLUE, 1.8),
                {**weak, 'trajectory.when_infeasible': 'follow'},
                rest=rest,
            ),
            ScenarioRun(
                'slow_down',
                Style('weak motors, when_infeasible: slow_down', RED, 2.2),
                {**weak, 'trajectory.when_infeasible': 'slow_down'},
                must_follow=False,
                rest=rest,
            ),
        )
        return runs[1:] if self.options.is_short else runs

    @property
    def _shares(self) -> FloatArray:
        return self._efforts[0] / self.effort_limits

    def introduction(self) -> str:
        """Return what is asked of which motor."""
        asked = ', '.join(
            f'{name} {share:.0%}'
            for name, share in zip(self.arm.robot.joint_names, self._shares, strict=True)
        )
        return (
            f'{self.heading()}\nthe motion takes, of what the weak motors have: {asked}\n'
            'followed by its clock with efforts that are clipped, as joint_trajectory_controller '
            'does it, or slower on the same path'
        )

    def path_speed(self, recording: SessionRecording) -> FloatArray:
        """Return how fast the motion that was asked for goes on its path, shape (N,).

        1 is the speed at which it was sent; NaN where it has not begun, or has arrived.
        """
        times, heeded = recording.time, recording.heeded
        is_answered = np.isfinite(heeded).all(axis=1)
        places = np.interp(times, times[is_answered], self.path.places(heeded[is_answered]))
        speed: FloatArray = np.gradient(places, times)
        # Near its ends the speed along the path hardly shows.
        has_begun = np.abs(heeded - self.motion.positions[0]).max(axis=1) > 1e-4
        speed[: int(has_begun.argmax())] = np.nan
        speed[times > min(self._arrival(recording), times[-1]) - 0.02] = np.nan
        return speed

    def _arrival(self, recording: SessionRecording) -> float:
        distance = np.abs(recording.heeded - self.motion.positions[-1]).max(axis=1)
        on_its_way = np.flatnonzero(distance > 1e-6)
        after = int(on_its_way[-1]) + 1 if on_its_way.size else 0
        return float(recording.time[after]) if after < len(recording.time) else np.inf

    def _figures(self, key: str) -> PathFigures:
        recording = self.recordings[key]
        limits = (
            np.full_like(self.effort_limits, np.inf) if key == 'strong' else self.effort_limits
        )
        is_limited = np.any(np.abs(recording.effort) >= (1.0 - 1e-9) * limits, axis=1)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], is_limited.astype(np.int8), [0]))))
        period = 1.0 / self.options.rate
        return PathFigures(
            float(self.path.distances(recording.position).max()),
            float((edges[1::2] - edges[::2]).max(initial=0)) * period,
            float(is_limited.sum()) * period,
            self._arrival(recording),
            float(np.nanmin(self.path_speed(recording))),
        )

    def report(self) -> str:
        """Return how far each run leaves the path, and what that costs."""
        rows = []
        for run in self.runs:
            found = self._figures(run.key)
            rows.append(
                [
                    run.style.label,
                    figure(1e3 * found.path_deviation),
                    f'{1e3 * found.longest_saturation:.0f}',
                    f'{1e3 * found.saturation:.0f}',
                    f'{found.slowest:.2f}',
                    f'{found.arrival:.3f}',
                ]
            )
        return text_table(
            [
                ['', 'off its path', 'at a limit', 'in all', 'least speed', 'asked to be there'],
                ['', 'at most [mrad]', 'at once [ms]', '[ms]', 'on the path', 'at [s]'],
            ],
            rows,
        )

    def findings(self) -> dict[str, Any]:
        """Return the same in SI units."""
        return {
            'effort_limits': dict(
                zip(self.arm.robot.joint_names, self.effort_limits.tolist(), strict=True)
            ),
            'largest_share_of_effort': float(self._shares.max()),
            'runs': {key: self._figures(key)._asdict() for key in self.recordings},
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw distance from the path, speed on it, and the load of the motors."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_weak_motors

        recordings = self.recordings.values()
        name, asked = self.arm.robot.name, f'{self.asked_share:.0%} of what its motors have'
        path = self.picture_path(folder)
        plot_weak_motors(
            path,
            self.drawn(),
            [self.path.distances(recording.position) for recording in recordings],
            [self.path_speed(recording) for recording in recordings],
            self.effort_limits,
            f'{name}: a motion that takes {asked}',
        )
        return [path]
