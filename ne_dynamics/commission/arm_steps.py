"""What each step of a commissioning run does with the arm."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ne_dynamics.commission.arm.faults import ArmFault, LostArm, StrayedArm
from ne_dynamics.commission.arm.held_arm import HeldArm, Progress
from ne_dynamics.commission.fits.fitting import judge_record
from ne_dynamics.commission.fits.reading import read_stamps
from ne_dynamics.commission.fits.static_friction import (
    RiseTrial,
    choose_next_parts,
    with_part_of_rise,
)
from ne_dynamics.commission.folder import CommissionFolder
from ne_dynamics.commission.forgotten_load import find_forgotten_load
from ne_dynamics.commission.hard_stop import find_hard_stops
from ne_dynamics.commission.motions import (
    FITTED_SHARES,
    PlannedMotion,
    lengths,
    plan_probe,
    plan_sines,
    plan_tremble,
)
from ne_dynamics.commission.node_settings import gentle_parameters, longest_silence
from ne_dynamics.commission.offline_steps import (
    CLOSE,
    FITTED,
    IDENTIFIED,
    ROUGH,
    TRIED,
    Bar,
    Motions,
    OfflineSteps,
)
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.report import sentence
from ne_dynamics.commission.subject import CommissionedArm
from ne_dynamics.commission.thresholds import NODE_SETTINGS, STEPS
from ne_dynamics.commission.vibration import find_vibrations
from ne_dynamics.driver.command import find_delay_by_motion
from ne_dynamics.driver.steps import find_steps
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.logs import Finding
from ne_dynamics.model.rigid_body import FloatArray

MOVED = ('probe', 'excite', 'tremble', 'excite_again')
"""Steps whose records show where joints can go."""

CALM_GAINS: Mapping[str, Any] = {
    'mode': 'computed_torque',
    'computed_torque.kp': [80.0],
    'computed_torque.kv': [16.0],
}
"""Gains that bear a delay of 15 ms, until it is known."""


class ArmSteps(OfflineSteps):
    """The steps of a run with a live arm; see :class:`OfflineSteps`."""

    def __init__(
        self,
        subject: CommissionedArm,
        folder: CommissionFolder,
        session: HeldArm,
        bar: Bar,
        motions: Motions,
    ) -> None:
        super().__init__(subject, folder, session.is_simulated, bar, motions)
        self.session = session
        self._given_up: Record | None = None

    def _run(self, name: str) -> Mapping[str, Any]:
        """Do a step; one that ends the run tells what explains that."""
        self._given_up, self._refused = None, ()
        try:
            return super()._run(name)
        except LostArm:
            raise
        except NeDynamicsError as error:
            self.folder.causes = self._find_causes()
            error.args = ('; '.join([str(error), *map(sentence, self.folder.causes)]),)
            raise

    def _find_causes(self) -> list[Mapping[str, Any]]:
        """Return what explains the end of a step, from its motion and the newest fit."""
        record, found = self._given_up, list(self._refused)
        if record is not None:
            allowed = STEPS.largest_sag * lengths(self.robot)
            found = (
                find_vibrations(record, self.robot.limits('effort_limit'))
                or self._find_stops(record)
                or find_forgotten_load(self.given, record, self.start, allowed)
            )
        return [*(one.as_json() for one in found), *self.friction_found()]

    def _gentle(self) -> dict[str, Any]:
        return {**self.node_parameters(), **gentle_parameters(self.given, self.start)}

    @property
    def tolerance(self) -> FloatArray:
        """Position error at which a motion is stopped, shape (n,) [rad or m]."""
        return NODE_SETTINGS.gentle_tolerance * lengths(self.robot)

    @contextlib.contextmanager
    def _moving(
        self, name: str, parameters: Mapping[str, Any], look: Progress | None = None
    ) -> Iterator[None]:
        file = self.folder.file(f'{name}.node.yaml')
        try:
            with self.session.moving(name, parameters, file, look):
                yield
        except LostArm:
            raise
        except ArmFault:
            self._given_up = self.session.record()
            raise

    def listen(self) -> Mapping[str, Any]:
        """Record the arm at rest."""
        arm, seconds = self.session, self._motions.listen
        arm.forget()
        begin = arm.now
        with self.bar('listening', seconds) as show:
            arm.pass_time(begin + seconds, lambda now: show(now - begin))
        record = arm.record()
        record.write(self.folder.file('listen.csv'))
        stamps = read_stamps(arm.receptions)
        longest, gap = longest_silence(stamps['rate']), stamps['longest_gap']
        if gap > longest:
            raise ArmFault(
                f'joint_states: no state for {gap:.3g} s while listening: expected '
                f'gaps of at most {longest:.3g} s, after which the node leaves the arm'
            )
        moved = np.ptp(record.position, axis=0)
        if (moved > 0.02).any():
            worst = int(moved.argmax())
            raise ArmFault(
                f'{self.robot.joint_names[worst]} moved by {moved[worst]:.3g} while listening: '
                'expected an arm that stands'
            )
        return {
            **stamps,
            'reports_velocity': bool(np.isfinite(record.velocity).all()),
            'reports_effort': bool(np.isfinite(record.effort).all()),
            'position': record.position[-1].tolist(),
        }

    def hold(self) -> Mapping[str, Any]:
        """Hold the arm, with increasing shares of its effort limits."""
        limits = self.robot.limits('effort_limit')
        parameters = {**self._gentle(), 'effort_limits': (STEPS.held_parts[0] * limits).tolist()}
        arm, sags = self.session, []
        with (
            self._moving('hold', parameters, lambda _: self._require_held(STEPS.held_parts[0])),
            self.bar('holding', 3.0 * STEPS.held_for) as show,
        ):
            for number, part in enumerate(STEPS.held_parts):
                if number:
                    arm.set_parameters({'effort_limits': (part * limits).tolist()})
                begin = arm.now

                def look(
                    now: float, first: float = begin - number * STEPS.held_for, part: float = part
                ) -> None:
                    show(now - first)
                    self._require_held(part)

                arm.pass_time(begin + STEPS.held_for, look)
                sags.append(np.abs(arm.position - self.start).tolist())
        return {'parts': list(STEPS.held_parts), 'sag': sags}

    def _require_held(self, part: float) -> None:
        sag = np.abs(self.session.position - self.start) / lengths(self.robot)
        if sag.max() > STEPS.largest_sag:
            worst = int(sag.argmax())
            raise StrayedArm(
                f'{self.robot.joint_names[worst]} gave way by {sag[worst]:.3g} rad (or 0.2 m) '
                f'while held with {part:.0%} of its effort limit, expected at most '
                f'{STEPS.largest_sag:g}: are efforts in N m, of the right sign, and the brakes '
                'off?'
            )

    def probe(self) -> Mapping[str, Any]:
        """Move the joints one after the other."""
        probe = plan_probe(self.robot, self.start, trembles=False)
        # Efforts of another sign, or to another joint, drive it away: feedback that holds it where
        # it is would go on with that. Where that is not seen the node's own fault leaves it, and
        # comes first.
        wary = {'following_error.position': (STEPS.wary_share * self.tolerance).tolist()}
        astray = STEPS.astray * lengths(self.robot)
        try:
            record = self._follow('probe', {**self._gentle(), **wary}, probe, 'probing', astray)
        except LostArm:
            raise
        except ArmFault as fault:
            raise ArmFault(
                f'{fault}; do efforts reach the joints in the order '
                f'{", ".join(self.robot.joint_names)}, with the signs of the model?'
            ) from fault
        moved = np.ptp(record.position, axis=0)
        for name, way, length in zip(
            self.robot.joint_names, moved.tolist(), lengths(self.robot).tolist(), strict=True
        ):
            if way < STEPS.smallest_probe * length:
                raise ArmFault(
                    f'{name} moved by {way:.3g} in its probe, expected at least '
                    f'{STEPS.smallest_probe * length:g}: is its brake off, and does the effort '
                    'reach it?'
                )
        steps = find_steps(record.position)
        return {'moved': moved.tolist(), 'encoder_step': steps.tolist()}

    def excite(self) -> Mapping[str, Any]:
        """Move all joints at once."""
        motion = self._exciting_motion()
        record = self._follow('excite', self._gentle(), motion, 'exciting')
        return {'rms_error': record.rms_error.tolist(), 'samples': int(record.times.size)}

    def excite_again(self) -> Mapping[str, Any]:
        """Move all joints at once, with a model with which they follow and do not stick."""
        motion = self._plan_fitted(self.model(CLOSE), self._motions.excite, seed=4)
        record = self._follow('excite_again', self._calm(CLOSE), motion, 'exciting again')
        self._require_no_stop(record)
        return {'rms_error': record.rms_error.tolist(), 'samples': int(record.times.size)}

    def _plan_fitted(
        self, model: Dynamics, duration: float, seed: int, share: float = 1.0
    ) -> PlannedMotion:
        """Return a motion of all joints within the efforts of a fitted model; share: of reach."""
        reach = share * self._motions.reach
        return plan_sines(
            model, self.start, duration, seed=seed, reach=reach, shares=FITTED_SHARES
        )

    def _calm(self, model: str) -> dict[str, Any]:
        """Return the node's parameters for a fitted model before there are gains."""
        return {**self.node_parameters(model), **CALM_GAINS, **self.lenient_parameters()}

    def _exciting_motion(self) -> PlannedMotion:
        plan = self._motions
        if not plan.is_planned:
            return plan_sines(self.given, self.start, plan.excite, seed=1, reach=plan.reach)
        # Needs SciPy and coal, which the rest does not.
        from ne_dynamics.commission.telling_motion import plan_telling_motion

        with self.bar('planning the excitation', 1.0) as show:
            return plan_telling_motion(
                self.given, self.subject.file, self.start, plan.excite, plan.reach, show
            )

    def tremble(self) -> Mapping[str, Any]:
        """Measure the delay of the commands."""
        reach = STEPS.tremble_reach * self._motions.reach
        model = self.model(ROUGH)
        motion = plan_tremble(model, self.start, reach)
        record = self._follow('tremble', self._calm(ROUGH), motion, 'measuring the delay')
        delay, deviation = find_delay_by_motion(
            model, record.times, record.position, record.commands, STEPS.delay_cutoff
        )
        if not math.isfinite(delay):
            raise ArmFault(
                'the delay cannot be told: the motion does not follow from its commands; expected '
                'efforts that act'
            )
        return {'delay': max(delay, 0.0), 'deviation': deviation}

    def judge(self) -> Mapping[str, Any]:
        """Follow another motion, and compare the predictions of the old and the new model."""
        identified = self.model(IDENTIFIED)
        motion = self._plan_fitted(identified, self._motions.judge, 2, STEPS.judge_reach)
        record = self._follow('judge', self._calm(IDENTIFIED), motion, 'judging')
        self._require_no_stop(record)
        delay = self.found('tremble')['delay']
        before, after = (judge_record(each, record, delay) for each in (self.given, identified))
        limits = self.robot.limits('effort_limit')
        for name, rest, limit in zip(self.robot.joint_names, after, limits, strict=True):
            if rest > STEPS.worst_left_share * limit:
                raise ArmFault(
                    f'{name}: the identified model leaves {rest:.3g} N m (N) of the judged '
                    f'motion, expected at most {STEPS.worst_left_share:.0%} of the effort limit '
                    f'{limit:g}'
                )
        return {'left_by_given': before.tolist(), 'left_by_identified': after.tolist()}

    def try_friction(self) -> Mapping[str, Any]:
        """Follow a motion with decreasing static friction, in joints that do not lag."""
        identified = self.model(FITTED)
        motion = self._plan_fitted(identified, self._motions.excite, 5, STEPS.test_reach)
        trials: list[RiseTrial] = []
        while (parts := choose_next_parts(identified.robot, trials)) is not None:
            tried = with_part_of_rise(identified.robot, parts)
            self.subject.write(self.folder.file(TRIED), tried)
            name = f'try_friction_{len(trials) + 1}'
            parameters = {**self.after_parameters(TRIED), **self.lenient_parameters()}
            record = self._follow(name, parameters, motion, 'trying friction')
            trials.append(RiseTrial.of(identified.robot, parts, record))
        return self.keep_friction(identified.robot, trials)

    def test_before(self) -> Mapping[str, Any]:
        """Follow the test motion with the given model."""
        return self.test('test_before', self.before_parameters())

    def test_after(self) -> Mapping[str, Any]:
        """Follow the test motion with the identified model."""
        return self.test('test_after', self.after_parameters())

    def test(self, name: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow the test motion; that it is given up is a result, except in `test_after`."""
        motion = self._plan_fitted(self.model(IDENTIFIED), self._motions.test, 3, STEPS.test_reach)
        try:
            record = self._follow(name, parameters, motion, name.replace('_', ' '))
        except ArmFault as fault:
            if name == 'test_after' or isinstance(fault, LostArm):
                raise
            return {'fault': str(fault)}
        return {
            'rms_error': record.rms_error.tolist(),
            'overall_rms_error': float(np.sqrt(np.mean(record.error**2))),
        }

    def _require_no_stop(self, record: Record) -> None:
        """Refuse a record in which a joint comes to a stop that the model does not know."""
        if self._find_stops(record):
            self._given_up = record
            raise ArmFault('a joint did not reach where it was sent')

    def _find_stops(self, record: Record) -> list[Finding]:
        length = lengths(self.robot)
        if not find_hard_stops(record, length):
            return []
        done = [name for name in MOVED if self.folder.is_done(name)]
        return find_hard_stops(record, length, self._logs(*done))

    def _follow(
        self,
        name: str,
        parameters: Mapping[str, Any],
        motion: PlannedMotion,
        label: str,
        astray: FloatArray | None = None,
    ) -> Record:
        with self._moving(name, parameters), self.bar(label, motion.duration) as show:
            record = self.session.follow(motion, self.tolerance, show, astray)
        record.write(self.folder.file(f'{name}.csv'))
        return record
