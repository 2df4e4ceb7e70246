"""A base that stands askew, and one that rocks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.dynamics import STANDARD_GRAVITY
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.motion import InverseDynamics
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, RED, Style
from ne_dynamics.simulation.demo.scenario import Scenario
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import milli
from ne_dynamics.tables import text_table


class TiltedBaseScenario(Scenario):
    """The base stands askew, or rocks like a ship or a vehicle."""

    name = 'tilted-base'
    story = 'the base is tilted, then rocks: without and with an IMU'
    tilt = math.radians(20.0)
    amplitude = math.radians(8.0)
    frequency = 0.5
    center = (0.0, 0.0, -1.0)

    def inverse_dynamics(self) -> InverseDynamics:
        """Return what the motion takes on a level base or on the tilted one."""
        gravity = np.array(STANDARD_GRAVITY)
        sine, cosine = math.sin(self.tilt), math.cos(self.tilt)
        base_to_world = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
        base = np.concatenate((np.zeros(6), gravity - base_to_world.T @ gravity))

        def largest(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            level = self.dynamics.inverse_dynamics(q, qd, qdd)
            tilted = self.dynamics.inverse_dynamics(q, qd, qdd, base_motion=base)
            return np.maximum(np.abs(level), np.abs(tilted))

        return largest

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return each base without the unit and with it; the rocking one by either source."""
        link = {'imu.link': self.arm.robot.base_link}
        tilted = {**link, 'base.orientation': [self.tilt, 0.0, 0.0]}
        rocking = {
            **link,
            'base.rocking.axis': [1.0, 0.0, 0.0],
            'base.rocking.center': list(self.center),
            'base.rocking.amplitude': self.amplitude,
            'base.rocking.frequency': self.frequency,
        }
        by_acceleration = {'imu.enabled': True, 'imu.source': 'acceleration'}
        by_orientation = {'imu.enabled': True, 'imu.source': 'orientation'}
        level, imu = Style('without imu', GREY, 1.6), 'with imu'
        runs = (
            ScenarioRun('tilted_without', level, {}, tilted),
            ScenarioRun('tilted_with', Style(imu, RED, 2.2), by_acceleration, tilted),
            ScenarioRun('rocking_without', level, {}, rocking),
            ScenarioRun(
                'rocking_orientation',
                Style("with imu, source 'orientation'", BLUE, 1.6),
                by_orientation,
                rocking,
            ),
            ScenarioRun(
                'rocking_with',
                Style("with imu, source 'acceleration'", RED, 2.2),
                by_acceleration,
                rocking,
            ),
        )
        short = ('rocking_without', 'rocking_with')
        return tuple(run for run in runs if not self.options.is_short or run.key in short)

    def introduction(self) -> str:
        """Return how the base stands and moves."""
        tilted = f'tilted by {math.degrees(self.tilt):.0f} deg; then '
        return (
            f'{self.heading()}\nbase {"" if self.options.is_short else tilted}rocking by '
            f'{math.degrees(self.amplitude):.0f} deg to either side at {self.frequency:g} Hz '
            f'about an axis {-self.center[2]:g} m below'
        )

    def report(self) -> str:
        """Return the errors of all runs."""
        table = text_table(
            [['error of all joints [mrad]', 'base', 'RMS', 'peak']],
            [
                [
                    run.style.label,
                    run.key.partition('_')[0],
                    milli(recording.overall_rms_error),
                    milli(float(recording.peak_error.max())),
                ]
                for run, recording in self.finished()
            ],
        )
        ratios = ', '.join(
            f'{base} 1/{ratio:.0f}' for base, ratio in self.findings()['ratios'].items()
        )
        return f'{table}\nRMS error with the unit on the base: {ratios} of that without'

    def findings(self) -> dict[str, Any]:
        """Return the ratios."""
        error = {key: item.overall_rms_error for key, item in self.recordings.items()}
        return {
            'tilt': self.tilt,
            'amplitude': self.amplitude,
            'frequency': self.frequency,
            'ratios': {
                base: error[f'{base}_without'] / error[f'{base}_with']
                for base in ('tilted', 'rocking')
                if f'{base}_with' in error
            },
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw the errors, one panel a base."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_tilted_base

        rocking = 2.0 * math.pi * self.frequency

        def tilted_angle(times: FloatArray) -> FloatArray:
            return np.full_like(times, math.degrees(self.tilt))

        def rocking_angle(times: FloatArray) -> FloatArray:
            angle: FloatArray = math.degrees(self.amplitude) * np.sin(rocking * times)
            return angle

        panels = [
            (
                title,
                self.drawn([key for key in self.recordings if key.startswith(base)]),
                angle,
            )
            for base, title, angle in (
                ('tilted', f'base tilted by {math.degrees(self.tilt):.0f}°', tilted_angle),
                (
                    'rocking',
                    f'base rocking by ±{math.degrees(self.amplitude):.0f}° at '
                    f'{self.frequency:g} Hz',
                    rocking_angle,
                ),
            )
            if f'{base}_with' in self.recordings
        ]
        path = self.picture_path(folder)
        plot_tilted_base(path, panels, f'{self.arm.robot.name} on a tilted and on a rocking base')
        return [path]
