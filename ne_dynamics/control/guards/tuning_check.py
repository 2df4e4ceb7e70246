"""Whether a tuning can work where the arm is, at the rate of its states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from ne_dynamics.control.command_machine import CommandMachine
from ne_dynamics.control.desired.feasibility_checker import Pause, go_on
from ne_dynamics.control.guards.feasibility import (
    SOUND,
    TuningVerdict,
    check_effort_limits,
    check_gains_and_drives,
    check_hand_guiding,
    check_timeout,
    check_velocity_source,
    find_drive_inertias,
    refuse_following_limits,
)
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.slew import refuse_slow_rates
from ne_dynamics.control.stages.row import CommandState, StageRow
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.model.rigid_body import FloatArray


class TuningCheck:
    """Checks tunings by what is known of the arm; nothing is said of what is not known yet."""

    def __init__(self, arm: StageRow, machine: CommandMachine) -> None:
        self._arm = arm
        self._machine = machine
        self._checked_period = 0.0

    def find_verdict(self, tuning: Tuning) -> TuningVerdict:
        """Return what is to be said of a tuning."""
        return _join(self._check_each(tuning))

    def check_change(self, tuning: Tuning, pause: Pause = go_on) -> TuningVerdict:
        """Return why a tuning cannot work where what counts now can, and else what to say of it.

        What became impossible in one respect may be left by any way, but for one that is
        impossible in another. `pause` is called in between, for who cannot wait until the end.
        """
        found = self._check_each(tuning)
        pause()
        now = self._arm.tuning
        pairs = zip(found, self._check_each(now), strict=True)
        refusals = [one for new, old in pairs if not old.refusals for one in new.refusals]
        refusals += self._refuse_following_limits(tuning, now)
        doubts, remarks = _join(found)
        return TuningVerdict(refusals, [*doubts, *remarks])

    def check_activation(self) -> Sequence[str]:
        """Return why the loop cannot work once states are answered, as far as that is known."""
        return self._check_loop(self._arm.tuning).refusals

    def find_unstable_loop(self) -> Fault | None:
        """Return a fault when the loop cannot work, once the rate of the states is known.

        And again whenever states come so much more slowly that it may have become so.
        """
        rate = self._arm.accept.rate
        if self._arm.watch.last is None:
            # The arm is held elsewhere than it was checked for.
            self._checked_period = 0.0
        if not rate.is_known or rate.period <= COMMAND.slower_period * self._checked_period:
            return None
        self._checked_period = rate.period
        refusals = self.check_activation()
        return Fault(FaultKind.UNSTABLE, '; '.join(refusals), latches=True) if refusals else None

    def _refuse_following_limits(self, tuning: Tuning, now: Tuning) -> list[str]:
        """Return why limits of the following error would give the present motion up."""
        tick, fault = self._arm.watch.last, self._arm.accept.guard.fault
        is_answered = self._arm.state in (CommandState.COMMANDING, CommandState.FLOATING)
        if tick is None or fault is not None or not is_answered or not tuning.mode.follows:
            return []
        velocity = tick.velocity
        return refuse_following_limits(
            [joint.name for joint in tuning.law.joints],
            tuning.following,
            now.following,
            (tick.error, self._arm.watch.peak_error),
            None if velocity is None else tick.desired.velocity - velocity,
        )

    def _check_loop(self, tuning: Tuning) -> TuningVerdict:
        """Return whether the feedback is stable where the arm is, at the rate of its states."""
        position, law, period = self._arm.position, tuning.law, self._arm.accept.rate.period
        if position is None or period == 0.0:
            return SOUND
        velocity = tuning.velocity
        if not law.has_feedback:
            return check_hand_guiding(law.guiding_rate, period, velocity)
        drives = find_drive_inertias(law.joints)
        verdict = check_gains_and_drives(
            law.mode,
            law.gains,
            lambda: law.dynamics.mass_matrix(position),
            drives,
            period,
            velocity,
            0.0 if tuning.disturbance is None else tuning.disturbance.feedback_rate,
        )
        if verdict.refusals or not tuning.effort_rates.any():
            return verdict
        inverse = None
        if law.mode is Mode.FEEDFORWARD_PD:
            matrix = law.dynamics.mass_matrix(position) + np.diag(drives)
            inverse = np.diagonal(np.linalg.inv(matrix))
        slow = refuse_slow_rates(
            law,
            tuning.effort_limits,
            tuning.effort_rates,
            [joint.name for joint in law.joints],
            period,
            velocity,
            inverse,
        )
        return TuningVerdict(slow, verdict.remarks)

    def _check_each(self, tuning: Tuning) -> list[TuningVerdict]:
        """Return what is to be said of each respect, always as many."""
        law, period, last = tuning.law, self._arm.accept.rate.period, self._arm.accept.guard.last
        if last is None:
            return [SOUND] * 4
        names = [joint.name for joint in law.joints]
        # Who pushes at the sensor now may let go: the weight is what the motors must carry.
        weight = self._machine.holding_effort(tuning, feels_wrench=False)
        return [
            check_effort_limits(names, weight, tuning.effort_limits),
            check_velocity_source(law, tuning.velocity, are_measured=last.velocity is not None),
            self._check_loop(tuning),
            check_timeout(tuning.states.timeout, period) if period > 0.0 else SOUND,
        ]

    def find_overload(self, load: FloatArray) -> str:
        """Return which joint could not hold a load at the wrist, in words; '' where all can."""
        position, tuning = self._arm.position, self._arm.tuning
        if position is None:
            return ''
        dynamics, limits, zero = tuning.law.dynamics, tuning.effort_limits, np.zeros_like(position)
        loaded = dynamics.inverse_dynamics(position, zero, zero, load)
        effort = np.abs(loaded - dynamics.inverse_dynamics(position, zero, zero))
        if (effort <= limits).all():
            return ''
        worst = int((effort / limits).argmax())
        return (
            f'{effort[worst]:.3g} N m or N at joint {dynamics.robot.joint_names[worst]!r}, whose '
            f'limit is {limits[worst]:.3g}'
        )


def _join(verdicts: Iterable[TuningVerdict]) -> TuningVerdict:
    """Return what is said in all respects together."""
    refusals, remarks = zip(*verdicts, strict=True)
    return TuningVerdict(list(chain(*refusals)), list(chain(*remarks)))
