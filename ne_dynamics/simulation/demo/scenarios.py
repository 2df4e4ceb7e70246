"""What a real arm meets, and what the node's answer to it is worth.

Each scenario is a few closed-loop runs, one of them without the means that it is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ne_dynamics.control import Mode
from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.arm import law_parameters
from ne_dynamics.simulation.demo.chunk_scenario import Chunks
from ne_dynamics.simulation.demo.control_laws import ControlLaws
from ne_dynamics.simulation.demo.motion import InverseDynamics, rest_to_rest
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED, Style
from ne_dynamics.simulation.demo.scenario import (
    COMPUTED_TORQUE,
    Scenario,
    ScenarioRun,
    rms,
)
from ne_dynamics.simulation.demo.tables import figure
from ne_dynamics.simulation.demo.weak_motors import WeakMotors
from ne_dynamics.simulation.recording import SessionRecording, SetParameters
from ne_dynamics.simulation.thresholds import DEMO
from ne_dynamics.tables import text_table


def _milli(value: float) -> str:
    return figure(1e3 * value)


class ToolLoad(Scenario):
    """A tool heavier than the wrist is picked up."""

    name = 'tool-load'
    story = 'a heavy tool is picked up: unknown, measured by the sensor, set as payload'
    default_load = 6.0

    def inverse_dynamics(self) -> InverseDynamics:
        """Return the efforts with the load."""
        loaded = with_hung_mass(self.arm.robot, self.load, np.zeros(3))
        return Dynamics(loaded).inverse_dynamics

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
        robot = {
            'payload.mass': self.load,
            'payload.link': self.arm.robot.tip_link,
            'payload.pick_up': self.pick_up,
            'wrench.sensor_link': self.sensor,
        }
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
        counted = [item for _, _, item in self.finished() if item.set_times]
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
                    *(_milli(rms(recording, start, end)) for _, start, end in phases),
                ]
                for _, run, recording in self.finished()
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
            [(run.style, recording) for _, run, recording in self.finished()],
            f'{self.arm.robot.name} picks up {self.load:g} kg',
            {
                self.pick_up: f'{self.load:g} kg picked up',
                self.recordings['payload'].set_times[0]: 'payload.mass set',
            },
        )
        return [path]


class TiltedBase(Scenario):
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
                    key.partition('_')[0],
                    _milli(recording.overall_rms_error),
                    _milli(float(recording.peak_error.max())),
                ]
                for key, run, recording in self.finished()
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
                [(run.style, item) for key, run, item in self.finished() if key.startswith(base)],
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


class WrongModel(Scenario):
    """The arm is not what the model says."""

    name = 'model-error'
    story = 'wrong masses, friction, sensors, drives: computed torque, PD, and the observer'
    duration = 2.0
    short_duration = 1.0
    gear_friction = DEMO.gear_friction

    laws: ClassVar[Mapping[str, tuple[Style, Mapping[str, Any]]]] = {
        'pd': (Style('PD alone', GREY, 1.4), law_parameters(Mode.FEEDFORWARD_PD, ())),
        'feedforward_pd': (
            Style('feed-forward + PD', BLUE, 1.6),
            law_parameters(Mode.FEEDFORWARD_PD),
        ),
        'computed_torque': (Style('computed torque', RED, 2.0), COMPUTED_TORQUE),
        'observer': (
            Style('computed torque + observer', ORANGE, 1.6),
            {**COMPUTED_TORQUE, 'observer.mode': 'compensate'},
        ),
    }

    cases: ClassVar[Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]]] = {
        'exact': ('model exact', {}, {}),
        'mass_10': ('masses +10 %', {}, {'model_error.mass_scale': 1.1}),
        'mass_20': ('masses +20 %', {}, {'model_error.mass_scale': 1.2}),
        'friction': ('friction unknown', {'terms.friction': False}, {}),
        'all': (
            'all of it',
            # A joint that sticks stands still to the last bit of its encoder.
            {'following_error.frozen': [0.0]},
            {
                # The model is 20 % too heavy.
                'model_error.mass_scale': 1.0 / 1.2,
                'model_error.friction_scale': 2.0,
                'model_error.torque_ripple': 0.05,
                'drive.command_delay': 0.006,
                'drive.encoder_bits': 16.0,
                'drive.velocity_cutoff': 30.0,
            },
        ),
    }
    """Label, parameters of the node, parameters of the simulated robot."""

    def inverse_dynamics(self) -> InverseDynamics:
        """Return the efforts of the heaviest arm."""
        return lambda q, qd, qdd: 1.2 * self.dynamics.inverse_dynamics(q, qd, qdd)

    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return every law with every error."""
        short = ('pd', 'computed_torque', 'observer')
        laws = short if self.options.is_short else tuple(self.laws)
        cases = ('mass_20',) if self.options.is_short else tuple(self.cases)
        runs = []
        for case in cases:
            label, node, robot = self.cases[case]
            for law in laws:
                if self._is_the_same(case, law):
                    continue
                style, law_of_node = self.laws[law]
                named = Style(f'{label}: {style.label}', style.colour, style.width)
                runs.append(ScenarioRun(f'{case}/{law}', named, {**law_of_node, **node}, robot))
        return tuple(runs)

    @staticmethod
    def _is_the_same(case: str, law: str) -> bool:
        """Return whether a run would be that with the exact model: PD alone knows no friction."""
        return case == 'friction' and law == 'pd'

    def _recording(self, case: str, law: str) -> SessionRecording:
        return self.recordings[f'{"exact" if self._is_the_same(case, law) else case}/{law}']

    def introduction(self) -> str:
        """Return what is wrong with the model."""
        text = f'{self.heading()}\n{self.friction_note()}; the model knows all, or is wrong'
        if self.options.is_short:
            return text
        return (
            f'{text}\nall of it: a model that is 20 % too heavy, friction twice, commands 6 ms '
            'late, 16-bit encoders with differenced velocities, 5 % torque ripple'
        )

    def _grid(self) -> tuple[list[str], list[str], FloatArray]:
        """Return cases, laws, and the RMS errors, a row a case [rad, m]."""
        keys = [key.split('/') for key in self.recordings]
        cases = list(dict.fromkeys(case for case, _ in keys))
        laws = list(dict.fromkeys(law for _, law in keys))
        errors = [[self._recording(case, law).overall_rms_error for law in laws] for case in cases]
        return cases, laws, np.array(errors)

    def report(self) -> str:
        """Return a grid of cases and laws."""
        cases, laws, errors = self._grid()
        ratios = errors[:, laws.index('pd')] / errors[:, laws.index('computed_torque')]
        return text_table(
            [
                [
                    'RMS error of all joints [mrad]',
                    *(self.laws[law][0].label for law in laws),
                    'PD / computed torque',
                ]
            ],
            [
                [self.cases[case][0], *map(_milli, row), f'{ratio:.0f}']
                for case, row, ratio in zip(cases, errors, ratios, strict=True)
            ],
        )

    def findings(self) -> dict[str, Any]:
        """Return the grid."""
        cases, laws, errors = self._grid()
        return {
            'gear_friction': DEMO.gear_friction if self._has_gear_friction else None,
            'overall_rms_error': {
                case: dict(zip(laws, row.tolist(), strict=True))
                for case, row in zip(cases, errors, strict=True)
            },
        }

    def plot(self, folder: Path) -> list[Path]:
        """Draw bars of all cases, and the errors of the heaviest arm over time."""
        from ne_dynamics.simulation.demo.pictures.scenario_plots import plot_model_error

        cases, laws, errors = self._grid()
        path = self.picture_path(folder)
        plot_model_error(
            path,
            [self.cases[case][0] for case in cases],
            [self.laws[law][0] for law in laws],
            errors,
            {
                self.cases[case][0]: [self._recording(case, law) for law in laws]
                for case in ('mass_20', 'friction')
                if case in cases
            },
            f'{self.arm.robot.name}: the model is wrong',
        )
        return [path]


class SensorLoss(Scenario):
    """Joint states stop while the arm moves; then the wrench does."""

    name = 'sensor-loss'
    story = 'joint states stop mid-motion, then the wrench: with and without a watchdog'
    gear_friction = DEMO.gear_friction
    state_timeout = 0.05
    wrench_timeout = 0.1
    slow_share = 0.5
    """Share of the motion's excursions that the arm makes while the wrench is lost."""

    def inverse_dynamics(self) -> InverseDynamics:
        """Return the efforts with the load."""
        loaded = with_hung_mass(self.arm.robot, self.load, np.zeros(3))
        return Dynamics(loaded).inverse_dynamics

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
        # The watchdog counts by the clock: by that of the simulation here.
        node, robot = {'use_sim_time': True}, {**dropout, 'publish_clock': True}
        load = {
            **dropout,
            'dropout.topics': ['wrench'],
            'payload.mass': self.load,
            'payload.link': self.arm.robot.tip_link,
            'wrench.sensor_link': self.sensor,
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
            ScenarioRun(
                'wrench_zero',
                Style('wrench.on_timeout: zero', GREY, 1.6),
                {**wrench, 'wrench.on_timeout': 'zero'},
                load,
                motion=slow,
            ),
            ScenarioRun(
                'wrench_hold',
                Style('wrench.on_timeout: hold', RED, 2.0),
                {**wrench, 'wrench.on_timeout': 'hold'},
                load,
                motion=slow,
            ),
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
        rows = []
        for key in ('no_watchdog', 'watchdog'):
            found = self._figures(self.recordings[key])
            rows.append(
                [
                    next(run for run in self.runs if run.key == key).style.label,
                    _milli(found['moved']),
                    _milli(found['tip_dropped']),
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
                [run.style.label, _milli(self._meanwhile(key)), _milli(self._peak(key))]
                for key, run, _ in self.finished()
                if key.startswith('wrench')
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

        by_key = {key: (run.style, item) for key, run, item in self.finished()}
        path = self.picture_path(folder)
        plot_sensor_loss(
            path,
            self.arm.robot,
            [by_key[key] for key in ('no_watchdog', 'watchdog')],
            [by_key[key] for key in ('wrench_zero', 'wrench_hold')],
            (self.start, self.start + self.length),
            f'{self.arm.robot.name}: readings are lost for {self.length:.3g} s (shaded)',
        )
        return [path]


SCENARIOS: Mapping[str, type[Scenario]] = {
    scenario.name: scenario
    for scenario in (
        ControlLaws,
        ToolLoad,
        TiltedBase,
        WrongModel,
        SensorLoss,
        Chunks,
        WeakMotors,
    )
}
"""By name, the one without which the demo goes first."""
