"""What becomes of a motion that is told in positions alone, 30 times a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED, Style
from ne_dynamics.simulation.demo.position_chunks import PositionChunks
from ne_dynamics.simulation.demo.scenario import Scenario
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import figure
from ne_dynamics.simulation.recording import SessionRecording
from ne_dynamics.tables import text_table

LINES = {'interpolation_method': 'linear', 'trajectory.when_infeasible': 'follow'}
"""As joint_trajectory_controller has it, which judges no motion."""


class Chunks(Scenario):
    """Chunks of positions: straight lines between them, or a spline with its feed-forward."""

    name = 'chunks'
    story = 'positions at 30 Hz, few a message: straight lines, or splines with feed-forward'
    rate: ClassVar[float] = 30.0

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return straight lines, and splines from chunks of 16 and of 2 and from single points."""

        def chunks(count: int, every: int) -> PositionChunks:
            return PositionChunks(count, every, self.rate)

        runs = (
            ScenarioRun(
                'lines',
                Style('straight lines, chunks of 2', GREY, 1.6),
                LINES,
                chunks=chunks(2, 2),
            ),
            ScenarioRun(
                'spline_16', Style('splines, chunks of 16', BLUE, 3.0), chunks=chunks(16, 8)
            ),
            ScenarioRun('spline_2', Style('splines, chunks of 2', RED, 1.5), chunks=chunks(2, 2)),
            ScenarioRun(
                'spline_1',
                Style('splines, single points', ORANGE, 1.5, dashes=(3.0, 3.0)),
                chunks=chunks(1, 1),
            ),
        )
        short = ('lines', 'spline_2')
        return tuple(run for run in runs if not self.options.is_short or run.key in short)

    def introduction(self) -> str:
        """Return what is sent."""
        return (
            f'{self.heading()}\npositions alone, {self.rate:g} a second: no velocity, no '
            'acceleration; chunks of 2 and single points end where the next ones begin'
        )

    def _effort_error(self, recording: SessionRecording) -> float:
        """Return the largest RMS error of a joint's effort, relative to that of the motion."""
        wanted = self.dynamics.inverse_dynamics(*self.motion.sample(recording.time[:-1]))
        # What the motors have applied up to a state was commanded at the one before.
        error = recording.effort[1:] - wanted
        return float(np.sqrt((error**2).mean(axis=0) / (wanted**2).mean(axis=0)).max())

    def report(self) -> str:
        """Return errors of position and effort of all runs."""
        table = text_table(
            [
                ['', 'error of all joints', '', 'effort of the worst joint'],
                ['', 'RMS [mrad]', 'peak [mrad]', 'RMS error, relative [%]'],
            ],
            [
                [
                    run.style.label,
                    figure(1e3 * recording.overall_rms_error),
                    figure(1e3 * float(recording.peak_error.max())),
                    figure(1e2 * self._effort_error(recording)),
                ]
                for run, recording in self.finished()
            ],
        )
        ratios = ', '.join(
            f'{run.style.label.removeprefix("splines, ")} 1/{self._ratio(run.key):.0f}'
            for run in self.runs
            if run.key != 'lines'
        )
        return f'{table}\nRMS error of the splines: {ratios} of that of straight lines'

    def _ratio(self, key: str) -> float:
        lines, splines = (self.recordings[name] for name in ('lines', key))
        return lines.overall_rms_error / splines.overall_rms_error

    def findings(self) -> dict[str, Any]:
        """Return the ratios, and how far the efforts are from those of the motion."""
        return {
            'positions_per_second': self.rate,
            'ratios': {key: self._ratio(key) for key in self.recordings if key != 'lines'},
            'effort_errors': {
                key: self._effort_error(recording) for key, recording in self.recordings.items()
            },
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw the errors, and half a second of the effort of a joint."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_chunks

        path = self.picture_path(folder)
        plot_chunks(
            path,
            self.arm.robot,
            self.drawn(),
            f'{self.arm.robot.name} follows positions sent at {self.rate:g} Hz',
        )
        return [path]
