"""The topic of trajectories, and the motion that comes of them or of the action."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from rclpy.duration import Duration
from rclpy.logging import LoggingSeverity as Severity
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.control.desired.motion_planner import MotionPlan, MotionPlanner
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.guards.goal import GoalMonitor, Tolerances
from ne_dynamics.control.guards.motion_watch import MotionWatch
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.motion.joint_limits import position_limits
from ne_dynamics.motion.limit_violation import WhenInfeasible, describe
from ne_dynamics.motion.waypoints import Waypoints, find_columns
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.messages.conversion import stamp_nanoseconds
from ne_dynamics.ros.messages.joint_constraints import JointConstraints
from ne_dynamics.ros.messages.serialized_trajectory import named_fields, read_stamp
from ne_dynamics.ros.running.worker_process import PLANNING
from ne_dynamics.ros.settings.configuration import command_timeout, goal_tolerances
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.trajectory_planning import (
    PlanRequest,
    TrajectoryPlanning,
    TrajectoryRules,
    plan_message,
)


def _ignore(reason: str, with_planned: bool) -> None:
    return None


class JointTrajectoryTopic:
    """Has trajectories planned, lets the controller follow them, and watches how.

    Attributes
    ----------
    planning : TrajectoryPlanning
    on_ended : callable
        Called when the motion ends, with the reason, and whether what is planned ends with it:
        not where a trajectory of the topic takes its place.
    """

    def __init__(self, context: ArmContext, is_commanding: Callable[[], bool]) -> None:
        self._arm, self._controller = context.arm, context.controller
        self._settings = context.read_settings
        self._clock, self._reporter = context.clock, context.reporter
        self._is_commanding = is_commanding
        self.on_ended: Callable[[str, bool], None] = _ignore
        self._constraints = JointConstraints(context.node, context.arm.robot.joint_names)
        self._motion_watch = MotionWatch()
        self.planning = TrajectoryPlanning(
            context.node, lambda: context.controller.motion.settings
        )
        self._prepare_planning()

    def destroy(self) -> None:
        """Let go of what is planned, and of the node."""
        self.planning.destroy()
        self._constraints.destroy()

    def on_message(self, data: bytes) -> None:
        """Have a trajectory planned, or drop it."""
        self._reporter.statistics.hear('joint_trajectory', time.perf_counter())
        if not self._is_commanding():
            self._reporter.drop('joint_trajectory', 'state', 'the node is not active')
            return
        if self._controller.fault is not None:
            self._reporter.drop('joint_trajectory', 'state', str(self._controller.fault))
            return
        stamp = read_stamp(data)
        start_time = self._clock.seconds(stamp) if stamp else None
        self.planning.begin(
            PlanRequest(
                lambda: (plan_message, self.planner(start_time), (self._rules, data, start_time)),
                lambda plan: self._on_planned(plan, start_time),
                self._drop_trajectory,
                is_small=len(data) <= NODE.small_message,
                size=len(data),
            )
        )

    def planner(self, start_time: float | None) -> MotionPlanner:
        """Return what plans trajectories from a time on; None for now."""
        is_partial = self._settings().allow_partial_joints_goal
        planner = self._controller.motion.planner(math.inf if is_partial else start_time)
        period = self._controller.accept.rate.period
        if is_partial or period > DESIRED.latest_begin:
            return planner
        # It begins with the next state, also where it is there only a little later.
        return replace(planner, lead=period)

    @property
    def _rules(self) -> TrajectoryRules:
        settings = self._settings()
        return TrajectoryRules(
            self._arm.robot.joints,
            settings.allow_nonzero_velocity_at_trajectory_end,
            settings.allow_integration_in_goal_trajectories,
            settings.allow_partial_joints_goal,
        )

    def _drop_trajectory(self, error: NeDynamicsError) -> None:
        self._reporter.drop('joint_trajectory', 'points', str(error))

    def _on_planned(self, plan: MotionPlan | None, start_time: float | None) -> None:
        """Follow what was sent by the topic."""
        controller = self._controller
        if plan is None:
            self.hold('an empty trajectory came by the topic joint_trajectory')
            text = 'empty trajectory: holding where the desired motion comes to rest'
            self._reporter.say('joint_trajectory.empty', text, Severity.INFO)
            return
        mode = controller.tuning.mode
        if mode is Mode.GRAVITY_COMPENSATION:
            self._reporter.drop(
                'joint_trajectory', 'mode', f'mode {mode.value} follows no trajectory'
            )
            return
        self.remark(plan.request.waypoints, start_time)
        monitor = GoalMonitor(
            self._arm.robot.joints, self.tolerances, controller.tuning.law.position_error
        )
        self.follow(plan, monitor)
        self.on_ended('a trajectory came by the topic joint_trajectory', False)

    def follow(self, plan: MotionPlan, monitor: GoalMonitor | None = None) -> None:
        """Follow what was planned in place of all that came before it.

        `monitor` checks how closely, where nobody else does.
        """
        self._controller.motion.follow_plan(plan)
        self._motion_watch.begin(monitor, command_timeout(self._settings()))
        if plan.exceeded:
            self._report_excess(plan)

    def _report_excess(self, plan: MotionPlan) -> None:
        """Say what a trajectory exceeds that is followed all the same, and how."""
        followed = 'but followed'
        if self._controller.tuning.when_infeasible is WhenInfeasible.SLOW_DOWN:
            duration, followed = plan.duration, 'slowed down'
            if duration is not None:
                sent = plan.request.waypoints.times[-1]
                followed += f' ({duration:.4g} s in place of {sent:.4g} s)'
        text = f'joint_trajectory: beyond the limits, {followed}: {describe(plan.exceeded)}'
        self._reporter.say('joint_trajectory.exceeds', text)

    @property
    def tolerances(self) -> Tolerances:
        """How closely a motion is followed that does not say."""
        return self._constraints.applied_to(goal_tolerances(self._settings(), self._arm))

    def watch(self, command: Tick) -> None:
        """Give the motion up where a command has shown that it is not what was wanted."""
        reason = self._motion_watch.observe(command, self._controller.motion.trajectory)
        if reason:
            self.give_up(reason)

    def end_watch(self) -> None:
        """Let the end of the motion be all right: nobody is to say more."""
        self._motion_watch.end()

    def end(self, reason: str) -> None:
        """Tell who followed the motion that it is over, and why."""
        self.end_watch()
        self.on_ended(reason, True)

    def give_up(self, reason: str) -> None:
        """Hold the arm where it is found: the motion is not what its sender wanted."""
        self.planning.discard()
        self._controller.motion.hold(where_found=True)
        self._reporter.say('motion', f'{reason}; the arm is held at its measured position')
        self.end(reason)

    def read_trajectory(self, message: JointTrajectory) -> tuple[Waypoints, float | None]:
        """Return a trajectory, checked, and when it starts; None for now.

        Raises
        ------
        TrajectoryError
            When it cannot be followed; the message begins with the field at fault.
        """
        stamp = stamp_nanoseconds(message.header.stamp)
        start_time = self._clock.seconds(stamp) if stamp else None
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
        if start_time is not None and self._controller.time is not None:
            wait = start_time - self._controller.time
            if wait > NODE.far_start:
                self._reporter.say(
                    'joint_trajectory.header.stamp',
                    f'joint_trajectory: header.stamp: starts in {wait:.6g} s, '
                    'by the clock of joint_states',
                )

    def hold(self, reason: str) -> None:
        """Bring the desired motion to rest and hold the arm; the reason is for who followed it."""
        self.planning.discard()
        self._controller.motion.hold()
        self.end(reason)

    def _prepare_planning(self) -> None:
        """Plan something here and beside: what is made when it is first needed takes its time."""
        joints = self._arm.robot.joints
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
