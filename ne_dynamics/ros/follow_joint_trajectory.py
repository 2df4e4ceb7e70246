"""The action `~/follow_joint_trajectory`: a trajectory, how closely to follow it, and an end.

The rules are those of ros2_controllers' joint trajectory controller; what they say of the motion
is in :mod:`ne_dynamics.control.guards.goal`. Everything runs in the node's one thread, and nothing
waits: a goal is accepted, its motion planned beside the states before it is followed, how it is
followed told with every command, and ended from there. `control_msgs`, where the type of the
action is from, is optional.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.logging import LoggingSeverity as Severity

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.desired.motion_planner import MotionPlan, MotionPlanner
from ne_dynamics.control.guards.goal import (
    GoalCode,
    GoalMonitor,
    GoalOutcome,
    JointTolerance,
    Tolerances,
)
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import InputError, NeDynamicsError
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import Waypoints
from ne_dynamics.ros.configured_arm import ConfiguredArm
from ne_dynamics.ros.controller_state import fill_tracking
from ne_dynamics.ros.messages.conversion import stamp_nanoseconds
from ne_dynamics.ros.running.patient_server import ACTION_TYPE, NAME, PatientServer
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.trajectory_planning import PlanRequest
from ne_dynamics.ros.watching.reporter import Reporter


class _Goal:
    """A goal that is followed."""

    def __init__(
        self,
        handle: ServerGoalHandle,
        waypoints: Waypoints,
        start_time: float | None,
        monitor: GoalMonitor,
    ) -> None:
        self.handle = handle
        # Joints that are left out may go on for longer; the sender counts its own points.
        self.times = waypoints.times[: len(handle.request.trajectory.points)]
        self.monitor = monitor
        self._start_time = start_time
        # From the first command on.
        self.trajectory: Motion | None = None
        self.origin = 0.0
        self.feedback_due = 0.0

    def begin(self, controller: Controller, command: Tick) -> None:
        """Take note of the motion that the first command came of."""
        self.trajectory = controller.motion.trajectory
        origin = controller.motion.place_of(self._start_time)
        self.origin = command.place if origin is None else origin
        self.feedback_due = command.now


class FollowJointTrajectoryServer:
    """The action server.

    It lives as long as the node, and accepts goals while there is an arm that is commanded.
    """

    OFFER, TYPES = f'action {NAME}', (ACTION_TYPE,)

    def __init__(self, node: Any, action_type: Any, reporter: Reporter) -> None:
        self._node = node
        self._reporter = reporter
        self._type = action_type
        self._goal: _Goal | None = None
        self._planned: _Goal | None = None
        self._request: PlanRequest | None = None
        self._checked: tuple[Any, Waypoints, float | None, Tolerances] | None = None
        self._feedback = action_type.Feedback()
        self._has_index = hasattr(self._feedback, 'index')
        self._server = PatientServer(
            node,
            action_type,
            NAME,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    @property
    def is_following(self) -> bool:
        """Whether a goal is followed, or is about to be."""
        return self._goal is not None or self._planned is not None

    def destroy(self) -> None:
        """Take the action away."""
        self._goal = self._planned = None
        self._server.destroy()

    @property
    def _configured(self) -> ConfiguredArm | None:
        configured: ConfiguredArm | None = self._node.configured
        return configured

    def attach(self, configured: ConfiguredArm) -> None:
        """Let goals be for this arm."""
        configured.states.listeners.append(self._observe)
        configured.motion.on_ended = self._on_motion_ended

    # ---- requests

    def _on_goal(self, goal: Any) -> GoalResponse:
        """Check a goal; nothing changes for the one that is followed when it is rejected."""
        self._checked = None
        configured = self._configured
        refusal = _find_refusal(configured)
        if configured is None or refusal:
            return self._reject(GoalCode.INVALID_GOAL, 'state', f'state: {refusal}')
        count = len(goal.trajectory.points)
        if count > NODE.most_goal_points:
            return self._reject(
                GoalCode.INVALID_GOAL,
                'points',
                f'points: expected at most {NODE.most_goal_points} in a goal, got {count}; the '
                f'topic joint_trajectory takes {NODE.most_trajectory_points}',
            )
        try:
            waypoints, start_time = configured.motion.read_trajectory(goal.trajectory)
        except NeDynamicsError as error:
            is_of_names = error.field == 'joint_names'
            code = GoalCode.INVALID_JOINTS if is_of_names else GoalCode.INVALID_GOAL
            return self._reject(code, error.field or 'points', str(error))
        now = configured.controller.time
        if now is not None and start_time is not None and start_time + waypoints.times[-1] < now:
            ago = now - start_time - waypoints.times[-1]
            return self._reject(
                GoalCode.OLD_HEADER_TIMESTAMP,
                'header.stamp',
                f'header.stamp: the trajectory ended {ago:.3g} s ago; expected an end in the '
                'future, or stamp 0 for now',
            )
        self._remark(goal)
        self._checked = goal, waypoints, start_time, self._tolerances(goal, configured)
        return GoalResponse.ACCEPT

    def _reject(self, code: GoalCode, field: str, reason: str) -> GoalResponse:
        self._reporter.drop(NAME, field, f'{code.name}: {reason}')
        return GoalResponse.REJECT

    def _remark(self, goal: Any) -> None:
        """Say what of a goal is not used."""
        unused = [
            field
            for field, is_there in (
                ('multi_dof_trajectory', goal.multi_dof_trajectory.points),
                ('component_path_tolerance', goal.component_path_tolerance),
                ('component_goal_tolerance', goal.component_goal_tolerance),
            )
            if is_there
        ]
        if any(item.acceleration > 0.0 for item in (*goal.path_tolerance, *goal.goal_tolerance)):
            unused.append('accelerations of tolerances (none are measured)')
        if unused:
            self._reporter.say(f'{NAME}.unused', f'{NAME}: not used: {", ".join(unused)}')

    def _tolerances(self, goal: Any, configured: ConfiguredArm) -> Tolerances:
        arm = configured.arm
        defaults = configured.motion.tolerances
        path, at_goal = (
            [JointTolerance(item.name, item.position, item.velocity) for item in field]
            for field in (goal.path_tolerance, goal.goal_tolerance)
        )
        goal_time = 1e-9 * stamp_nanoseconds(goal.goal_time_tolerance)
        try:
            return defaults.overridden(arm.robot.joint_names, path, at_goal, goal_time)
        except InputError as error:
            text = f'{NAME}: {error}; the default tolerances apply'
            self._reporter.say(f'{NAME}.tolerances', text, Severity.ERROR)
            return defaults

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        configured = self._configured
        is_checked = self._checked is not None and self._checked[0] is handle.request
        if configured is None or self._checked is None or not is_checked:
            raise RuntimeError('a goal was accepted that has not been checked')
        (_, waypoints, start_time, tolerances), self._checked = self._checked, None
        self._end_planning('another goal has taken its place')
        arm, controller, motion = configured.arm, configured.controller, configured.motion
        handle.execute()
        monitor = GoalMonitor(arm.robot.joints, tolerances, controller.tuning.law.position_error)
        self._planned = _Goal(handle, waypoints, start_time, monitor)
        self._request = PlanRequest(
            lambda: (
                MotionPlanner.plan,
                configured.motion.planner(start_time),
                (waypoints, start_time),
            ),
            lambda plan: self._follow(configured, plan),
            lambda error: self._end_planning(str(error)),
            is_small=len(waypoints.times) <= NODE.few_points,
            size=3 * waypoints.positions.nbytes,
            overtaken=lambda: self._end_planning('another motion has taken its place'),
        )
        motion.planning.begin(self._request)

    def _follow(self, configured: ConfiguredArm, plan: MotionPlan | None) -> None:
        """Follow a goal that was planned; the one before went on till now.

        A goal that is rejected has no result to say why: so one is accepted, and ended.
        """
        goal, self._planned = self._planned, None
        if goal is None or plan is None:
            return
        configured.motion.follow(plan)
        self._preempt(GoalCode.INVALID_GOAL, 'another goal has taken its place')
        self._goal = goal
        times = plan.request.waypoints.times
        text = f'{NAME}: goal accepted: {len(times)} points, {times[-1]:g} s'
        self._reporter.say(f'{NAME}.accepted', text, Severity.INFO)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._planned is not None and self._planned.handle is handle:
            self._planned = None
            self._discard()
        elif self._goal is not None and self._goal.handle is handle and self._configured:
            self._goal = None
            self._configured.motion.hold('the goal was canceled')
        else:
            return CancelResponse.REJECT
        # rclpy lets the goal be canceled when this has returned.
        self._node.executor.create_task(self._finish_canceled, handle)
        return CancelResponse.ACCEPT

    def _finish_canceled(self, handle: ServerGoalHandle) -> None:
        text = 'canceled: holding where the desired motion comes to rest'
        self._finish(handle, handle.canceled, GoalOutcome(GoalCode.SUCCESSFUL, text))

    # ---- the control path

    def _observe(self, command: Tick, stamp: Any) -> None:
        """Take note of a command; the stamp of its state is for the feedback."""
        goal, configured = self._goal, self._configured
        if goal is None or configured is None:
            return
        trajectory = self._find_trajectory(goal, configured.controller, command)
        if trajectory is None or command.place < trajectory.start_time:
            # What was followed before is none of this goal's.
            return
        if command.now >= goal.feedback_due:
            goal.feedback_due = command.now + NODE.feedback_period
            self._publish_feedback(configured, goal, command, stamp)
        outcome = goal.monitor.observe(command, trajectory.end_time)
        if outcome is None:
            return
        self._goal = None
        if outcome.code is GoalCode.SUCCESSFUL:
            configured.motion.end_watch()
            self._finish(goal.handle, goal.handle.succeed, outcome)
        else:
            configured.controller.motion.hold(where_found=True)
            self._finish(goal.handle, goal.handle.abort, outcome)

    def _find_trajectory(
        self, goal: _Goal, controller: Controller, command: Tick
    ) -> Motion | None:
        """Return the motion of the goal; None, and the goal aborted, where a command has none."""
        if command.fault is not None:
            self._preempt(GoalCode.INVALID_GOAL, str(command.fault))
            return None
        if goal.trajectory is None:
            if command.refused is not None:
                is_infeasible = isinstance(command.refused, InfeasibleMotionError)
                code = GoalCode.INVALID_GOAL if is_infeasible else GoalCode.OLD_HEADER_TIMESTAMP
                self._preempt(code, str(command.refused))
                return None
            goal.begin(controller, command)
        trajectory = controller.motion.trajectory
        if trajectory is None or trajectory is not goal.trajectory:
            mode = controller.tuning.mode
            self._preempt(
                GoalCode.INVALID_GOAL, _follows_none(mode) or 'another motion has taken its place'
            )
            return None
        return trajectory

    def _on_motion_ended(self, reason: str, with_planned: bool) -> None:
        """Abort the goal: something else than the action has ended or replaced its motion.

        One that is planned is newer than a motion that only replaces.
        """
        if with_planned:
            self._end_planning(reason)
        self._preempt(GoalCode.INVALID_GOAL, reason)

    def _discard(self) -> None:
        request, self._request = self._request, None
        if request is not None and self._configured is not None:
            self._configured.motion.planning.discard(request)

    def _end_planning(self, text: str) -> None:
        """Abort the goal that is planned, if there is one; the one that is followed goes on."""
        goal, self._planned = self._planned, None
        self._discard()
        if goal is not None:
            self._finish(goal.handle, goal.handle.abort, GoalOutcome(GoalCode.INVALID_GOAL, text))

    def _preempt(self, code: GoalCode, text: str) -> None:
        """Abort the goal that is followed, if there is one; `text` says what has happened.

        Where the arm goes is not our affair.
        """
        goal, self._goal = self._goal, None
        if goal is not None:
            self._finish(goal.handle, goal.handle.abort, GoalOutcome(code, text))

    def _finish(self, handle: ServerGoalHandle, end: Any, outcome: GoalOutcome) -> None:
        result = self._type.Result(error_code=int(outcome.code), error_string=outcome.text)
        if not self._server.finish(handle, end, result):
            return
        if outcome.code is GoalCode.SUCCESSFUL:
            self._reporter.say(f'{NAME}.ended', f'{NAME}: {outcome.text}', Severity.INFO)
        else:
            text = f'{NAME}: goal aborted, {outcome.code.name}: {outcome.text}'
            self._reporter.say(f'{NAME}.aborted', text)

    def _publish_feedback(
        self, configured: ConfiguredArm, goal: _Goal, command: Tick, stamp: Any
    ) -> None:
        feedback = self._feedback
        # A goal of one point sets out before its stamp.
        elapsed = max(command.place - goal.origin, 0.0)
        points = feedback.desired, feedback.actual, feedback.error
        fill_tracking(feedback, points, elapsed, configured, command, stamp)
        if self._has_index:
            feedback.index = min(bisect_right(goal.times, elapsed), len(goal.times) - 1)
        goal.handle.publish_feedback(feedback)


def _find_refusal(configured: ConfiguredArm | None) -> str:
    """Return why no goal can be accepted at present; empty when one can."""
    if configured is None:
        return 'the node is unconfigured'
    if not configured.is_commanding:
        return 'the node is inactive'
    controller = configured.controller
    if controller.time is None:
        return 'no joint state has come yet'
    if controller.fault is not None:
        return str(controller.fault)
    return _follows_none(controller.tuning.mode)


def _follows_none(mode: Mode) -> str:
    """Return that a mode follows no goal; empty when it follows them."""
    return f'mode {mode.value} follows no trajectory' if mode is Mode.GRAVITY_COMPENSATION else ''
