"""Random trajectories, good and bad, for the annotator: each has an answer, or is dropped."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from ne_dynamics.ros.thresholds import NODE

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fuzz_messages import MessageSource, plan

from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.simulation.demo.node_messages import parameter_of

SEED = 20240607
COUNT = 150
PATIENCE = 120.0


class Site:
    """The annotator of the robot of a plan, and who sends to it."""

    def __init__(self, number: int) -> None:
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from trajectory_msgs.msg import JointTrajectory

        from ne_dynamics.ros.annotator.node import AnnotatorNode

        self.plan = plan(SEED, number)
        values = {**self.plan.case.parameters, 'backend': 'python', 'controller': '/nobody'}
        self.context = Context()
        self.context.init(domain_id=private_domain())
        self.executor = SingleThreadedExecutor(context=self.context)
        self.node = AnnotatorNode(
            context=self.context,
            parameter_overrides=[parameter_of(name, value) for name, value in values.items()],
        )
        self.probe = Node('probe', context=self.context)
        self.executor.add_node(self.node)
        self.executor.add_node(self.probe)
        self.drops: list[str] = []
        self.node._reporter.drop = lambda topic, field, reason: self.drops.append(reason)
        self.answers: list[Any] = []
        self.publisher = self.probe.create_publisher(JointTrajectory, '/annotator/annotate', 10)
        self.subscription = self.probe.create_subscription(
            JointTrajectory, '/annotator/annotated', self.answers.append, 10
        )
        self.spin(
            lambda: (
                self.publisher.get_subscription_count() == 1
                and self.probe.count_publishers('/annotator/annotated') == 1
            )
        )

    def spin(self, until: Any) -> None:
        """Serve everybody until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, 'waited in vain'
            self.executor.spin_once(0.02)

    def close(self) -> None:
        """End."""
        self.executor.shutdown()
        self.node.destroy_node()
        self.probe.destroy_node()
        self.context.shutdown()


def check(message: Any) -> None:
    """Check that an answer is complete, finite and in order."""
    assert 0 < len(message.points) <= NODE.most_annotated_points
    before = -1
    for point in message.points:
        at = point.time_from_start.sec * 10**9 + point.time_from_start.nanosec
        assert at > before
        before = at
        for key in ('positions', 'velocities', 'accelerations', 'effort'):
            values = getattr(point, key)
            is_needed = key in ('positions', 'effort')
            assert len(values) == len(message.joint_names) or (not values and not is_needed)
            assert np.isfinite(values).all()


@pytest.mark.parametrize('number', range(3))
def test_trajectories_of_all_kinds(action: None, number: int) -> None:
    """Each is answered, or dropped with a reason; the next good one is answered."""
    site = Site(number)
    try:
        for step in MessageSource(site.plan, with_bytes=True).trajectories(COUNT):
            before = len(site.answers), len(site.drops)
            site.publisher.publish(step.message)
            site.spin(lambda: (len(site.answers), len(site.drops)) != before)  # noqa: B023
            assert len(site.answers) + len(site.drops) == sum(before) + 1, step
        for answer in site.answers:
            check(answer)
        assert len(site.answers) > 0.2 * COUNT
        assert len(site.drops) > 0.05 * COUNT
    finally:
        site.close()


def test_messages_that_are_none_of_their_type_do_not_end_the_node(action: None) -> None:
    """Bytes of no message, on any topic."""
    from sensor_msgs.msg import Imu, JointState

    site = Site(0)
    try:
        kinds = {'/joint_states': JointState, '/imu': Imu}
        publishers = [site.probe.create_publisher(kind, name, 1) for name, kind in kinds.items()]
        site.spin(lambda: all(one.get_subscription_count() for one in publishers))
        for data in (b'', b'\x00', b'\x00\x01\x00\x00', bytes(range(64)), b'\xff' * 200):
            for publisher in publishers:
                publisher.publish(data)
            for _ in range(20):
                site.executor.spin_once(0.01)
        (step,) = MessageSource(site.plan).trajectories(1)
        site.publisher.publish(step.message)
        site.spin(lambda: site.answers or site.drops)
    finally:
        site.close()
