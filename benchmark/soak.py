"""A long run of the node in real time, beside a relay that computes nothing.

python -m benchmark.soak --minutes 30

Four processes: the simulated robot at 500 Hz, not in lockstep; the node, which controls it; the
relay, fed by the same states, its answers going nowhere; and this one. It sends a new trajectory
every 2 s, in the middle of the one before, and now and then changes gains, law or payload, while
it takes down what the others send. The times are those that the senders' middleware has put
on the messages, and the messages carry sequence numbers: neither depends on how prompt this
process is. The node's `~/effort` is not listened to, so that node and relay send the same.

The exit code is 1 when the node's memory grows by 1 MB or more after the first minute (in a run
of less than four, after its first quarter), when it misses more states than the relay by more than
chance explains (:meth:`~benchmark.soak_record.SoakRecord.excess`), or when it
reports a fault: none is provoked. So that a busy machine is not taken for one, `state_timeout` is
generous, and `jump_velocity` and `following_error.*` are off. Before the clock runs, everything is
compiled: in a warm-up of a few seconds every kind of change is made once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.machine import load_average
from benchmark.node_hop import PATIENCE, processor_time
from benchmark.soak_record import (
    NODE,
    RELAY,
    Nanoseconds,
    Responder,
    SoakRecord,
    checked_minutes,
    complete,
    longest_pause,
    match,
    table,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import BackendError, InputError, NeDynamicsError, optional_dependency
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    RELAY_MODULE,
    ROBOT_MODULE,
    RosProcess,
    RosProcesses,
    domain_id,
    local_discovery,
)

with optional_dependency('the long run needs ROS 2 for Python', 'ros'):
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.simulation.demo.node_messages import parameters_request, trajectory_message

MODEL = 'six_axis_arm.urdf'
HOME = (0.0, -1.2, 1.6, -0.4, 1.2, 0.0)
"""Where the arm stands at the start, and around which it moves [rad]."""

RATE = 500.0
"""States a second [Hz]."""

STATE_TIMEOUT = 5.0
"""The node's watchdog [s]: generous, because a busy machine is no fault of the node."""

UNCHECKED = {
    'jump_velocity': [0.0],
    'following_error.position': [0.0],
    'following_error.velocity': [0.0],
}
"""No check of jumps and of the motion: when the machine pauses, the simulated motors hold their
last command for as long, and throw a light joint faster than its limit, and far. That is no fault
of the node either."""

EXCURSION = 0.5
"""Largest distance of a waypoint from home [rad]."""

TRAJECTORY_PERIOD = 2.0
WAYPOINT_TIMES = (1.0, 2.0, 3.0)
"""A new trajectory comes while the one before still runs [s]."""

HOLDS = 10
"""Every so many trajectories one is empty: hold."""

LONGEST_CHANGE_PERIOD = 10.0
FEWEST_CHANGES = 30
"""Parameters change every 10 s, in a short run more often: so many times at least."""

MEMORY_PERIOD = 10.0
FEWEST_MEMORY_SAMPLES = 30

WARM_UP_PERIOD = 1.0
"""Between two changes of the warm-up [s]."""

ANSWERS_AFTERWARDS = 0.5
"""Recording goes on for this long, so that the last states can be answered [s]."""

STATES = 'states'


class Trace:
    """The times of everything that is sent on a topic, taken without an executor.

    Parameters
    ----------
    node : rclpy.node.Node
        That nobody spins.
    message_type : type
    topic : str
    """

    def __init__(self, node: Any, message_type: Any, topic: str) -> None:
        self._type = message_type
        self._subscription = node.create_subscription(
            message_type,
            topic,
            lambda message: None,
            QoSProfile(depth=10000, reliability=ReliabilityPolicy.BEST_EFFORT),
        )
        self._numbers = array('q')
        self._times = array('q')

    def __len__(self) -> int:
        return len(self._times)

    def take(self) -> None:
        """Take down what has come."""
        handle = self._subscription.handle
        while (taken := handle.take_message(self._type, True)) is not None:
            information = taken[1]
            number = information.get('publication_sequence_number')
            self._numbers.append(len(self._numbers) if number is None else number)
            self._times.append(information['source_timestamp'])

    def times(self) -> Nanoseconds:
        """Return when each message was sent, ascending [ns]."""
        return np.sort(complete(self._numbers, self._times))


class Soak:
    """A run in processes of its own; :meth:`run` returns its record.

    Parameters
    ----------
    duration : float
        [s]
    state_timeout : float
        Of the node [s].
    say : callable
        Told of the progress, a line each.
    domain : int
        Of DDS.
    """

    def __init__(
        self,
        duration: float,
        state_timeout: float = STATE_TIMEOUT,
        say: Callable[[str], None] = lambda line: None,
        domain: int = 0,
    ) -> None:
        self._duration = duration
        self._say = say
        self._domain = domain
        self._namespace = f'/soak_{os.getpid()}'
        self._processes = RosProcesses(domain, self._namespace)
        self._model_file = shipped_file(MODEL)
        self._robot = load_model(str(self._model_file), None, None)
        self._motion = Motion(self._robot)
        self._changes = Changes(self._robot)
        self._node_parameters = {
            'model_file': str(self._model_file),
            'state_timeout': state_timeout,
            **UNCHECKED,
            **self._changes.start(),
        }
        self._robot_parameters = {
            'model_file': str(self._model_file),
            'rate': RATE,
            'initial_position': list(HOME),
        }
        self._responders: dict[str, RosProcess] = {}
        self._traces: dict[str, Trace] = {}
        self._faults: dict[str, int] = {}
        self._refusals: list[str] = []
        self._worst_tracking_error = 0.0
        self._drops: dict[str, int] = {}
        self._counts = {'trajectories': 0, 'parameter changes': 0}

    def run(self) -> SoakRecord:
        """Run from beginning to end; Ctrl-C ends it early.

        Raises
        ------
        ProcessError
            When a process does not start, ends, or does not answer.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(local_discovery())
            stack.enter_context(self._processes)
            self._start_processes()
            context = Context()
            context.init(domain_id=self._domain)
            stack.callback(context.try_shutdown)
            self._connect(stack, context)
            self._wait_for_answers()
            return self._measure()

    # ---- processes and topics

    def _start_processes(self) -> None:
        own = {'/diagnostics': 'diagnostics'}
        start = self._processes.start
        start('simulated_robot', ROBOT_MODULE, self._robot_parameters, remappings=own)
        apart = {**own, 'effort_controller/commands': 'relay/commands'}
        self._responders = {
            RELAY: start(RELAY, RELAY_MODULE, arguments=[str(self._robot.n)], remappings=apart),
            NODE: start(
                NODE, NODE_MODULE, self._node_parameters, remappings=own, log_level='warn'
            ),
        }

    def _connect(self, stack: contextlib.ExitStack, context: Any) -> None:
        quiet = {
            'context': context,
            'namespace': self._namespace,
            'start_parameter_services': False,
            'enable_rosout': False,
        }
        recorder, driver = Node('soak_recorder', **quiet), Node('soak_driver', **quiet)
        stack.callback(recorder.destroy_node)
        stack.callback(driver.destroy_node)
        self._traces = {
            STATES: Trace(recorder, JointState, 'joint_states'),
            NODE: Trace(recorder, Float64MultiArray, 'effort_controller/commands'),
            RELAY: Trace(recorder, Float64MultiArray, 'relay/commands'),
        }
        self._trajectories = driver.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        self._client = driver.create_client(
            SetParametersAtomically, 'computed_torque/set_parameters_atomically'
        )
        driver.create_subscription(DiagnosticArray, 'diagnostics', self._on_diagnostics, 10)
        self._executor = SingleThreadedExecutor(context=context)
        stack.callback(self._executor.shutdown)
        self._executor.add_node(driver)

    def _wait_for_answers(self) -> None:
        """Wait until both answer, then make each kind of change once."""
        self._processes.wait_until(
            lambda: (
                all(len(trace) for trace in self._traces.values())
                and self._client.service_is_ready()
                and self._trajectories.get_subscription_count()
            ),
            'answers of robot, node and relay',
            self._turn,
            PATIENCE,
        )
        for _ in range(2 * self._changes.kinds):
            self._move()
            self._change()
            begin = time.monotonic()
            while time.monotonic() - begin < WARM_UP_PERIOD:
                self._turn()

    def _turn(self) -> None:
        """Let some milliseconds pass in which everything is looked after."""
        self._processes.check()
        self._executor.spin_once(timeout_sec=0.05)
        for trace in self._traces.values():
            trace.take()

    # ---- the run

    def _measure(self) -> SoakRecord:
        self._counts = dict.fromkeys(self._counts, 0)
        self._worst_tracking_error = 0.0
        change_period = min(LONGEST_CHANGE_PERIOD, self._duration / FEWEST_CHANGES)
        memory_period = min(MEMORY_PERIOD, self._duration / FEWEST_MEMORY_SAMPLES)
        memory: dict[str, list[float]] = {NODE: [], RELAY: []}
        memory_times: list[float] = []

        def weigh() -> None:
            memory_times.append(time.monotonic() - begin)
            for name, values in memory.items():
                values.append(resident_memory(self._responders[name].child.pid))

        def report() -> None:
            self._say(
                f'{(time.monotonic() - begin) / 60.0:.1f} of {self._duration / 60.0:g} min, '
                f'RSS of the node {memory[NODE][-1] / 1024:.0f} kB, faults '
                f'{sum(self._faults.values())}'
            )

        processor = self._processor_times()
        begin, begin_stamp = time.monotonic(), time.time_ns()
        # The memory before the report that tells of it.
        tasks = [
            Periodic(memory_period, weigh, begin),
            Periodic(TRAJECTORY_PERIOD, self._move, begin),
            Periodic(change_period, self._change, begin),
            Periodic(60.0, report, begin),
        ]
        with contextlib.suppress(KeyboardInterrupt):
            while (now := time.monotonic()) < begin + self._duration:
                for task in tasks:
                    task.run(now)
                self._turn()
        duration, end_stamp = time.monotonic() - begin, time.time_ns()
        processor = {
            name: after - processor[name] for name, after in self._processor_times().items()
        }
        weigh()
        deadline = time.monotonic() + ANSWERS_AFTERWARDS
        while time.monotonic() < deadline:
            self._turn()
        times = {name: trace.times() for name, trace in self._traces.items()}
        # Matched from the first message on, so that none belongs to what lies outside.
        inside = _between(times[STATES], begin_stamp, end_stamp)
        responders = {
            name: Responder(
                match(times[STATES], times[name])[inside],
                longest_pause(times[name][_between(times[name], begin_stamp, end_stamp)]),
                processor[name],
                np.array(memory_times),
                np.array(memory[name]),
            )
            for name in (NODE, RELAY)
        }
        load = load_average()
        return SoakRecord(
            duration,
            times[STATES][inside],
            responders,
            {
                'rate [Hz]': RATE,
                'state_timeout [s]': self._node_parameters['state_timeout'],
                'jump_velocity, following_error': 'not checked',
                'memory every [s]': round(memory_period, 1),
                'parameters every [s]': round(change_period, 1),
                'trajectories every [s]': TRAJECTORY_PERIOD,
            },
            self._counts,
            self._faults,
            self._refusals,
            {
                'largest tracking error [rad]': f'{self._worst_tracking_error:.3g}',
                'messages the node dropped': ', '.join(
                    f'{name} {count}' for name, count in sorted(self._drops.items())
                )
                or 'none',
                'load average': '-' if load is None else str(load),
            },
        )

    def _processor_times(self) -> dict[str, float]:
        return {
            name: processor_time(process.child.pid) for name, process in self._responders.items()
        }

    def _move(self) -> None:
        self._trajectories.publish(self._motion.message())
        self._counts['trajectories'] += 1

    def _change(self) -> None:
        changed = self._changes.next()

        def done(future: Any) -> None:
            result = future.result().result
            if not result.successful:
                self._refusals.append(f'{changed}: {result.reason}')

        self._client.call_async(parameters_request(changed)).add_done_callback(done)
        self._counts['parameter changes'] += 1

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            values = {item.key: item.value for item in status.values}
            if status.name.endswith('tracking error'):
                errors = [float(value) for value in values.values()]
                self._worst_tracking_error = max([self._worst_tracking_error, *errors])
                continue
            # Counts since the node's start; the fault of the moment has been counted, too.
            for key, value in values.items():
                if key.startswith('faults '):
                    self._faults[key.removeprefix('faults ')] = int(value)
                elif key.endswith(' dropped'):
                    self._drops[key.removesuffix(' dropped')] = int(value)


class Periodic:
    """Something that is done at once, then every so many seconds."""

    def __init__(self, period: float, action: Callable[[], None], begin: float) -> None:
        self._period = period
        self._action = action
        self._next = begin

    def run(self, now: float) -> None:
        """Do it when it is time; what was missed is not made up for."""
        if now >= self._next:
            self._next += self._period * math.ceil((now - self._next + 1e-9) / self._period)
            self._action()


class Motion:
    """Trajectories through random places around home, seeded.

    Parameters
    ----------
    robot : Robot
        Whose joints are turned.
    """

    def __init__(self, robot: Robot) -> None:
        self._rng = np.random.default_rng(1)
        self._names = list(robot.joint_names)
        margin = 0.1
        self._lowest = np.maximum(np.subtract(HOME, EXCURSION), robot.limits('lower') + margin)
        self._highest = np.minimum(np.add(HOME, EXCURSION), robot.limits('upper') - margin)
        self._sent = 0

    def message(self) -> Any:
        """Return the next one; some are empty."""
        self._sent += 1
        if self._sent % HOLDS == 0:
            return JointTrajectory()
        places = [self._rng.uniform(self._lowest, self._highest) for _ in WAYPOINT_TIMES]
        return trajectory_message(self._names, zip(WAYPOINT_TIMES, places, strict=True))


class Changes:
    """Values for the node's parameters, seeded: gains, law and payload in turns.

    Parameters
    ----------
    robot : Robot
    """

    def __init__(self, robot: Robot) -> None:
        self._rng = np.random.default_rng(2)
        # Gains of feedforward_pd are those of computed_torque times the inertia of each joint.
        self._inertia: FloatArray = np.diag(
            Dynamics(robot, backend='python').mass_matrix(np.array(HOME))
        )
        self._modes = ['computed_torque', 'feedforward_pd']
        self._turn = 0
        self._makers: Sequence[Callable[[], dict[str, Any]]] = (
            self._gains,
            self._law,
            self._payload,
        )

    @property
    def kinds(self) -> int:
        """How many kinds of changes there are."""
        return len(self._makers)

    def start(self) -> dict[str, Any]:
        """Return what the node starts with."""
        return self._gains()

    def next(self) -> dict[str, Any]:
        """Return the next parameters to set, by name."""
        make = self._makers[self._turn % len(self._makers)]
        self._turn += 1
        return make()

    def _gains(self) -> dict[str, Any]:
        frequency = float(self._rng.uniform(8.0, 12.0))
        stiffness, damping = frequency**2, 2.0 * frequency
        return {
            'computed_torque.kp': [stiffness],
            'computed_torque.kv': [damping],
            'feedforward_pd.kp': (stiffness * self._inertia).tolist(),
            'feedforward_pd.kv': (damping * self._inertia).tolist(),
        }

    def _law(self) -> dict[str, Any]:
        self._modes.reverse()
        return {'mode': self._modes[0]}

    def _payload(self) -> dict[str, Any]:
        mass = float(self._rng.uniform(0.0, 0.05))
        return {
            'payload.mass': mass,
            'payload.com': self._rng.uniform(-0.05, 0.05, 3).tolist(),
            'payload.inertia': [1e-3 * mass, 0.0, 0.0, 1e-3 * mass, 0.0, 1e-3 * mass],
        }


def resident_memory(pid: int) -> float:
    """Return the memory that a process has resident [B].

    Raises
    ------
    BackendError
        Where /proc does not say.
    """
    try:
        for line in Path(f'/proc/{pid}/status').read_text(encoding='ascii').splitlines():
            if line.startswith('VmRSS:'):
                return float(line.split()[1]) * 1024.0
    except OSError as error:
        raise BackendError(f'memory of process {pid}: {error}') from error
    raise BackendError(f'memory of process {pid}: /proc/{pid}/status has no VmRSS')


def _between(times: Nanoseconds, begin: int, end: int) -> slice:
    first, last = np.searchsorted(times, (begin, end))
    return slice(int(first), int(last))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the table, and return the exit code: 0 passed, 1 failed, 2 did not run."""
    parser = argparse.ArgumentParser(
        prog='python -m benchmark.soak',
        description='Run the node for long, in real time, beside a relay that computes nothing, '
        'and exit with 1 when its memory grows, when it misses more states than the relay, or '
        'when it reports a fault.',
    )
    parser.add_argument(
        '--minutes', default='30', metavar='M', help='duration, may be fractional (30)'
    )
    parser.add_argument(
        '--state-timeout',
        type=float,
        default=STATE_TIMEOUT,
        metavar='S',
        help=f'parameter state_timeout of the node [s] ({STATE_TIMEOUT:g})',
    )
    parser.add_argument('--output', type=Path, metavar='FILE', help='write the figures as JSON')
    options = parser.parse_args(arguments)

    def say(line: str) -> None:
        print(f'soak: {line}', file=sys.stderr, flush=True)

    try:
        if not options.state_timeout > 0.0:
            raise InputError(f'state timeout: expected > 0, got {options.state_timeout}')
        seconds = 60.0 * checked_minutes(options.minutes)
        record = Soak(seconds, options.state_timeout, say, domain_id()).run()
    except (NeDynamicsError, ValueError) as error:
        say(str(error))
        return 2
    if options.output is not None:
        text = json.dumps(record.figures(), indent=2, allow_nan=False)
        options.output.write_text(text + '\n', encoding='utf-8')
    print(table(record))
    return 1 if record.failures() else 0


if __name__ == '__main__':
    sys.exit(main())
