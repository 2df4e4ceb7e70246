"""An arm that is not what the model says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ne_dynamics.control import Mode
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.arm import law_parameters
from ne_dynamics.simulation.demo.motion import InverseDynamics
from ne_dynamics.simulation.demo.pictures.run_style import BLUE, GREY, ORANGE, RED, Style
from ne_dynamics.simulation.demo.scenario import COMPUTED_TORQUE, Scenario
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.tables import milli
from ne_dynamics.simulation.recording import SessionRecording
from ne_dynamics.tables import text_table


class WrongModel(Scenario):
    """The arm is not what the model says."""

    name = 'model-error'
    story = 'wrong masses, friction, sensors, drives: computed torque, PD, and the observer'
    duration = 2.0
    short_duration = 1.0
    gear_friction = 0.05

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
                [self.cases[case][0], *map(milli, row), f'{ratio:.0f}']
                for case, row, ratio in zip(cases, errors, ratios, strict=True)
            ],
        )

    def findings(self) -> dict[str, Any]:
        """Return the grid."""
        cases, laws, errors = self._grid()
        return {
            'gear_friction': self.gear_friction if self._has_gear_friction else None,
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
