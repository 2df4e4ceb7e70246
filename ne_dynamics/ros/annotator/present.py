"""Where the arm rests now, and how its base is tilted."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState

from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.errors import ImuError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState, resting_state
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.messages.conversion import (
    JointReading,
    JointStateReader,
    MessageError,
    imu_reading,
)
from ne_dynamics.ros.messages.serialized_message import read_message
from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.reporter import Reporter


class _Heard(NamedTuple):
    came: float
    data: bytes


class _Source:
    """The newest messages of a topic, as bytes: they come far more often than they are read."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._messages: deque[_Heard] = deque(maxlen=2)

    def note(self, data: bytes) -> None:
        """Keep a message."""
        self._messages.append(_Heard(time.monotonic(), data))

    def clear(self) -> None:
        """Forget all."""
        self._messages.clear()

    def is_present(self, since: float = -np.inf) -> bool:
        """Return whether the last one is of now, and came after a time [s]."""
        if not self._messages:
            return False
        came = self._messages[-1].came
        return came > since and time.monotonic() - came < NODE.present_age

    def read_rest(self, reader: JointStateReader) -> FloatArray | None:
        """Return the position where the arm rests, shape (n,); None where it moves.

        Without velocities it goes by the two last positions.

        Raises
        ------
        MessageError
            When a message cannot be used.
        """
        position, velocity = self._read(reader, -1)
        if velocity is None:
            if len(self._messages) < 2:
                return None
            before, last = self._messages
            velocity = (position - self._read(reader, 0).position) / max(
                last.came - before.came, 1e-6
            )
        return position if bool((np.abs(velocity) < NODE.rest_velocity).all()) else None

    def _read(self, reader: JointStateReader, index: int) -> JointReading:
        message = read_message(self._messages[index].data, self._kind)
        if self._kind is JointState:
            return reader.read(message)
        point = message.reference
        state = JointState(name=message.joint_names, position=point.positions)
        state.velocity = point.velocities
        return reader.read(state)


class Present:
    """Listens to joint states, to the controller's reference, and to the IMU of the base.

    An arm that moves has no start: by the time a trajectory is followed it is elsewhere. The
    `controller_state` of `controller` says where the arm is sent; '' where there is none.
    """

    def __init__(self, node: Any, reporter: Reporter, controller: str) -> None:
        self._reporter = reporter
        self._reader: JointStateReader | None = None
        self._imu: BaseImu | None = None
        self._is_imu_heard = False
        self._clock = ControlClock(lambda: int(node.get_clock().now().nanoseconds))
        latest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        # In the order in which they are asked.
        self._sources: dict[str, _Source] = {}
        if controller:
            self._listen_to(node, f'{controller}/controller_state', latest)
        states = self._sources['joint_states'] = _Source(JointState)
        node.create_subscription(JointState, 'joint_states', states.note, latest, raw=True)
        node.create_subscription(Imu, 'imu', self._on_imu, latest)

    def _listen_to(self, node: Any, topic: str, qos: QoSProfile) -> None:
        """Hear where the controller sends the arm, where `control_msgs` is there."""
        try:
            from control_msgs.msg import JointTrajectoryControllerState as State
        except ImportError:
            return
        source = self._sources['controller_state'] = _Source(State)
        node.create_subscription(State, topic, source.note, qos, raw=True)

    def configure(self, arm: AnnotatedArm) -> None:
        """Read messages for this arm from now on."""
        for source in self._sources.values():
            source.clear()
        self._reader = JointStateReader(arm.arm.robot.joint_names)
        settings, dynamics = arm.settings.imu, arm.arm.dynamics
        if not settings.enabled:
            self._imu = None
        elif self._imu is None:
            self._imu = BaseImu(dynamics.robot, dynamics.gravity, settings)
        else:
            self._imu.configure(settings)

    @property
    def is_heard(self) -> bool:
        """Whether somebody says now where the arm is, or is sent."""
        return any(source.is_present() for source in self._sources.values())

    @property
    def start(self) -> DesiredState | None:
        """Where the arm rests, in the order of the model: where it is sent, else measured.

        None when it moves, or nobody has said so for `present_age`.
        """
        for name, source in self._sources.items():
            if source.is_present():
                return self._read_rest(name)
        return None

    def find_reference(self, since: float) -> DesiredState | None:
        """Return where the controller holds the arm; None where it moves, or is silent.

        What it has said before `since` does not count; of the monotonic clock [s].
        """
        source = self._sources.get('controller_state')
        if source is None or not source.is_present(since):
            return None
        return self._read_rest('controller_state')

    @property
    def base_motion(self) -> FloatArray | None:
        """Tilt of the base, shape (9,); None without an IMU."""
        if self._imu is None:
            return None
        if not self._is_imu_heard:
            self._reporter.say(
                'imu', 'imu.enabled: no reading has come: the base is taken as level'
            )
        return self._imu.resting_at(self._clock.now())

    def _read_rest(self, name: str) -> DesiredState | None:
        if self._reader is None:
            return None
        try:
            position = self._sources[name].read_rest(self._reader)
        except MessageError as error:
            self._reporter.drop(name, error.field, str(error))
            return None
        return None if position is None else resting_state(position)

    def _on_imu(self, message: Imu) -> None:
        if self._imu is None:
            return
        try:
            stamp = self._clock.reading_time(message.header.stamp, None)
            self._imu.update(message.header.frame_id, *imu_reading(message), stamp)
            self._is_imu_heard = True
        except ImuError as error:
            self._reporter.drop('imu', error.field, str(error))
