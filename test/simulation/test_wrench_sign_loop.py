"""Closed loops with a wrist sensor whose sign is right or wrong, looked at once a second."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is missing')

from motion_loop import HeldArmLoop, known_arm, shipped_arm

from ne_dynamics.control.sensors.wrench_settings import Measures
from ne_dynamics.ros.settings.carried_load import load_beyond_sensor
from ne_dynamics.ros.watching.wrench_sign import WrenchSignWatch
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.one_process_loop import external_push

ROBOT = shipped_arm()
SENSOR = 'ft_sensor'
POSE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])


class SensedArm:
    """The shipped arm, held at `POSE` with a wrist sensor, and who doubts its sign."""

    def __init__(self, measures=Measures.ON_TOOL, hung=0.0):
        values = {
            'state_timeout': 1.0,
            'jump_velocity': (0.0,),
            'wrench.enabled': True,
            'wrench.sensor_link': SENSOR,
            'wrench.measures': measures.value,
        }
        settings, self.arm = known_arm(ROBOT, **values)
        plant = with_hung_mass(ROBOT, hung, (0.0, 0.0, 0.05)) if hung else ROBOT
        body = {'period': 0.004, 'sensor_link': SENSOR}
        self.loop = HeldArmLoop(ROBOT, POSE, values, plant=plant, body=body)
        self.watch = WrenchSignWatch(self.arm, self.loop.controller, lambda: settings)
        self.beyond = load_beyond_sensor(settings, self.arm)

    def looks(self, seconds):
        """Let time pass; return what is said once a second."""
        said = []
        for _ in range(seconds):
            self.loop.run(1.0)
            said.append(self.watch.look())
        return said


def test_a_sensor_of_the_opposite_sign_is_told_from_all_others() -> None:
    """Held with the wrong sign the arm sags by more than 0.1 rad and the sign is doubted after two
    seconds at rest; with the right one it is not, whatever it carries.
    """
    wrong = SensedArm(Measures.BY_TOOL)
    said = wrong.looks(4)
    assert np.abs(wrong.loop.arm.position - POSE).max() > 0.1
    assert 'is wrench.measures right?' in said[-1]
    for hung in (0.0, 8.0):
        assert not any(SensedArm(hung=hung).looks(4))


@pytest.mark.parametrize('share', [0.5, 1.0, 2.0, 3.0])
def test_a_contact_is_no_wrong_sign(share) -> None:
    sensed = SensedArm()
    assert not any(sensed.looks(2))
    up = np.array([0.0, 0.0, share * sensed.beyond.mass * 9.80665])
    sensed.loop.disturbances.append(external_push(up, link='tcp'))
    cut, tip = ROBOT.link(SENSOR), ROBOT.link('tcp')
    lever = (cut.pose_in_body.inverse() @ tip.pose_in_body).translation

    def feel(reading):
        pose = sensed.arm.dynamics.forward_kinematics(reading.position)
        force = pose[:3, :3].T @ up
        felt = np.concatenate((force, np.cross(lever, force)))
        return reading._replace(wrench=reading.wrench - felt)

    sensed.loop.sensors.append(feel)
    assert not any(sensed.looks(3))
