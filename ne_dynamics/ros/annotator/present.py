"""Where the arm rests now, and how its base is tilted."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState

from ne_dynamics.control.sensors.imu import BaseImu
from ne_dynamics.errors import ImuError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.waypoints import DesiredState, resting_state
from ne_dynamics.ros.annotator.annotation import AnnotatedArm
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.messages.conversion import JointStateReader, MessageError, imu_reading
from ne_dynamics.ros.watching.reporter import Reporter

REST = 0.01
"""An arm whose joints are slower than this rests [rad/s or m/s]."""

LATEST = 0.5
"""What was heard longer ago than this is not the present [s]."""


class Present:
    """Listens to joint states, to the controller's reference, and to the IMU of the base.

    An arm that moves has no start: by the time a trajectory is followed it is elsewhere.

    Parameters
    ----------
    node : rclpy.node.Node
    reporter : Reporter
    controller : str
        Whose `controller_state` says where the arm is sent; '' where there is none.
    """

    def __init__(self, node: Any, reporter: Reporter, controller: str) -> None:
        self._reporter = reporter
        self._reader: JointStateReader | None = None
        self._imu: BaseImu | None = None
        self._heard: dict[str, tuple[float, FloatArray | None]] = {}
        self._clock = ControlClock(lambda: int(node.get_clock().now().nanoseconds))
        latest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_subscription(JointState, 'joint_states', self._on_state, latest)
        node.create_subscription(Imu, 'imu', self._on_imu, latest)
        if controller:
            self._listen_to(node, f'{controller}/controller_state', latest)

    def _listen_to(self, node: Any, topic: str, qos: QoSProfile) -> None:
        """Hear where the controller sends the arm, where `control_msgs` is there."""
        try:
            from control_msgs.msg import JointTrajectoryControllerState
        except ImportError:
            return
        node.create_subscription(JointTrajectoryControllerState, topic, self._on_reference, qos)

    def configure(self, arm: AnnotatedArm) -> None:
        """Read messages for this arm from now on."""
        self._heard.clear()
        self._reader = JointStateReader(arm.arm.robot.joint_names)
        settings, dynamics = arm.settings.imu, arm.arm.dynamics
        if not settings.enabled:
            self._imu = None
        elif self._imu is None:
            self._imu = BaseImu(dynamics.robot, dynamics.gravity, settings)
        else:
            self._imu.configure(settings)

    @property
    def start(self) -> DesiredState | None:
        """Where the arm rests, in the order of the model: where it is sent, else measured.

        None when it moves, or nobody has said so for `LATEST`.
        """
        for source in ('controller_state', 'joint_states'):
            if time.monotonic() - self._heard.get(source, (-np.inf, None))[0] < LATEST:
                return self._resting(source)
        return None

    @property
    def reference(self) -> DesiredState | None:
        """Where the controller says that it holds the arm; None where it moves, or is silent."""
        return self._resting('controller_state')

    def _resting(self, source: str) -> DesiredState | None:
        came, position = self._heard.get(source, (-np.inf, None))
        is_old = time.monotonic() - came >= LATEST
        return None if is_old or position is None else resting_state(position)

    @property
    def base_motion(self) -> FloatArray | None:
        """Tilt of the base, shape (9,); None without an IMU."""
        return None if self._imu is None else self._imu.resting_at(self._clock.now())

    def _on_state(self, message: JointState) -> None:
        self._note('joint_states', message)

    def _on_reference(self, message: Any) -> None:
        point = message.reference
        state = JointState(name=message.joint_names, position=point.positions)
        state.velocity = point.velocities
        self._note('controller_state', state)

    def _note(self, source: str, message: JointState) -> None:
        if self._reader is None:
            return
        try:
            position, velocity = self._reader.read(message)
        except MessageError as error:
            self._reporter.drop(source, error.field, str(error))
            return
        rests = velocity is None or bool((np.abs(velocity) < REST).all())
        self._heard[source] = time.monotonic(), position if rests else None

    def _on_imu(self, message: Imu) -> None:
        if self._imu is None:
            return
        try:
            stamp = self._clock.reading_time(message.header.stamp, None)
            self._imu.update(message.header.frame_id, *imu_reading(message), stamp)
        except ImuError as error:
            self._reporter.drop('imu', error.field, str(error))
