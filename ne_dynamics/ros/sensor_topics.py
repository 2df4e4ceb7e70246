"""The topics of wrist sensor and IMU: their readings, and the bias of the wrist sensor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu

from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.errors import NeDynamicsError, WrenchError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.messages.conversion import imu_reading, wrench_reading
from ne_dynamics.ros.settings.carried_load import load_beyond_sensor
from ne_dynamics.ros.thresholds import NODE


class SensorTopics:
    """Gives what the sensors read to the controller."""

    def __init__(self, context: ArmContext) -> None:
        self._context = context

    def on_wrench(self, message: WrenchStamped) -> None:
        """Take a reading of the wrist sensor, or drop it."""
        wrist = self._context.controller.sense.wrist
        if wrist is not None:
            self._take('wrench', message, wrist.update, wrench_reading(message))

    def on_imu(self, message: Imu) -> None:
        """Take a reading of the IMU, or drop it."""
        imu = self._context.controller.sense.imu
        if imu is not None:
            self._take('imu', message, imu.update, *imu_reading(message))

    def _take(
        self, topic: str, message: Any, update: Callable[..., None], *reading: FloatArray | None
    ) -> None:
        controller, reporter = self._context.controller, self._context.reporter
        reporter.statistics.hear(topic, time.perf_counter())
        stamp = self._context.clock.reading_time(message.header.stamp, controller.time)
        try:
            update(message.header.frame_id, *reading, stamp)
        except NeDynamicsError as error:
            reporter.drop(topic, error.field, str(error))

    def _find_moving(self) -> str:
        """Return which joint is not at rest, in words; '' when all are."""
        controller = self._context.controller
        desired, measured = controller.motion.present_state(), controller.velocity
        for what, velocity in (
            ('desired', None if desired is None else desired.velocity),
            ('measured', measured),
        ):
            if velocity is not None and np.abs(velocity).max() > NODE.rest_velocity:
                worst = int(np.abs(velocity).argmax())
                name = self._context.arm.robot.joint_names[worst]
                return (
                    f'joint {name!r} has a {what} velocity of '
                    f'{velocity[worst]:.3g}; expected at most {NODE.rest_velocity:g} '
                    'rad/s or m/s'
                )
        return ''

    def tare(self) -> str:
        """Take as bias what the sensor reads beyond the model's load at rest; return it in words.

        Raises
        ------
        WrenchError
            When there is no sensor, no state or no reading, the arm moves, or the bias is too
            large.
        """
        arm, controller = self._context.arm, self._context.controller
        settings = self._context.settings
        wrist, imu = controller.sense.wrist, controller.sense.imu
        if wrist is None:
            raise WrenchError('no wrench in use (see wrench.enabled)')
        if controller.position is None or controller.time is None:
            raise WrenchError('no joint state yet')
        moving = self._find_moving()
        if moving:
            raise WrenchError(f'the arm moves: {moving}')
        pose = arm.dynamics.forward_kinematics(controller.position)
        gravity = arm.dynamics.gravity if imu is None else imu.gravity_at(controller.time)
        beyond = load_beyond_sensor(settings, arm)
        bias = wrist.tare(
            controller.time,
            static_wrench(beyond, pose[:3, :3], gravity),
            settings.wrench.largest_bias,
        )
        return (
            f'bias {np.round(bias, 4).tolist()} N, N m at {wrist.cut_link!r}, if what is '
            f"beyond it are the model's {beyond.mass:g} kg at rest"
        )
