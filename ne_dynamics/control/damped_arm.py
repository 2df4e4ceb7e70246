"""What answers joint states after a fault that latches: gravity compensation and damping."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ne_dynamics.control.command_machine import CommandMachine, model_efforts
from ne_dynamics.control.fault_damping import FaultDamping, find_damping_rate
from ne_dynamics.control.guards.state_guard import StateRefused
from ne_dynamics.control.stages.row import CommandState, StageRow
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState, resting_state


class DampedArm:
    """Damps the arm from a fault on, for as long as states come that are not believed."""

    def __init__(self, arm: StageRow, machine: CommandMachine) -> None:
        self._arm = arm
        self._machine = machine
        self._leaving: Iterator[FloatArray] | None = None
        self._damped_at = 0.0, 0.0
        self._was_set_back = False
        self._commanded_at = 0.0
        self._led_to: DesiredState | None = None
        self._answered: Tick | None = None

    def answer(self, tick: Tick) -> None:
        """Set `effort`, `desired`, `saturated` and `velocity`.

        Raises
        ------
        StateRefused
            When the effort is not finite.
        """
        tuning, position, now = tick.tuning, tick.position, tick.now
        sense, limits = self._arm.sense, self._arm.limits
        begins = self._arm.damping is None
        damping = self._arm.damping or self._begin(tuning, position)
        last = limits.last
        # Others may have commanded the arm since, when no states came or none was answered.
        answered = self._answered
        returns = not begins and last is not (None if answered is None else answered.effort)
        elapsed, since = self._measure_time(tick, begins=begins, returns=returns)
        self._was_set_back = self._arm.heard_at < (now if begins else self._damped_at[0])
        # The state that has shown the fault may be later than the last that was believed.
        self._damped_at, self._commanded_at = (now, tick.arrival), self._arm.heard_at
        tick.wrench, tick.base, tick.nature = sense.read(now)
        damping.step(position, elapsed, np.zeros_like(position) if last is None else last)
        if tuning.drives_close_loop:
            self._lead_drives(tick, damping, elapsed)
            return
        self._arm.state = CommandState.DAMPED
        try:
            held, effort = damping.compute_effort(
                tuning.hold_law.compensation, limits.limits, tick.wrench, tick.base
            )
        except InputError as refusal:
            raise StateRefused('effort', str(refusal)) from refusal
        # A command that was computed from a measurement that is not believed is not faded.
        is_continued = damping.believed.all() if begins else returns
        if last is not None and is_continued:
            damping.go_on_from(last, limits.clamp(held))
        elif not begins:
            self._lead_over(damping, tick, held)
        offset = damping.fade(elapsed)
        tick.velocity, tick.desired = damping.velocity, resting_state(damping.position)
        tick.effort, tick.saturated = limits.apply(
            effort if offset is None else effort + offset, since
        )
        limits.setpoint = tick.desired
        self._answered = tick
        self._arm.watch.answered.append(now, damping.position, damping.velocity, tick.effort)

    def _lead_over(self, damping: FaultDamping, tick: Tick, held: FloatArray) -> None:
        """Let the offset take back by how much another model, or reading, holds the arm."""
        last, limits = self._answered, self._arm.limits
        if last is None or (last.tuning is tick.tuning and last.nature == tick.nature):
            return
        try:
            before, _ = damping.compute_effort(
                last.tuning.hold_law.compensation, limits.limits, last.wrench, last.base
            )
            damping.offset.shift(limits.clamp(before) - limits.clamp(held))
        except InputError:
            # What cannot be computed is not led over.
            return

    def _begin(self, tuning: Tuning, position: FloatArray) -> FaultDamping:
        """Give up the motion, and see what of the last states is believed."""
        fault, base, law = self._arm.accept.guard.fault, self._arm.sense.base, tuning.hold_law
        gravity = law.compensation.gravity(position, base)
        try:
            fall: FloatArray = np.asarray(
                np.linalg.solve(law.dynamics.mass_matrix(position), gravity), np.float64
            )
        except np.linalg.LinAlgError:
            fall = np.zeros_like(gravity)
        damping = FaultDamping(
            tuning.law.joints,
            model_efforts(law.compensation, base),
            tuning.states.velocities,
            position,
            self._arm.watch.answered,
            () if fault is None else fault.joints,
            find_damping_rate(law.joints, fall, self._arm.accept.rate.period),
        )
        self._arm.transition.end_effort()
        self._arm.restart()
        self._arm.damping, self._leaving, self._answered = damping, None, None
        return damping

    def _measure_time(self, tick: Tick, *, begins: bool, returns: bool) -> tuple[float, float]:
        """Return the time since the state before, and since the last command as far as sure [s].

        Stamps do not tell it where they stand, are set back, return from there (two publishers,
        one with old stamps), or leap though nothing was missing. Then it is the mean period, as
        far as that is known: states may have waited for one another. Where others have come
        between, it is down to half.
        """
        before, came = self._damped_at
        elapsed, waited = tick.now - before, max(tick.arrival - came, 0.0)
        timeout, period = tick.tuning.states.timeout, self._arm.accept.rate.period
        tells_time = not self._was_set_back and 0.0 < elapsed <= max(timeout, waited)
        since = max(tick.now - self._commanded_at, 0.0)
        if not tells_time:
            halves = min(max(round(2.0 * waited / period), 1), 2) if period else 0
            elapsed = 0.5 * halves * period if period else waited
            # Stamps may stand still: the rate limit counts so little.
            since = min(waited, 0.002)
        if begins:
            elapsed = 0.0
        return elapsed, min(elapsed, COMMAND.ramp_period if returns else since)

    def _lead_drives(self, tick: Tick, damping: FaultDamping, elapsed: float) -> None:
        """Bring drives that close the loop to rest; they damp themselves."""
        if self._leaving is None or self._arm.limits.setpoint is not self._led_to:
            # At first, and when other commands have led the drives meanwhile.
            self._leaving = self._machine.last_commands()
        for _ in itertools.islice(self._leaving, max(1, round(elapsed / COMMAND.ramp_period))):
            pass
        effort, desired = self._arm.limits.last, self._arm.limits.setpoint
        self._led_to = desired
        tick.velocity = damping.velocity
        tick.effort = np.zeros_like(damping.position) if effort is None else effort
        tick.desired = resting_state(damping.position) if desired is None else desired
