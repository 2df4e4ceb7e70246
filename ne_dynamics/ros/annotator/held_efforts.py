"""Gives a controller back the efforts that it drops when it ends a goal itself.

Where a joint_trajectory_controller makes its hold position, after a cancel or a violated
tolerance, it has no effort for it, or that of another pose: the arm sags until the PID carries it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from copy import deepcopy
from typing import Any

from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.motion.waypoints import NANO, DesiredState
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.annotator.background import Background
from ne_dynamics.ros.annotator.present import Present
from ne_dynamics.ros.watching.reporter import Reporter

RAMP = NANO // 10
"""In which the efforts come back [ns]."""

LONGEST_WAIT = 5.0
"""For which the controller may take to bring the arm to rest [s]."""


class HeldEfforts:
    """Sends the position at which a controller holds the arm, with the efforts that hold it.

    Parameters
    ----------
    node : rclpy.node.Node
    controller : str
    reporter : Reporter
    background : Background
    present : Present
    arm : callable
        Returns the arm, or None before its model has come.
    """

    def __init__(
        self,
        node: Any,
        controller: str,
        reporter: Reporter,
        background: Background,
        present: Present,
        arm: Callable[[], AnnotatedArm | None],
    ) -> None:
        self._reporter = reporter
        self._background = background
        self._present = present
        self._arm = arm
        self._publisher = node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', 1
        )
        self._until: float | None = None
        self._last: JointTrajectoryPoint | None = None

    def note_end(self, trajectory: JointTrajectory) -> None:
        """Take note of what the controller goes on sending: the end of what it has followed."""
        self._last = trajectory.points[-1]

    def begin(self) -> None:
        """Wait for the arm to rest, from now on, and give it its efforts then."""
        self._until = time.monotonic() + LONGEST_WAIT

    def end(self) -> None:
        """Give none: another goal has taken over."""
        self._until = None

    def look(self) -> None:
        """Send them when the controller says where it holds the arm."""
        if self._until is None:
            return
        arm, reference = self._arm(), self._present.reference
        if time.monotonic() > self._until or arm is None:
            self._until = None
        elif reference is not None:
            self._until = None
            asked = self._trajectory(arm, reference)
            base_motion = self._present.base_motion
            self._background.submit(
                self._send, lambda: arm.annotate(asked, None, base_motion, is_goal=False)
            )

    def _trajectory(self, arm: AnnotatedArm, reference: DesiredState) -> JointTrajectory:
        message = JointTrajectory(joint_names=list(arm.arm.robot.joint_names))
        point = JointTrajectoryPoint(positions=reference.position.tolist())
        point.velocities = point.accelerations = [0.0] * len(point.positions)
        point.time_from_start.nanosec = RAMP
        message.points.append(point)
        return message

    def _send(self, work: Future[tuple[JointTrajectory, Any]]) -> None:
        try:
            message, _ = work.result()
        except NeDynamicsError as error:
            self._reporter.drop('hold', error.field or 'points', str(error))
            return
        # From what is sent now: nothing, or the effort at the end of the last motion.
        first = deepcopy(message.points[-1])
        first.time_from_start.nanosec = 0
        first.effort = [0.0] * len(first.effort) if self._last is None else self._last.effort
        message.points = [first, message.points[-1]]
        self._publisher.publish(message)
