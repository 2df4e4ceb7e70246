"""The topics ``~/annotate`` and ``~/annotated``: trajectories in, the same with efforts out."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.annotator.present import Present
from ne_dynamics.ros.messages.serialized_trajectory import read_trajectory
from ne_dynamics.ros.running.background import Background
from ne_dynamics.ros.watching.reporter import Reporter

TOPIC = '~/annotate'
RESULT_TOPIC = '~/annotated'


class AnnotationTopics:
    """Answers each trajectory; one is worked on and one may wait, whose place a newer one takes.

    Parameters
    ----------
    node : AnnotatorNode
    reporter : Reporter
    background : Background
    present : Present
        Knows where the arm is.
    """

    def __init__(
        self, node: Any, reporter: Reporter, background: Background, present: Present
    ) -> None:
        self._node = node
        self._reporter = reporter
        self._background = background
        self._present = present
        self._waiting: Future[Any] | None = None
        self._publisher = node.create_publisher(JointTrajectory, RESULT_TOPIC, 10)
        latest = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
        # As bytes: what is no message is dropped in the work, and not an error of rclpy.
        node.create_subscription(JointTrajectory, TOPIC, self._on_annotate, latest, raw=True)

    def _on_annotate(self, data: bytes) -> None:
        arm: AnnotatedArm | None = self._node.arm
        if arm is None:
            self._reporter.drop('annotate', 'data', 'there is no model of the robot yet')
            return
        if self._waiting is not None and self._waiting.cancel():
            self._reporter.drop(
                'annotate', 'data', 'replaced by a newer message before it was processed'
            )
        start, base_motion = self._present.start, self._present.base_motion
        self._waiting = self._background.submit(
            self._send,
            lambda: arm.annotate(read_trajectory(data), start, base_motion, is_goal=False),
        )

    def _send(self, work: Future[tuple[JointTrajectory, tuple[str, ...]]]) -> None:
        try:
            message, remarks = work.result()
        except NeDynamicsError as error:
            self._reporter.drop('annotate', error.field or 'points', str(error))
        except Exception as error:
            # Never the end of the node.
            self._reporter.drop('annotate', 'points', repr(error))
        else:
            self._publisher.publish(message)
            self._reporter.remark(remarks)
