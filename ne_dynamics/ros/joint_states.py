"""The topic of joint states: each is answered by a command, and their absence is watched."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.logging import LoggingSeverity as Severity
from sensor_msgs.msg import JointState

from ne_dynamics.control.guards.effort_steps import EffortSteps
from ne_dynamics.control.guards.state_guard import (
    STATES_STILL_COME,
    Fault,
    FaultKind,
    StateRefused,
)
from ne_dynamics.control.stages.observer import NOTHING_OBSERVED, Observed
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import LastCommand, OnStateLoss
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.connections import Connections
from ne_dynamics.ros.joint_trajectory import JointTrajectoryTopic
from ne_dynamics.ros.leaving_command import LeavingCommand
from ne_dynamics.ros.messages.conversion import MessageError
from ne_dynamics.ros.messages.serialized_joint_state import JointStateParser, ReadJointState
from ne_dynamics.ros.watching.measured_motion import MeasuredMotion
from ne_dynamics.ros.watching.weight_watch import WeightWatch

LAST_COMMAND = 'a last command against gravity'

DAMPED_WORDS = 'the arm is carried against gravity and damped while joint states come,'

Answered = Callable[[Tick, Any], None]
"""Told of each command, and the stamp of its state: the node's time where it has none."""


class JointStateTopic:
    """Answers joint states while the arm is commanded, and says what is wrong with them.

    `is_refused` returns whether the first state shows that no command may go out.

    Attributes
    ----------
    is_commanding : bool
        Whether states are answered.
    effort_steps : EffortSteps
        Of the commands since activation.
    listeners : list of Answered
        Called after each command, in their order.
    """

    def __init__(
        self,
        context: ArmContext,
        connections: Connections,
        motion: JointTrajectoryTopic,
        leaving: LeavingCommand,
        weight: WeightWatch,
        measured_motion: MeasuredMotion,
        is_refused: Callable[[], bool],
    ) -> None:
        self._node_clock = context.node.get_clock()
        self._controller, self._reporter = context.controller, context.reporter
        self._clock = context.clock
        self._connections = connections
        self._motion = motion
        self._leaving = leaving
        self._weight = weight
        self._measured_motion = measured_motion
        self._is_refused = is_refused
        self.is_commanding = False
        self.effort_steps = EffortSteps(context.arm.dynamics.n)
        self.listeners: list[Answered] = []
        self._parser = JointStateParser()
        self._lagged_behind: float | None = None
        self._stamp: Any = None

    def begin(self) -> None:
        """Answer states from now on."""
        self.effort_steps = EffortSteps(self._controller.tuning.effort_limits.size)
        self._reporter.statistics.restart()
        self.is_commanding = True

    def on_message(self, data: bytes) -> None:
        """Answer a serialized JointState, or take note of it, or drop it."""
        begin = time.perf_counter()
        self._answer_state(data, begin)
        self._reporter.statistics.hear('joint_states', begin)

    def _answer_state(self, data: bytes, begin: float) -> None:
        controller, connections = self._controller, self._connections
        try:
            message = self._parser.read(data)
            position, velocity = connections.reader.read(message)
        except MessageError as error:
            self._reporter.drop('joint_states', error.field, str(error))
            return
        stamp, now = self._read_time(message)
        self._weight.note(message, now, position, velocity, begin)
        if not self.is_commanding:
            controller.observe(position, velocity, now, begin)
            return
        if controller.time is None and self._is_refused():
            return
        self._stamp = stamp
        wants_effort = controller.wants_effort
        measured_effort = connections.reader.read_effort(message) if wants_effort else None
        try:
            command = controller.answer(position, velocity, now, begin, measured_effort)
        except NeDynamicsError as error:
            self._refuse_state(error)
            return
        self._send_answer(command)
        if controller.is_damped:
            self._reporter.statistics.answers.append((time.perf_counter() - begin, now))
            return
        try:
            controller.review()
        except StateRefused as error:
            self._refuse_state(error)
            return
        self._report_answer(stamp, command)
        for listener in self.listeners:
            listener(command, stamp)
        self._motion.watch(command)
        self._reporter.statistics.answers.append((time.perf_counter() - begin, now))
        self._measured_motion.note(now, position, message, command)

    def _read_time(self, message: ReadJointState | JointState) -> tuple[Any, float]:
        """Return the stamp of a state, the node's time where it has none, and its time [s]."""
        stamp = message.header.stamp
        nanoseconds = stamp.sec * 1_000_000_000 + stamp.nanosec
        if not nanoseconds:
            stamp = self._node_clock.now().to_msg()
            nanoseconds = stamp.sec * 1_000_000_000 + stamp.nanosec
        if self._controller.time is None:
            # What came before the first state may be of another clock.
            return stamp, self._clock.restart_at(nanoseconds)
        return stamp, self._clock.seconds(nanoseconds)

    def _send_answer(self, command: Tick) -> None:
        """Send the command of the newest state."""
        connections = self._connections
        connections.publish_command(command.effort, command.desired)
        # The arm has its command: what comes now may take its time.
        self._leaving.end()
        connections.rewind_watch()
        if connections.effort_publisher.get_subscription_count():
            connections.publish_effort(self._stamp, command)

    def _report_answer(self, stamp: Any, command: Tick) -> None:
        """Say what is not as usual about an answer."""
        observed, tuning = self._controller.observer.observed, self._controller.tuning
        is_held = tuning.law.has_feedback and not command.desired.velocity.any()
        self.effort_steps.note(command.effort, tuning.effort_limits, is_held=is_held)
        if observed is not NOTHING_OBSERVED or self._connections.is_in_contact:
            self._report_observed(stamp, observed)
        if command.ahead:
            text = f'{command.ahead:.3g} s ahead of the one after it; it is believed no longer'
            self._reporter.drop('joint_states', 'header.stamp', f'header.stamp: {text}')
        if command.unused_effort:
            # Once for each activation, however soon it comes after another.
            self._reporter.tell(f'joint_states: {command.unused_effort}')
        if command.saturated is not None:
            self._reporter.statistics.saturate(command.saturated)
        if command.refused is not None:
            field = command.refused.field or 'header.stamp'
            self._reporter.drop('joint_trajectory', field, str(command.refused))
            self._motion.end_watch()
        if command.fault is not None:
            self._on_return(command.fault)

    def _refuse_state(self, error: NeDynamicsError) -> None:
        self._reporter.drop('joint_states', error.field or 'effort', str(error))
        if isinstance(error, StateRefused) and error.fault is not None:
            self._on_fault(error.fault)

    def _report_observed(self, stamp: Any, observed: Observed) -> None:
        """Say what acts on the arm, and what a contact has led to."""
        self._connections.publish_observed(stamp, observed)
        if not observed.has_reacted:
            return
        self._motion.planning.discard()
        floats = self._controller.machine.is_floating
        what = 'the arm floats' if floats else 'the arm is held at its measured position'
        text = f'a contact has ended the motion; {what}'
        self._reporter.say('contact', text, Severity.WARN)
        self._motion.end(text)

    # ---- while no states come

    def on_watch_timer(self) -> None:
        """Take the states for lost, unless the clock has leapt."""
        controller = self._controller
        self._connections.stop_watch()
        timeout = controller.tuning.states.timeout
        is_over = controller.fault is not None and not controller.is_damped
        if not self.is_commanding or is_over or np.isinf(timeout):
            return
        is_simulated = self._connections.by_simulated_time and self._node_clock.ros_time_is_active
        if is_simulated and controller.time is not None:
            # A clock that lagged behind the states, and now leaps, is no silence. Once for each
            # state: a clock that was set back would lag for ever.
            age = self._clock.now() - controller.time
            if age < 0.5 * timeout and controller.time != self._lagged_behind:
                self._lagged_behind = controller.time
                self._connections.rewind_watch()
                return
        text = f'no usable one for {timeout:g} s'
        if controller.fault is not None and controller.fault.latches:
            # It goes on to.
            self._on_fault(Fault(FaultKind.STOPPED, f'{text}, after {controller.fault}'))
        else:
            self._on_fault(controller.trip(FaultKind.STOPPED, text))

    def _on_fault(self, fault: Fault) -> None:
        """Give the motion up, and say why.

        A fault is answered by damping while states come, if anything is. Else the arm is left with
        a last command against gravity. When states have stopped, or are not believed, it may be
        braked first, by a timer: they may return.
        """
        controller, has_stopped = self._controller, fault.kind is FaultKind.STOPPED
        self._motion.planning.discard()
        self._connections.stop_watch()
        self._connections.end_contact()
        self._leaving.end()
        self._reporter.statistics.fault(fault)
        self._reporter.statistics.restart()
        until = 'states can be believed again'
        if fault.latches or (controller.fault is not None and controller.fault.latches):
            until = 'it is cleared'
            if controller.is_damped and has_stopped:
                until = f'states come, which are damped until {until}'
        closed = controller.tuning.drives_close_loop
        holder = 'the drives hold the arm' if closed else f'{LAST_COMMAND} stays'
        # States that are not believed say no more than none.
        is_unseen = has_stopped or (fault.kind in STATES_STILL_COME and not fault.latches)
        is_left = False
        if controller.is_damped and not has_stopped:
            holder = 'the drives hold the arm where it comes to rest' if closed else DAMPED_WORDS
            self._begin_damping()
        elif controller.tuning.on_state_loss is OnStateLoss.LOWER:
            holder = f'{LAST_COMMAND}, fading in {COMMAND.lowering_time:g} s,'
            self._leaving.begin_lowering()
        elif is_unseen and self._leaving.begin_braking():
            holder = f'the arm is braked by the model, then {holder}'
        else:
            is_left = True
        self._reporter.say(
            f'{fault.kind.value} {fault.latches}',
            f'{fault}; the motion is given up, {holder} until {until}',
            Severity.ERROR,
        )
        if is_left:
            self._leaving.begin_leaving()
        self._motion.end(str(fault))

    def leave_damped(self) -> None:
        """Leave an arm that is to be damped no more, though its fault lasts."""
        fault, tuning = self._controller.fault, self._controller.tuning
        if fault is None or not self.is_commanding:
            return
        self._connections.stop_watch()
        self._leaving.end()
        holder = 'the drives hold the arm' if tuning.drives_close_loop else f'{LAST_COMMAND} stays'
        if tuning.on_state_loss is OnStateLoss.LOWER:
            holder = f'{LAST_COMMAND}, fading in {COMMAND.lowering_time:g} s'
            self._leaving.begin_lowering()
        else:
            self._leaving.send_last(LastCommand.GRAVITY)
        self._reporter.say('left', f'on_fault: leave: {holder}, after {fault}', Severity.WARN)

    def _begin_damping(self) -> None:
        """Answer the state that has shown a fault once more, and the next ones by damping."""
        try:
            self._send_answer(self._controller.damp())
        except NeDynamicsError as error:
            self._leaving.say_none(error)

    def _on_return(self, fault: Fault) -> None:
        """Say that the arm is held again."""
        if fault.kind is FaultKind.GAP:
            self._reporter.statistics.fault(fault)
            self._motion.planning.discard()
            text = f'{fault}; the motion is given up'
            self._reporter.say(fault.kind.value, text, Severity.ERROR)
            self._motion.end(str(fault))
        self._reporter.statistics.restart()
        self._reporter.say(
            'return', 'commanding again: the arm is held where it is', Severity.INFO
        )
