"""The arm of a demo: how its model is read and changed, and which gains it gets."""

import shutil

import numpy as np
import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.arm import DemoArm

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


def test_gear_friction_is_added_to_what_the_model_and_its_extras_say(tmp_path):
    """Where a joint has friction it stays; a model that is no URDF stays as it is."""
    file = tmp_path / 'arm.urdf'
    shutil.copy(shipped_file('six_axis_arm.urdf'), file)
    extras = 'joints: {joint_1: {rotor_inertia: 1e-3, gear_ratio: 100, coulomb_friction: 7}}'
    (tmp_path / 'arm.extras.yaml').write_text(extras)
    arm = DemoArm.read(str(file), None, 'tcp')
    (tmp_path / 'made').mkdir()
    rubbing = arm.with_gear_friction(0.05, tmp_path / 'made').robot
    expected = [7.0, *(0.05 * arm.robot.limits('effort_limit')[1:])]
    np.testing.assert_allclose(rubbing.joint_values('coulomb_friction'), expected, rtol=1e-9)
    assert rubbing.joints[0].reflected_inertia == 10.0
    puma = DemoArm.read(PUMA, None, None)
    assert puma.with_gear_friction(0.05, tmp_path) is puma


def test_where_no_link_has_the_usual_name_the_sensor_is_at_the_tip(tmp_path):
    assert DemoArm.read(PUMA, None, None).default_sensor_link() == 'link_6'
    fork = tmp_path / 'fork.urdf'
    fork.write_text(FORK)
    with pytest.raises(ModelError, match='tip'):
        DemoArm.read(str(fork), None, None).default_sensor_link()
