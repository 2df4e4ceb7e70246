"""Readings that are lost while the arm moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.demo.pictures.run_style import GREY, RED, Style
from ne_dynamics.simulation.demo.scenario import Scenario, rms
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import figure, milli
from ne_dynamics.simulation.recording import SessionRecording, SetParameters
from ne_dynamics.tables import text_table


class SensorLoss(Scenario):
    """Joint states stop while the arm moves; then the wrench does."""

    name = 'sensor-loss'
    story = 'joint states stop mid-motion, then the wrench: with and without a watchdog'
    gear_friction = 0.05
    is_loaded = True
    state_timeout = 0.05
    wrench_timeout = 0.1
    slow_share = 0.5
    """Share of the motion's excursions that the arm makes while the wrench is lost."""

    @property
    def start(self) -> float:
        """When it begins [s]."""
        return 0.25 * self.motion.duration

    @property
    def length(self) -> float:
        """How long it takes [s]."""
        return 0.25 * self.motion.duration

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return the watchdog on and off; the last wrench held and dropped."""
        dropout = {'dropout.start': self.start, 'dropout.duration': self.length}
        return (*self._without_states(dropout), *self._without_wrench(dropout))

    def _without_states(self, dropout: Mapping[str, Any]) -> tuple[ScenarioRun, ...]:
        # The watchdog counts by the clock: by that of the simulation here.
        node, robot = {'use_sim_time': True}, {**dropout, 'publish_clock': True}
        return (
            ScenarioRun(
                'no_watchdog',
                Style('no watchdog', GREY, 1.6),
                {
                    **node,
                    'state_timeout': math.inf,
                    'jump_velocity': [0.0],
                    'following_error.position': [0.0],
                    'following_error.velocity': [0.0],
                    'saturation.timeout': 0.0,
                },
                robot,
                must_follow=False,
            ),
            ScenarioRun(
                'watchdog',
                Style(f'watchdog, state_timeout {self.state_timeout:g} s', RED, 2.0),
                node,
                robot,
                # Not from the start: simulated time begins with a jump from 0.
                (SetParameters(0.0, {'state_timeout': self.state_timeout}),),
                must_follow=False,
            ),
        )

    def _without_wrench(self, dropout: Mapping[str, Any]) -> tuple[ScenarioRun, ...]:
        load = {
            **dropout,
            'dropout.topics': ['wrench'],
            **self.load_parameters(),
        }
        wrench = {
            'wrench.enabled': True,
            'wrench.sensor_link': self.sensor,
            'wrench.timeout': self.wrench_timeout,
        }
        start = self.motion.positions[0]
        excursion = self.motion.positions.max(axis=0) - start
        slow = rest_to_rest(
            self.arm.robot, start, start + self.slow_share * excursion, self.motion.duration
        )
        return tuple(
            ScenarioRun(
                f'wrench_{answer}',
                Style(f'wrench.on_timeout: {answer}', colour, width),
                {**wrench, 'wrench.on_timeout': answer},
                load,
                motion=slow,
            )
            for answer, colour, width in (('zero', GREY, 1.6), ('hold', RED, 2.0))
        )

    def introduction(self) -> str:
        """Return what is lost and when."""
        return (
            f'{self.heading()}\njoint_states are lost from {self.start:.3g} s to '
            f'{self.start + self.length:.3g} s; then, with {self.load:g} kg on '
            f'{self.arm.robot.tip_link} that only the sensor at {self.sensor} knows of, the '
            f'wrench, in a slower motion\n{self.friction_note()}; the arm is braked by '
            'the model; without friction, one that was moving would go away all the same'
        )

    def _figures(self, recording: SessionRecording) -> dict[str, float]:
        """Return how far the arm went while nobody looked, and what happened afterwards."""
        end = self.start + self.length
        tip = self.dynamics.forward_kinematics(recording.position)[:, :3, 3]
        times = recording.time
        lost = (times >= self.start) & (times <= end)
        first = int(np.flatnonzero(lost)[0])
        limits = self.arm.robot.limits('effort_limit')
        limits = np.where(limits > 0.0, limits, np.inf)
        after = times > end
        jumps = np.abs(np.diff(recording.effort, axis=0))[after[1:]] / limits
        return {
            'moved': float(np.abs(recording.position[lost] - recording.position[first]).max()),
            'tip_moved': float(np.linalg.norm(tip[lost] - tip[first], axis=1).max()),
            'tip_dropped': float(tip[first, 2] - tip[lost, 2].min()),
            'largest_speed': float(np.abs(recording.velocity[lost | after]).max()),
            'largest_effort_after': float((np.abs(recording.effort[after]) / limits).max()),
            'largest_effort_step_after': float(jumps.max()),
        }

    def report(self) -> str:
        """Return what became of the arm."""
        labels = {run.key: run.style.label for run in self.runs}
        rows = []
        for key in ('no_watchdog', 'watchdog'):
            found = self._figures(self.recordings[key])
            rows.append(
                [
                    labels[key],
                    milli(found['moved']),
                    milli(found['tip_dropped']),
                    figure(found['largest_speed']),
                    f'{100.0 * found["largest_effort_after"]:.0f}',
                ]
            )
        states = text_table(
            [
                ['joint_states lost', 'joints moved', 'tip sank', 'top speed', 'effort after'],
                ['', '[mrad]', '[mm]', '[rad/s]', '[% of limit]'],
            ],
            rows,
        )
        wrench = text_table(
            [['wrench lost', 'RMS error meanwhile', 'peak'], ['', '[mrad]', '[mrad]']],
            [
                [labels[key], milli(self._meanwhile(key)), milli(self._peak(key))]
                for key in ('wrench_zero', 'wrench_hold')
            ],
        )
        said = self.findings()['reported']
        return f'{states}\n\n{wrench}\n\nReported by the node with the watchdog on: ' + (
            '; '.join(said) or 'nothing but ok'
        )

    def _meanwhile(self, key: str) -> float:
        return rms(self.recordings[key], self.start, self.start + self.length)

    def _peak(self, key: str) -> float:
        recording = self.recordings[key]
        part = (recording.time >= self.start) & (recording.time < self.start + self.length)
        return float(np.abs(recording.error[part]).max())

    def findings(self) -> dict[str, Any]:
        """Return the figures of all runs."""
        errors = [
            item.message for item in self.recordings['watchdog'].diagnoses if item.level >= 2
        ]
        return {
            'start': self.start,
            'length': self.length,
            'joint_states': {
                key: self._figures(self.recordings[key]) for key in ('no_watchdog', 'watchdog')
            },
            'wrench': {
                key: {'rms_error': self._meanwhile(key), 'peak_error': self._peak(key)}
                for key in ('wrench_zero', 'wrench_hold')
            },
            'reported': list(dict.fromkeys(errors)),
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw position, effort and what the node reports."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_sensor_loss

        path = self.picture_path(folder)
        plot_sensor_loss(
            path,
            self.arm.robot,
            self.drawn(('no_watchdog', 'watchdog')),
            self.drawn(('wrench_zero', 'wrench_hold')),
            (self.start, self.start + self.length),
            f'{self.arm.robot.name}: readings are lost for {self.length:.3g} s (shaded)',
        )
        return [path]
