"""The topic of the IMU on the base."""

from __future__ import annotations

import time

from sensor_msgs.msg import Imu

from ne_dynamics.control.controller import Controller
from ne_dynamics.errors import ImuError
from ne_dynamics.ros.control_clock import ControlClock
from ne_dynamics.ros.messages.conversion import imu_reading
from ne_dynamics.ros.watching.reporter import Reporter


class ImuTopic:
    """Gives what the IMU reads to the controller.

    Parameters
    ----------
    controller : Controller
    clock : ControlClock
    reporter : Reporter
    """

    def __init__(self, controller: Controller, clock: ControlClock, reporter: Reporter) -> None:
        self._controller = controller
        self._clock = clock
        self._reporter = reporter

    def on_message(self, message: Imu) -> None:
        """Take a reading, or drop it."""
        imu = self._controller.sense.imu
        self._reporter.statistics.hear('imu', time.perf_counter())
        stamp = self._clock.reading_time(message.header.stamp, self._controller.time)
        if imu is None:
            return
        try:
            imu.update(message.header.frame_id, *imu_reading(message), stamp)
        except ImuError as error:
            self._reporter.drop('imu', error.field, str(error))
