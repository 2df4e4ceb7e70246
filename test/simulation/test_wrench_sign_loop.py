"""Closed loops with a wrist sensor whose sign is right or wrong, looked at once a second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is missing')

from ne_dynamics import load_urdf
from ne_dynamics.control.guards.state_guard import StateLimits
from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.control.sensors.wrench_settings import Measures, WrenchSettings
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints
from ne_dynamics.ros.settings.carried_load import load_beyond_sensor
from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import ComputedTorqueGains, NodeSettings
from ne_dynamics.ros.watching.wrench_sign import WrenchSignWatch
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop, external_push

ROBOT = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
SENSOR = 'ft_sensor'
POSE = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
OTHER = np.array([0.3, -0.8, 1.0, 0.4, -1.8, 0.2])


class SensedArm:
    """The shipped arm, held at `POSE` with a wrist sensor, and who doubts its sign."""

    def __init__(self, measures=Measures.ON_TOOL, hung=0.0, stiffness=100.0):
        settings = replace(
            NodeSettings(),
            backend='python',
            computed_torque=ComputedTorqueGains((stiffness,), (2.0 * stiffness**0.5,)),
            wrench=WrenchSettings(enabled=True, sensor_link=SENSOR, measures=measures),
        )
        arm = controlled_arm(settings, ROBOT)
        tuning, _ = make_tuning(settings, arm)
        self.controller = make_controller(arm, replace(tuning, states=StateLimits(1.0, None)))
        self.watch = WrenchSignWatch(arm, self.controller, lambda: settings)
        self.beyond = load_beyond_sensor(settings, arm)
        self.arm = arm
        plant = with_hung_mass(ROBOT, hung, (0.0, 0.0, 0.05)) if hung else ROBOT
        simulated = MujocoArm(plant, period=0.004, sensor_link=SENSOR)
        simulated.reset(POSE)
        self.loop = OneProcessLoop(simulated, self.controller)

    def looks(self, seconds):
        """Let time pass; return what is said once a second."""
        said = []
        for _ in range(seconds):
            self.loop.run(1.0)
            said.append(self.watch.look())
        return said

    def tare(self):
        """Take the reading for the weight of the model, whatever it is."""
        pose = self.arm.dynamics.forward_kinematics(self.controller.position)
        expected = static_wrench(self.beyond, pose[:3, :3], self.arm.dynamics.gravity)
        self.controller.sense.wrist.tare(self.controller.time, expected)

    def move(self):
        """Go to the other pose in 2 s."""
        point = TrajectoryPoint(2.0, OTHER, np.zeros(6))
        self.controller.motion.follow(
            Waypoints.from_points(self.arm.robot.joints, self.arm.robot.joint_names, [point])
        )


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
