"""The arm of a demo: how its model is read and changed, and which gains it gets."""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.arm import DemoArm, gain_parameters
from ne_dynamics.simulation.demo.motion import rest_to_rest

PUMA = str(shipped_file('puma560_standard_dh.yaml'))

LINK = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
FORK = (
    '<robot name="fork"><link name="base"/>'
    + ''.join(
        f'<link name="{side}">{LINK}</link><joint name="to_{side}" type="continuous">'
        f'<parent link="base"/><child link="{side}"/><axis xyz="0 0 1"/></joint>'
        for side in ('left', 'right')
    )
    + '</robot>'
)


def test_without_a_file_the_shipped_arm_is_taken():
    arm = DemoArm.read(None, None, None)
    assert (arm.robot.name, arm.robot.tip_link) == ('six_axis_arm', 'tcp')
    assert arm.default_sensor_link() == 'ft_sensor'
    assert arm.parameters() == {'model_file': arm.model_file, 'base_link': '', 'tip_link': 'tcp'}


def test_a_robot_without_joints_is_refused(tmp_path):
    file = tmp_path / 'stone.urdf'
    file.write_text('<robot name="stone"><link name="base"/></robot>')
    with pytest.raises(ModelError, match='expected a joint that moves'):
        DemoArm.read(str(file), None, None)


def test_gear_friction_is_all_that_changes(tmp_path):
    arm = DemoArm.read(None, None, None)
    geared = arm.with_gear_friction(0.05, tmp_path)
    for before, after in zip(arm.robot.joints, geared.robot.joints, strict=True):
        assert after.coulomb_friction == pytest.approx(0.05 * before.effort_limit)
        assert after.viscous_friction == before.viscous_friction
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))
    plain, with_gears = ned.Dynamics(arm.robot), ned.Dynamics(geared.robot)
    np.testing.assert_allclose(
        plain.inverse_dynamics(q, qd, qdd) - plain.friction_torque(qd),
        with_gears.inverse_dynamics(q, qd, qdd) - with_gears.friction_torque(qd),
        atol=1e-12,
    )
    # What has friction already keeps it.
    again = geared.with_gear_friction(0.5, tmp_path)
    dh = DemoArm.read(PUMA, None, None)
    assert dh.with_gear_friction(0.05, tmp_path) is dh
    assert again.robot.joints[0].coulomb_friction == geared.robot.joints[0].coulomb_friction


def test_where_no_link_has_the_usual_name_the_sensor_is_at_the_tip(tmp_path):
    assert DemoArm.read(PUMA, None, None).default_sensor_link() == 'link_6'
    fork = tmp_path / 'fork.urdf'
    fork.write_text(FORK)
    with pytest.raises(ModelError, match='tip'):
        DemoArm.read(str(fork), None, None).default_sensor_link()


def test_pd_has_the_bandwidth_of_computed_torque():
    robot = DemoArm.read(None, None, None).robot
    start = np.full(6, 0.3)
    gains = gain_parameters(robot, rest_to_rest(robot, start, start + 0.1, 1.0), 400.0, 40.0)
    diagonal = np.diag(ned.Dynamics(robot).mass_matrix(start))
    assert gains['computed_torque.kp'] == [400.0]
    np.testing.assert_allclose(gains['feedforward_pd.kp'], 400.0 * diagonal)
    np.testing.assert_allclose(gains['feedforward_pd.kv'], 40.0 * diagonal)
