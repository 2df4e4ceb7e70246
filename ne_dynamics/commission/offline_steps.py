"""What a run does without moving the arm: checking, fitting, choosing, writing."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.commission.fits.fitting import FittedModel, acting_log, fit_records
from ne_dynamics.commission.fits.reading import (
    describe_recorded_driver,
    read_efforts,
    tell_efforts,
)
from ne_dynamics.commission.fits.static_friction import RiseTrial, choose_parts, with_part_of_rise
from ne_dynamics.commission.folder import PROGRESS, CommissionFolder
from ne_dynamics.commission.motions import lengths
from ne_dynamics.commission.node_settings import (
    common_parameters,
    parameter_text,
    sticking_parameters,
)
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.steps import Step
from ne_dynamics.commission.subject import CommissionedArm
from ne_dynamics.commission.thresholds import NODE_SETTINGS, STEPS
from ne_dynamics.commission.tilted_base import find_tilted_base
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import IdentificationError, InputError
from ne_dynamics.gains import GainMode, GainRequest, design_gains
from ne_dynamics.logs import Finding
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.prepared_file import write_whole

FITTED = 'fitted.urdf'
"""As `identify` has fitted it; what is made of it is that of the name below."""

IDENTIFIED = 'identified.urdf'
ROUGH = 'rough.urdf'
CLOSE = 'close.urdf'
TRIED = 'tried.urdf'
PARAMETERS = 'computed_torque.params.yaml'
PROFILE = 'driver.params.yaml'
REPORT = 'report.html'


class PlannedStep(NamedTuple):
    """What a step does, which files it writes that others need, and how the arm moves."""

    title: str
    files: tuple[str, ...] = ()
    motion: str = ''


def _together(duration: str) -> str:
    return f'all joints move at once by up to {{reach:g}} rad, for {{{duration}:g}} s'


ROW = {
    'check': PlannedStep('check the model'),
    'listen': PlannedStep('listen to the arm'),
    'hold': PlannedStep('hold the arm', (), 'it is held where it stands, for 3 s'),
    'probe': PlannedStep(
        'move one joint after the other',
        ('probe.csv',),
        'every joint moves by up to 0.2 rad to either side, gently',
    ),
    'excite': PlannedStep('excite all joints', ('excite.csv',), _together('excite')),
    'roughly': PlannedStep('fit the model, roughly', (ROUGH,)),
    'tremble': PlannedStep(
        'measure the delay',
        ('tremble.csv',),
        'every joint sweeps by up to {sweep:g} rad to either side, and trembles',
    ),
    'closely': PlannedStep('fit the model, closely', (CLOSE,)),
    'excite_again': PlannedStep(
        'excite all joints with the model so far', ('excite_again.csv',), _together('excite')
    ),
    'identify': PlannedStep('fit the model', (FITTED, IDENTIFIED, PROFILE)),
    'judge': PlannedStep('judge the model on another motion', (), _together('judge')),
    'gains': PlannedStep('choose gains', (PARAMETERS,)),
    'try_friction': PlannedStep(
        'try how much friction at rest to make up for',
        (),
        f'{_together("excite")}, up to three times',
    ),
    'test_before': PlannedStep(
        'follow the test motion with the given model', (), _together('test')
    ),
    'test_after': PlannedStep(
        'follow the test motion with the identified model', ('test_after.csv',), 'the same'
    ),
    'report': PlannedStep('write driver profile and report', (REPORT,)),
}
"""The steps in their order; each is a method of :class:`OfflineSteps` or of who moves the arm."""

FITS = ('roughly', 'closely', 'identify')
"""Steps that fit the model, in their order."""

MADE = (PARAMETERS, PROFILE, REPORT)
"""What the run is made for, and does not go on with."""

Bar = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
"""Shows how far something has come: label and duration [s]; yields what is told the time."""


@dataclass(frozen=True)
class Motions:
    """The motions of a commissioning run.

    Attributes
    ----------
    listen, excite, judge, test : float
        Durations [s].
    reach : float
        Largest distance to either side of the initial position [rad]; a fifth of it for
        prismatic joints [m].
    is_planned : bool
        Whether the excitation is planned as by `ne_dynamics excite`, without collisions with the
        arm itself and the floor; otherwise it is a sum of sines without this check.
    probe, tremble : float
        Approximate time for which each joint moves alone [s].
    """

    listen: float = 3.0
    excite: float = 25.0
    judge: float = 12.0
    test: float = 8.0
    reach: float = 0.7
    is_planned: bool = False
    probe: float = 2.2
    tremble: float = 4.0

    def add_up(self, joints: int) -> float:
        """Return the longest duration of all motions together, for a number of joints [s]."""
        repeated = 5.0 * self.excite + self.judge + 2.0 * self.test
        return 2.0 * self.listen + repeated + (self.probe + self.tremble) * joints


class OfflineSteps:
    """The offline steps of a run, and the results of all steps.

    The clock may be a simulation's; the bar shows work that takes longer than a second.
    """

    def __init__(
        self,
        subject: CommissionedArm,
        folder: CommissionFolder,
        is_simulated: bool,
        bar: Bar,
        motions: Motions = Motions(),
    ) -> None:
        self.subject = subject
        self.folder = folder
        self.is_simulated = is_simulated
        self.bar = bar
        self.given = Dynamics(subject.robot, backend='python')
        self._motions = motions
        self._refused: Sequence[Finding] = ()

    def steps(self, *names: str) -> tuple[Step, ...]:
        """Return the steps of these names, or all, in their order."""
        fields = {**vars(self._motions), 'sweep': STEPS.tremble_reach * self._motions.reach}
        return tuple(
            Step(name, row.title, row.motion.format(**fields), partial(self._run, name))
            for name, row in ROW.items()
            if not names or name in names
        )

    def _run(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = getattr(self, name)()
        return found

    def found(self, step: str) -> Mapping[str, Any]:
        """Return the result of a completed step."""
        return self.folder.results[step]

    @property
    def robot(self) -> Robot:
        """The robot of the given model."""
        return self.subject.robot

    @property
    def start(self) -> FloatArray:
        """Position of the arm at the beginning of the run, shape (n,) [rad or m]."""
        given = self.found('listen')['position']
        with contextlib.suppress(TypeError, ValueError):
            position = np.array(given, dtype=np.float64)
            if position.shape == (len(self.robot.joints),) and np.isfinite(position).all():
                return position
        raise InputError(
            f'{self.folder.file(PROGRESS)}: listen: position: expected '
            f'{len(self.robot.joints)} finite numbers, got {given!r}'
        )

    def friction_found(self) -> Sequence[Mapping[str, Any]]:
        """Return what the newest fit has found on friction, as data for JSON."""
        done = [step for step in FITS if self.folder.is_done(step)]
        return self.found(done[-1]).get('friction', ()) if done else ()

    def model(self, name: str) -> Dynamics:
        """Return the dynamics of a model in the folder."""
        return Dynamics(self.subject.load(self.folder.file(name)), backend='python')

    def log(self, name: str) -> Record:
        """Return the record of a step."""
        try:
            return Record.read(self.folder.file(f'{name}.csv'), self.robot.joint_names)
        except InputError as error:
            raise InputError(
                f'{error}; take {name!r} and the steps after it out of '
                f'{self.folder.file(PROGRESS)} to do them again'
            ) from error

    def _logs(self, *names: str) -> list[Record]:
        return [self.log(name) for name in names]

    def node_parameters(self, model: str | None = None) -> dict[str, Any]:
        """Return the node's parameters of all steps, for the given model or one in the folder."""
        file = None if model is None else self.folder.file(model)
        return common_parameters(
            self.subject.parameters(file), self.found('listen'), self.is_simulated
        )

    def check(self) -> Mapping[str, Any]:
        """Raise an error for a model with errors, or joints without limits."""
        findings = check_robot(self.robot)
        errors = [item for item in findings if item.severity == 'error']
        if errors:
            raise InputError(f'{self.subject.file}: {errors[0].element}: {errors[0].message}')
        limits = self.robot.limits('effort_limit')
        for joint, limit in zip(self.robot.joints, limits.tolist(), strict=True):
            if not (math.isfinite(limit) and limit > 0.0):
                raise InputError(
                    f'{self.subject.file}: joint {joint.name!r}: effort limit: expected a finite '
                    f'number > 0, got {limit:g}: gentle motions go by it'
                )
        return {
            'joints': list(self.robot.joint_names),
            'findings': [f'{item.element}: {item.message}' for item in findings],
        }

    def roughly(self) -> Mapping[str, Any]:
        """Fit the model with a typical delay."""
        return self._fit('roughly', ROUGH, 0.005, 'excite', 'probe')

    def closely(self) -> Mapping[str, Any]:
        """Fit the model with the measured delay."""
        delay = self.found('tremble')['delay']
        return self._fit('closely', CLOSE, delay, 'excite', 'probe', 'tremble')

    def _fit(self, how: str, file: str, delay: float, *records: str) -> Mapping[str, Any]:
        with self.bar(f'fitting, {how}', 0.0):
            fitted = fit_records(self.given, self._logs(*records), delay)
            self.subject.write(self.folder.file(file), fitted.robot)
        return {'delay': delay, **_friction_found(fitted)}

    def identify(self) -> Mapping[str, Any]:
        """Identify the model from all records, and determine the meaning of the efforts."""
        records = self._logs('excite_again', 'excite', 'tremble')
        delay = self.found('tremble')['delay']
        with self.bar('looking for a tilted base', 0.0):
            self._refused = find_tilted_base(self.given, acting_log(records[0], delay))
        if self._refused:
            raise IdentificationError('gravity pulls another way than the model has it')
        with self.bar('fitting', 0.0):
            fitted = fit_records(self.given, records, delay, self.model(CLOSE).robot)
            for name in (FITTED, IDENTIFIED):
                robot = self.subject.write(self.folder.file(name), fitted.robot)
        with self.bar('describing the driver', 0.0):
            described = describe_recorded_driver(Dynamics(robot, backend='python'), records[0])
        write_whole(self.folder.file(PROFILE), described.profile())
        found = {'efforts': read_efforts(described), 'found': tell_efforts(described)}
        return {**found, **_fit_summary(fitted), **_friction_found(fitted)}

    def gains(self) -> Mapping[str, Any]:
        """Design the gains, and write the parameters of the node."""
        listened, found = self.found('listen'), self.found('tremble')
        with self.bar('choosing gains', 0.0):
            design = design_gains(
                self.model(IDENTIFIED),
                GainRequest(
                    rate=listened['rate'],
                    delay=found['delay'],
                    position_step=tuple(self.found('probe')['encoder_step']),
                    velocity_source=(
                        'measured' if listened['reports_velocity'] else 'differentiated'
                    ),
                    uncertainty=0.1,
                    modes=(GainMode.COMPUTED_TORQUE,),
                ),
            )
        gains = design.node_parameters('computed_torque')
        self._write_parameters(gains)
        return {'parameters': gains}

    def keep_friction(self, identified: Robot, trials: Sequence[RiseTrial]) -> Mapping[str, Any]:
        """Write the model with the static friction of the best trial, and the node's parameters.

        `identified` is the robot with all of its static friction.
        """
        parts = choose_parts(identified, trials)
        self.subject.write(self.folder.file(IDENTIFIED), with_part_of_rise(identified, parts))
        self._write_parameters(self.found('gains')['parameters'])
        found = [
            f'{name}: static friction above Coulomb friction is made up for by {part:.2g} of what '
            'was fitted: with all of it the joint overruns its motion where it is slow'
            for name, part in zip(self.robot.joint_names, parts.tolist(), strict=True)
            if part < 1.0
        ]
        return {
            'parts': parts.tolist(),
            'found': found,
            'trials': [trial.as_json() for trial in trials],
        }

    def _write_parameters(self, gains: Mapping[str, Any]) -> None:
        parameters = {
            **self._final_parameters(IDENTIFIED, gains),
            'state_effort': self.found('identify')['efforts']['state_effort'],
        }
        for name in ('tracking_error.warn', 'tracking_error.error'):
            del parameters[name]
        write_whole(self.folder.file(PARAMETERS), parameter_text(parameters))

    def _final_parameters(self, model: str, gains: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **self.node_parameters(model),
            **gains,
            **sticking_parameters(self.model(model), self.start, gains),
        }

    def before_parameters(self) -> dict[str, Any]:
        """Return the node's parameters for the given model, with the designed gains."""
        return {
            **self.node_parameters(),
            **self.found('gains')['parameters'],
            **self.lenient_parameters(),
        }

    def after_parameters(self, model: str = IDENTIFIED) -> dict[str, Any]:
        """Return the node's parameters for the identified model, or another in the folder."""
        return self._final_parameters(model, self.found('gains')['parameters'])

    def lenient_parameters(self) -> dict[str, Any]:
        """Return the parameters that tolerate sticking joints, for steps that measure friction."""
        tolerance = NODE_SETTINGS.gentle_tolerance * lengths(self.robot)
        return {
            'following_error.position': (NODE_SETTINGS.lenience * tolerance).tolist(),
            'following_error.frozen': [math.inf],
        }

    def report(self) -> Mapping[str, Any]:
        """Write the report."""
        from ne_dynamics.commission.report import make_report
        from ne_dynamics.report_page import render_page

        identified = self.model(IDENTIFIED).robot
        logs = {
            name: self.log(name)
            for name in ('test_before', 'test_after')
            if 'fault' not in self.found(name)
        }
        with self.bar('drawing the report', 0.0):
            page = make_report(
                self.robot, self.folder.subject, self.folder.results, logs, identified
            )
            write_whole(self.folder.file(REPORT), render_page(page))
        return {'files': [IDENTIFIED, PARAMETERS, PROFILE, REPORT]}


def _friction_found(fitted: FittedModel) -> dict[str, Any]:
    return {'friction': [item.as_json() for item in fitted.friction]}


def _fit_summary(fitted: FittedModel) -> dict[str, Any]:
    report = fitted.report
    return {
        'cutoff_frequency': float(report.cutoff_frequency),
        'condition_number': float(report.condition_number),
        'determined': int(report.determined),
        'identifiable': int(report.identifiable),
        'findings': [f'{item.element}: {item.what}' for item in report.findings],
    }
