"""What becomes of the arm beside the row of stages: a small machine of states.

While joint states are answered it is commanding, floats after a contact, or is damped after a
fault. When they stop, or the node is deactivated, the commands come from here: they brake the arm,
hold it, and leave it, or let it down. `doc/controller.md` draws the states.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.drive_setpoint import Setpoint, plan_rest
from ne_dynamics.control.guards.state_guard import Fault, FaultKind
from ne_dynamics.control.laws import ControlLaw
from ne_dynamics.control.stages.limits import Limits
from ne_dynamics.control.stages.sense import Sense
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.transition import ramp
from ne_dynamics.control.tuning import LastCommand, OnStateLoss, Tuning
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.braking import AnsweredStates, Brake, ModelEfforts, plan_brake
from ne_dynamics.motion.stopping import StopLimits
from ne_dynamics.motion.waypoints import DesiredState, resting_state

NOT_FOLLOWED = frozenset(
    (FaultKind.FOLLOWING, FaultKind.SATURATED, FaultKind.FROZEN_POSITION, FaultKind.VELOCITY)
)
"""Faults of the motion: the arm is not where it was sent."""


class CommandState(enum.Enum):
    """Where the commands come from."""

    COMMANDING = 'commanding'
    """Joint states are answered by the row of stages."""
    FLOATING = 'floating'
    """So they are, by gravity compensation alone: a contact has ended the motion."""
    DAMPED = 'damped'
    """Joint states are answered by damping, after a fault."""
    BRAKING = 'braking'
    """The arm is brought to rest by the model: no joint states come."""
    HOLDING = 'holding'
    """The command goes over to the last one."""
    LOWERING = 'lowering'
    """The effort against gravity fades, or has."""
    LEFT = 'left'
    """No command is sent: the arm has the last one, or never had any."""


class LastKnown(NamedTuple):
    """What is known of the arm between two states.

    Attributes
    ----------
    tuning : Tuning
    law : ControlLaw
        By which states are answered.
    position : array, shape (n,), or None
        [rad or m]; None before the first state.
    time : float or None
        [s]
    fault : Fault or None
    correction : array, shape (n,), or None
        What the last command had at rest beside the effort of the model [N m or N].
    stop_limits : StopLimits
    duration : float
        Transition time [s].
    """

    tuning: Tuning
    law: ControlLaw
    position: FloatArray | None
    time: float | None
    fault: Fault | None
    correction: FloatArray | None
    stop_limits: StopLimits
    duration: float


class CommandMachine:
    """Has the state, and makes the commands that answer no joint state.

    Attributes
    ----------
    state : CommandState
    """

    def __init__(
        self,
        sense: Sense,
        limits: Limits,
        answered: AnsweredStates,
        known: Callable[[], LastKnown],
    ) -> None:
        self.state = CommandState.LEFT
        self._sense = sense
        self._limits = limits
        self._answered = answered
        self._known = known
        self._braked: tuple[FloatArray, FloatArray] | None = None

    @property
    def is_left(self) -> bool:
        """Whether the last command was reached: the ramp to it got to its end."""
        return self.state in (CommandState.LEFT, CommandState.LOWERING)

    @property
    def is_floating(self) -> bool:
        """Whether, after a contact, the arm is carried against gravity alone, and may be led."""
        return self.state is CommandState.FLOATING

    @property
    def is_lowered(self) -> bool:
        """Whether the effort against gravity fades, or has: :meth:`lowering_commands`."""
        return self.state is CommandState.LOWERING

    def end_floating(self) -> None:
        """Let the feedback count again, from where the arm is found."""
        if self.is_floating:
            self.state = CommandState.COMMANDING

    # ---- commands that answer no state

    def braking_commands(self, silent_for: float) -> Iterator[FloatArray] | None:
        """Return the commands that bring an arm to rest whose states have stopped.

        Then they are those of :meth:`last_commands` for where it should be by then. Each is for
        `ramp_period` after the one before, the first for that long from now.
        """
        known, answered = self._known(), self._answered
        tuning = known.tuning
        if tuning.drives_close_loop:
            setpoint = self._limits.setpoint
            moves = setpoint is not None and bool(setpoint.velocity.any())
            return self.last_commands() if moves else None
        if tuning.on_state_loss is not OnStateLoss.BRAKE or not tuning.mode.has_feedback:
            return None
        try:
            brake = plan_brake(
                answered,
                model_efforts(tuning.hold_law.compensation, self._sense.base),
                known.stop_limits,
                silent_for=silent_for,
                period=COMMAND.ramp_period,
            )
        except InputError:
            return None
        last, position = answered.last, known.position
        if brake is None or last is None or position is None or position is not last.position:
            return None
        self._braked = (position, brake.end)
        return self._brake(brake)

    def _brake(self, brake: Brake) -> Iterator[FloatArray]:
        for effort in brake.efforts:
            self.state = CommandState.BRAKING
            yield self._limits.apply(effort, COMMAND.ramp_period).effort
        yield from self.last_commands()

    def lowering_commands(self) -> Iterator[FloatArray]:
        """Return the commands that let an arm down which nobody sees, each after `ramp_period`.

        First those of :meth:`last_commands`, then what holds the arm fades to nothing within
        `lowering_time`: joints sink one by one, as their friction no longer carries the rest.
        """
        yield from self.last_commands()
        held = self._limits.limiter.last
        if held is not None:
            for effort in ramp(
                held, np.zeros_like(held), COMMAND.lowering_time, COMMAND.ramp_period
            ):
                self.state = CommandState.LOWERING
                yield self._limits.apply(effort, COMMAND.ramp_period).effort

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
        known, setpoint = self._known(), self._limits.setpoint
        if known.position is None or known.time is None or last is LastCommand.NONE:
            self.state = CommandState.LEFT
        elif known.tuning.drives_close_loop and setpoint is not None:
            yield from self._send(self._plan_rest_of_drives(known, setpoint, last))
        else:
            yield from self._send(self._plan_last(known, last))

    def _send(self, way: list[Setpoint | FloatArray]) -> Iterator[FloatArray]:
        """Go a way, stay at its end until that is reached, and leave the arm there."""
        is_lowered = self.is_lowered
        for index in range(round(COMMAND.longest_ramp / COMMAND.ramp_period)):
            # Another tuning may have come between two commands, and other limits with it.
            wanted = way[min(index, len(way) - 1)]
            effort, setpoint = wanted if isinstance(wanted, Setpoint) else (wanted, None)
            if not is_lowered:
                self.state = CommandState.HOLDING
            yield self._limits.apply(effort, COMMAND.ramp_period, setpoint).effort
            limiter = self._limits.limiter
            if index >= len(way) - 1 and not limiter.is_on_its_way(limiter.clamp(effort)):
                if not is_lowered:
                    self.state = CommandState.LEFT
                return

    def _plan_last(self, known: LastKnown, last: LastCommand) -> list[Setpoint | FloatArray]:
        """Return the efforts from the last command to the one that is left."""
        limiter, tuning = self._limits.limiter, known.tuning
        target = np.zeros(tuning.effort_limits.size)
        if last is LastCommand.GRAVITY and self.is_lowered and limiter.last is not None:
            # It has sunk since: what carried it where it was last seen would throw it.
            target = limiter.last
        elif last is not LastCommand.ZERO:
            target = self.holding_effort(tuning)
            if known.correction is not None:
                # Friction at rest goes on pushing, and what the model lacked is lacking still.
                target = target + known.correction
        target = limiter.clamp(target)
        duration = min(known.duration, COMMAND.longest_ramp)
        start = target if limiter.last is None or duration == 0.0 else limiter.clamp(limiter.last)
        return [*ramp(start, target, duration, COMMAND.ramp_period)]

    def _plan_rest_of_drives(
        self, known: LastKnown, setpoint: DesiredState, last: LastCommand
    ) -> list[Setpoint | FloatArray]:
        """Return how drives that close the loop are brought to rest."""
        compensation, wrench = known.tuning.hold_law.compensation, self._sense.wrench
        base, fault = self._sense.resting_base(known.time), known.fault
        effort = self._limits.limiter.last

        def compute_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            # As the law that has computed what was sent.
            qdd = qdd if compensation.terms.inertia else np.zeros_like(qdd)
            return compensation.effort_or_infinite(q, qd, qdd, wrench, base)

        way = plan_rest(
            Setpoint(np.zeros_like(setpoint.position) if effort is None else effort, setpoint),
            known.stop_limits,
            compute_efforts,
            duration=min(known.duration, COMMAND.longest_ramp),
            period=COMMAND.ramp_period,
            found=known.position if fault is not None and fault.kind in NOT_FOLLOWED else None,
            position_error=known.law.position_error,
            is_limp=last is LastCommand.ZERO,
        )
        return [*way]

    def holding_effort(self, tuning: Tuning, *, feels_wrench: bool = True) -> FloatArray:
        """Return the effort that holds the arm where it is left, shape (n,) [N m or N].

        It is not limited, and is for the last position, or where the arm was braked since.
        Without the wrench it is that of the model with all that it carries.
        """
        known = self._known()
        position, now = known.position, known.time
        if position is None or now is None:
            raise RuntimeError('no state has come')
        if self._braked is not None and self._braked[0] is position:
            position = self._braked[1]
        wrench = self._sense.wrench_at(now) if feels_wrench else None
        base = self._sense.resting_base(now)
        return tuning.hold_law.effort(position, None, resting_state(position), wrench, base)


def model_efforts(compensation: Compensation, base: Base | None) -> ModelEfforts:
    """Return the efforts of the model without the wrench, on the base as it stands."""
    return lambda q, qd, qdd, qd_friction: compensation.effort(q, qd, qdd, qd_friction, None, base)
