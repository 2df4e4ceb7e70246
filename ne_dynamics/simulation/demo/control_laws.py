"""The demo without an option: an arm follows a motion by one control law after the other.

All laws get the same bandwidth: what computed torque takes as accelerations, Kp and Kv, the PD
controllers take as efforts, scaled joint by joint by the diagonal of the mass matrix at the start
of the motion, about which the motion swings. The error of PD alone contains the arm's sagging into
its gains. Then the arm carries a load that the model does not know, without and with the wrench of
a wrist sensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ne_dynamics.control import Mode
from ne_dynamics.simulation.demo.arm import TERMS, law_parameters
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED, Style
from ne_dynamics.simulation.demo.scenario import Scenario, figures_of
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import figure, shortened
from ne_dynamics.simulation.recording import SessionRecording
from ne_dynamics.tables import text_table

SHORT_LAWS = ('pd', 'computed_torque')


@dataclass(frozen=True)
class ComparedLaw:
    """One of the compared control laws.

    Attributes
    ----------
    style : Style
    mode : Mode
    terms : tuple of str
        Parts of the model that are used.
    """

    style: Style
    mode: Mode
    terms: tuple[str, ...]


LAWS = {
    'pd': ComparedLaw(Style('PD alone', GREY), Mode.FEEDFORWARD_PD, ()),
    'pd_gravity': ComparedLaw(Style('PD + gravity', ORANGE), Mode.FEEDFORWARD_PD, ('gravity',)),
    'feedforward_pd': ComparedLaw(
        Style('feed-forward + PD', BLUE, 1.4, (4.0, 3.0)), Mode.FEEDFORWARD_PD, TERMS
    ),
    'computed_torque': ComparedLaw(
        Style('computed torque', RED, 2.6), Mode.COMPUTED_TORQUE, TERMS
    ),
}
"""In the order in which they run."""

LOAD_RUNS = {
    'without_wrench': Style('computed torque, load unknown', GREY),
    'with_wrench': Style('computed torque + wrist wrench', RED, 2.6),
}


class ControlLaws(Scenario):
    """Control laws of the same bandwidth; then a load that only a sensor feels."""

    name = 'control-laws'
    story = 'four control laws, then a load with a wrist sensor (default)'

    @cached_property
    def load(self) -> float:
        """The load [kg]; 0 leaves its runs out."""
        return self.default_load if self.options.load is None else self.options.load

    @property
    def is_loaded(self) -> bool:
        """Whether there is a load, and a tip to hang it on."""
        return self.load > 0.0 and self.arm.robot.tip_link is not None

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return a run for each law, and those with the load."""
        chosen = self.options.laws or (SHORT_LAWS if self.options.is_short else tuple(LAWS))
        runs = [
            ScenarioRun(key, law.style, law_parameters(law.mode, law.terms))
            for key, law in LAWS.items()
            if key in chosen
        ]
        if self.is_loaded:
            robot = self.load_parameters()
            for key, style in LOAD_RUNS.items():
                wrench = {'wrench.enabled': key == 'with_wrench'}
                runs.append(
                    ScenarioRun(key, style, {**wrench, 'wrench.sensor_link': self.sensor}, robot)
                )
        return tuple(runs)

    def introduction(self) -> str:
        """Return what is going to be done."""
        robot, options = self.arm.robot, self.options
        text = (
            f'{robot.name}: {robot.n} joints, {self.motion.duration:g} s at {options.rate:g} Hz, '
            f'Kp = {options.kp:g}/s^2, Kv = {options.kv:g}/s (PD: times the diagonal of the '
            'mass matrix)'
        )
        if self.is_loaded:
            text += f'; then {self.load:g} kg on {robot.tip_link}'
        elif self.load > 0.0:
            text += '; no load, because the model has no tip: name it with --tip'
        return text

    def _part(self, keys: Mapping[str, Any]) -> dict[str, SessionRecording]:
        return {key: self.recordings[key] for key in keys if key in self.recordings}

    def plot(self, folder: Path) -> list[Path]:
        """Draw errors and efforts, of the laws and with the load."""
        from ne_dynamics.simulation.demo.pictures.demo_plots import plot_efforts, plot_errors

        robot, plots = self.arm.robot, []
        load = f'{robot.name} with {self.load:g} kg on the tool'
        for prefix, keys, title in (('', LAWS, robot.name), ('load_', LOAD_RUNS, load)):
            if runs := self.drawn(keys):
                error, effort = folder / f'{prefix}error.png', folder / f'{prefix}torque.png'
                plot_errors(error, robot, runs, f'{title}: tracking error')
                plot_efforts(effort, robot, runs, f'{title}: effort of the motors')
                plots += [error, effort]
        return plots

    def report(self) -> str:
        """Return tables and what stands out."""
        blocks = []
        ratios = self.findings()
        if runs := self._part(LAWS):
            blocks.append(self._table(runs))
            if 'pd' in ratios:
                blocks[-1] += f'\nRMS error of computed torque: 1/{ratios["pd"]:.0f} of PD alone'
        if runs := self._part(LOAD_RUNS):
            blocks.append(
                f'With {self.load:g} kg on {self.arm.robot.tip_link}, unknown to the model; '
                f'sensor at {self.sensor}:\n{self._table(runs)}\n'
                f'RMS error with the wrench: 1/{ratios["without_wrench"]:.0f} of that without'
            )
        return '\n\n'.join(blocks)

    def _table(self, runs: Mapping[str, SessionRecording]) -> str:
        labels = {run.key: run.style.label for run in self.runs}
        width = max(len(labels[key]) for key in runs) + 2
        joints = self.arm.robot.joints
        units = ['[mm]' if joint.type.is_prismatic else '[mrad]' for joint in joints]
        rows = [
            [f'{labels[key]:<{width}}{what:<5}', *(figure(1e3 * error) for error in errors)]
            for what in ('RMS', 'peak')
            for key, recording in runs.items()
            for errors in [recording.rms_error if what == 'RMS' else recording.peak_error]
        ]
        names = [f'{shortened(joint.name):>7}' for joint in joints]
        return text_table([['', *names], ['', *units]], rows)

    def findings(self) -> dict[str, Any]:
        """Return how many times the error of the better run the other has."""
        error = {key: item.overall_rms_error for key, item in self.recordings.items()}
        pairs = {'pd': 'computed_torque', 'without_wrench': 'with_wrench'}
        return {
            key: error[key] / error[better]
            for key, better in pairs.items()
            if key in error and better in error
        }

    def results(self) -> dict[str, Any]:
        """Return everything that was measured, in SI units."""
        laws, loaded = (
            {key: figures_of(recording) for key, recording in self._part(keys).items()}
            for keys in (LAWS, LOAD_RUNS)
        )
        load = {
            'mass': self.load,
            'link': self.arm.robot.tip_link,
            'sensor_link': self.sensor if self.is_loaded else None,
            'runs': loaded,
        }
        return {
            **self.conditions(),
            'pd_kp': self.gains['feedforward_pd.kp'],
            'pd_kv': self.gains['feedforward_pd.kv'],
            'runs': laws,
            'load': load if loaded else None,
        }
