"""Gives a controller back the efforts that it drops when it ends a goal itself.

Where a joint_trajectory_controller makes its hold position, after a cancel or a violated
tolerance, it has no effort for it, or that of another pose: the arm sags until the PID carries it.
So it gets a goal that holds the arm there, with the efforts that do. A goal, and not a message:
another goal takes the place of one, where a message would take the place of its trajectory.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import NANO
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.annotator.present import Present
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.reporter import Reporter

RAMP = NANO // 10
"""In which the efforts come back [ns]."""


ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)

UNBOUNDED = -1.0
"""Of a tolerance, in a goal."""


class HeldEfforts:
    """Sends the position at which a controller holds the arm, with the efforts that hold it.

    `client` is that of the controller's action, whose name is `action`.
    """

    def __init__(
        self,
        node: Any,
        client: Any,
        action: str,
        action_type: Any,
        reporter: Reporter,
        present: Present,
    ) -> None:
        self._node = node
        self._client = client
        self._action = action
        self._type = action_type
        self._reporter = reporter
        self._present = present
        self._since: float | None = None
        self._goals: GoalStatusArray | None = None
        self._last: tuple[tuple[str, ...], FloatArray] | None = None
        node.create_subscription(
            GoalStatusArray,
            f'{action}/_action/status',
            self._on_status,
            QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )

    def note_end(self, trajectory: JointTrajectory) -> None:
        """Take note of what the controller goes on sending: the end of what it has followed."""
        last = np.array(trajectory.points[-1].effort, dtype=np.float64)
        self._last = tuple(trajectory.joint_names), last
        self._since = None

    def forget(self) -> None:
        """Forget it: the controller has gone."""
        self._last = self._since = None

    def begin(self) -> None:
        """Wait for the controller to hold the arm, from now on, and give it the efforts then."""
        self._since = time.monotonic()

    @property
    def is_waiting(self) -> bool:
        """Whether :meth:`look` may have something to send."""
        return self._since is not None

    def look(self) -> None:
        """Send them when the controller follows no goal, and says where it holds the arm."""
        if self._since is None:
            return
        arm: AnnotatedArm | None = self._node.arm
        if time.monotonic() > self._since + NODE.longest_stop or arm is None:
            self._since = None
            text = f'{self._action}: the arm is held without its efforts: it did not come to rest'
            self._reporter.say('hold', text)
            return
        reference = self._present.find_reference(self._since)
        if reference is None or self._is_active():
            return
        effort = arm.holding_effort(reference.position, self._present.base_motion)
        if not np.isfinite(effort).all():
            self._since = None
            self._reporter.say(
                'hold', f'{self._action}: the arm is held without its efforts: they are not finite'
            )
            return
        names = arm.arm.robot.joint_names
        trajectory = _hold(names, reference.position, self._find_first(names), effort)
        self.note_end(trajectory)
        sent = self._client.send_goal_async(self._goal(trajectory))
        sent.add_done_callback(self._on_answer)

    def _is_active(self) -> bool:
        """Return whether the controller has a goal, whoever has sent it."""
        listed = () if self._goals is None else self._goals.status_list
        return any(one.status in ACTIVE for one in listed)

    def _find_first(self, names: tuple[str, ...]) -> FloatArray:
        """Return what the controller sends beside its PID: that of the last motion's end, or 0."""
        if self._last is None or sorted(self._last[0]) != sorted(names):
            return np.zeros(len(names))
        order = [self._last[0].index(name) for name in names]
        return self._last[1][order]

    def _goal(self, trajectory: JointTrajectory) -> Any:
        """Return a goal that no tolerance ends: the arm may swing still."""
        from control_msgs.msg import JointTolerance

        free = [
            JointTolerance(name=name, position=UNBOUNDED, velocity=UNBOUNDED)
            for name in trajectory.joint_names
        ]
        return self._type.Goal(trajectory=trajectory, path_tolerance=free, goal_tolerance=free)

    def _on_status(self, message: GoalStatusArray) -> None:
        self._goals = message

    def _on_answer(self, answer: Any) -> None:
        theirs = answer.result()
        if theirs is None or not theirs.accepted:
            text = f'{self._action}: the arm is held without its efforts: the goal was rejected'
            self._reporter.say('hold', text)


def _hold(
    names: tuple[str, ...], position: FloatArray, first: FloatArray, last: FloatArray
) -> JointTrajectory:
    """Return a position that stays, and an effort that goes over to another."""
    message = JointTrajectory(joint_names=list(names))
    for nanoseconds, effort in ((0, first), (RAMP, last)):
        point = JointTrajectoryPoint(positions=position.tolist(), effort=effort.tolist())
        point.velocities = point.accelerations = [0.0] * len(names)
        point.time_from_start.nanosec = nanoseconds
        message.points.append(point)
    return message
