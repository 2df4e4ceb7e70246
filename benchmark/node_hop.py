"""JointState in, command out, through DDS: the node against a relay that computes nothing.

Three processes: this one, which publishes joint states and waits for the answers, the node, and
the relay. Both stay alive from beginning to end, each on topics of its own, and are driven in
turns, a block of messages each, at the pace of a controller; so whatever else the machine does
meets both. The driver waits on the one subscription it reads, without an executor: what it adds
to a round trip is small, and is the same for both.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.timing import Ratio, Times
from ne_dynamics.errors import BackendError, InputError, optional_dependency
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    RELAY_MODULE,
    RosProcess,
    RosProcesses,
    domain_id,
)

with optional_dependency('the node hop needs ROS 2 for Python', 'ros'):
    from rclpy.context import Context
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.simulation.demo.node_messages import trajectory_message

NODE = 'computed_torque'
RELAY = 'relay'

PATIENCE = 30.0
"""Seconds that something may take on a busy machine before it is given up."""

LONGEST_ANSWER = 1.0
"""Seconds to wait for one answer; a message lost (best effort) is left out and counted."""

WARM_UP = 200
"""Messages before the first block."""

MOTION_DURATION = 36000
"""Of the trajectory that the node follows meanwhile [s]; so slow that no effort is limited."""


@dataclass(frozen=True, eq=False)
class Hop:
    """What one responder took.

    Attributes
    ----------
    name : str
    round_trips : tuple of array
        Seconds of every answered message, block by block.
    processor : array, shape (blocks,)
        Processor time of the whole process per message [s].
    lost : int
        Messages without an answer.
    """

    name: str
    round_trips: tuple[FloatArray, ...]
    processor: FloatArray
    lost: int

    def percentile(self, percent: float) -> float:
        """Return a percentile of all round trips [s]."""
        return float(np.percentile(np.concatenate(self.round_trips), percent))

    @property
    def processor_times(self) -> Times:
        """Processor time a message, block by block."""
        return Times(self.name, self.processor)

    def ratio_to(self, other: Hop, percent: float) -> Ratio:
        """Return a percentile over another's; quartiles of the ratios block by block."""
        by_block = [
            np.percentile(mine, percent) / np.percentile(theirs, percent)
            for mine, theirs in zip(self.round_trips, other.round_trips, strict=True)
        ]
        low, high = np.percentile(by_block, (25, 75))
        return Ratio(self.percentile(percent) / other.percentile(percent), float(low), float(high))


def measure_hop(
    model_file: str,
    blocks: int = 40,
    messages: int = 200,
    period: float = 0.002,
    tip_link: str = '',
    domain: int | None = None,
) -> dict[str, Hop]:
    """Drive node and relay in turns.

    Parameters
    ----------
    model_file : str
        Robot of the node.
    blocks : int
        Of each of the two.
    messages : int
        In a block.
    period : float
        Between two messages [s]; 0 sends the next one as soon as the answer is there.
    tip_link : str
    domain : int, optional
        Of DDS; default: ROS_DOMAIN_ID.

    Returns
    -------
    dict
        Hops by name, `NODE` and `RELAY`.

    Raises
    ------
    InputError
        When a number is too small.
    ProcessError
        When a process does not start or answer.
    BackendError
        When one does not answer once a message.
    """
    if blocks < 1 or messages < 1 or not period >= 0.0:
        raise InputError(
            'node hop: expected blocks >= 1, messages >= 1, period >= 0, got '
            f'{blocks}, {messages}, {period}'
        )
    domain = domain_id() if domain is None else domain
    joint_names = load_model(model_file, None, tip_link or None).joint_names
    parameters = {
        'model_file': str(Path(model_file).resolve()),
        'mode': 'computed_torque',
        # The driver turns from one to the other: states that stop meanwhile are no fault.
        'state_timeout': 3600.0,
        'tip_link': tip_link,
    }
    with RosProcesses(domain) as processes, driver_node(domain) as driver:
        responders = {
            RELAY: processes.start(
                RELAY, RELAY_MODULE, arguments=[str(len(joint_names))], **_options(RELAY)
            ),
            NODE: processes.start(NODE, NODE_MODULE, parameters, **_options(NODE)),
        }
        lines = {
            name: _Line(driver, name, joint_names, process, processes)
            for name, process in responders.items()
        }
        for line in lines.values():
            line.connect()
        lines[NODE].follow_slow_motion()
        return _drive(lines, blocks, messages, period)


def _drive(lines: dict[str, _Line], blocks: int, messages: int, period: float) -> dict[str, Hop]:
    for line in lines.values():
        line.block(WARM_UP, 0.0)
    round_trips: dict[str, list[FloatArray]] = {name: [] for name in lines}
    processor: dict[str, list[float]] = {name: [] for name in lines}
    order = list(lines)
    for _ in range(blocks):
        for name in order:
            begin = lines[name].processor_time()
            round_trips[name].append(lines[name].block(messages, period))
            processor[name].append((lines[name].processor_time() - begin) / messages)
        order.reverse()
    return {
        name: Hop(name, tuple(round_trips[name]), np.array(processor[name]), line.lost)
        for name, line in lines.items()
    }


def _options(name: str) -> dict[str, Any]:
    """Return what gives a process topics of its own."""
    topics = {
        'joint_states': 'joint_states',
        'joint_trajectory': 'joint_trajectory',
        'effort_controller/commands': 'commands',
    }
    remappings = {topic: _topic(name, own) for topic, own in topics.items()}
    return {'remappings': remappings, 'log_level': 'warn', 'own_session': False}


@contextlib.contextmanager
def driver_node(domain: int) -> Iterator[Any]:
    """Give a node with a context of its own, and nothing in it but what is asked for."""
    context = Context()
    context.init(domain_id=domain)
    node = Node(
        'bench_driver', context=context, start_parameter_services=False, enable_rosout=False
    )
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()


def _topic(name: str, topic: str) -> str:
    """Return a topic that no other process uses, this one's number in it."""
    return f'/bench_{os.getpid()}/{name}/{topic}'


class _Line:
    """The topics to and from one responder.

    Parameters
    ----------
    node : rclpy.node.Node
        The driver.
    name : str
    joint_names : sequence of str
    process : RosProcess
    processes : RosProcesses
        That it belongs to.
    """

    def __init__(
        self,
        node: Any,
        name: str,
        joint_names: tuple[str, ...],
        process: RosProcess,
        processes: RosProcesses,
    ) -> None:
        self.name = name
        self.lost = 0
        self._node = node
        self._process = process
        self._processes = processes
        self._joint_names = list(joint_names)
        self._states = node.create_publisher(JointState, _topic(name, 'joint_states'), 10)
        self._trajectories = node.create_publisher(
            JointTrajectory, _topic(name, 'joint_trajectory'), 1
        )
        # Best effort: no acknowledgements, whose processor time would fall to the responder.
        self._commands = node.create_subscription(
            Float64MultiArray,
            _topic(name, 'commands'),
            lambda message: None,
            QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT),
        )
        n = len(joint_names)
        self._message = JointState(
            name=self._joint_names, position=[0.1] * n, velocity=[0.0] * n, effort=[0.0] * n
        )

    # ---- setting up

    def connect(self) -> None:
        """Wait until the responder is on both topics and answers."""
        self._wait(
            lambda: bool(
                self._states.get_subscription_count() and self._commands.get_publisher_count()
            ),
            'its topics',
        )
        self._wait(lambda: self._round_trip() is not None, 'an answer')
        self.lost = 0
        time.sleep(0.2)
        self._drain()

    def follow_slow_motion(self) -> None:
        """Ask for a motion that lasts longer than the measurement."""
        self._wait(lambda: bool(self._trajectories.get_subscription_count()), 'joint_trajectory')
        still = np.zeros(len(self._joint_names))
        point = (MOTION_DURATION, still + 0.2, still, still)
        self._trajectories.publish(trajectory_message(self._joint_names, [point]))
        time.sleep(0.2)

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        self._processes.wait_until(
            until, f'{self.name}: {what}', lambda: time.sleep(0.05), PATIENCE
        )

    # ---- driving

    def block(self, messages: int, period: float) -> FloatArray:
        """Send messages, each after the answer to the one before; return the round trips [s].

        Raises
        ------
        BackendError
            When there is not one answer a message.
        """
        self._drain()
        taken = []
        gc.collect()
        gc.disable()
        try:
            next_time = time.perf_counter()
            for _ in range(messages):
                seconds = self._round_trip()
                if seconds is not None:
                    taken.append(seconds)
                next_time += period
                pause = next_time - time.perf_counter()
                if pause > 0.0:
                    time.sleep(pause)
                else:
                    next_time -= pause
        finally:
            gc.enable()
        answers = len(taken) + self._drain()
        if not taken or answers > messages:
            raise BackendError(
                f'{self.name}: expected one answer a message, got {answers} to {messages} messages'
            )
        return np.array(taken)

    def _round_trip(self) -> float | None:
        """Send a state and wait for the command; return the seconds, None without an answer."""
        handle, context = self._commands.handle, self._node.context
        self._message.header.stamp = self._node.get_clock().now().to_msg()
        # As rclpy.wait_for_message does: a set with one subscription in it, and no executor.
        wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, context.handle)
        wait_set.clear_entities()
        wait_set.add_subscription(handle)
        begin = time.perf_counter()
        self._states.publish(self._message)
        wait_set.wait(int(LONGEST_ANSWER * 1e9))
        end = time.perf_counter()
        if handle.take_message(Float64MultiArray, False) is None:
            self.lost += 1
            return None
        return end - begin

    def _drain(self) -> int:
        """Take what is waiting; return how many messages that were."""
        count = 0
        while self._commands.handle.take_message(Float64MultiArray, False) is not None:
            count += 1
        return count

    def processor_time(self) -> float:
        """Return the processor time of all threads of the responder so far [s]."""
        return processor_time(self._process.child.pid)


def processor_time(pid: int) -> float:
    """Return the processor time that all threads of a process have used [s].

    From the scheduler's own account where there is one [1 ns], otherwise from ``stat`` [10 ms].

    Raises
    ------
    BackendError
        Where there is no /proc.
    """
    try:
        threads = list(Path(f'/proc/{pid}/task').iterdir())
        try:
            return 1e-9 * sum(
                int((thread / 'schedstat').read_text().split()[0]) for thread in threads
            )
        except FileNotFoundError:
            fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    except OSError as error:
        raise BackendError(f'processor time of process {pid}: {error}') from error
