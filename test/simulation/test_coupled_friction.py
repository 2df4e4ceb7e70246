"""Drives of several joints in simulated arms: dry friction holds, other errors scale it."""

from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco')

from ne_dynamics.simulation.altered_robot import scale_friction
from ne_dynamics.simulation.elastic_arm import ElasticArm
from ne_dynamics.simulation.mujoco_model import MujocoArm

RATIOS = (1.0, -2.0)
LEVEL = 3.0


@pytest.fixture
def robot():
    """Return the shipped arm without friction but that of a drive of its last two joints."""
    free = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp').without_friction()
    drive = CoupledDrive('wrist', free.joint_names[4:], RATIOS, 0.05, coulomb_friction=LEVEL)
    return replace(free, coupled_drives=(drive,))


@pytest.mark.parametrize(('share', 'moves'), [(0.9, False), (-0.9, False), (1.2, True)])
def test_a_shaft_stands_until_its_friction_is_overcome(robot, share, moves):
    arm = MujocoArm(robot, gravity=(0.0, 0.0, 0.0))
    arm.reset(np.zeros(robot.n))
    # Along the ratios an effort turns the shaft alone: r e at each joint is e at the shaft.
    effort = np.zeros(robot.n)
    effort[4:] = share * LEVEL * np.array(RATIOS)
    for _ in range(50):
        arm.step(effort)
    shaft = robot.coupling_matrix @ arm.position
    assert (abs(shaft[0]) > 0.01) == moves
    assert abs(shaft[0]) > 0.01 or abs(shaft[0]) < 1e-4


def test_errors_of_friction_scale_that_of_drives(robot):
    (drive,) = scale_friction(robot, 0.5).coupled_drives
    assert (drive.coulomb_friction, drive.rotor_inertia) == (0.5 * LEVEL, 0.05)


def test_elastic_joints_refuse_them_by_name(robot):
    geared = robot.with_joint_values('rotor_inertia', np.ones(robot.n))
    message = r"elastic joints: expected drives of one joint each, got coupled drive 'wrist'"
    with pytest.raises(ModelError, match=message):
        ElasticArm(geared, np.full(robot.n, 12.0), np.zeros(robot.n))
