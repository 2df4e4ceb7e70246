"""The command of an arm while no state is answered: the last ones, and those of the brake."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rclpy.logging import LoggingSeverity as Severity

from ne_dynamics.control.stages.row import CommandState
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.connections import Connections


class LeavingCommand:
    """Commands an arm that is left: at once, or by a timer that the next answer ends.

    The timer of the brake of `connections` calls :meth:`tick`.
    """

    def __init__(self, context: ArmContext, connections: Connections) -> None:
        self._controller, self._reporter = context.controller, context.reporter
        self._clock = context.clock
        self._connections = connections
        self._commands: Iterator[FloatArray] | None = None
        self._is_lowering = False
        self._passes_over = True
        self._since = 0.0
        self._steps = 0

    def send_last(self, last: LastCommand) -> bool:
        """Send what the arm is left with; return whether anything was to be said of it.

        An arm that moves is braked first, in as much time as was planned: of commands that are
        late the last counts. Those that leave it are sent one by one, however late they are.
        """
        due = time.perf_counter()
        try:
            for effort in self._choose_last(last):
                time.sleep(max(due - time.perf_counter(), 0.0))
                self._connections.publish_command(effort, self._controller.limits.setpoint)
                is_braked = self._controller.state is CommandState.BRAKING
                due = (due if is_braked else time.perf_counter()) + COMMAND.ramp_period
        except NeDynamicsError as error:
            self.say_none(error)
            return False
        self._check_is_left()
        return self._controller.position is not None

    def _choose_last(self, last: LastCommand) -> Iterator[FloatArray]:
        """Return the commands that leave the arm, which brake it first where they are to hold."""
        machine = self._controller.machine
        is_answered = self._controller.state is CommandState.COMMANDING
        braking = self._plan_braking() if is_answered and last is LastCommand.GRAVITY else None
        return machine.last_commands(last) if braking is None else braking

    def say_none(self, error: NeDynamicsError) -> None:
        """Report that none could be computed."""
        self._reporter.say('last', f'no last command could be sent: {error}', Severity.ERROR)

    def _check_is_left(self) -> None:
        """Say so when the last command was not reached."""
        if not self._controller.machine.is_left:
            text = (
                'effort_rate_limit: too slow: the last command was not reached within '
                f'{COMMAND.longest_ramp:g} s'
            )
            self._reporter.say('effort_rate_limit', text, Severity.ERROR)

    def begin_braking(self) -> bool:
        """Begin to bring the arm to rest by the model; return whether there is a way to."""
        now = self._now()
        self._commands = self._plan_braking()
        if self._commands is None:
            return False
        self._start(now, is_lowering=False)
        return True

    def _plan_braking(self) -> Iterator[FloatArray] | None:
        """Return the commands that bring the arm to rest by the model, if there is a way to."""
        controller = self._controller
        last = controller.accept.guard.last
        if last is None:
            return None
        since = last.time if self._connections.by_simulated_time else last.arrival
        return controller.machine.braking_commands(self._now() - since)

    def begin_leaving(self) -> None:
        """Begin to go over to the last command; states that are answered again end it."""
        self._commands = self._controller.machine.last_commands()
        # The first of them is due at once.
        self._start(self._now() - COMMAND.ramp_period, is_lowering=False, passes_over=False)
        self.tick()

    def begin_lowering(self) -> None:
        """Begin to let the arm down; states that are answered again end it."""
        self._commands = self._controller.machine.lowering_commands()
        self._start(self._now(), is_lowering=True)

    def _start(self, now: float, *, is_lowering: bool, passes_over: bool = True) -> None:
        """Let a timer send what leaves the arm alone, from now on.

        Commands that are late are passed over where the arm moves. Where it is but left, each is
        sent: no step is larger than the rate limit allows, however late the timer is.
        """
        self._since, self._steps, self._is_lowering = now, 0, is_lowering
        self._passes_over = passes_over
        self._connections.start_brake()

    def _now(self) -> float:
        """Return the time by which the watchdog goes [s]."""
        by_simulated_time = self._connections.by_simulated_time
        return self._clock.now() if by_simulated_time else time.perf_counter()

    def tick(self) -> None:
        """Send the command that is due."""
        if self._commands is None:
            self._connections.stop_brake()
            return
        # A timer that is a rounding late is not late.
        due = int((self._now() - self._since) / COMMAND.ramp_period + 1e-3)
        if due < 0 and self._is_lowering:
            # The simulation was set back: the arm is let down on.
            self._since = self._now() - self._steps * COMMAND.ramp_period
            return
        if due < 0:
            # The simulation was set back: of another motion.
            self.end()
            self.send_last(LastCommand.GRAVITY)
            return
        if not self._passes_over:
            due = min(due, self._steps + 1)
        effort = None
        try:
            while self._steps < due:
                effort = next(self._commands)
                self._steps += 1
        except StopIteration:
            self.end()
            self._check_is_left()
        except NeDynamicsError as error:
            self.end()
            self.say_none(error)
        if effort is not None:
            self._connections.publish_command(effort, self._controller.limits.setpoint)

    def end(self) -> None:
        """Let the timer send no more."""
        if self._commands is None:
            return
        self._commands = None
        self._connections.stop_brake()
