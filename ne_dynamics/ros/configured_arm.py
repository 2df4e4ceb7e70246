"""The configured arm: what there is of it between configuring the node and cleaning it up.

It listens, asks the controller, and commands. While it is not commanding it only takes note of
the states. A message that cannot be used is dropped and reported: nothing is patched, the last
good state stays, and no command comes of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.duration import Duration
from rclpy.logging import LoggingSeverity as Severity
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.control.command_machine import LONGEST_RAMP, LOWERING_TIME, RAMP_PERIOD
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.desired.motion_planner import MotionPlan, MotionPlanner
from ne_dynamics.control.guards.effort_steps import EffortSteps
from ne_dynamics.control.guards.goal import GoalMonitor, Tolerances
from ne_dynamics.control.guards.motion_watch import MotionWatch
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.control.stages.observer import NOTHING_OBSERVED, Observed
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import LastCommand, OnStateLoss, Tuning
from ne_dynamics.errors import ImuError, NeDynamicsError, ParameterError, WrenchError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import position_limits
from ne_dynamics.motion.limit_violation import WhenInfeasible, describe
from ne_dynamics.motion.waypoints import Waypoints, find_columns
from ne_dynamics.ros.annotator import AnnotationTuning
from ne_dynamics.ros.connections import Callbacks, Connections
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.messages.command_message import make_command_message
from ne_dynamics.ros.messages.conversion import (
    MessageError,
    imu_reading,
    stamp_nanoseconds,
    wrench_reading,
)
from ne_dynamics.ros.messages.joint_constraints import JointConstraints
from ne_dynamics.ros.messages.serialized_trajectory import named_fields, read_stamp
from ne_dynamics.ros.running.worker_process import PLANNING
from ne_dynamics.ros.settings.configuration import (
    ControlledArm,
    carried_parameters,
    command_timeout,
    effort_tolerance,
    goal_tolerances,
    load_beyond_sensor,
)
from ne_dynamics.ros.settings.parameters import NodeSettings
from ne_dynamics.ros.trajectory_planning import (
    SMALL,
    PlanRequest,
    TrajectoryPlanning,
    TrajectoryRules,
    plan_message,
)
from ne_dynamics.ros.watching.felt_motion import FeltMotion
from ne_dynamics.ros.watching.other_commanders import OtherCommanders
from ne_dynamics.ros.watching.reporter import Reporter
from ne_dynamics.ros.watching.weight_watch import WeightWatch
from ne_dynamics.ros.watching.wrench_sign import WrenchSignWatch

FAR_START = 10.0
"""Delay of a start [s] beyond which a warning names it: the stamp may be of another clock."""

REST_VELOCITY = 0.01
"""Velocity below which a joint is at rest [rad/s or m/s]."""

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

Answered = Callable[[float, FloatArray, FloatArray | None, Tick, Any], None]
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
    on_motion_ended : callable
        Called with the reason when the motion is given up, and what is planned with it.
    on_motion_replaced : callable
        Called with the reason when another takes its place.
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
        self.on_motion_ended: Callable[[str], None] = _ignore
        self.on_motion_replaced: Callable[[str], None] = _ignore
        self.on_refused: Callable[[], None] = _ignore
        self.refusal = ''
        self._lagged_behind: float | None = None
        self._stamp: Any = None
        self._braking: Iterator[FloatArray] | None = None
        self._braking_since = 0.0
        self._braked_steps = 0
        self._read_settings = settings
        self._reporter = reporter
        self._statistics = reporter.statistics
        self._node_clock = node.get_clock()
        # First of what may fail: nothing is left behind then.
        command = make_command_message(self.settings.command, arm)
        self._constraints = JointConstraints(node, arm.robot.joint_names)
        self._motion_watch = MotionWatch()
        self.connections = Connections(
            node,
            arm,
            controller,
            self.settings.joint_states_reliability,
            command,
            Callbacks(
                self._on_joint_state,
                self._on_joint_trajectory,
                self._on_wrench,
                self._on_imu,
                self._on_watch_timer,
                self._on_brake_timer,
            ),
            steady_clock,
        )
        self.connections.configure_command(self.settings.command)
        self.felt = FeltMotion(arm, controller, self.connections.reader, settings)
        self.weight = WeightWatch(controller, self.connections.reader)
        self.wrench_sign = WrenchSignWatch(arm, controller, settings)
        self.others = OtherCommanders(node, self.connections.command_publisher)
        self.planning = TrajectoryPlanning(node, lambda: controller.motion.settings)
        self._prepare_planning()

    def _prepare_planning(self) -> None:
        """Plan something here and beside: what is made when it is first needed takes its time."""
        joints = self.arm.robot.joints
        still = np.zeros(len(joints))
        point = np.clip(still, *position_limits(joints))
        message = JointTrajectory(joint_names=[joint.name for joint in joints])
        for seconds in (1, 2):
            message.points.append(
                JointTrajectoryPoint(
                    positions=point.tolist(),
                    velocities=still.tolist(),
                    accelerations=still.tolist(),
                    time_from_start=Duration(seconds=seconds).to_msg(),
                )
            )
        work = self.planner(None), self._rules, bytes(serialize_message(message)), None
        PLANNING.submit(plan_message, *work)
        # What the motors cannot hold there is of no matter.
        with suppress(NeDynamicsError):
            plan_message(*work)

    def destroy(self) -> None:
        """Stop listening."""
        self.is_commanding = False
        self.connections.destroy()
        self.planning.destroy()
        self._constraints.destroy()

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
        refusals = self.controller.check.judge_change(tuning)
        if refusals:
            raise ParameterError('; '.join(refusals))
        verdict = self.controller.check.judge(tuning)
        return verdict.refusals + verdict.remarks + self.weight.judge_payload(tuning)

    def adopt(self, tuning: Tuning) -> None:
        """Let another tuning count from the next state on."""
        self.controller.adopt(tuning)
        if not tuning.mode.follows:
            # What was sent is not for the day on which it follows again.
            self.planning.discard()
            self.on_motion_ended(f'mode {tuning.mode.value} follows none')
        self.felt.adopt()
        self.connections.watch(tuning.states.timeout)
        self.connections.configure_command(self.settings.command)

    # ---- from the first command to the last

    def find_refusal(self) -> str:
        """Return why the arm must not be commanded, as far as is known; '' where it may be."""
        self.refusal = self.weight.find_refusal() or '; '.join(
            self.controller.check.judge_activation()
        )
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
        self.planning.discard()
        self.connections.stop_watch()
        self.connections.end_contact()
        self._end_braking()
        if self._send_last(last):
            closed = self.controller.tuning.drives_close_loop
            words = (DRIVES_CLOSE_LOOP_WORDS if closed else LAST_COMMAND_WORDS)[last]
            if self.controller.machine.is_lowered and last is LastCommand.GRAVITY:
                words = LOWERED_WORDS
            self._reporter.logger.info(f'inactive; {words}')
        self._end_motion(reason)

    def wait_for_farewell(self) -> None:
        """Let the last command reach its subscribers."""
        self.connections.command_publisher.wait_for_all_acked(Duration(seconds=LONGEST_FAREWELL))

    def _send_last(self, last: LastCommand) -> bool:
        """Send what the arm is left with; return whether anything was to be said of it."""
        try:
            for index, effort in enumerate(self.controller.machine.last_commands(last)):
                if index:
                    time.sleep(RAMP_PERIOD)
                self.connections.publish_command(effort, self.controller.limits.setpoint)
        except NeDynamicsError as error:
            self._say_no_last(error)
            return False
        self._check_is_left()
        return self.controller.position is not None

    def _say_no_last(self, error: NeDynamicsError) -> None:
        self._reporter.say('last', f'no last command could be sent: {error}', Severity.ERROR)

    def _check_is_left(self) -> None:
        """Say so when the last command was not reached."""
        if not self.controller.machine.is_left:
            text = f'effort_rate_limit: too slow to get to the last command in {LONGEST_RAMP:g} s'
            self._reporter.say('effort_rate_limit', text, Severity.ERROR)

    # ---- the brake, while no states come

    def _begin_braking(self) -> bool:
        """Begin to bring the arm to rest by the model; return whether there is a way to."""
        controller = self.controller
        now = self._brake_time()
        since = controller.time if self.connections.by_simulated_time else controller.arrival
        if since is None:
            return False
        self._braking = controller.machine.braking_commands(now - since)
        if self._braking is None:
            return False
        self._start_leaving(now)
        return True

    def _begin_lowering(self) -> None:
        """Begin to let the arm down; states that are answered again end it."""
        self._braking = self.controller.machine.lowering_commands()
        self._start_leaving(self._brake_time())

    def _start_leaving(self, now: float) -> None:
        """Let a timer send what leaves the arm alone, from now on."""
        self._braking_since, self._braked_steps = now, 0
        self.connections.start_brake()

    def _brake_time(self) -> float:
        """Return the time by which the watchdog goes [s]."""
        by_simulated_time = self.connections.by_simulated_time
        return self.clock.now() if by_simulated_time else time.perf_counter()

    def _on_brake_timer(self) -> None:
        """Send the command that is due; those that are late are passed over."""
        if self._braking is None:
            self.connections.stop_brake()
            return
        # A timer that is a rounding late is not late.
        due = int((self._brake_time() - self._braking_since) / RAMP_PERIOD + 1e-3)
        if due < 0 and self.controller.machine.is_lowered:
            # The simulation was set back: the arm is let down on.
            self._braking_since = self._brake_time() - self._braked_steps * RAMP_PERIOD
            return
        if due < 0:
            # The simulation was set back: of another motion.
            self._end_braking()
            self._send_last(LastCommand.GRAVITY)
            return
        effort = None
        try:
            while self._braked_steps < due:
                effort = next(self._braking)
                self._braked_steps += 1
        except StopIteration:
            self._end_braking()
            self._check_is_left()
        except NeDynamicsError as error:
            self._end_braking()
            self._say_no_last(error)
        if effort is not None:
            self.connections.publish_command(effort, self.controller.limits.setpoint)

    def _end_braking(self) -> None:
        self._braking = None
        self.connections.stop_brake()

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
        self.planning.discard()
        self.connections.stop_watch()
        self.connections.end_contact()
        self._end_braking()
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
            self._begin_lowering()
        elif has_stopped and self._begin_braking():
            holder = f'the arm is braked by the model, then {holder}'
        else:
            is_left = True
        self._reporter.say(
            f'{fault.kind.value} {fault.latches}',
            f'{fault}; the motion is given up, {holder} until {until}',
            Severity.ERROR,
        )
        if is_left:
            self._send_last(LastCommand.GRAVITY)
        self._end_motion(str(fault))

    def _begin_damping(self) -> None:
        """Answer the state that has shown a fault once more, and the next ones by damping."""
        try:
            self._send_answer(self.controller.damp())
        except NeDynamicsError as error:
            self._say_no_last(error)

    def _on_return(self, fault: Fault) -> None:
        """Say that the arm is held again."""
        if fault.kind is FaultKind.GAP:
            self._statistics.fault(fault)
            self.planning.discard()
            text = f'{fault}; the motion is given up'
            self._reporter.say(fault.kind.value, text, Severity.ERROR)
            self._end_motion(str(fault))
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
        reason = self._motion_watch.observe(
            command.place,
            controller.motion.trajectory,
            command.desired,
            position,
            command.velocity,
        )
        if reason:
            self._give_up(reason)
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

    def _send_answer(self, command: Tick) -> None:
        """Send the command of the newest state."""
        connections = self.connections
        connections.publish_command(command.effort, command.desired)
        # The arm has its command: what comes now may take its time.
        if self._braking is not None:
            self._end_braking()
        connections.rewind_watch()
        if connections.effort_publisher.get_subscription_count():
            connections.publish_effort(self._stamp, command)

    def _report_answer(self, stamp: Any, command: Tick) -> None:
        """Say what is not as usual about an answer."""
        observed, tuning = self.controller.observer.observed, self.controller.tuning
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
            self.end_watch()
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
        self.planning.discard()
        floats = self.controller.machine.is_floating
        what = 'the arm floats' if floats else 'the arm is held where it was found'
        text = f'a contact has ended the motion; {what}'
        self._reporter.say('contact', text, Severity.WARN)
        self._end_motion(text)

    # ---- the motion

    def _on_joint_trajectory(self, data: bytes) -> None:
        self._statistics.hear('joint_trajectory', time.perf_counter())
        if not self.is_commanding:
            self._reporter.drop('joint_trajectory', 'state', 'the node is not active')
            return
        if self.controller.fault is not None:
            self._reporter.drop('joint_trajectory', 'state', str(self.controller.fault))
            return
        stamp = read_stamp(data)
        start_time = self.clock.seconds(stamp) if stamp else None
        self.planning.begin(
            PlanRequest(
                lambda: (plan_message, self.planner(start_time), (self._rules, data, start_time)),
                lambda plan: self._on_planned(plan, start_time),
                self._drop_trajectory,
                is_small=len(data) <= SMALL,
                size=len(data),
            )
        )

    def planner(self, start_time: float | None) -> MotionPlanner:
        """Return what plans trajectories from a time on; None for now."""
        is_partial = self.settings.allow_partial_joints_goal
        return self.controller.motion.planner(math.inf if is_partial else start_time)

    @property
    def _rules(self) -> TrajectoryRules:
        settings = self.settings
        return TrajectoryRules(
            self.arm.robot.joints,
            settings.allow_nonzero_velocity_at_trajectory_end,
            settings.allow_integration_in_goal_trajectories,
            settings.allow_partial_joints_goal,
        )

    def _drop_trajectory(self, error: NeDynamicsError) -> None:
        self._reporter.drop('joint_trajectory', 'points', str(error))

    def _on_planned(self, plan: MotionPlan | None, start_time: float | None) -> None:
        """Follow what was sent by the topic."""
        controller = self.controller
        if plan is None:
            self.hold('an empty trajectory came by the topic joint_trajectory')
            text = 'empty trajectory: holding where the desired motion comes to rest'
            self._reporter.say('joint_trajectory.empty', text, Severity.INFO)
            return
        mode = controller.tuning.mode
        if mode is Mode.GRAVITY_COMPENSATION:
            self._reporter.drop('joint_trajectory', 'mode', f'mode {mode.value} follows none')
            return
        self.remark(plan.request.waypoints, start_time)
        monitor = GoalMonitor(
            self.arm.robot.joints, self.tolerances, controller.tuning.law.position_error
        )
        self.follow(plan, monitor)
        self.on_motion_replaced('a trajectory came by the topic joint_trajectory')

    def follow(self, plan: MotionPlan, monitor: GoalMonitor | None = None) -> None:
        """Follow what was planned in place of all that came before it.

        Parameters
        ----------
        plan : MotionPlan
        monitor : GoalMonitor, optional
            Checks how closely it is followed, where nobody else does.
        """
        self.controller.motion.follow_plan(plan)
        self._motion_watch.begin(monitor, command_timeout(self.settings))
        if plan.exceeded:
            self._report_excess(plan)

    def _report_excess(self, plan: MotionPlan) -> None:
        """Say what a trajectory exceeds that is followed all the same, and how."""
        followed = 'but followed'
        if self.controller.tuning.when_infeasible is WhenInfeasible.SLOW_DOWN:
            duration, followed = plan.duration, 'slowed down'
            if duration is not None:
                sent = plan.request.waypoints.times[-1]
                followed += f' ({duration:.4g} s in place of {sent:.4g} s)'
        text = f'joint_trajectory: beyond the arm, {followed}: {describe(plan.exceeded)}'
        self._reporter.say('joint_trajectory.exceeds', text)

    @property
    def tolerances(self) -> Tolerances:
        """How closely a motion is followed that does not say."""
        return self._constraints.applied_to(goal_tolerances(self.settings, self.arm))

    def end_watch(self) -> None:
        """Let the end of the motion be all right: nobody is to say more."""
        self._motion_watch.end()

    def _end_motion(self, reason: str) -> None:
        """Tell who followed the motion that it is over, and why."""
        self.end_watch()
        self.on_motion_ended(reason)

    def _give_up(self, reason: str) -> None:
        """Hold the arm where it is found: the motion is not what its sender wanted."""
        self.planning.discard()
        self.controller.motion.hold(where_found=True)
        self._reporter.say('motion', f'{reason}; the arm is held where it was found')
        self._end_motion(reason)

    def read_trajectory(self, message: JointTrajectory) -> tuple[Waypoints, float | None]:
        """Return a trajectory, checked, and when it starts; None for now.

        Raises
        ------
        TrajectoryError
            When it cannot be followed; the message begins with the field at fault.
        """
        stamp = stamp_nanoseconds(message.header.stamp)
        start_time = self.clock.seconds(stamp) if stamp else None
        rules = self._rules
        if not rules.may_be_partial:
            # Wrong names first: lengths are checked by them.
            find_columns(rules.joints, message.joint_names)
        given = named_fields(message)
        waypoints = rules.waypoints(given, self.planner(start_time), start_time)
        self.remark(waypoints, start_time)
        return waypoints, start_time

    def remark(self, waypoints: Waypoints, start_time: float | None) -> None:
        """Say what of a trajectory is not used, and when it starts where that is late."""
        if waypoints.has_effort:
            self._reporter.say(
                'joint_trajectory.effort',
                'joint_trajectory: the effort of the points is not used: it is computed',
            )
        if start_time is not None and self.controller.time is not None:
            wait = start_time - self.controller.time
            if wait > FAR_START:
                self._reporter.say(
                    'joint_trajectory.header.stamp',
                    f'joint_trajectory: header.stamp: starts in {wait:.6g} s by joint_states',
                )

    def hold(self, reason: str) -> None:
        """Bring the desired motion to rest, and hold the arm there.

        Parameters
        ----------
        reason : str
            For who followed the motion.
        """
        self.planning.discard()
        self.controller.motion.hold()
        self._end_motion(reason)

    def clear_fault(self) -> str:
        """Let a fault that latches be over; return what it was, in words.

        Raises
        ------
        StateRefused
            When there is none, or the joint states do not come.
        """
        fault = self.controller.accept.guard.clear()
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
        imu, now = controller.sense.imu, controller.time
        return AnnotationTuning(
            effort_tolerance(settings, arm),
            controller.tuning.law.terms,
            carried_parameters(settings, arm),
            None if imu is None or now is None else imu.resting_at(now),
            settings.allow_nonzero_velocity_at_trajectory_end,
            settings.friction.smoothing_velocity,
        )

    # ---- the sensors

    def _on_wrench(self, message: WrenchStamped) -> None:
        wrist = self.controller.sense.wrist
        self._statistics.hear('wrench', time.perf_counter())
        stamp = self._sensor_time(message)
        if wrist is None:
            return
        try:
            wrist.update(message.header.frame_id, wrench_reading(message), stamp)
        except WrenchError as error:
            self._reporter.drop('wrench', error.field, str(error))

    def _on_imu(self, message: Imu) -> None:
        imu = self.controller.sense.imu
        self._statistics.hear('imu', time.perf_counter())
        stamp = self._sensor_time(message)
        if imu is None:
            return
        try:
            imu.update(message.header.frame_id, *imu_reading(message), stamp)
        except ImuError as error:
            self._reporter.drop('imu', error.field, str(error))

    def _sensor_time(self, message: Any) -> float:
        """Return the time of a reading; that of the last state where it has no stamp."""
        nanoseconds = stamp_nanoseconds(message.header.stamp)
        if nanoseconds == 0 and self.controller.time is not None:
            return self.controller.time
        return self.clock.seconds(nanoseconds)

    def _find_moving(self) -> str:
        """Return which joint is not at rest, in words; '' when all are."""
        controller = self.controller
        desired, measured = controller.motion.present_state(), controller.velocity
        for what, velocity in (
            ('desired', None if desired is None else desired.velocity),
            ('measured', measured),
        ):
            if velocity is not None and np.abs(velocity).max() > REST_VELOCITY:
                worst = int(np.abs(velocity).argmax())
                return (
                    f'joint {self.arm.robot.joint_names[worst]!r} has a {what} velocity of '
                    f'{velocity[worst]:.3g}; expected at most {REST_VELOCITY:g} rad/s or m/s'
                )
        return ''

    def tare_wrench(self) -> str:
        """Take what the sensor reads beyond the model's load at rest for its bias.

        Returns
        -------
        str
            The bias, in words.

        Raises
        ------
        WrenchError
            When there is no sensor, no state or no reading, the arm moves, or the bias is too
            large.
        """
        arm, controller = self.arm, self.controller
        wrist, imu = controller.sense.wrist, controller.sense.imu
        if wrist is None:
            raise WrenchError('no wrench in use (see wrench.enabled)')
        if controller.position is None or controller.time is None:
            raise WrenchError('no joint state yet')
        moving = self._find_moving()
        if moving:
            raise WrenchError(f'the arm moves: {moving}')
        pose = arm.dynamics.forward_kinematics(controller.position)
        gravity = arm.dynamics.gravity if imu is None else imu.gravity_at(controller.time)
        beyond = load_beyond_sensor(self.settings, arm)
        bias = wrist.tare(
            controller.time,
            static_wrench(beyond, pose[:3, :3], gravity),
            self.settings.wrench.largest_bias,
        )
        self.felt.restart()
        return (
            f'bias {np.round(bias, 4).tolist()} N, N m at {wrist.cut_link!r}, taking what is '
            f"beyond it for the model's {beyond.mass:g} kg at rest"
        )
