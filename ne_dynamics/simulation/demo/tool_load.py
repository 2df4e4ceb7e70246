"""A load that is picked up: unknown, told, and felt by the wrist sensor."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ne_dynamics.control import Mode
from ne_dynamics.simulation.demo.arm import law_parameters
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED, Style
from ne_dynamics.simulation.demo.scenario import Scenario, rms
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import milli
from ne_dynamics.simulation.recording import SetParameters
from ne_dynamics.tables import text_table


class ToolLoad(Scenario):
    """A tool heavier than the wrist is picked up."""

    name = 'tool-load'
    story = 'a heavy tool is picked up: unknown, measured by the sensor, set as payload'
    default_load = 6.0
    is_loaded = True

    @property
    def pick_up(self) -> float:
        """When the load is picked up [s]."""
        return 0.2 * self.motion.duration

    @property
    def told(self) -> float:
        """When one node is told of the load [s]."""
        return 0.5 * self.motion.duration

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return PD, computed torque, the same with the wrench, and with the payload told."""
        robot = {**self.load_parameters(), 'payload.pick_up': self.pick_up}
        wrench = {'wrench.enabled': True, 'wrench.sensor_link': self.sensor}
        told = SetParameters(self.told, {'payload.mass': self.load})
        runs = (
            ScenarioRun(
                'pd',
                Style('PD alone', ORANGE),
                law_parameters(Mode.FEEDFORWARD_PD, ()),
                robot,
            ),
            ScenarioRun('unknown', Style('computed torque, load unknown', GREY, 1.6), {}, robot),
            ScenarioRun(
                'payload',
                Style('payload.* set while it moves', BLUE, 1.8),
                {},
                robot,
                (told,),
            ),
            ScenarioRun('wrench', Style('with the wrist wrench', RED, 2.2), wrench, robot),
        )
        return runs[1:] if self.options.is_short else runs

    def introduction(self) -> str:
        """Return load and times."""
        return (
            f'{self.heading()}\n{self.load:g} kg are picked up by {self.arm.robot.tip_link} at '
            f'{self.pick_up:.3g} s; one node is told at {self.told:.3g} s, another one feels them '
            f'by the sensor at {self.sensor}'
        )

    def _phases(self) -> list[tuple[str, float, float]]:
        counted = [item for item in self.recordings.values() if item.set_times]
        told = counted[0].set_times[0] if counted else self.told
        settled = told + 0.25 * self.motion.duration
        return [
            (f'before {self.pick_up:.3g} s', 0.0, self.pick_up),
            (f'{self.pick_up:.3g} to {self.told:.3g} s', self.pick_up, self.told),
            (f'after {settled:.3g} s', settled, math.inf),
        ]

    def report(self) -> str:
        """Return the errors before the load, with it, and after it was told."""
        phases = self._phases()
        table = text_table(
            [
                ['RMS error of all joints [mrad]', *(name for name, _, _ in phases)],
            ],
            [
                [
                    run.style.label,
                    *(milli(rms(recording, start, end)) for _, start, end in phases),
                ]
                for run, recording in self.finished()
            ],
        )
        found = self.findings()
        return (
            f'{table}\n'
            f'With the wrench: 1/{found["ratio_of_wrench"]:.0f} of the error of computed torque '
            'that does not know the load\n'
            f'Told of the load at {found["told_at"]:.3f} s: 1/{found["ratio_of_payload"]:.0f} of '
            f'it {phases[2][0]}'
        )

    def findings(self) -> dict[str, Any]:
        """Return the ratios."""
        unknown, payload, wrench = (
            self.recordings[key] for key in ('unknown', 'payload', 'wrench')
        )
        after = self._phases()[2][1]
        return {
            'load': self.load,
            'picked_up_at': self.pick_up,
            'told_at': payload.set_times[0],
            'sensor_link': self.sensor,
            'ratio_of_wrench': rms(unknown, self.pick_up) / rms(wrench, self.pick_up),
            'ratio_of_payload': rms(unknown, after) / rms(payload, after),
            'ratio_before_told': rms(unknown, self.pick_up, self.told)
            / rms(payload, self.pick_up, self.told),
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw error and the effort of the joint that the load surprises most."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_tool_load

        path = self.picture_path(folder)
        plot_tool_load(
            path,
            self.arm.robot,
            self.drawn(),
            f'{self.arm.robot.name} picks up {self.load:g} kg',
            {
                self.pick_up: f'{self.load:g} kg picked up',
                self.recordings['payload'].set_times[0]: 'payload.mass set',
            },
        )
        return [path]
