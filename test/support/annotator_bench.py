"""A bench for the node `annotator`: real rclpy, real DDS, and who sends it trajectories."""

from __future__ import annotations

import threading
from typing import Any

from node_probe import ServedProbe
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics.ros.annotator.node import AnnotatorNode
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import parameter_of

USUAL = {
    'model_file': str(shipped_file('six_axis_arm.urdf')),
    'tip_link': 'tcp',
    'backend': 'python',
}


class AnnotatorBench(ServedProbe):
    """The annotator, and what it has answered and dropped (topic, field, reason, thread)."""

    joint_names = tuple(f'joint_{number}' for number in range(1, 7))

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        values = USUAL | {name.replace('__', '.'): value for name, value in parameters.items()}
        self.node = AnnotatorNode(
            context=self.context,
            parameter_overrides=[
                parameter_of(name, value) for name, value in values.items() if value is not None
            ],
        )
        self.executor.add_node(self.node)
        self.answers: list[JointTrajectory] = []
        self.drops: list[tuple[Any, ...]] = []
        self.publisher = self.probe.create_publisher(JointTrajectory, '/annotator/annotate', 10)
        self.probe.create_subscription(
            JointTrajectory, '/annotator/annotated', self.answers.append, 10
        )
        self.spin(self.publisher.get_subscription_count)
        self.spin(lambda: self.probe.count_publishers('/annotator/annotated'))

    def record_drops(self) -> None:
        """Keep what is dropped, instead of saying it."""
        self.node._reporter.drop = lambda *what: self.drops.append(
            (*what, threading.current_thread())
        )

    def ask(self, message: JointTrajectory) -> JointTrajectory | None:
        """Return the answer to a message; None when it was dropped."""
        before = len(self.answers), len(self.drops)
        self.publisher.publish(message)
        self.spin(lambda: (len(self.answers), len(self.drops)) != before, 'an answer or a drop')
        assert len(self.answers) + len(self.drops) == sum(before) + 1
        return self.answers[-1] if len(self.answers) > before[0] else None

    def close(self) -> None:
        """Destroy both."""
        super().close(self.node)
