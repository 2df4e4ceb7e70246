"""The action `~/follow_joint_trajectory` of the annotator: goals get efforts, and are handed on.

MoveIt sends goals, and a joint_trajectory_controller stays in its place: the goal is accepted,
annotated, and sent to the controller; its feedback and its result come back, and who cancels here
cancels there. Nothing waits: each step is a callback.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from action_msgs.msg import GoalStatus
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.control.guards.goal import GoalCode
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.motion.waypoints import NANO
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.annotator.held_efforts import HeldEfforts
from ne_dynamics.ros.annotator.present import Present
from ne_dynamics.ros.messages.conversion import stamp_nanoseconds
from ne_dynamics.ros.running.background import Background
from ne_dynamics.ros.running.patient_server import ACTION_TYPE, NAME, PatientServer
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.reporter import Reporter

GIVEN_UP = (GoalCode.PATH_TOLERANCE_VIOLATED, GoalCode.GOAL_TOLERANCE_VIOLATED)
"""Of a goal after which the controller holds the arm where it is."""

INTERFACES = 'command_interfaces'
"""Parameter of the controller."""


@dataclass(eq=False)
class _ProxiedGoal:
    """A goal that has not ended.

    Attributes
    ----------
    handle : ServerGoalHandle
    asked_at : float
        When its controller was asked what it commands, or whether it accepts the goal [s].
    trajectory : JointTrajectory or None
        With efforts.
    is_asked : bool
        Whether the controller was asked what it commands.
    takes_efforts : bool
        Whether it is known, or taken for granted, that the controller takes them.
    is_offered : bool
        Whether it was sent to the controller.
    theirs : rclpy.action.client.ClientGoalHandle or None
        The goal as the controller has it.
    overtaken_at : float or None
        When the controller has accepted another one [s].
    canceled_at : float or None
        When somebody wanted it canceled [s].
    work : Future or None
        That makes the efforts.
    servers : frozenset of bytes
        Who offered the controller's action when the goal was sent there.
    """

    handle: ServerGoalHandle
    asked_at: float
    trajectory: JointTrajectory | None = None
    is_asked: bool = False
    takes_efforts: bool = False
    is_offered: bool = False
    theirs: Any = None
    overtaken_at: float | None = None
    canceled_at: float | None = None
    work: Future[Any] | None = None
    servers: frozenset[bytes] = frozenset()


class GoalProxy:
    """Hands goals to a controller, with efforts.

    Parameters
    ----------
    node : AnnotatorNode
    action_type : type
        control_msgs.action.FollowJointTrajectory
    controller : str
        The controller's name.
    reporter : Reporter
    background : Background
    present : Present
        Knows where the arm is.
    steady_clock : rclpy.clock.Clock
    """

    OFFER, TYPES = f'action {NAME}', (ACTION_TYPE,)

    def __init__(
        self,
        node: Any,
        action_type: Any,
        controller: str,
        reporter: Reporter,
        background: Background,
        present: Present,
        steady_clock: Any,
    ) -> None:
        self._node = node
        self._type = action_type
        self._reporter = reporter
        self._background = background
        self._present = present
        self._goals: list[_ProxiedGoal] = []
        self._client = ActionClient(node, action_type, f'{controller}/{NAME}')
        self._action = node.resolve_topic_name(f'{controller}/{NAME}')
        self._question = node.create_client(GetParameters, f'{controller}/get_parameters')
        self._held = HeldEfforts(node, self._client, self._action, action_type, reporter, present)
        self._server = PatientServer(
            node,
            action_type,
            NAME,
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )
        self._watch = node.create_timer(NODE.goal_watch_period, self._on_watch, clock=steady_clock)
        node.create_timer(NODE.server_period, self._look_for_server, clock=steady_clock)

    def destroy(self) -> None:
        """Take the action away; goals that the controller has go on."""
        self._goals.clear()
        self._server.destroy()
        self._client.destroy()

    # ---- from the goal to the controller

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        """Begin to annotate a goal, and ask the controller what it takes.

        A goal that is rejected has no result to say why: so each is accepted, and ended.
        """
        handle.execute()
        for goal in [goal for goal in self._goals if not goal.is_offered]:
            self._abort(goal, 'another goal has taken its place')
        goal = _ProxiedGoal(handle, time.monotonic())
        self._goals.append(goal)
        self._watch.reset()
        arm: AnnotatedArm | None = self._node.arm
        if arm is None:
            self._abort(goal, 'there is no model of the robot yet')
        elif not self._client.server_is_ready():
            self._abort(goal, f'expected the action server {self._action!r}, there is none')
        else:
            self._annotate(goal, arm)
            self._ask(goal)

    def _annotate(self, goal: _ProxiedGoal, arm: AnnotatedArm) -> None:
        start, base_motion = self._present.start, self._present.base_motion
        given = goal.handle.request.trajectory
        is_blind = start is None and not self._present.is_heard
        goal.work = self._background.submit(
            lambda work: self._on_annotated(goal, work, is_blind=is_blind),
            lambda: arm.annotate(given, start, base_motion, is_goal=True),
        )

    def _ask(self, goal: _ProxiedGoal) -> None:
        """Ask what the controller commands: without an interface for efforts they are lost."""

        def on_answer(answer: Any) -> None:
            values = [] if answer.result() is None else answer.result().values
            if not values or values[0].type != ParameterType.PARAMETER_STRING_ARRAY:
                self._take_for_granted(goal, f'it has no list {INTERFACES}')
            elif 'effort' not in values[0].string_array_value:
                interfaces = list(values[0].string_array_value)
                self._abort(
                    goal,
                    f"{self._action}: {INTERFACES}: expected 'effort' in it, got {interfaces}",
                )
            else:
                goal.takes_efforts = True
                self._offer(goal)

        if not self._question.service_is_ready():
            # It may not be known yet: the timer asks again.
            return
        goal.is_asked = True
        request = GetParameters.Request(names=[INTERFACES])
        self._question.call_async(request).add_done_callback(on_answer)

    def _take_for_granted(self, goal: _ProxiedGoal, reason: str) -> None:
        text = f'{self._action}: whether it takes efforts is not known: {reason}'
        self._reporter.say(INTERFACES, text)
        goal.takes_efforts = True
        self._offer(goal)

    def _on_annotated(
        self, goal: _ProxiedGoal, work: Future[tuple[JointTrajectory, Any]], *, is_blind: bool
    ) -> None:
        try:
            goal.trajectory, remarks = work.result()
        except NeDynamicsError as error:
            invalid = error.field == 'joint_names'
            code = GoalCode.INVALID_JOINTS if invalid else GoalCode.INVALID_GOAL
            self._abort(goal, str(error), code)
        except Exception as error:
            # Never the end of the node.
            self._abort(goal, repr(error))
        else:
            first = stamp_nanoseconds(goal.trajectory.points[0].time_from_start)
            if is_blind and first > 0:
                # A controller that has commanded nothing yet has no effort to begin from.
                self._abort(
                    goal,
                    'points: the first point: expected at 0 s while the position of the arm is '
                    f'not known, got {first / NANO:.9g} s: the way there would have no efforts',
                )
                return
            self._reporter.remark(remarks)
            self._offer(goal)

    def _offer(self, goal: _ProxiedGoal) -> None:
        """Send a goal to the controller once all is known; the one before ends there."""
        is_ready = goal.trajectory is not None and goal.takes_efforts
        if goal not in self._goals or not is_ready or goal.is_offered or goal.canceled_at:
            return
        goal.is_offered, goal.asked_at = True, time.monotonic()
        goal.servers = self._find_servers()
        request = self._type.Goal()
        for field in request.get_fields_and_field_types():
            setattr(request, field, getattr(goal.handle.request, field))
        request.trajectory = goal.trajectory
        sent = self._client.send_goal_async(
            request, feedback_callback=lambda message: self._on_feedback(goal, message)
        )
        sent.add_done_callback(lambda answer: self._on_answer(goal, answer))

    # ---- from the controller to who has sent the goal

    def _on_answer(self, goal: _ProxiedGoal, answer: Any) -> None:
        theirs = answer.result()
        if theirs is None or not theirs.accepted:
            self._abort(goal, f'{self._action} has rejected the goal; its log says why')
            return
        goal.theirs = theirs
        theirs.get_result_async().add_done_callback(lambda result: self._on_result(goal, result))
        if goal.canceled_at is not None or goal not in self._goals:
            theirs.cancel_goal_async()
        if goal in self._goals:
            for other in self._goals[: self._goals.index(goal)]:
                other.overtaken_at = time.monotonic()

    def _on_feedback(self, goal: _ProxiedGoal, message: Any) -> None:
        if goal in self._goals:
            goal.handle.publish_feedback(message.feedback)

    def _on_result(self, goal: _ProxiedGoal, answer: Any) -> None:
        response = answer.result()
        if response is None:
            return
        handle, result = goal.handle, response.result
        is_canceled = response.status == GoalStatus.STATUS_CANCELED
        if response.status == GoalStatus.STATUS_SUCCEEDED:
            self._held.note_end(goal.trajectory)
        elif is_canceled or result.error_code in GIVEN_UP:
            self._held.begin()
            self._watch.reset()
        if goal not in self._goals:
            return
        if response.status == GoalStatus.STATUS_SUCCEEDED:
            self._finish(goal, handle.succeed, result)
            return
        if is_canceled and handle.is_cancel_requested:
            self._finish(goal, handle.canceled, result)
        else:
            if is_canceled and not result.error_string:
                result.error_string = f'{self._action} has canceled the goal'
            self._finish(goal, handle.abort, result)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for goal in self._goals:
            if goal.handle is handle:
                break
        else:
            return CancelResponse.REJECT
        goal.canceled_at = time.monotonic()
        if goal.theirs is not None:
            goal.theirs.cancel_goal_async()
        elif not goal.is_offered:
            # rclpy lets the goal be canceled when this has returned.
            result = self._type.Result(error_string='canceled before the controller had it')
            self._node.executor.create_task(self._finish, goal, handle.canceled, result)
        return CancelResponse.ACCEPT

    def _look_for_server(self) -> None:
        """End the goals of a controller that has gone."""
        is_there = self._client.server_is_ready()
        if not is_there:
            self._held.forget()
        servers = self._find_servers() if self._goals else frozenset()
        for goal in list(self._goals):
            if not is_there or (goal.servers and not goal.servers & servers):
                self._held.forget()
                self._abort(goal, f'the action server {self._action!r} has gone')

    def _on_watch(self) -> None:
        """End what the controller no longer ends, and do not wait for its answer for ever."""
        if not any(goal.is_offered for goal in self._goals):
            self._held.look()
        if not self._goals and not self._held.is_waiting:
            self._watch.cancel()
        now = time.monotonic()
        for goal in list(self._goals):
            if goal.canceled_at is not None and now - goal.canceled_at > NODE.longest_stop:
                text = f'{self._action} has not ended the goal in {NODE.longest_stop:g} s'
                self._finish(goal, goal.handle.canceled, self._type.Result(error_string=text))
            elif goal.overtaken_at is not None and now - goal.overtaken_at > NODE.answer_time:
                self._abort(goal, 'another goal has taken its place')
            elif now - goal.asked_at <= NODE.answer_time or goal.theirs is not None:
                pass
            elif goal.is_offered:
                self._abort(goal, f'{self._action} has not answered for {NODE.answer_time:g} s')
            elif not goal.takes_efforts:
                self._take_for_granted(goal, f'no answer for {NODE.answer_time:g} s')
            if not goal.is_asked and goal in self._goals:
                self._ask(goal)

    def _find_servers(self) -> frozenset[bytes]:
        """Return the endpoints that offer the controller's action."""
        topic = f'{self._action}/_action/status'
        found = self._node.get_publishers_info_by_topic(topic)
        return frozenset(bytes(one.endpoint_gid) for one in found)

    # ---- ends

    def _abort(
        self, goal: _ProxiedGoal, text: str, code: GoalCode = GoalCode.INVALID_GOAL
    ) -> None:
        if goal not in self._goals:
            return
        if goal.theirs is not None:
            goal.theirs.cancel_goal_async()
        result = self._type.Result(error_code=int(code), error_string=text)
        self._finish(goal, goal.handle.abort, result)

    def _finish(self, goal: _ProxiedGoal, end: Callable[[], None], result: Any) -> None:
        if goal not in self._goals:
            return
        self._goals.remove(goal)
        if goal.work is not None:
            goal.work.cancel()
        is_ended = self._server.finish(goal.handle, end, result)
        if is_ended and result.error_code != int(GoalCode.SUCCESSFUL):
            self._reporter.say(f'{NAME}.aborted', f'{NAME}: goal aborted: {result.error_string}')
