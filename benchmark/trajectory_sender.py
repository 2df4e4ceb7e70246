"""A process that publishes large trajectories at a steady rate, to the node that it is told.

It makes the messages once, at its start, and publishes bytes: while it runs it computes nothing
that others would wait for. An order is a String, `TOPIC POINTS`; an empty one ends what goes on,
and `TOPIC 0` begins one slow motion and sends no more.

python -m benchmark.trajectory_sender JOINT,JOINT,... POINTS,POINTS,... TOPIC ... [--ros-args ...]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ne_dynamics.errors import optional_dependency

with optional_dependency('the sender of trajectories needs ROS 2 for Python', 'ros'):
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.serialization import serialize_message
    from rclpy.utilities import remove_ros_args
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.simulation.demo.node_messages import trajectory_message

ORDERS = 'orders'
"""The topic of the orders, in the namespace of the process."""

PERIOD = 0.1
"""Between two trajectories [s]."""

REST = 0.1
"""Where the arm is, in every joint [rad or m]."""

BEGINS = (REST - 0.01, REST + 0.01)
"""Trajectories begin here in turns, so that each is another one [rad or m]..."""

APPROACH = 1.0
"""... and are to be there after so long [s]."""

STROKE = 0.1
"""They end this far from there [rad or m]."""

STEP = 0.01
"""Between two points [s]."""

SLOWEST = 36000.0
"""Duration of the motion that is sent once [s]."""


def motion(begin: float, count: int, n: int) -> Iterator[tuple[Any, ...]]:
    """Yield so many points from rest to rest, as `trajectory_message` takes them."""
    duration = count * STEP
    ones = np.ones(n)
    for index in range(count):
        phase = index / max(count - 1, 1)
        yield (
            APPROACH + phase * duration,
            (begin + STROKE * phase**2 * (3.0 - 2.0 * phase)) * ones,
            6.0 * STROKE / duration * phase * (1.0 - phase) * ones,
            6.0 * STROKE / duration**2 * (1.0 - 2.0 * phase) * ones,
        )


def messages(joint_names: Sequence[str], count: int) -> tuple[bytes, ...]:
    """Return serialized trajectories of so many points; for 0 the one slow motion."""
    n = len(joint_names)
    if count == 0:
        still = np.zeros(n)
        places = ((APPROACH, REST), (SLOWEST, REST + STROKE))
        motions = [iter([(seconds, still + place, still, still) for seconds, place in places])]
    else:
        motions = [motion(begin, count, n) for begin in BEGINS]
    return tuple(serialize_message(trajectory_message(joint_names, each)) for each in motions)


class Sender(Node):
    """Publishes what the newest order says.

    Parameters
    ----------
    joint_names : sequence of str
    points : sequence of int
        Of the trajectories that may be ordered.
    topics : sequence of str
        That they may be ordered for.
    """

    def __init__(
        self, joint_names: Sequence[str], points: Sequence[int], topics: Sequence[str]
    ) -> None:
        super().__init__('trajectory_sender', start_parameter_services=False, enable_rosout=False)
        self._messages = {count: messages(joint_names, count) for count in {0, *points}}
        self._topics = {
            topic: self.create_publisher(JointTrajectory, topic, 1) for topic in topics
        }
        self._publisher: Any = None
        self._turns: Iterator[bytes] = iter(())
        # Only now: who sends an order finds everything ready.
        self.create_subscription(String, ORDERS, self._on_order, 10)
        self.create_timer(PERIOD, self._on_timer)

    def _on_order(self, order: String) -> None:
        self._turns = iter(())
        if not order.data:
            return
        topic, points = order.data.split()
        count = int(points)
        self._publisher = self._topics[topic]
        made = self._messages[count]
        self._turns = itertools.cycle(made) if count else iter(made)

    def _on_timer(self) -> None:
        data = next(self._turns, None)
        if data is not None:
            self._publisher.publish(data)


def main() -> None:
    """Send until SIGINT or SIGTERM."""
    names, points, *topics = remove_ros_args(sys.argv)[1:]
    try:
        rclpy.init()
        executor = SingleThreadedExecutor()
        executor.add_node(Sender(names.split(','), list(map(int, points.split(','))), topics))
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
