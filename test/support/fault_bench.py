"""A bench for faults: the node and the robot as processes, everything they say on record.

Nothing here looks into the node. It is started by its command line, driven by its topics and
services, and judged by what comes out of it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from node_probe import NodeProbe
from rcl_interfaces.msg import Log
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ne_dynamics import Dynamics, load_model
from ne_dynamics.motion import NANO
from ne_dynamics.ros.running.private_domain import private_domain
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.node_messages import set_stamp
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    ROBOT_MODULE,
    Parameters,
    ProcessError,
    RosProcess,
    RosProcesses,
)

DOMAIN = private_domain()
PATIENCE = 120.0
"""Seconds that something may take on a busy machine before a test gives up."""

MODEL = shipped_file('six_axis_arm.urdf')
NAMES = [f'joint_{i}' for i in range(1, 7)]
POSTURE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
"""Where the arm is held: the shoulder carries 36 N m, the elbow 39 N m [rad]."""

RATE_LIMIT = 1000.0
"""Parameter effort_rate_limit of most rows [N m/s]."""

SHORTEST_PERIOD = 0.002
"""Two commands may always differ by the rate limit times this [s]."""

LARGEST_SAG = 0.02
"""How far a held arm may be from where it is held [rad]."""

ROBOT_RATE = 200.0
STIFFNESS, DAMPING = 36.0, 12.0
"""Gains of computed torque [1/s^2, 1/s]. Where the robot does not wait it answers a command with
up to 0.1 s of motion at once on a busy machine: kv times that must stay well below 2."""

ROBOT_PATIENCE = 0.5
"""How long the robot stands still for a node that a busy machine keeps waiting [s]."""

TOPICS = ('effort_controller/commands', 'computed_torque/effort')
"""Of the node."""

RELIABLE = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
BEST_EFFORT = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
KEPT = QoSProfile(
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class CommandRecord(NamedTuple):
    """A command: when it was sent and heard [ns], and the efforts, shape (n,)."""

    sent: int
    effort: np.ndarray
    heard: int


class JointRecord(NamedTuple):
    """A joint state of the robot, or what ~/effort says of one command; times in ns."""

    sent: int
    stamp: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    heard: int

    @classmethod
    def of(cls, message: JointState, sent: int) -> JointRecord:
        """Return the record of a message."""
        rows = map(np.array, (message.position, message.velocity, message.effort))
        return cls(sent, nanoseconds(message.header.stamp), *rows, time.monotonic_ns())


class DiagnosticRecord(NamedTuple):
    """The status of the node in /diagnostics."""

    level: int
    message: str
    values: dict[str, str]


class Mark(NamedTuple):
    """A place in the record."""

    commands: int
    answers: int
    states: int
    diagnostics: int
    log: int


def nanoseconds(stamp: Any) -> int:
    """Return a stamp in nanoseconds."""
    return stamp.sec * NANO + stamp.nanosec


class FaultBench(NodeProbe):
    """Processes in a namespace of their own, and a recorder beside them.

    The recorder's node is served by a thread of its own; tests publish and wait in theirs.

    Parameters
    ----------
    rate_limit : float
        The parameter effort_rate_limit of the node [N m/s]; commands are checked against it.
    wired : bool
        The robot's states are heard through a wire that tests can break; otherwise directly.
    """

    _count = 0
    joint_names = NAMES

    def __init__(self, rate_limit: float = RATE_LIMIT, *, wired: bool = True) -> None:
        FaultBench._count += 1
        self.namespace = f'/faults_{os.getpid()}_{FaultBench._count}'
        self.rate_limit = rate_limit
        self.effort_limits = load_model(MODEL, tip_link='tcp').limits('effort_limit')
        self.dynamics = Dynamics(load_model(MODEL, tip_link='tcp'), backend='python')
        self.node: RosProcess | None = None
        self.robot: RosProcess | None = None
        self._processes = RosProcesses(DOMAIN, self.namespace)
        self._starts: list[int] = []
        self._checked = Mark(0, 0, 0, 0, 0)

        self.commands: list[CommandRecord] = []
        self.answers: list[JointRecord] = []
        self.states: list[JointRecord] = []
        self.diagnostics: list[DiagnosticRecord] = []
        self.log: list[str] = []

        self.context = Context()
        self.context.init(domain_id=DOMAIN)
        self.probe = Node(
            'probe',
            context=self.context,
            namespace=self.namespace,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._listen()
        publish = self.probe.create_publisher
        self.joint_states = publish(JointState, 'joint_states', RELIABLE)
        self.trajectories = publish(JointTrajectory, 'joint_trajectory', RELIABLE)
        self.wrenches = publish(WrenchStamped, 'wrench', RELIABLE)
        self.imus = publish(Imu, 'imu', RELIABLE)
        self._is_wired = wired
        if wired:
            self.state_wire = Wire(self)
        else:
            self.probe.create_subscription(JointState, 'joint_states', self._on_state, BEST_EFFORT)

        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.probe)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    # ---- the record

    def _listen(self) -> None:
        listen = self.probe.create_subscription
        listen(JointState, 'computed_torque/effort', self._on_answer, RELIABLE)
        listen(DiagnosticArray, '/diagnostics', self._on_diagnostics, RELIABLE)
        listen(Log, '/rosout', self._on_log, KEPT)
        self.listen_to_commands()

    def listen_to_commands(self) -> None:
        """Subscribe to the commands, as an effort controller does."""
        self._controller = self.probe.create_subscription(
            Float64MultiArray, 'effort_controller/commands', self._on_command, RELIABLE
        )

    def leave_commands(self) -> None:
        """Take the subscription to the commands away."""
        # In the thread that may be waiting on it.
        task = self._executor.create_task(self.probe.destroy_subscription, self._controller)
        self.until(task.done, 'the subscription taken away')

    def _serve(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            while not self._stop.is_set():
                self._executor.spin_once(timeout_sec=0.1)

    def _on_command(self, message: Float64MultiArray, info: Any) -> None:
        effort, now = np.array(message.data), time.monotonic_ns()
        self.commands.append(CommandRecord(info['source_timestamp'], effort, now))

    def _on_answer(self, message: JointState, info: Any) -> None:
        self.answers.append(JointRecord.of(message, info['source_timestamp']))

    def _on_state(self, message: JointState) -> None:
        self.states.append(JointRecord.of(message, nanoseconds(message.header.stamp)))

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        for status in array.status:
            if status.name == f'{self.namespace}/computed_torque':
                level = status.level
                number = level[0] if isinstance(level, bytes) else int(level)
                values = {pair.key: pair.value for pair in status.values}
                self.diagnostics.append(DiagnosticRecord(number, status.message, values))

    def _on_log(self, entry: Log) -> None:
        if entry.name == f'{self.namespace[1:]}.computed_torque':
            self.log.append(entry.msg)

    def mark(self) -> Mark:
        """Return the present end of the record."""
        return Mark(
            *map(len, (self.commands, self.answers, self.states, self.diagnostics, self.log))
        )

    # ---- processes

    def start(self, module: str, parameters: Parameters, **options: Any) -> RosProcess:
        """Start a process in the namespace."""
        name = f'{module.rpartition(".")[2]}_{len(self._processes.all)}'
        return self._processes.start(name, module, parameters, **options)

    def start_node(self, **parameters: Any) -> RosProcess:
        """Start the node; names may use '__' for '.', and a value None leaves one out."""
        values = {
            'model_file': str(MODEL),
            'tip_link': 'tcp',
            'backend': 'python',
            'computed_torque.kp': [STIFFNESS],
            'computed_torque.kv': [DAMPING],
            'effort_rate_limit': [self.rate_limit] if np.isfinite(self.rate_limit) else None,
        }
        values |= {name.replace('__', '.'): value for name, value in parameters.items()}
        values = {name: value for name, value in values.items() if value is not None}
        self._starts.append(time.time_ns())
        self.node = self.start(NODE_MODULE, values)
        return self.node

    def restart_node(self, **parameters: Any) -> None:
        """Start the node anew; it hears of the robot when everything that it says is heard."""
        known = {topic: self._publishers(topic) for topic in TOPICS}
        with self.state_wire.broken(lambda message: []):
            self.start_node(**parameters)
            for topic in TOPICS:
                # One that was killed is not forgotten for a while.
                self.until(lambda topic=topic: self._publishers(topic) - known[topic], topic)
            self.settle()

    def _publishers(self, topic: str) -> set[bytes]:
        name = self.probe.resolve_topic_name(topic)
        found = self.probe.get_publishers_info_by_topic(name)
        return {bytes(info.endpoint_gid) for info in found}

    def start_robot(self, prefix: Sequence[str] = (), **parameters: Any) -> RosProcess:
        """Start the simulated robot in real time; names may use '__' for '.'."""
        values = {
            'model_file': str(MODEL),
            'tip_link': 'tcp',
            'rate': ROBOT_RATE,
            'patience': ROBOT_PATIENCE,
            'brake': True,
            'initial_position': POSTURE.tolist(),
        }
        values |= {name.replace('__', '.'): value for name, value in parameters.items()}
        remappings = {'joint_states': 'robot/joint_states'} if self._is_wired else {}
        self.robot = self.start(ROBOT_MODULE, values, remappings=remappings, prefix=prefix)
        return self.robot

    def close(self) -> None:
        """End everything that still runs, without asking."""
        self._processes.kill()
        self._stop.set()
        self._thread.join()
        self._executor.shutdown()
        self.probe.destroy_node()
        self.context.try_shutdown()

    # ---- waiting

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until something is so; return it."""
        try:
            return self._processes.wait_until(condition, what, patience=PATIENCE)
        except ProcessError as error:
            said = '\n'.join(self.log[-10:])
            raise AssertionError(
                f'{error}\n{self._processes.tails()}\n--- log of the node:\n{said}'
            ) from error

    def until_ready(self) -> None:
        """Wait until the node is active and all its topics are connected both ways."""
        self.until(lambda: self.state == 'active', 'active')
        for publisher in (self.joint_states, self.trajectories):
            self.until(publisher.get_subscription_count, 'connections')
        for topic in TOPICS:
            self.until(lambda topic=topic: self.probe.count_publishers(topic), topic)
        self.settle()

    def until_held(self) -> None:
        """Wait until the arm's commands are those that hold it, then let go of the brake."""
        self.until(lambda: len(self.commands) > 5, 'commands')
        self.until(self._commands_rest, 'commands that have settled')
        self.until(lambda: self.trigger('release_brake', of='simulated_robot').success, 'release')
        self.until_answering(10)

    def _commands_rest(self) -> bool:
        recent = [record.effort for record in self.commands[-10:]]
        return len(recent) == 10 and np.ptp(recent, axis=0).max() < 1e-6

    def until_answering(self, count: int = 3) -> None:
        """Wait until the node answers states of the robot."""
        assert self.node is not None
        mark = self.mark()
        self.until(
            lambda: len(self.answers) >= mark.answers + count or not self.node.is_alive,
            f'{count} more answers to the robot',
        )
        assert self.node.is_alive, self.node.output

    @property
    def is_silent(self) -> bool:
        """Whether no command has come while the robot has sent its last 80 states."""
        return len(self.states) >= 80 and self.commands[-1].heard < self.states[-80].heard

    @property
    def is_left(self) -> bool:
        """Whether the last command answered no state, and none came since."""
        return self.is_silent and self.commands[-1].sent > self.answers[-1].sent

    def until_rest(self) -> None:
        """Wait until the arm rests where it is held."""

        def rests() -> bool:
            last, answer = self.states[-1], self.answers[-1]
            is_there = np.abs(last.position - answer.position).max() < 2e-3
            return bool(
                is_there and np.abs(last.velocity).max() < 1e-3 and not np.any(answer.velocity)
            )

        self.until(rests, 'the arm at rest')

    def in_turn(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call it in the thread that serves the probe: rclpy notes afterwards what it asked."""
        task = self._executor.create_task(function, *given, **named)
        self.until(task.done, 'the turn of a request')
        return task.result()

    def settle_commands(self) -> None:
        """Let every command arrive that was sent before: a last one may be a ramp of many.

        An active node has no last one: it goes on answering its robot.
        """
        self.settle()
        count = -1
        while self.state != 'active' and count != len(self.commands):
            count = len(self.commands)
            self.settle()

    # ---- services

    def change_state(self, label: str) -> bool:
        """Ask for a transition, let its commands arrive; return whether it succeeded."""
        is_done = super().change_state(label)
        self.settle_commands()
        return is_done

    # ---- what the node says

    def until_diagnosed(
        self, condition: Callable[[DiagnosticRecord], bool], since: Mark, what: str
    ) -> DiagnosticRecord:
        """Wait for a status of the node of which something is so; return it."""

        def found() -> DiagnosticRecord | None:
            return next(filter(condition, self.diagnostics[since.diagnostics :]), None)

        return self.until(found, f'a diagnostic: {what}')

    def until_fault(self, *names: str, since: Mark) -> str:
        """Wait until one of these faults is reported as an error and counted; return it."""

        def tells(record: DiagnosticRecord) -> bool:
            return record.level == DiagnosticStatus.ERROR[0] and any(
                name in f'{record.message} {record.values.get("fault", "")}'
                and int(record.values.get(f'faults {name}', 0)) > 0
                for name in names
            )

        record = self.until_diagnosed(tells, since, f'error {names}')
        # Throttled: a line that says the same may be of an earlier time.
        self.until(
            lambda: any(name in line for line in self.log for name in names),
            f'a line of the log on {names}',
        )
        return next(name for name in names if f'faults {name}' in record.values)

    def fault_count(self, name: str) -> int:
        """Return how often the last diagnostics said that a fault has come about."""
        counts = [int(record.values.get(f'faults {name}', 0)) for record in self.diagnostics]
        return max(counts, default=0)

    def until_logged(self, *fragments: str, since: Mark | None = None) -> str:
        """Wait until the node has logged a line with all of these in it; return it."""
        first = 0 if since is None else since.log

        def is_it(line: str) -> bool:
            return all(fragment in line for fragment in fragments)

        return self.until(
            lambda: next(filter(is_it, self.log[first:]), None),
            f'a line of the log with {fragments}',
        )

    # ---- the invariants

    def check(self, since: Mark | None = None) -> None:
        """Check every command since a mark, or since the last check.

        Finite; within the limits; no step beyond the rate limit times the time between the
        stamps of the states that are answered; and the node alive.
        """
        assert self.node is not None
        start = self._checked if since is None else since
        end = self.mark()
        assert self.node.is_alive or not self.node.is_expected, self.node.output
        if self.node.is_alive:
            self.settle()  # every command so far has its message of ~/effort then
            assert 'Traceback' not in self.node.output, self.node.output
        commands = self.commands[max(start.commands - 1, 0) : end.commands]
        answers = self.answers[max(start.answers - 5, 0) :]
        self._checked = end
        check_commands(commands, answers, self.effort_limits, self.rate_limit, self._starts)

    def skip_to(self, mark: Mark) -> None:
        """Leave out of the next check what came before a mark."""
        self._checked = mark._replace(commands=mark.commands + 1)

    def sag(self, since: Mark, reference: np.ndarray) -> float:
        """Return how far the arm was from a position since a mark [rad]."""
        positions = [record.position for record in self.states[since.states :]]
        return float(np.abs(np.array(positions) - reference).max()) if positions else 0.0

    def until_states(self, count: int) -> None:
        """Wait until the robot has sent so many states more."""
        target = len(self.states) + count
        self.until(lambda: len(self.states) >= target, f'{count} states of the robot')

    @property
    def held_at(self) -> np.ndarray:
        """Desired position of the last answer [rad]."""
        return self.answers[-1].position

    def gravity(self, position: Any) -> np.ndarray:
        """Return the effort that holds the arm without payload [N m]."""
        return self.dynamics.gravity_torque(np.asarray(position, dtype=float))


class Wire:
    """What lies between the robot's joint states and the node: whole, until `treat` is set.

    The robot publishes them as ``robot/joint_states``, and they are on record untreated.

    Attributes
    ----------
    treat : callable or None
        Returns the messages to be passed on for one that came.
    """

    def __init__(self, bench: FaultBench) -> None:
        self.treat: Callable[[Any], Iterable[Any]] | None = None
        self.treated = 0
        self._publisher = bench.joint_states
        self._record = bench._on_state
        bench.probe.create_subscription(
            JointState, 'robot/joint_states', self._on_message, RELIABLE
        )

    def _on_message(self, message: JointState) -> None:
        self._record(message)
        treat = self.treat
        if treat is None:
            self._publisher.publish(message)
            return
        for result in treat(message):
            self._publisher.publish(result)
        self.treated += 1

    @contextlib.contextmanager
    def broken(self, treat: Callable[[Any], Iterable[Any]]) -> Iterator[None]:
        """Treat messages so inside the context."""
        self.treated = 0
        self.treat = treat
        try:
            yield
        finally:
            self.treat = None


class Player:
    """Plays the robot: sends joint states of its own making, one at a time.

    Its motors apply the last command.

    Parameters
    ----------
    bench : FaultBench
    period : float
        Between the stamps of two states, unless told otherwise [s].
    """

    def __init__(self, bench: FaultBench, period: float = 0.005) -> None:
        self.bench = bench
        self.period = period
        self.time = 1000.0

    def state(self, q: Any, dt: float | None = None, **fields: Any) -> JointState:
        """Return a state at rest, `dt` after the last; fields override."""
        self.time += self.period if dt is None else dt
        message = JointState(name=NAMES)
        set_stamp(message.header.stamp, self.time)
        message.position = [float(value) for value in q]
        message.velocity = [0.0] * len(message.position)
        commands = self.bench.commands
        if len(message.position) == len(NAMES):
            message.effort = commands[-1].effort.tolist() if commands else [0.0] * len(NAMES)
        for key, value in fields.items():
            setattr(message, key, value)
        return message

    def send(self, q: Any, dt: float | None = None, **fields: Any) -> None:
        """Send a state."""
        self.bench.joint_states.publish(self.state(q, dt, **fields))

    def answer(self, q: Any, dt: float | None = None, **fields: Any) -> np.ndarray:
        """Send a state and return the command that answers it, the only one that comes."""
        mark = self.bench.mark()
        self.send(q, dt, **fields)
        self.bench.until(
            lambda: len(self.bench.answers) > mark.answers, f'an answer to {fields or "a state"}'
        )
        self.bench.settle()
        assert len(self.bench.answers) == mark.answers + 1
        return self.bench.answers[-1].effort

    def is_answered(self, q: Any, dt: float | None = None, **fields: Any) -> bool:
        """Send a state, let it be dealt with, and return whether a command answered it."""
        mark = self.bench.mark()
        self.send(q, dt, **fields)
        self.bench.settle()
        return len(self.bench.answers) > mark.answers

    def rest(self, q: Any, count: int = 200) -> np.ndarray:
        """Send the same position until the command no longer changes; return the command."""
        before = self.answer(q)
        for _ in range(count):
            command = self.answer(q)
            if np.array_equal(command, before):
                return command
            before = command
        raise AssertionError(f'the command does not come to rest at {q}')


def check_commands(
    commands: Sequence[CommandRecord],
    answers: Sequence[JointRecord],
    limits: np.ndarray,
    rate_limit: float,
    starts: Sequence[int] = (),
) -> None:
    """Check commands in the order in which they were sent; see :meth:`FaultBench.check`.

    The first commands of a node, until its messages of ~/effort are heard, say nothing of the
    time between them: their steps are not judged. `starts` are the times when nodes began [ns].
    """
    stamps: list[int | None] = []
    later = sorted(answers, key=lambda answer: answer.sent)
    times = [answer.sent for answer in later]
    ends = [record.sent for record in commands[1:]] + [np.inf]
    for record, end in zip(commands, ends, strict=True):
        # What ~/effort says of a command comes after it, and before the next one.
        place = bisect_left(times, record.sent)
        if place == len(later) or times[place] >= end:
            stamps.append(None)
            continue
        np.testing.assert_array_equal(later[place].effort, record.effort)
        stamps.append(later[place].stamp)
    for position, record in enumerate(commands):
        effort = record.effort
        assert effort.shape == limits.shape, f'command {position}: {effort.tolist()}'
        assert np.isfinite(effort).all(), f'command {position}: {effort.tolist()}'
        assert (np.abs(effort) <= limits).all(), f'command {position}: {effort.tolist()}'
        if position == 0 or not np.isfinite(rate_limit):
            continue
        start = max((start for start in starts if start <= record.sent), default=0)
        if starts and not any(start <= answer.sent < record.sent for answer in later):
            continue
        before, now = stamps[position - 1], stamps[position]
        dt = 0.0 if before is None or now is None else (now - before) / NANO
        step = np.abs(effort - commands[position - 1].effort).max()
        largest = rate_limit * max(dt, SHORTEST_PERIOD)
        assert step <= largest * (1.0 + 1e-9) + 1e-9, (
            f'command {position} of {len(commands)}: a step of {step:.6g} where '
            f'{largest:.6g} is allowed (stamps {before}, {now}): '
            f'{commands[position - 1].effort.tolist()} -> {effort.tolist()}'
        )
