"""How long a message holds up the joint states: the node's thread can do one thing at a time.

The node runs in this process, with its own executor, and hears its messages over DDS. What counts
is the processor time of its longest turn from a message to the answer of a joint state that knows
of it: a turn is what the executor does before it looks for joint states again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.errors import BackendError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros import NODE, ComputedTorqueNode, LowLatencyExecutor

POINTS = (300, 1_000, NODE.most_trajectory_points)
"""Of the trajectories."""

DESCRIPTION_LENGTH = 78_000
"""Characters of a description that nobody needs: the model is that of a file."""

PERIOD = 0.002
"""Between two joint states [s]."""

PATIENCE = 60.0
"""Seconds after which a message is taken to be lost."""


class HoldUp(NamedTuple):
    """What one kind of message does.

    Attributes
    ----------
    what : str
    turns : array, shape (rounds,)
        Longest turn of the node's thread [s].
    conversions : array, shape (rounds,), or None
        Time in which rclpy makes a Python message of the same bytes [s], where the node does not
        let it.
    """

    what: str
    turns: FloatArray
    conversions: FloatArray | None = None


def measure_hold_up(
    model_file: str, rounds: int, tip_link: str, points: Sequence[int] = POINTS
) -> list[HoldUp]:
    """Send messages of several sizes to a node that holds an arm.

    Parameters
    ----------
    model_file : str
    rounds : int
        Messages of each kind.
    tip_link : str
    points : sequence of int
        Of the trajectories.

    Returns
    -------
    list of HoldUp

    Raises
    ------
    BackendError
        When a message does not arrive.
    """
    with _Bench.running(model_file, tip_link) as bench:
        results = [
            bench.hold_up_by('a joint state', 'joint_states', bench.state(), rounds, lambda: True)
        ]
        for count in points:
            results.append(bench.hold_up_by_trajectory(count, rounds))
        text = String(data=Path(model_file).read_text())
        text.data += '<!-- ' + 'x' * (DESCRIPTION_LENGTH - len(text.data)) + ' -->'
        what = f'a robot_description of {DESCRIPTION_LENGTH // 1000} kB'
        results.append(bench.hold_up_by(what, 'robot_description', text, rounds, lambda: True))
    return results


class _Bench:
    """The node, and what sends to it.

    Parameters
    ----------
    context : rclpy.context.Context
    model_file, tip_link : str
    """

    def __init__(self, context: Context, model_file: str, tip_link: str) -> None:
        values = {
            'model_file': str(model_file),
            'tip_link': tip_link,
            'state_timeout': float('inf'),
            'following_error.position': [0.0],
            'following_error.velocity': [0.0],
            'following_error.frozen': [0.0],
        }
        self.node = ComputedTorqueNode(
            context=context,
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self._driver = Node('bench_driver', context=context, start_parameter_services=False)
        self._executor = LowLatencyExecutor(self.node, self.node.low_latency_subscriptions)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publishers = {
            topic: self._driver.create_publisher(kind, topic, quality)
            for topic, kind, quality in (
                ('joint_states', JointState, 10),
                ('joint_trajectory', JointTrajectory, 10),
                ('robot_description', String, latched),
            )
        }
        self._stamp = 1_000_000_000
        self._serial = 0
        self._due = 0.0
        self._spin(lambda: self.node.state_label == 'active', 'active node')
        self._spin(self._is_connected, 'subscriptions to all topics')
        self._answer()

    @classmethod
    @contextlib.contextmanager
    def running(cls, model_file: str, tip_link: str) -> Iterator[_Bench]:
        """Give a bench, and take it away."""
        context = Context()
        context.init()
        bench = cls(context, model_file, tip_link)
        try:
            yield bench
        finally:
            bench._executor.shutdown()
            bench.node.destroy_node()
            bench._driver.destroy_node()
            context.try_shutdown()

    @property
    def _controller(self) -> Any:
        configured = self.node.configured
        assert configured is not None
        return configured.controller

    def _is_connected(self) -> bool:
        return all(
            publisher.get_subscription_count() > 0 for publisher in self._publishers.values()
        )

    def state(self) -> JointState:
        """Return the next joint state of an arm at rest."""
        self._stamp += 2_000_000
        configured = self.node.configured
        assert configured is not None
        names = list(configured.arm.robot.joint_names)
        message = JointState(name=names, position=[0.1] * len(names), velocity=[0.0] * len(names))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self._stamp, 10**9)
        return message

    def _turn(self) -> float:
        begin = time.thread_time()
        self._executor.spin_once()
        return time.thread_time() - begin

    def _spin(self, until: Callable[[], bool], what: str) -> float:
        """Serve the node until something is so; return its longest turn [s]."""
        deadline, longest = time.monotonic() + PATIENCE, 0.0
        while not until():
            if time.monotonic() > deadline:
                raise BackendError(f'hold-up: expected {what} within {PATIENCE:g} s, got none')
            longest = max(longest, self._turn())
        return longest

    def _answer(self) -> float:
        """Send a joint state; return the longest turn up to its answer [s]."""
        message = self.state()
        # At the rate of a real robot: what the node does once a second grows with the states.
        time.sleep(max(0.0, self._due - time.monotonic()))
        self._due = time.monotonic() + PERIOD
        self._publishers['joint_states'].publish(message)
        time_of_state = 1e-9 * self._stamp

        def is_answered() -> bool:
            now = self._controller.time
            clock = self.node.configured.clock  # type: ignore[union-attr]
            return now is not None and now >= clock.seconds(self._stamp) - 1e-9

        return self._spin(is_answered, f'answer of the state of {time_of_state:.3f} s')

    def hold_up_by(
        self, what: str, topic: str, message: Any, rounds: int, is_known: Callable[[], bool]
    ) -> HoldUp:
        """Send a message again and again; a state that comes then is answered with it."""
        received = self.node.reporter.statistics.received
        turns = []
        for _ in range(rounds):
            if topic == 'joint_states':
                turns.append(self._answer())
                continue
            if isinstance(message, String):
                # Each is another one.
                self._serial += 1
                message.data = message.data.rstrip('\n') + '\n' * self._serial
            expected = received[topic] + 1
            self._publishers[topic].publish(message)
            longest = self._spin(partial(_has_come, received, topic, expected), topic)
            while True:
                longest = max(longest, self._answer())
                if is_known():
                    break
            turns.append(longest)
        return HoldUp(what, np.array(turns))

    def hold_up_by_trajectory(self, count: int, rounds: int) -> HoldUp:
        """Send a trajectory of so many points again and again."""
        data = serialize_message(_trajectory(self.node, count))
        last = [self._controller.motion.trajectory]

        def is_followed() -> bool:
            trajectory = self._controller.motion.trajectory
            is_new = trajectory is not last[0]
            last[0] = trajectory
            return is_new

        found = self.hold_up_by(
            f'a joint_trajectory of {count} points', 'joint_trajectory', data, rounds, is_followed
        )
        conversions = []
        for _ in range(rounds):
            begin = time.thread_time()
            deserialize_message(data, JointTrajectory)
            conversions.append(time.thread_time() - begin)
        return found._replace(conversions=np.array(conversions))


def _has_come(received: Mapping[str, int], topic: str, count: int) -> bool:
    return received[topic] >= count


def _trajectory(node: ComputedTorqueNode, count: int) -> JointTrajectory:
    """Return a slow motion through positions, velocities and accelerations."""
    assert node.configured is not None
    names = list(node.configured.arm.robot.joint_names)
    message = JointTrajectory(joint_names=names)
    for index in range(1, count + 1):
        phase = index / count
        point = JointTrajectoryPoint()
        point.positions = [0.1 + 0.1 * phase**2 * (3.0 - 2.0 * phase)] * len(names)
        point.velocities = [0.6 * phase * (1.0 - phase) / (1e-2 * count)] * len(names)
        point.accelerations = [0.0] * len(names)
        # In the first second it goes to its begin, from wherever the one before has led.
        nanoseconds = 1_000_000_000 + 10_000_000 * index
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
        message.points.append(point)
    return message
