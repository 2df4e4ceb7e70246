"""One closed-loop run: the node and the simulated robot as two processes, watched by a third.

The processes find each other over DDS on this machine only, in a domain and a namespace of their
own. The simulated robot runs in lockstep and stands under its brake until the trajectory has
reached the node, whose clock is the stamp of the joint states; all of it then starts at the
same stamp, and each run is reproducible: time stands still while parameters are set.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError, MissingDependencyError, NeDynamicsError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.private_domain import private_domain
from ne_dynamics.simulation.demo_motion import Motion

try:
    import rclpy
    from builtin_interfaces.msg import Duration
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
except ImportError as error:
    raise MissingDependencyError(
        f'the closed-loop demo needs ROS 2 for Python: source a ROS 2 installation, or '
        f'pip install "ne_dynamics[ros]" ({error})'
    ) from error

NODE_MODULE = 'ne_dynamics.ros.node'
ROBOT_MODULE = 'ne_dynamics.simulation.simulated_robot'
NODE_NAME = 'computed_torque'
ROBOT_NAME = 'simulated_robot'

OWN_TOPICS = ('/clock', '/diagnostics')
"""Absolute names that each run keeps to itself."""

DIAGNOSTICS_TIMEOUT = 5.0
"""Longest wait for what the node says of a run that it may have given up [s]."""

LOCKSTEP_STATE_TIMEOUT = 10.0
"""The node's watchdog in lockstep, where time stands still while a busy machine does else [s]."""

NANOSECONDS = 1_000_000_000

START_TIMEOUT = 60.0
"""Longest time until node and robot talk [s]; a first start may compile."""

STALL_TIMEOUT = 20.0
"""Longest time without a state from the robot [s]."""

STOP_TIMEOUT = 3.0

SETTLING_TIME = 0.2
"""Time for what is under way between the processes to arrive [s]."""

START_MARK = 1e-9
"""Desired velocity of all joints at the first waypoint [rad/s or m/s]: nothing to an arm, but the
sign in the node's desired state, at rest until then, that it has got the trajectory."""

DESIRED_TOLERANCE = 1e-6
"""The node's desired position may differ this much from the trajectory [rad or m]."""

QUICK_DISCOVERY = """<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="quick_discovery" is_default_profile="true">
    <rtps><builtin><discovery_config>
      <initialAnnouncements>
        <count>100</count><period><nanosec>100000000</nanosec></period>
      </initialAnnouncements>
    </discovery_config></builtin></rtps>
  </participant>
</profiles>
"""
"""Fast DDS announces a process five times in half a second, then every 3 s: on a busy machine,
processes that miss the beginning waste seconds of every run."""

PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
"""Older and newer name of the same; a profile that the user has set is left alone."""

# Deep: the recorder may lag behind on a busy machine, but must not lose a state.
RECORDING = QoSProfile(depth=20000, reliability=ReliabilityPolicy.RELIABLE)
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)

_run_numbers = itertools.count(1)

Parameters = Mapping[str, Any]
Progress = Callable[[float], None]


class SessionError(NeDynamicsError, RuntimeError):
    """A closed-loop run did not complete; the message says which process failed and how."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Parameters of the node that are set together while it moves.

    Attributes
    ----------
    time : float
        Since the start of the trajectory [s].
    parameters : mapping
        By name.
    """

    time: float
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the node said of itself.

    Attributes
    ----------
    time : float
        Since the start of the trajectory [s].
    level : int
        0 ok, 1 warning, 2 error, 3 stale.
    message : str
    values : mapping of str to str
    """

    time: float
    level: int
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Recording:
    """What was measured in a run.

    Attributes
    ----------
    joint_names : tuple of str
    time : array, shape (N,)
        Since the start of the trajectory [s].
    desired, position, velocity, effort : array, shape (N, n)
        [rad or m], its rate, [N m or N]; effort is what the motors applied up to that time.
        Desired is what was sent, whether the node heeds it or not.
    heeded : array, shape (N, n)
        Desired position by the node; NaN where it did not answer.
    cycles_per_second : float
        States in a second of wall time.
    set_times : tuple of float
        When the node took each of the settings [s].
    diagnoses : tuple of Diagnosis
        From before the start to the end.
    """

    joint_names: tuple[str, ...]
    time: FloatArray
    desired: FloatArray
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    heeded: FloatArray
    cycles_per_second: float
    set_times: tuple[float, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()

    @property
    def error(self) -> FloatArray:
        """Desired minus measured position [rad or m], shape (N, n)."""
        return self.desired - self.position

    @property
    def rms_error(self) -> FloatArray:
        """Root of the mean square of the error over the run [rad or m], shape (n,)."""
        rms: FloatArray = np.sqrt(np.mean(self.error**2, axis=0))
        return rms

    @property
    def overall_rms_error(self) -> float:
        """The same over all joints [rad, m]."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def peak_error(self) -> FloatArray:
        """Largest absolute error [rad or m], shape (n,)."""
        peak: FloatArray = np.abs(self.error).max(axis=0)
        return peak


@dataclass
class _Process:
    """A child process whose output is kept for the case that it dies."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open('wb') as output:
            # A session of its own: Ctrl-C in the terminal reaches this process alone, which
            # then ends its children in order.
            self._process = subprocess.Popen(
                self.command,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            raise SessionError(f'{self.name} ended with exit code {self._process.returncode}')

    def tail(self, lines: int = 25) -> str:
        text = self.log.read_text(encoding='utf-8', errors='replace') if self.log.exists() else ''
        return '\n'.join(text.splitlines()[-lines:]) or '(it printed nothing)'

    def ask_to_stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class ClosedLoop:
    """Runs trajectories in closed loop; a context manager that leaves no process behind.

    Parameters
    ----------
    rate : float
        States and commands a second of simulated time [Hz].
    node_parameters, robot_parameters : mapping
        Parameters that all runs share, by name; for the robot, beside the protocol's.
    domain : int, optional
        ROS domain id; default ``ROS_DOMAIN_ID``, otherwise one of its own.
    """

    def __init__(
        self,
        rate: float,
        node_parameters: Parameters,
        robot_parameters: Parameters,
        domain: int | None = None,
    ) -> None:
        self._rate = rate
        self._node_parameters = dict(node_parameters)
        self._robot_parameters = dict(robot_parameters)
        self._domain = _domain() if domain is None else domain
        self._folder = tempfile.TemporaryDirectory(prefix='ne_dynamics_demo_')
        self._processes: list[_Process] = []
        self._context: Any = None
        self._environment_before: dict[str, str | None] = {}

    def __enter__(self) -> ClosedLoop:
        # DDS reads it when the context is made, in this process as in the children.
        environment = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        if not any(os.environ.get(name) for name in PROFILE_VARIABLES):
            profile = Path(self._folder.name) / 'quick_discovery.xml'
            profile.write_text(QUICK_DISCOVERY, encoding='utf-8')
            environment |= dict.fromkeys(PROFILE_VARIABLES, str(profile))
        self._environment_before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        self._context = rclpy.Context()
        rclpy.init(
            args=[],
            context=self._context,
            domain_id=self._domain,
            # Ctrl-C stays Python's KeyboardInterrupt.
            signal_handler_options=SignalHandlerOptions.NO,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_processes()
        self._context.try_shutdown()
        self._folder.cleanup()
        for name, before in self._environment_before.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before

    def run(
        self,
        motion: Motion,
        node_parameters: Parameters,
        robot_parameters: Parameters | None = None,
        progress: Progress | None = None,
        *,
        settings: Sequence[Setting] = (),
        must_follow: bool = True,
    ) -> Recording:
        """Follow a motion once, from its first waypoint at rest, and record.

        Parameters
        ----------
        motion : Motion
        node_parameters, robot_parameters : mapping
            Added to those that all runs share.
        progress : callable, optional
            Called with the time reached [s], from 0 to the motion's duration.
        settings : sequence of Setting
            In the order of their times.
        must_follow : bool
            Whether it is an error when the node does not follow the motion to its end.

        Returns
        -------
        Recording
            States from the start of the motion to its end.

        Raises
        ------
        SessionError
            When a process ended, nothing was heard in time, the node refused a setting, or did
            not follow the trajectory that it was sent although it must.
        """
        number = next(_run_numbers)
        namespace = f'/demo_{os.getpid()}_{number}'
        self._start(
            namespace,
            {
                'state_timeout': LOCKSTEP_STATE_TIMEOUT,
                **self._node_parameters,
                **node_parameters,
            },
            {
                **self._robot_parameters,
                **(robot_parameters or {}),
                'rate': float(self._rate),
                'lockstep': True,
                'brake': True,
                'pause_at': [setting.time for setting in settings],
                'initial_position': motion.positions[0].tolist(),
            },
            number,
        )
        observer = _Observer(self._context, namespace, motion)
        try:
            observer.follow(self._check_processes, progress or (lambda reached: None), settings)
            if not must_follow:
                observer.wait_for_diagnosis()
            return observer.recording(must_follow)
        except SessionError as failure:
            logs = '\n'.join(
                f'--- output of {process.name}:\n{process.tail()}' for process in self._processes
            )
            raise SessionError(f'{failure}\n{logs}') from failure
        finally:
            observer.close()
            self._stop_processes()

    def _start(self, namespace: str, node: Parameters, robot: Parameters, number: int) -> None:
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(self._domain)}
        for name, module, parameters in (
            (ROBOT_NAME, ROBOT_MODULE, robot),
            (NODE_NAME, NODE_MODULE, node),
        ):
            file = Path(self._folder.name) / f'{name}_{number}.yaml'
            file.write_text(_parameter_file(parameters), encoding='utf-8')
            process = _Process(
                name,
                [
                    *(sys.executable, '-m', module, '--ros-args'),
                    *('-r', f'__ns:={namespace}'),
                    *(word for topic in OWN_TOPICS for word in ('-r', f'{topic}:={topic[1:]}')),
                    *('--params-file', str(file)),
                ],
                environment,
                file.with_suffix('.log'),
            )
            self._processes.append(process)
            process.start()

    def _check_processes(self) -> None:
        for process in self._processes:
            process.check()

    def _stop_processes(self) -> None:
        for process in self._processes:
            process.ask_to_stop()
        for process in self._processes:
            process.stop()
        self._processes.clear()


def _domain() -> int:
    """Return the domain that the environment names, otherwise one of its own."""
    given = os.environ.get('ROS_DOMAIN_ID')
    if not given:
        return private_domain()
    if not given.isdecimal():
        raise InputError(f'ROS_DOMAIN_ID: expected a whole number, got {given!r}')
    return int(given)


def _parameter_file(parameters: Parameters) -> str:
    """Write a ROS parameter file. Empty lists are left out: they have no type."""
    lines = [
        f'{json.dumps(name)}: {_yaml(value)}'
        for name, value in parameters.items()
        if not (isinstance(value, (list, tuple)) and len(value) == 0)
    ]
    return '{"/**": {"ros__parameters": {\n' + ',\n'.join(lines) + '\n}}}\n'


def _yaml(value: Any) -> str:
    """Return a parameter's value as YAML: JSON, but for what is infinite."""
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(map(_yaml, value))}]'
    if isinstance(value, float) and math.isinf(value):
        return '.inf' if value > 0.0 else '-.inf'
    return json.dumps(value)


class _Observer:
    """The third process: sends the trajectory, releases the brake, records."""

    def __init__(self, context: Any, namespace: str, motion: Motion) -> None:
        self._motion = motion
        self._states: dict[int, JointState] = {}
        self._desired: dict[int, JointState] = {}
        self._diagnoses: list[tuple[int, Any]] = []
        self._set_stamps: list[int] = []
        self._is_accepted = False
        self._start: int | None = None
        self._last_heard = time.monotonic()
        self._started_at = self._ended_at = 0.0
        self._node = rclpy.create_node(
            'demo',
            namespace=namespace,
            context=context,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        self._publisher = self._node.create_publisher(
            JointTrajectory, 'joint_trajectory', RELIABLE
        )
        self._node.create_subscription(
            JointState, f'{ROBOT_NAME}/true_joint_states', self._on_state, RECORDING
        )
        self._node.create_subscription(
            JointState, f'{NODE_NAME}/effort', self._on_desired, RECORDING
        )
        self._node.create_subscription(
            DiagnosticArray, 'diagnostics', self._on_diagnostics, RELIABLE
        )
        self._client = self._node.create_client(Trigger, f'{ROBOT_NAME}/release_brake')
        self._resumer = self._node.create_client(Trigger, f'{ROBOT_NAME}/resume')
        self._setter = self._node.create_client(
            SetParametersAtomically, f'{NODE_NAME}/set_parameters_atomically'
        )

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()

    def _on_state(self, message: JointState) -> None:
        self._states[_nanoseconds(message)] = message
        self._last_heard = time.monotonic()

    def _on_desired(self, message: JointState) -> None:
        self._is_accepted = self._is_accepted or any(message.velocity)
        self._desired[_nanoseconds(message)] = message

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if self._states:
            own = f'{self._node.get_namespace()}/{NODE_NAME}'
            newest = next(reversed(self._states))
            self._diagnoses += [(newest, item) for item in message.status if item.name == own]

    def _wait(self, done: Callable[[], bool], check: Callable[[], None], what: str) -> None:
        deadline = time.monotonic() + START_TIMEOUT
        while not done():
            check()
            if time.monotonic() > deadline:
                raise SessionError(f'{what}: nothing within {START_TIMEOUT:g} s')
            self._executor.spin_once(timeout_sec=0.1)

    def _spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def follow(
        self, check: Callable[[], None], progress: Progress, settings: Sequence[Setting]
    ) -> None:
        """Run the motion from start to end."""
        self._wait(
            lambda: bool(self._desired and self._states),
            check,
            'first answer of the node to a state of the robot',
        )
        self._wait(lambda: self._publisher.get_subscription_count() > 0, check, 'joint_trajectory')
        self._wait(self._client.service_is_ready, check, f'{ROBOT_NAME}/release_brake')
        if settings:
            self._wait(self._setter.service_is_ready, check, f'{NODE_NAME}/set_parameters')
            self._wait(self._resumer.service_is_ready, check, f'{ROBOT_NAME}/resume')
        # The node may learn of this publisher a little later than it of the node: what is sent
        # before that waits for the next heartbeat of DDS, seconds later.
        self._spin(SETTLING_TIME)
        self._publisher.publish(self._trajectory())
        self._wait(lambda: self._is_accepted, check, 'joint_trajectory: answer that follows it')
        # Under the brake the stamp stands still: this is when the motion starts.
        start = max(self._states)
        future = self._client.call_async(Trigger.Request())
        self._wait(future.done, check, f'{ROBOT_NAME}/release_brake')
        end = start + round(self._motion.duration * 1e9)
        self._start = start
        self._last_heard = time.monotonic()
        reached = start
        waiting = list(settings)
        while reached < end:
            self._executor.spin_once(timeout_sec=0.5)
            if waiting and reached > start and reached >= start + waiting[0].time * NANOSECONDS:
                self._set(waiting.pop(0), reached, check)
            newest = next(reversed(self._states))
            if newest != reached:
                if reached == start:
                    self._started_at = time.monotonic()
                reached = newest
                progress(min((reached - start) / 1e9, self._motion.duration))
            else:
                check()
                if time.monotonic() - self._last_heard > STALL_TIMEOUT:
                    raise SessionError(
                        f'no state from {ROBOT_NAME} for {STALL_TIMEOUT:g} s, '
                        f'{(reached - start) / 1e9:.3f} s into the motion'
                    )
        self._ended_at = time.monotonic()

    def _set(self, setting: Setting, reached: int, check: Callable[[], None]) -> None:
        """Set parameters of the node while the robot waits."""
        answer = self._setter.call_async(_setting_request(setting))
        self._wait(answer.done, check, f'{NODE_NAME}/set_parameters_atomically')
        if not answer.result().result.successful:
            raise SessionError(f'{NODE_NAME} refused a setting: {answer.result().result.reason}')
        self._set_stamps.append(reached)
        resumed = self._resumer.call_async(Trigger.Request())
        self._wait(resumed.done, check, f'{ROBOT_NAME}/resume')

    def wait_for_diagnosis(self) -> None:
        """Let the node report once more."""
        before, deadline = len(self._diagnoses), time.monotonic() + DIAGNOSTICS_TIMEOUT
        while len(self._diagnoses) == before and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.1)

    def _trajectory(self) -> JointTrajectory:
        motion = self._motion
        message = JointTrajectory(joint_names=list(motion.robot.joint_names))
        for time_from_start, position, velocity, acceleration in zip(
            motion.times, motion.positions, motion.velocities, motion.accelerations, strict=True
        ):
            seconds, nanoseconds = divmod(round(float(time_from_start) * 1e9), NANOSECONDS)
            mark = START_MARK if not message.points else 0.0
            message.points.append(
                JointTrajectoryPoint(
                    positions=position.tolist(),
                    velocities=(velocity + mark).tolist(),
                    accelerations=acceleration.tolist(),
                    time_from_start=Duration(sec=seconds, nanosec=nanoseconds),
                )
            )
        return message

    def recording(self, must_follow: bool) -> Recording:
        """Return what was recorded, checked for the node's obedience."""
        if self._start is None:
            raise SessionError('nothing recorded: the motion did not start')
        names = self._motion.robot.joint_names
        end = self._start + round(self._motion.duration * 1e9)
        stamps = sorted(stamp for stamp in self._states if self._start <= stamp <= end)
        states = [self._states[stamp] for stamp in stamps]
        times = (np.array(stamps) - self._start) / 1e9
        desired = self._motion.sample(times)[0]
        compared = [index for index, stamp in enumerate(stamps) if stamp in self._desired]
        if not compared:
            raise SessionError(f'{NODE_NAME} published no desired state during the motion')
        followed = _by_name(
            [self._desired[stamps[index]] for index in compared], names, 'position'
        )
        difference = np.abs(followed - desired[compared]).max()
        if must_follow and not difference <= DESIRED_TOLERANCE:
            raise SessionError(
                f'{NODE_NAME} did not follow the trajectory it was sent: its desired position '
                f'is up to {difference:.3g} away; expected at most {DESIRED_TOLERANCE:g}'
            )
        heeded = np.full_like(desired, np.nan)
        heeded[compared] = followed
        return Recording(
            names,
            times,
            desired,
            _by_name(states, names, 'position'),
            _by_name(states, names, 'velocity'),
            _by_name(states, names, 'effort'),
            heeded,
            len(stamps) / max(self._ended_at - self._started_at, 1e-9),
            tuple(self._since_start(stamp) for stamp in self._set_stamps),
            tuple(
                Diagnosis(
                    self._since_start(stamp),
                    ord(status.level) if isinstance(status.level, bytes) else status.level,
                    status.message,
                    {item.key: item.value for item in status.values},
                )
                for stamp, status in self._diagnoses
            ),
        )

    def _since_start(self, stamp: int) -> float:
        assert self._start is not None  # the caller looked
        return (stamp - self._start) / NANOSECONDS


def _setting_request(setting: Setting) -> SetParametersAtomically.Request:
    return SetParametersAtomically.Request(
        parameters=[
            Parameter(name, value=value).to_parameter_msg()
            for name, value in setting.parameters.items()
        ]
    )


def _nanoseconds(message: JointState) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


def _by_name(messages: list[JointState], names: tuple[str, ...], key: str) -> NDArray[np.float64]:
    order = [list(messages[0].name).index(name) for name in names]
    return np.array([getattr(message, key) for message in messages])[:, order]
