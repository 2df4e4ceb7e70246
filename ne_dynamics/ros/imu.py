"""The topic of the IMU on the base."""

from __future__ import annotations

import time

from sensor_msgs.msg import Imu

from ne_dynamics.errors import ImuError
from ne_dynamics.ros.arm_context import ArmContext
from ne_dynamics.ros.messages.conversion import imu_reading


class ImuTopic:
    """Gives what the IMU reads to the controller."""

    def __init__(self, context: ArmContext) -> None:
        self._context = context

    def on_message(self, message: Imu) -> None:
        """Take a reading, or drop it."""
        controller, reporter = self._context.controller, self._context.reporter
        reporter.statistics.hear('imu', time.perf_counter())
        stamp = self._context.clock.reading_time(message.header.stamp, controller.time)
        imu = controller.sense.imu
        if imu is None:
            return
        try:
            imu.update(message.header.frame_id, *imu_reading(message), stamp)
        except ImuError as error:
            reporter.drop('imu', error.field, str(error))
