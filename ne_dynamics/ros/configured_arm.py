"""The configured arm: what there is of it between configuring the node and cleaning it up.

It listens, asks the controller, and commands. While it is not commanding it only takes note of
the states. A message that cannot be used is dropped and reported: nothing is patched, the last
good state stays, and no command comes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.logging import LoggingSeverity as Severity
from sensor_msgs.msg import JointState

from ne_dynamics.control.controller import (
    LOWERING_TIME,
    NOTHING_OBSERVED,
    Command,
    Controller,
    Observed,
)
from ne_dynamics.control.guards.effort_steps import EffortSteps
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tuning import LastCommand, OnStateLoss, Tuning
from ne_dynamics.errors import NeDynamicsError, ParameterError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.annotator import AnnotationTuning
from ne_dynamics.ros.connections import Callbacks, Connections
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.imu import ImuTopic
from ne_dynamics.ros.joint_trajectory import JointTrajectoryTopic
from ne_dynamics.ros.leaving_command import LeavingCommand
from ne_dynamics.ros.messages.command_message import make_command_message
from ne_dynamics.ros.messages.conversion import (
    MessageError,
)
from ne_dynamics.ros.settings.configuration import (
    ControlledArm,
    carried_parameters,
    effort_tolerance,
)
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.watching.felt_motion import FeltMotion
from ne_dynamics.ros.watching.other_commanders import OtherCommanders
from ne_dynamics.ros.watching.reporter import Reporter
from ne_dynamics.ros.watching.weight_watch import WeightWatch
from ne_dynamics.ros.watching.wrench_sign import WrenchSignWatch
from ne_dynamics.ros.wrench import WrenchTopic

LONGEST_FAREWELL = 0.5
"""The last command is given this long to reach its subscribers [s]."""

LAST_COMMAND_WORDS = {
    LastCommand.GRAVITY: 'the last command holds the arm against gravity',
    LastCommand.ZERO: 'the last command was zero: nothing holds the arm',
    LastCommand.NONE: 'no last command: effort controllers keep the one before',
}

HELD_BY_LAST_COMMAND = 'a last command holds the arm against gravity'

DAMPED_WORDS = 'the arm is carried against gravity and damped while joint states come,'

LOWERED_WORDS = 'the arm was being let down: the effort stays as far as it has faded'

DRIVES_CLOSE_LOOP_WORDS = {
    LastCommand.GRAVITY: 'the drives hold the arm where its desired motion came to rest',
    LastCommand.ZERO: 'the last effort was zero: the drives hold the arm by their gains alone',
    LastCommand.NONE: 'no last command: the drives keep the one before, and its velocity',
}

Answered = Callable[[float, FloatArray, FloatArray | None, Command, Any], None]
"""Told of each command: time [s], position and velocity of the state, command, stamp."""


def _ignore(*arguments: Any) -> None:
    return None


class ConfiguredArm:
    """One arm with its controller, its topics and its watchdog.

    Parameters
    ----------
    node : rclpy.node.Node
    arm : ControlledArm
    controller : Controller
    settings : callable
        Returns the settings of the node as they are now.
    reporter : Reporter
    clock : ControlClock
    steady_clock : rclpy.clock.Clock
        The watchdog's, where time is not simulated.

    Attributes
    ----------
    motion : JointTrajectoryTopic
        What is followed, and what is planned.
    felt : FeltMotion
        What tells the load that the arm carries.
    others : OtherCommanders
        Who else publishes commands.
    weight : WeightWatch
        What the measured efforts say of the model.
    wrench_sign : WrenchSignWatch
    refusal : str
        Why the arm was not commanded when that was asked for last; '' where it was.
    effort_steps : EffortSteps
        Of the commands since activation.
    is_commanding : bool
        Whether states are answered.
    on_answer : Answered
        Called after each command: follows the motion to its end.
    on_state : Answered
        Called then, before that: tells of the motion.
    on_refused : callable
        Called when the first state has shown that the arm must not be commanded.
    """

    def __init__(
        self,
        node: Any,
        arm: ControlledArm,
        controller: Controller,
        settings: Callable[[], NodeSettings],
        reporter: Reporter,
        clock: ControlClock,
        steady_clock: Any,
    ) -> None:
        self.arm = arm
        self.controller = controller
        self.clock = clock
        self.is_commanding = False
        self.effort_steps = EffortSteps(arm.dynamics.n)
        self.on_answer: Answered = _ignore
        self.on_state: Answered = _ignore
        self.on_refused: Callable[[], None] = _ignore
        self.refusal = ''
        self._lagged_behind: float | None = None
        self._stamp: Any = None
        self._read_settings = settings
        self._reporter = reporter
        self._statistics = reporter.statistics
        self._node_clock = node.get_clock()
        # First of what may fail: nothing is left behind then.
        command = make_command_message(self.settings.command, arm)
        self.motion = JointTrajectoryTopic(
            node, arm, controller, settings, clock, reporter, lambda: self.is_commanding
        )
        self._wrench = WrenchTopic(arm, controller, settings, clock, reporter)
        self.connections = Connections(
            node,
            arm,
            controller,
            self.settings.joint_states_reliability,
            command,
            Callbacks(
                self._on_joint_state,
                self.motion.on_message,
                self._wrench.on_message,
                ImuTopic(controller, clock, reporter).on_message,
                self._on_watch_timer,
                lambda: self._leaving.tick(),
            ),
            steady_clock,
        )
        self.connections.configure_command(self.settings.command)
        self.felt = FeltMotion(arm, controller, self.connections.reader, settings)
        self.weight = WeightWatch(controller, self.connections.reader)
        self.wrench_sign = WrenchSignWatch(arm, controller, settings)
        self.others = OtherCommanders(node, self.connections.command_publisher)
        self._leaving = LeavingCommand(controller, self.connections, clock, reporter)

    def destroy(self) -> None:
        """Stop listening."""
        self.is_commanding = False
        self.connections.destroy()
        self.motion.destroy()

    @property
    def settings(self) -> NodeSettings:
        """The settings of the node as they are now."""
        return self._read_settings()

    @property
    def subscriptions(self) -> Sequence[Any]:
        """What it listens to, in the order in which it is to be served."""
        return self.connections.subscriptions

    def require_feasible(self, tuning: Tuning) -> list[str]:
        """Return what is doubtful about a tuning on the arm as it is.

        Raises
        ------
        ParameterError
            When it cannot work, and what counts now can.
        """
        refusals = self.controller.judge_change(tuning)
        if refusals:
            raise ParameterError('; '.join(refusals))
        verdict = self.controller.judge(tuning)
        return verdict.refusals + verdict.remarks + self.weight.judge_payload(tuning)

    def adopt(self, tuning: Tuning) -> None:
        """Let another tuning count from the next state on."""
        self.controller.adopt(tuning)
        if not tuning.mode.follows:
            # What was sent is not for the day on which it follows again.
            self.motion.planning.discard()
            self.motion.on_ended(f'mode {tuning.mode.value} follows none')
        self.felt.adopt()
        self.connections.watch(tuning.states.timeout)
        self.connections.configure_command(self.settings.command)

    # ---- from the first command to the last

    def find_refusal(self) -> str:
        """Return why the arm must not be commanded, as far as is known; '' where it may be."""
        self.refusal = self.weight.find_refusal() or '; '.join(self.controller.judge_activation())
        if not self.refusal and self.settings.refuse_other_commanders:
            self.others.wait_for_discovery()
            others = self.others.find()
            if others:
                self.refusal = f'refuse_other_commanders: {self.others.describe(others)}'
        return self.refusal

    def begin_commanding(self) -> None:
        """Answer joint states from now on; the first one is the position that is held."""
        self.refusal = ''
        self.controller.reset()
        self.felt.restart()
        self.weight.restart()
        self.effort_steps = EffortSteps(self.arm.dynamics.n)
        self._statistics.restart()
        self.is_commanding = True

    def end_commanding(self, last: LastCommand, reason: str) -> None:
        """Send a last command for the last known pose, and no more.

        Parameters
        ----------
        last : LastCommand
        reason : str
            For who followed the motion.
        """
        if not self.is_commanding:
            return
        self.is_commanding = False
        self.motion.planning.discard()
        self.connections.stop_watch()
        self.connections.end_contact()
        self._leaving.end()
        if self._leaving.send_last(last):
            closed = self.controller.tuning.drives_close_loop
            words = (DRIVES_CLOSE_LOOP_WORDS if closed else LAST_COMMAND_WORDS)[last]
            if self.controller.is_lowered and last is LastCommand.GRAVITY:
                words = LOWERED_WORDS
            self._reporter.logger.info(f'inactive; {words}')
        self.motion.end(reason)

    def wait_for_farewell(self) -> None:
        """Let the last command reach its subscribers."""
        self.connections.command_publisher.wait_for_all_acked(Duration(seconds=LONGEST_FAREWELL))

    # ---- the watchdog

    def _on_watch_timer(self) -> None:
        controller = self.controller
        self.connections.stop_watch()
        timeout = controller.tuning.states.timeout
        is_over = controller.fault is not None and not controller.is_damped
        if not self.is_commanding or is_over or np.isinf(timeout):
            return
        is_simulated = self.connections.by_simulated_time and self._node_clock.ros_time_is_active
        if is_simulated and controller.time is not None:
            # A clock that lagged behind the states, and now leaps, is no silence. Once for each
            # state: a clock that was set back would lag for ever.
            age = self.clock.now() - controller.time
            if age < 0.5 * timeout and controller.time != self._lagged_behind:
                self._lagged_behind = controller.time
                self.connections.rewind_watch()
                return
        text = f'no usable one for {timeout:g} s'
        if controller.fault is not None and controller.fault.latches:
            # It goes on to.
            self._on_fault(Fault(FaultKind.STOPPED, f'{text}, after {controller.fault}'))
        else:
            self._on_fault(controller.trip(FaultKind.STOPPED, text))

    def _on_fault(self, fault: Fault) -> None:
        """Give the motion up, and say why.

        A fault that latches is answered by damping while states come. In any other the arm is
        left with a last command against gravity. When states have stopped it may be braked first,
        by a timer: they may return.
        """
        controller, has_stopped = self.controller, fault.kind is FaultKind.STOPPED
        self.motion.planning.discard()
        self.connections.stop_watch()
        self.connections.end_contact()
        self._leaving.end()
        self._statistics.fault(fault)
        self._statistics.restart()
        until = 'states can be believed again'
        if fault.latches or (controller.fault is not None and controller.fault.latches):
            until = 'it is cleared'
        closed = controller.tuning.drives_close_loop
        holder = 'the drives hold the arm' if closed else HELD_BY_LAST_COMMAND
        is_left = False
        if controller.is_damped and not has_stopped:
            holder = 'the drives hold the arm where it comes to rest' if closed else DAMPED_WORDS
            self._begin_damping()
        elif controller.tuning.on_state_loss is OnStateLoss.LOWER:
            holder += f', fading in {LOWERING_TIME:g} s,'
            self._leaving.begin_lowering()
        elif has_stopped and self._leaving.begin_braking():
            holder = f'the arm is braked by the model, then {holder}'
        else:
            is_left = True
        self._reporter.say(
            f'{fault.kind.value} {fault.latches}',
            f'{fault}; the motion is given up, {holder} until {until}',
            Severity.ERROR,
        )
        if is_left:
            self._leaving.send_last(LastCommand.GRAVITY)
        self.motion.end(str(fault))

    def _begin_damping(self) -> None:
        """Answer the state that has shown a fault once more, and the next ones by damping."""
        try:
            self._send_answer(self.controller.damp())
        except NeDynamicsError as error:
            self._leaving.say_none(error)

    def _on_return(self, fault: Fault) -> None:
        """Say that the arm is held again."""
        if fault.kind is FaultKind.GAP:
            self._statistics.fault(fault)
            self.motion.planning.discard()
            text = f'{fault}; the motion is given up'
            self._reporter.say(fault.kind.value, text, Severity.ERROR)
            self.motion.end(str(fault))
        self._statistics.restart()
        self._reporter.say('return', 'holding where the arm is', Severity.INFO)

    # ---- the control path

    def _on_joint_state(self, message: JointState) -> None:
        begin = time.perf_counter()
        self._answer_state(message, begin)
        self._statistics.hear('joint_states', begin)

    def _answer_state(self, message: JointState, begin: float) -> None:
        controller, connections = self.controller, self.connections
        try:
            position, velocity = connections.reader.read(message)
        except MessageError as error:
            self._reporter.drop('joint_states', error.field, str(error))
            return
        stamp = message.header.stamp
        nanoseconds = stamp.sec * 1_000_000_000 + stamp.nanosec
        if not nanoseconds:
            stamp = self._node_clock.now().to_msg()
            nanoseconds = stamp.sec * 1_000_000_000 + stamp.nanosec
        if controller.time is None:
            # What came before the first state may be of another clock.
            now = self.clock.restart_at(nanoseconds)
        else:
            now = self.clock.seconds(nanoseconds)
        self.weight.note(message, now, position, velocity, begin)
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
            self._statistics.answers.append((time.perf_counter() - begin, now))
            return
        try:
            controller.review()
        except StateRefused as error:
            self._refuse_state(error)
            return
        self._report_answer(stamp, command)
        self.on_state(now, position, command.velocity, command, stamp)
        self.on_answer(now, position, command.velocity, command, message.header.stamp)
        self.motion.watch(position, command)
        self._statistics.answers.append((time.perf_counter() - begin, now))
        self.felt.note(now, position, message, command)

    def _is_refused(self) -> bool:
        """Return whether the first state shows that no command may go out; then none does."""
        self.refusal = self.weight.find_refusal()
        if not self.refusal:
            return False
        self._reporter.logger.error(f'deactivated without a command: {self.refusal}')
        self.end_commanding(LastCommand.NONE, self.refusal)
        self.on_refused()
        return True

    def _send_answer(self, command: Command) -> None:
        """Send the command of the newest state."""
        connections = self.connections
        connections.publish_command(command.effort, command.desired)
        # The arm has its command: what comes now may take its time.
        self._leaving.end()
        connections.rewind_watch()
        if connections.effort_publisher.get_subscription_count():
            connections.publish_effort(self._stamp, command)

    def _report_answer(self, stamp: Any, command: Command) -> None:
        """Say what is not as usual about an answer."""
        observed, tuning = self.controller.observed, self.controller.tuning
        is_held = tuning.law.has_feedback and not command.desired.velocity.any()
        self.effort_steps.note(command.effort, tuning.effort_limits, is_held=is_held)
        if observed is not NOTHING_OBSERVED or self.connections.is_in_contact:
            self._report_observed(stamp, observed)
        if command.ahead:
            text = f'{command.ahead:.3g} s ahead of the one after it; it is believed no longer'
            self._reporter.drop('joint_states', 'header.stamp', f'header.stamp: {text}')
        if command.unused_effort:
            # Once for each activation, however soon it comes after another.
            self._reporter.tell(f'joint_states: {command.unused_effort}')
        if command.saturated is not None:
            self._statistics.saturate(command.saturated)
        if command.refused is not None:
            field = command.refused.field or 'header.stamp'
            self._reporter.drop('joint_trajectory', field, str(command.refused))
            self.motion.end_watch()
        if command.fault is not None:
            self._on_return(command.fault)

    def _refuse_state(self, error: NeDynamicsError) -> None:
        self._reporter.drop('joint_states', error.field or 'effort', str(error))
        if isinstance(error, StateRefused) and error.fault is not None:
            self._on_fault(error.fault)

    def _report_observed(self, stamp: Any, observed: Observed) -> None:
        """Say what acts on the arm, and what a contact has led to."""
        self.connections.publish_observed(stamp, observed)
        if not observed.has_reacted:
            return
        self.motion.planning.discard()
        floats = self.controller.is_floating
        what = 'the arm floats' if floats else 'the arm is held where it was found'
        text = f'a contact has ended the motion; {what}'
        self._reporter.say('contact', text, Severity.WARN)
        self.motion.end(text)

    def tare_wrench(self) -> str:
        """Take what the sensor reads beyond the model's load at rest; see `WrenchTopic.tare`."""
        bias = self._wrench.tare()
        self.felt.restart()
        return bias

    def clear_fault(self) -> str:
        """Let a fault that latches be over; return what it was, in words.

        Raises
        ------
        StateRefused
            When there is none, or the joint states do not come.
        """
        fault = self.controller.clear_fault()
        return f'{fault.kind.value}: {fault.text}'

    @property
    def why_not_held(self) -> str:
        """Why no position is held at present, in words; '' when one is."""
        controller = self.controller
        if not self.is_commanding:
            return 'the node is not active'
        if controller.fault is not None:
            return f'{controller.fault}; the arm is held where it is found when states return'
        if controller.time is None:
            return 'no joint state yet; the arm is held where the first one finds it'
        if controller.tuning.mode is Mode.GRAVITY_COMPENSATION:
            return f'mode {controller.tuning.mode.value} holds no position'
        return ''

    def annotation_tuning(self) -> AnnotationTuning:
        """Return how trajectories are annotated at present."""
        arm, controller, settings = self.arm, self.controller, self.settings
        imu, now = controller.imu, controller.time
        return AnnotationTuning(
            effort_tolerance(settings, arm),
            controller.tuning.law.terms,
            carried_parameters(settings, arm),
            None if imu is None or now is None else imu.resting_at(now),
            settings.allow_nonzero_velocity_at_trajectory_end,
            settings.friction.smoothing_velocity,
        )
