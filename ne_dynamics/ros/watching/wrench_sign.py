"""Whether the sign of the wrist sensor is right, looked at from time to time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.control.sensors.wrench_sign import WrenchSignCheck
from ne_dynamics.ros.settings.carried_load import load_beyond_sensor
from ne_dynamics.ros.settings.controlled_arm import ControlledArm
from ne_dynamics.ros.settings.parameters import NodeSettings


class WrenchSignWatch:
    """Compares the readings of an arm at rest with the load that is known beyond the sensor.

    `settings` returns those of the node as they are now.
    """

    def __init__(
        self, arm: ControlledArm, controller: Controller, settings: Callable[[], NodeSettings]
    ) -> None:
        self._arm = arm
        self._controller = controller
        self._read_settings = settings
        self._check = WrenchSignCheck()
        now = settings()
        self._checked = now.wrench.measures, now.payload

    def look(self) -> str:
        """Return why the sign is doubted, in words; '' where it is not.

        To be called once in a while, a second or so: an arm that is found in the same place rests.
        """
        arm, controller, settings = self._arm, self._controller, self._read_settings()
        wrist, imu = controller.sense.wrist, controller.sense.imu
        position, now = controller.position, controller.time
        if wrist is None or position is None or now is None:
            return ''
        checked = settings.wrench.measures, settings.payload
        if checked != self._checked:
            self._checked = checked
            self._check.reset()
        reading = wrist.mean_reading(now)
        if reading is None:
            return ''
        pose = arm.dynamics.forward_kinematics(position)
        gravity = arm.dynamics.gravity if imu is None else imu.gravity_at(now)
        beyond = load_beyond_sensor(settings, arm)
        expected = static_wrench(beyond, pose[:3, :3], gravity)
        if not self._check.look(position, reading, expected, is_tared=wrist.tares > 0):
            return ''
        seen, known = np.round(reading[:3], 1).tolist(), np.round(expected[:3], 1).tolist()
        return (
            f'wrench: the sign is likely wrong: {seen} N at rest where the {beyond.mass:.3g} kg '
            f'that are known beyond the sensor make {known} N; is wrench.measures right?'
        )
