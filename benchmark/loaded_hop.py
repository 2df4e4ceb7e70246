"""JointState in, command out, through DDS, while large trajectories come: the hop under load.

Processes: this one, which publishes joint states at the pace of a controller and never waits for
an answer; a node; `trajectory_sender.py`, which publishes trajectories to it; and, where it is
compared with other checkouts of the package, a node of each. Nodes stay alive from beginning to
end, each in a namespace of its own, and take turns, a block of states each.

A command does not say which state it answers, and a state that comes while the node is busy takes
the place of the one before it: the node has a queue of one. So the node's `~/effort` is listened
to, which it sends after each command, with the stamp of the state.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import ne_dynamics
from benchmark.node_hop import NODE, PATIENCE, Hop, driver_node, processor_time
from benchmark.timing import Times
from benchmark.trajectory_sender import ORDERS, REST
from ne_dynamics.errors import BackendError, InputError, optional_dependency
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    NODE_NAME,
    RosProcess,
    RosProcesses,
    domain_id,
    local_discovery,
)

with optional_dependency('the hop under load needs ROS 2 for Python', 'ros'):
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray, String

    from ne_dynamics.motion import NANO
    from ne_dynamics.ros import NODE as NODE_THRESHOLDS
    from ne_dynamics.simulation.demo.node_messages import read_stamp

SENDER_MODULE = 'benchmark.trajectory_sender'

POINTS = (0, 300, 1_000, NODE_THRESHOLDS.most_trajectory_points)
"""Of the trajectories; 0: none come, and a slow motion is followed."""

OWN = Path(ne_dynamics.__file__).resolve().parents[1]
"""The checkout that this is."""

PERIOD = 0.002
"""Between two states [s]."""

LEAD = 0.25
"""States of so long come before those that count [s]: the trajectories have begun by then."""

ANSWERS_AFTERWARDS = 0.2
"""Commands are waited for so long after the last state [s]."""

MOST_STATES = 20_000
"""Of a block: all their answers fit into a queue."""


@dataclass(frozen=True, eq=False)
class LoadedHop(Hop):
    """What one node took under one load; `lost` are states without an answer.

    Attributes
    ----------
    points : int
        Of every trajectory.
    sent : int
        States.
    waits : tuple of array
        Of every state, block by block, until the command came that answers it or a newer one [s].
        The states without an answer count, which are those that waited longest.
    lateness : float
        The latest state was sent so long after its time [s]: that is this process, not the node.
    trajectories : int
        That the node has received, by its diagnostics.
    """

    points: int
    sent: int
    waits: tuple[FloatArray, ...]
    lateness: float
    trajectories: int

    @property
    def largest(self) -> Times:
        """The largest hop of each block: a pause of the machine spoils one of them."""
        return Times(self.name, np.array([block.max() for block in self.round_trips]))

    @property
    def of_waits(self) -> Hop:
        """The same of the waits."""
        return replace(self, round_trips=self.waits)


def measure_loaded_hop(
    model_file: str,
    blocks: int = 6,
    states: int = 1_000,
    points: Sequence[int] = POINTS,
    tip_link: str = '',
    packages: Sequence[Path] = (),
    domain: int | None = None,
) -> dict[tuple[str, int], LoadedHop]:
    """Drive nodes under several loads in turns.

    Parameters
    ----------
    model_file : str
        Robot of the nodes.
    blocks : int
        Of each node under each load.
    states : int
        In a block.
    points : sequence of int
        Of the trajectories, load by load.
    tip_link : str
    packages : sequence of path
        Other checkouts of the package, whose nodes are driven beside that of this one.
    domain : int, optional
        Of DDS; default: ROS_DOMAIN_ID.

    Returns
    -------
    dict
        Hops by node and points. The node of this checkout is `NODE`, others are named
        by :func:`name_of`.

    Raises
    ------
    InputError
        When a number is too small or too large, or a package is none.
    ProcessError
        When a process does not start or answer.
    BackendError
        When a node refuses a trajectory.
    """
    if blocks < 1 or not 1 <= states <= MOST_STATES or min(points, default=-1) < 0:
        raise InputError(
            f'hop under load: expected blocks >= 1, states from 1 to {MOST_STATES}, points >= 0, '
            f'got {blocks}, {states}, {list(points)}'
        )
    folders = {NODE: OWN, **{name_of(each): checked_package(each) for each in packages}}
    domain = domain_id() if domain is None else domain
    joint_names = load_model(model_file, None, tip_link or None).joint_names
    # Nothing of this is about the motion of an arm: it stands, whatever is commanded.
    parameters = {
        'model_file': str(Path(model_file).resolve()),
        'tip_link': tip_link,
        'state_timeout': 3600.0,
        'following_error.position': [0.0],
        'following_error.velocity': [0.0],
        'following_error.frozen': [0.0],
    }
    root = f'/bench_{os.getpid()}'
    spaces = {name: f'{root}/node_{index}' for index, name in enumerate(folders)}
    with contextlib.ExitStack() as stack:
        stack.enter_context(local_discovery())
        processes = stack.enter_context(RosProcesses(domain, root))
        driver = stack.enter_context(driver_node(domain))
        nodes = {
            name: processes.start(
                spaces[name].rpartition('/')[2],
                NODE_MODULE,
                parameters,
                namespace=spaces[name],
                remappings={'/diagnostics': 'diagnostics'},
                prefix=('env', f'--chdir={folder}'),
                environment=_environment(folder),
                log_level='warn',
                own_session=False,
            )
            for name, folder in folders.items()
        }
        topics = [f'{space}/joint_trajectory' for space in spaces.values()]
        processes.start(
            'trajectory_sender',
            SENDER_MODULE,
            arguments=[','.join(joint_names), ','.join(map(str, points)), *topics],
            own_session=False,
        )
        orders = driver.create_publisher(String, f'{root}/{ORDERS}', 10)
        lines = {
            name: _Line(driver, name, spaces[name], joint_names, process, processes, orders)
            for name, process in nodes.items()
        }
        for line in lines.values():
            line.connect()
        return _drive(lines, points, blocks, states)


def name_of(package: Path) -> str:
    """Return what the node of another checkout is called."""
    return f'{NODE} of {package}'


def _environment(folder: Path) -> dict[str, str]:
    others = os.environ.get('PYTHONPATH')
    return {'PYTHONPATH': os.pathsep.join([str(folder), *([others] if others else [])])}


def checked_package(folder: Path) -> Path:
    """Return the folder of a checkout, once Python has found the package in it.

    Raises
    ------
    InputError
        When it does not.
    """
    folder = folder.resolve()
    found, said = '', 'no such folder'
    if folder.is_dir():
        done = subprocess.run(
            [sys.executable, '-c', 'import ne_dynamics; print(ne_dynamics.__file__)'],
            cwd=folder,
            env={**os.environ, **_environment(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        found, said = done.stdout.strip(), done.stderr.strip()
    if not found or Path(found).resolve().parents[1] != folder:
        raise InputError(
            f'package {folder}: expected a checkout with a folder ne_dynamics, got {found or said}'
        )
    return folder


@dataclass(frozen=True)
class _Block:
    hops: FloatArray
    waits: FloatArray
    lateness: float
    processor: float
    trajectories: int


def _drive(
    lines: dict[str, _Line], points: Sequence[int], blocks: int, states: int
) -> dict[tuple[str, int], LoadedHop]:
    taken: dict[tuple[str, int], list[_Block]] = {
        (name, count): [] for name in lines for count in points
    }
    order = list(lines)
    for _ in range(blocks):
        for count in points:
            for name in order:
                taken[name, count].append(lines[name].block(count, states))
        order.reverse()
    return {
        (name, count): LoadedHop(
            name,
            tuple(each.hops for each in found),
            np.array([each.processor for each in found]),
            sum(len(each.waits) - len(each.hops) for each in found),
            count,
            sum(len(each.waits) for each in found),
            tuple(each.waits for each in found),
            max(each.lateness for each in found),
            sum(each.trajectories for each in found),
        )
        for (name, count), found in taken.items()
    }


class _Line:
    """The topics to and from one node.

    Parameters
    ----------
    driver : rclpy.node.Node
    name : str
    space : str
        Namespace of the node.
    joint_names : sequence of str
    process : RosProcess
    processes : RosProcesses
        That it belongs to.
    orders : rclpy.publisher.Publisher
        To the sender of trajectories.
    """

    def __init__(
        self,
        driver: Any,
        name: str,
        space: str,
        joint_names: Sequence[str],
        process: RosProcess,
        processes: RosProcesses,
        orders: Any,
    ) -> None:
        self.name = name
        self._context = driver.context
        self._space = space
        self._process = process
        self._processes = processes
        self._orders = orders
        self._states = driver.create_publisher(JointState, f'{space}/joint_states', 10)
        # Best effort: no acknowledgements, whose processor time would fall to the node.
        deep = QoSProfile(depth=2 * MOST_STATES, reliability=ReliabilityPolicy.BEST_EFFORT)
        listen = driver.create_subscription
        self._subscriptions = [
            listen(kind, f'{space}/{topic}', lambda message: None, deep)
            for kind, topic in (
                (Float64MultiArray, 'effort_controller/commands'),
                (JointState, f'{NODE_NAME}/effort'),
                (DiagnosticArray, 'diagnostics'),
            )
        ]
        self._commands, self._efforts, self._diagnostics = (
            subscription.handle for subscription in self._subscriptions
        )
        n = len(joint_names)
        self._message = JointState(
            name=list(joint_names), position=[REST] * n, velocity=[0.0] * n, effort=[0.0] * n
        )
        self._wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, self._context.handle)
        self._published: dict[int, int] = {}
        self._received: list[tuple[int, int]] = []
        self._trajectories = 0

    # ---- setting up

    def connect(self) -> None:
        """Wait until the node is on its topics and answers, and the sender listens."""
        self._wait(
            lambda: (
                self._orders.get_subscription_count()
                and self._states.get_subscription_count()
                and all(each.get_publisher_count() for each in self._subscriptions)
            ),
            'its topics',
        )
        self._wait_for_answer()
        self._wait_for_trajectory()

    def _wait(self, until: Any, what: str) -> Any:
        return self._processes.wait_until(
            until, f'{self.name}: {what}', lambda: time.sleep(0.05), PATIENCE
        )

    def _wait_for_answer(self) -> None:
        """Send states until one is answered: in the end every node does."""
        stamps = set()

        def is_answered() -> bool:
            stamps.add(self._send())
            self._receive_until(time.perf_counter_ns() + round(0.05 * NANO))
            return any(stamp in stamps for stamp, _ in self._take_efforts())

        self._wait(is_answered, 'an answer')

    def _wait_for_trajectory(self) -> None:
        """Order one until the node counts it: what a writer sends before it is matched is lost."""
        self._take_counts()

        def has_come() -> bool:
            self._order(f'{self._space}/joint_trajectory 0')
            self._trajectories = self._take_counts().get('joint_trajectory received', 0)
            return self._trajectories > 0

        self._wait(has_come, 'diagnostics that count a trajectory')
        self._order('')

    # ---- driving

    def block(self, points: int, states: int) -> _Block:
        """Send states at their times under a load; return what came of them.

        Raises
        ------
        BackendError
            When the node has refused a trajectory.
        """
        self._order(f'{self._space}/joint_trajectory {points}')
        gc.collect()
        gc.disable()
        try:
            lead = round(LEAD / PERIOD)
            self._send_all(lead)
            self._clear()
            begin = processor_time(self._process.child.pid)
            lateness = self._send_all(states)
            processor = (processor_time(self._process.child.pid) - begin) / states
            self._receive_until(time.perf_counter_ns() + round(ANSWERS_AFTERWARDS * NANO))
        finally:
            gc.enable()
            self._order('')
        hops, waits = self._match()
        self._wait_for_answer()
        return _Block(hops, waits, lateness, processor, self._count_trajectories())

    def _order(self, order: str) -> None:
        self._orders.publish(String(data=order))

    def _clear(self) -> None:
        """Forget the states so far; what answers them is not looked at."""
        self._published.clear()
        self._received.clear()
        self._take_efforts()

    def _send(self) -> int:
        """Publish a state; return its stamp [ns]."""
        stamp = time.time_ns()
        target = self._message.header.stamp
        target.sec, target.nanosec = divmod(stamp, NANO)
        self._published[stamp] = time.perf_counter_ns()
        self._states.publish(self._message)
        return stamp

    def _send_all(self, states: int) -> float:
        """Publish so many states, each at its time; return how late the latest was [s].

        One that is late is sent at once. Times that are over by then are passed over: two states
        at once would say nothing of the node.
        """
        period = round(PERIOD * NANO)
        due, latest = time.perf_counter_ns() + period, 0
        for _ in range(states):
            self._receive_until(due)
            late = time.perf_counter_ns() - due
            latest = max(latest, late)
            self._send()
            due += period * (1 + late // period)
        return latest / NANO

    def _receive_until(self, end: int) -> None:
        """Note what commands come, and when, up to a time of `time.perf_counter_ns` [ns]."""
        while (left := end - time.perf_counter_ns()) > 0:
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(self._commands)
            self._wait_set.wait(left)
            now = time.perf_counter_ns()
            while (taken := self._commands.take_message(Float64MultiArray, True)) is not None:
                self._received.append((taken[1]['source_timestamp'], now))

    def _take_efforts(self) -> list[tuple[int, int]]:
        """Return which states were answered, by their stamps, and when that was sent [ns]."""
        found = []
        while (taken := self._efforts.take_message(JointState, True)) is not None:
            stamp = read_stamp(deserialize_message(taken[0], JointState))
            found.append((stamp, taken[1]['source_timestamp']))
        return found

    def _match(self) -> tuple[FloatArray, FloatArray]:
        """Return how long each state took that has an answer, and how long each waited [s].

        Raises
        ------
        BackendError
            When the last state, in whose place no other came, has no answer.
        """
        answers = sorted(self._take_efforts(), key=lambda answer: answer[1])
        commands = iter(sorted(self._received))
        command = next(commands, None)
        arrivals: dict[int, int] = {}
        for stamp, sent in answers:
            # The command of an effort is the last one that was sent before it.
            newest = None
            while command is not None and command[0] <= sent:
                newest, command = command, next(commands, None)
            if newest is not None and stamp in self._published:
                arrivals[stamp] = newest[1]
        if max(self._published) not in arrivals:
            raise BackendError(
                f'{self.name}: expected an answer to the last of {len(self._published)} states, '
                f'got {len(arrivals)} answers to others\n{self._process.tail()}'
            )
        hops, waits, arrival = [], [], 0
        for stamp, published in reversed(self._published.items()):
            if stamp in arrivals:
                arrival = arrivals[stamp]
                hops.append((arrival - published) / NANO)
            waits.append((arrival - published) / NANO)
        return np.array(hops), np.array(waits)

    def _count_trajectories(self) -> int:
        """Return how many trajectories have come to the node since this was last asked.

        Raises
        ------
        BackendError
            When it has not used one of them.
        """
        counts: dict[str, int] = {}
        self._take_counts()

        def have_come() -> bool:
            counts.update(self._take_counts())
            return bool(counts)

        self._wait(have_come, 'diagnostics that count trajectories')
        dropped = {key: count for key, count in counts.items() if key.endswith(' dropped')}
        if dropped:
            raise BackendError(
                f'{self.name}: expected that it follows every trajectory, got {dropped}\n'
                f'{self._process.tail()}'
            )
        before, self._trajectories = self._trajectories, counts['joint_trajectory received']
        return self._trajectories - before

    def _take_counts(self) -> dict[str, int]:
        """Return what the diagnostics that came say of trajectories, the newest of each key."""
        counts: dict[str, int] = {}
        while (taken := self._diagnostics.take_message(DiagnosticArray, False)) is not None:
            for status in taken[0].status:
                counts.update(
                    (item.key, int(item.value))
                    for item in status.values
                    if item.key.startswith('joint_trajectory')
                    and item.key.endswith((' received', ' dropped'))
                )
        return counts
