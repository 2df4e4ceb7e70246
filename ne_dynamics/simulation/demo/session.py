"""One closed-loop run: the node and the simulated robot as two processes, watched by a third.

The processes find each other over DDS on this machine only, in a domain and a namespace of their
own. The simulated robot runs in lockstep and stands under its brake until the trajectory has
reached the node, whose clock is the stamp of the joint states; all of it then starts at the
same stamp, and each run is reproducible: time stands still while parameters are set.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import optional_dependency
from ne_dynamics.motion import NANO
from ne_dynamics.ros import private_domain
from ne_dynamics.simulation.demo.motion import WaypointMotion, rest_to_rest
from ne_dynamics.simulation.demo.position_chunks import LEAD
from ne_dynamics.simulation.demo.ros_process import (
    NODE_MODULE,
    NODE_NAME,
    ROBOT_MODULE,
    ROBOT_NAME,
    Parameters,
    ProcessError,
    RosProcesses,
    domain_id,
    local_discovery,
)
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.recording import NodeDiagnostics, SessionRecording, SetParameters

with optional_dependency('the closed-loop demo needs ROS 2 for Python', 'ros'):
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory

    from ne_dynamics.simulation.demo.node_messages import (
        RECORDING,
        RELIABLE,
        parameters_request,
        read_stamp,
        trajectory_message,
    )

OWN_TOPICS = {'/clock': 'clock', '/diagnostics': 'diagnostics'}
"""Absolute names that each run keeps to itself."""


SENSORS = {'wrench': 'wrench.sensor_link', 'imu': 'imu.link'}
"""Topic of a sensor -> parameter of the simulated robot that gives it one."""


REFUSED = 'not configured: '
"""What the node says when it cannot be made ready, before the reason."""


SETTLING_TIME = 0.2
"""For what is under way between the processes to arrive [s]."""

STALL_TIMEOUT = 20.0
"""Longest time without a state from the robot [s]."""

_run_numbers = itertools.count(1)

Progress = Callable[[float], None]


class NodeLoop:
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
        self._domain = domain_id(private_domain()) if domain is None else domain
        self._stack = contextlib.ExitStack()
        self._context: Any = None

    def __enter__(self) -> NodeLoop:
        # DDS reads it when the context is made, in this process as in the children.
        self._stack.enter_context(local_discovery())
        self._context = rclpy.Context()
        rclpy.init(
            args=[],
            context=self._context,
            domain_id=self._domain,
            # Ctrl-C stays Python's KeyboardInterrupt.
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._stack.callback(self._context.try_shutdown)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(
        self, motion: WaypointMotion, run: ScenarioRun, progress: Progress | None = None
    ) -> SessionRecording:
        """Follow a motion once, from its first waypoint at rest, and record.

        Parameters
        ----------
        motion : WaypointMotion
        run : ScenarioRun
            Its parameters are added to those that all runs share.
        progress : callable, optional
            Called with the time reached [s], from 0 to the end of what is recorded.

        Returns
        -------
        SessionRecording
            States from the start of the motion to its end, and beyond.

        Raises
        ------
        ProcessError
            When a process ended, nothing was heard in time, the node refused a setting, or did
            not follow the trajectory that it was sent although it must.
        """
        namespace = f'/demo_{os.getpid()}_{next(_run_numbers)}'
        # In lockstep time stands still while a busy machine does something else.
        timeout = {'state_timeout': 10.0}
        node = {**timeout, **self._node_parameters, **run.node}
        robot = {**self._robot_parameters, **run.robot, **self._lockstep(motion, run)}
        heard = [
            topic
            for topic, link in SENSORS.items()
            if node.get(f'{topic}.enabled') and robot.get(link)
        ]
        with RosProcesses(self._domain, namespace) as processes:
            processes.start(ROBOT_NAME, ROBOT_MODULE, robot, remappings=OWN_TOPICS)
            processes.start(NODE_NAME, NODE_MODULE, node, remappings=OWN_TOPICS)
            observer = _Observer(self._context, namespace, motion, processes, run)
            with contextlib.closing(observer):
                observer.wait_for_readings(heard)
                observer.follow(progress or (lambda reached: None))
                if not run.must_follow:
                    observer.wait_for_diagnosis()
                return observer.recording()

    def _lockstep(self, motion: WaypointMotion, run: ScenarioRun) -> Parameters:
        """Return the parameters of the robot that the protocol needs."""
        pauses = [setting.time for setting in run.settings]
        if run.chunks:
            pauses += run.chunks.pauses(motion.duration)
        return {
            'rate': float(self._rate),
            'lockstep': True,
            'brake': True,
            'pause_at': pauses,
            'initial_position': motion.positions[0].tolist(),
        }


class _Observer:
    """The third process: sends the trajectory, releases the brake, records."""

    def __init__(
        self,
        context: Any,
        namespace: str,
        motion: WaypointMotion,
        processes: RosProcesses,
        run: ScenarioRun,
    ) -> None:
        self._motion = motion
        self._run = run
        self._chunks = run.chunks
        self._duration = motion.duration + run.rest
        self._processes = processes
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
        self._states[read_stamp(message)] = message
        self._last_heard = time.monotonic()

    def _on_desired(self, message: JointState) -> None:
        self._is_accepted = self._is_accepted or any(message.velocity)
        self._desired[read_stamp(message)] = message

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if self._states:
            own = f'{self._node.get_namespace()}/{NODE_NAME}'
            newest = next(reversed(self._states))
            self._diagnoses += [(newest, item) for item in message.status if item.name == own]

    def _wait(self, done: Callable[[], bool], what: str) -> None:
        self._processes.wait_until(done, what, lambda: self._executor.spin_once(timeout_sec=0.1))

    def _has_answer(self) -> bool:
        """Return whether the node has answered; raise when it will not."""
        for process in self._processes.all:
            for line in process.output.splitlines():
                _, marker, reason = line.partition(REFUSED)
                if marker:
                    raise ProcessError(f'{process.name} {REFUSED}{reason}')
        return bool(self._desired and self._states)

    def wait_for_readings(self, topics: Sequence[str]) -> None:
        """Wait until the node says that it hears sensors: before, the arm is not to move.

        That it has learned of the robot's joint states does not mean that it has of these.
        """
        for topic in topics:
            self._wait(partial(self._hears, topic), f'{topic}: a reading')

    def _hears(self, topic: str) -> bool:
        if not self._diagnoses:
            return False
        values = {pair.key: pair.value for pair in self._diagnoses[-1][1].values}
        return int(values.get(f'{topic} received', 0)) > 0

    def _spin(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def follow(self, progress: Progress) -> None:
        """Run the motion from start to end."""
        waiting = list(self._run.settings)
        self._wait(self._has_answer, 'first answer of the node to a state of the robot')
        self._wait(lambda: self._publisher.get_subscription_count() > 0, 'joint_trajectory')
        self._wait(self._client.service_is_ready, f'{ROBOT_NAME}/release_brake')
        if waiting:
            self._wait(self._setter.service_is_ready, f'{NODE_NAME}/set_parameters')
            self._wait(self._resumer.service_is_ready, f'{ROBOT_NAME}/resume')
        # The node may learn of this publisher a little later than it of the node: what is sent
        # before that waits for the next heartbeat of DDS, seconds later.
        self._spin(SETTLING_TIME)
        self._publisher.publish(self._trajectory())
        self._wait(lambda: self._is_accepted, 'joint_trajectory: answer that follows it')
        # Under the brake the stamp stands still: this is when the motion starts.
        start = max(self._states)
        due = self._chunks.times(self._motion.duration) if self._chunks else []
        if due:
            self._wait(self._resumer.service_is_ready, f'{ROBOT_NAME}/resume')
            while due and due[0] <= LEAD:
                self._send_chunk(due.pop(0), start)
            self._spin(SETTLING_TIME)
        future = self._client.call_async(Trigger.Request())
        self._wait(future.done, f'{ROBOT_NAME}/release_brake')
        end = start + round(self._duration * 1e9)
        self._start = start
        self._last_heard = time.monotonic()
        reached = start
        while reached < end:
            self._executor.spin_once(timeout_sec=0.5)
            if waiting and reached > start and reached >= start + waiting[0].time * NANO:
                self._set(waiting.pop(0), reached)
            if due and reached >= start + round((due[0] - LEAD) * NANO):
                self._send_chunk(due.pop(0), start)
                self._resume()
            newest = next(reversed(self._states))
            if newest != reached:
                if reached == start:
                    self._started_at = time.monotonic()
                reached = newest
                progress(min((reached - start) / 1e9, self._duration))
            else:
                self._processes.check()
                if time.monotonic() - self._last_heard > STALL_TIMEOUT:
                    raise ProcessError(
                        f'no state from {ROBOT_NAME} for {STALL_TIMEOUT:g} s, '
                        f'{(reached - start) / 1e9:.3f} s into the motion'
                    )
        self._ended_at = time.monotonic()

    def _set(self, setting: SetParameters, reached: int) -> None:
        """Set parameters of the node while the robot waits."""
        answer = self._setter.call_async(parameters_request(setting.parameters))
        self._wait(answer.done, f'{NODE_NAME}/set_parameters_atomically')
        if not answer.result().result.successful:
            raise ProcessError(f'{NODE_NAME} refused a setting: {answer.result().result.reason}')
        self._set_stamps.append(reached)
        self._resume()

    def _resume(self) -> None:
        """Let time go on."""
        resumed = self._resumer.call_async(Trigger.Request())
        self._wait(resumed.done, f'{ROBOT_NAME}/resume')

    def wait_for_diagnosis(self) -> None:
        """Let the node report once more."""
        before, deadline = len(self._diagnoses), time.monotonic() + 5.0
        while len(self._diagnoses) == before and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.1)

    def _send_chunk(self, due: float, start: int) -> None:
        """Send the chunk of a time [s] of the motion that began at a stamp [ns]."""
        assert self._chunks is not None  # there is a time of one
        names = self._motion.robot.joint_names
        message = trajectory_message(names, self._chunks.points(self._motion, due))
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(start + round(due * NANO), NANO)
        self._publisher.publish(message)

    def _trajectory(self) -> JointTrajectory:
        """Return the motion, or where it begins if it is told in chunks."""
        motion = self._motion
        if self._chunks is not None:
            begin = motion.positions[0]
            motion = rest_to_rest(motion.robot, begin, begin, motion.duration)
        velocities = motion.velocities.copy()
        # Shows in the node's state that it has the trajectory.
        velocities[0] += 1e-9
        rows = zip(motion.times, motion.positions, velocities, motion.accelerations, strict=True)
        return trajectory_message(motion.robot.joint_names, rows)

    def recording(self) -> SessionRecording:
        """Return what was recorded, checked for the node's obedience."""
        if self._start is None:
            raise ProcessError('nothing recorded: the motion did not start')
        names = self._motion.robot.joint_names
        end = self._start + round(self._duration * 1e9)
        stamps = sorted(stamp for stamp in self._states if self._start <= stamp <= end)
        states = [self._states[stamp] for stamp in stamps]
        times = (np.array(stamps) - self._start) / 1e9
        desired = self._motion.sample(times)[0]
        compared = [index for index, stamp in enumerate(stamps) if stamp in self._desired]
        if not compared:
            raise ProcessError(f'{NODE_NAME} published no desired state during the motion')
        followed = _by_name(
            [self._desired[stamps[index]] for index in compared], names, 'position'
        )
        difference = np.abs(followed - desired[compared]).max()
        # Chunks are followed by a spline of the node's own.
        tolerance = 1e-6 if self._chunks is None else 0.2
        if self._run.must_follow and not difference <= tolerance:
            raise ProcessError(
                f'{NODE_NAME} did not follow the trajectory it was sent: its desired position '
                f'is up to {difference:.3g} away; expected at most {tolerance:g}'
            )
        heeded = np.full_like(desired, np.nan)
        heeded[compared] = followed
        return SessionRecording(
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
                NodeDiagnostics(
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
        return (stamp - self._start) / NANO


def _by_name(messages: list[JointState], names: tuple[str, ...], key: str) -> NDArray[np.float64]:
    order = [list(messages[0].name).index(name) for name in names]
    return np.array([getattr(message, key) for message in messages])[:, order]
