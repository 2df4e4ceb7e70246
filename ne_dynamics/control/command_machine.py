"""What becomes of the arm beside the row of stages: a small machine of states.

While joint states are answered it is commanding, floats after a contact, or is damped after a
fault. When they stop, or the node is deactivated, the commands come from here: they brake the arm,
hold it, and leave it, or let it down. `doc/controller.md` draws the states.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ne_dynamics.control.contact import ContactReaction
from ne_dynamics.control.drive_setpoint import plan_rest
from ne_dynamics.control.guards.state_guard import FaultKind
from ne_dynamics.control.stages.row import CommandState, StageRow
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.transition import ramp
from ne_dynamics.control.tuning import LastCommand, OnStateLoss, Tuning
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.braking import Brake, ModelEfforts, plan_brake
from ne_dynamics.motion.waypoints import DesiredState, resting_state

NOT_FOLLOWED = frozenset(
    (FaultKind.FOLLOWING, FaultKind.SATURATED, FaultKind.FROZEN_POSITION, FaultKind.VELOCITY)
)
"""Faults of the motion: the arm is not where it was sent."""


class CommandMachine:
    """Makes the commands that answer no joint state, and sets the state with each."""

    def __init__(self, arm: StageRow) -> None:
        self._arm = arm
        self._braked: tuple[FloatArray, FloatArray] | None = None

    @property
    def is_left(self) -> bool:
        """Whether the last command was reached: the ramp to it got to its end."""
        return self._arm.state in (CommandState.LEFT, CommandState.LOWERING)

    @property
    def is_floating(self) -> bool:
        """Whether, after a contact, the arm is carried against gravity alone, and may be led."""
        return self._arm.state is CommandState.FLOATING

    @property
    def is_lowered(self) -> bool:
        """Whether the effort against gravity fades, or has: :meth:`lowering_commands`."""
        return self._arm.state is CommandState.LOWERING

    def react_to_contact(self) -> bool:
        """Let a contact end the motion; return whether the next command is another one."""
        tuning = self._arm.tuning
        reaction = ContactReaction.NONE
        if tuning.disturbance is not None and tuning.mode.follows and not self.is_floating:
            reaction = tuning.disturbance.reaction
        if reaction is ContactReaction.HOLD:
            self._arm.motion.hold(where_found=True)
        elif reaction is ContactReaction.FLOAT:
            self._arm.state = CommandState.FLOATING
        return reaction is not ContactReaction.NONE

    # ---- commands that answer no state

    def braking_commands(self, silent_for: float) -> Iterator[FloatArray] | None:
        """Return the commands that bring an arm to rest whose states have stopped.

        Then they are those of :meth:`last_commands` for where it should be by then. Each is for
        `ramp_period` after the one before, the first for that long from now.

        Parameters
        ----------
        silent_for : float
            Time since the last state [s].

        Returns
        -------
        iterator of array, shape (n,), or None
            [N m or N]; None when nothing is to be braked, or nothing can be said of the motion.
            Drives that close the loop are always braked: along the desired motion.
        """
        arm, tuning = self._arm, self._arm.tuning
        answered = arm.watch.answered
        if tuning.drives_close_loop:
            setpoint = self._arm.limits.setpoint
            moves = setpoint is not None and bool(setpoint.velocity.any())
            return self.last_commands() if moves else None
        if tuning.on_state_loss is not OnStateLoss.BRAKE or not tuning.mode.has_feedback:
            return None
        try:
            brake = plan_brake(
                answered,
                model_efforts(tuning.hold_law.compensation, self._arm.sense.base),
                arm.motion.settings.limits,
                silent_for=silent_for,
                period=COMMAND.ramp_period,
                rates=arm.limits.rates,
            )
        except InputError:
            return None
        last, position = answered.last, arm.position
        if brake is None or last is None or position is None or position is not last.position:
            return None
        self._braked = (position, brake.end)
        return self._brake(brake)

    def _brake(self, brake: Brake) -> Iterator[FloatArray]:
        for effort in brake.efforts:
            self._arm.state = CommandState.BRAKING
            yield self._arm.limits.apply(effort, COMMAND.ramp_period).effort
        yield from self.last_commands()

    def lowering_commands(self) -> Iterator[FloatArray]:
        """Return the commands that let an arm down which nobody sees, each after `ramp_period`.

        First those of :meth:`last_commands`, then what holds the arm fades to nothing within
        `lowering_time`: joints sink one by one, as their friction no longer carries the rest.
        """
        yield from self.last_commands()
        held = self._arm.limits.last
        if held is not None:
            for effort in ramp(
                held, np.zeros_like(held), COMMAND.lowering_time, COMMAND.ramp_period
            ):
                self._arm.state = CommandState.LOWERING
                yield self._arm.limits.apply(effort, COMMAND.ramp_period).effort

    def last_commands(self, last: LastCommand = LastCommand.GRAVITY) -> Iterator[FloatArray]:
        """Return the commands that leave the arm alone, each `ramp_period` after the one before.

        A ramp over the transition time, and no faster than the rate limit, which is given up
        after `longest_ramp`: see :attr:`is_left`. One command when there is nothing to ramp.
        None when no state has come, so that no command has gone out, or none is asked for.
        An arm that is let down keeps what the effort has faded to, in place of gravity's.
        The setpoint of the limits is what goes with each: drives that close the loop are brought
        to rest along the desired motion, and where that was not followed, to where the arm was
        found.
        """
        arm, setpoint = self._arm, self._arm.limits.setpoint
        if arm.position is None or arm.time is None or last is LastCommand.NONE:
            self._arm.state = CommandState.LEFT
        elif arm.tuning.drives_close_loop and setpoint is not None:
            yield from self._send(self._plan_rest_of_drives(setpoint, last))
        else:
            yield from self._send(self._plan_last(last))

    def _send(self, way: list[tuple[FloatArray, DesiredState | None]]) -> Iterator[FloatArray]:
        """Go a way, stay at its end until that is reached, and leave the arm there."""
        is_lowered = self.is_lowered
        for index in range(round(COMMAND.longest_ramp / COMMAND.ramp_period)):
            # Another tuning may have come between two commands, and other limits with it.
            effort, setpoint = way[min(index, len(way) - 1)]
            if not is_lowered:
                self._arm.state = CommandState.HOLDING
            limits = self._arm.limits
            sent = limits.apply(effort, COMMAND.ramp_period).effort
            limits.setpoint = setpoint
            yield sent
            is_reached = limits.last is not None and (limits.last == limits.clamp(effort)).all()
            if index >= len(way) - 1 and is_reached:
                if not is_lowered:
                    self._arm.state = CommandState.LEFT
                return

    def _plan_last(self, last: LastCommand) -> list[tuple[FloatArray, DesiredState | None]]:
        """Return the efforts from the last command to the one that is left."""
        arm, limits, tuning = self._arm, self._arm.limits, self._arm.tuning
        target = np.zeros(tuning.effort_limits.size)
        if last is LastCommand.GRAVITY and self.is_lowered and limits.last is not None:
            # It has sunk since: what carried it where it was last seen would throw it.
            target = limits.last
        elif last is not LastCommand.ZERO:
            target = self.holding_effort(tuning)
            correction = self._find_correction()
            if correction is not None:
                target = target + correction
        target = limits.clamp(target)
        duration = min(arm.transition.duration, COMMAND.longest_ramp)
        start = target if limits.last is None or duration == 0.0 else limits.clamp(limits.last)
        way = ramp(start, target, duration, COMMAND.ramp_period)
        return [(effort, limits.setpoint) for effort in way]

    def _find_correction(self) -> FloatArray | None:
        """Return what the last command had at rest beside the effort of the model [N m or N]."""
        # Friction at rest goes on pushing, and what the model lacked is lacking still: by the last
        # command, whatever has become of the observer since.
        last = self._arm.watch.last
        lacking = None if last is None else last.compensation
        pushing = self._arm.law.effort_at_rest(self._arm.acting_law)
        if lacking is None:
            return pushing
        return -lacking if pushing is None else pushing - lacking

    def _plan_rest_of_drives(
        self, setpoint: DesiredState, last: LastCommand
    ) -> list[tuple[FloatArray, DesiredState | None]]:
        """Return how drives that close the loop are brought to rest."""
        arm, compensation = self._arm, self._arm.tuning.hold_law.compensation
        wrench, base, fault = arm.sense.wrench, arm.sense.resting_base(arm.time), arm.fault
        effort = arm.limits.last

        def compute_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            # As the law that has computed what was sent.
            qdd = qdd if compensation.terms.inertia else np.zeros_like(qdd)
            return compensation.effort_or_infinite(q, qd, qdd, wrench, base)

        way = plan_rest(
            np.zeros_like(setpoint.position) if effort is None else effort,
            setpoint,
            arm.motion.settings.limits,
            compute_efforts,
            duration=min(arm.transition.duration, COMMAND.longest_ramp),
            period=COMMAND.ramp_period,
            found=arm.position if fault is not None and fault.kind in NOT_FOLLOWED else None,
            position_error=arm.acting_law.position_error,
            is_limp=last is LastCommand.ZERO,
        )
        return [*way]

    def holding_effort(self, tuning: Tuning, *, feels_wrench: bool = True) -> FloatArray:
        """Return the effort that holds the arm where it is left, shape (n,) [N m or N].

        It is not limited, and is for the last position, or where the arm was braked since.
        Without the wrench it is that of the model with all that it carries.
        """
        position, now = self._arm.position, self._arm.time
        if position is None or now is None:
            raise RuntimeError('no state has come')
        if self._braked is not None and self._braked[0] is position:
            position = self._braked[1]
        wrench = self._arm.sense.wrench_at(now) if feels_wrench else None
        base = self._arm.sense.resting_base(now)
        return tuning.hold_law.effort(position, None, resting_state(position), wrench, base)


def model_efforts(compensation: Compensation, base: Base | None) -> ModelEfforts:
    """Return the efforts of the model without the wrench, on the base as it stands."""
    return lambda q, qd, qdd, qd_friction: compensation.effort(q, qd, qdd, qd_friction, None, base)
