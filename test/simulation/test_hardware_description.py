"""The URDF of an arm for ros2_control, in MuJoCo and behind topics, and the model for MuJoCo."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import yaml

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
    topic_hardware,
)

ARM = shipped_file('six_axis_arm.urdf')
LINK = """<link name="{}"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/>
  <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>"""
FINGERS = f"""<robot name="gripper">
  {''.join(map(LINK.format, ('palm', 'right', 'left', 'thumb')))}
  <joint name="right_joint" type="prismatic"><parent link="palm"/><child link="right"/>
    <axis xyz="0 0 1"/><limit lower="-0.1" upper="0.1" effort="20" velocity="1"/>
    <mimic joint="left_joint" multiplier="-2" offset="0.01"/></joint>
  <joint name="left_joint" type="prismatic"><parent link="palm"/><child link="left"/>
    <axis xyz="0 0 1"/><limit lower="0.01" upper="0.05" effort="20" velocity="1"/></joint>
  <joint name="thumb_joint" type="revolute"><parent link="left"/><child link="thumb"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="2" velocity="1"/></joint>
</robot>"""
"""A mimic joint before the one that it follows."""

KNOWN = {
    # mujoco_ros2_control (main, bda2b67): mujoco_system_interface_plugin.xml,
    # docs/hardware_interface.rst, mujoco_system_interface.cpp.
    'mujoco_ros2_control/MujocoSystemInterface': {
        'mujoco_model',
        'pids_config_file',
        'sim_speed_factor',
        'initial_keyframe',
        'override_start_position_file',
        'mujoco_model_topic',
        'headless',
        'odom_free_joint_name',
        'odom_topic',
    },
    # topic_based_hardware_interfaces (main, d115f23): the plugin's description, README.md.
    'joint_state_topic_hardware_interface/JointStateTopicSystem': {
        'joint_commands_topic',
        'joint_states_topic',
        'trigger_joint_command_threshold',
        'sum_wrapped_joint_states',
    },
}
"""Plugins, and the parameters that they have there."""

HARDWARE = (mujoco_hardware('/tmp/arm.xml'), topic_hardware('/commands', '/states'))


def control(hardware, model=ARM, **options):
    """Return the tag ros2_control of a completed description."""
    return ElementTree.fromstring(hardware_description(model, hardware, **options)).find(
        'ros2_control'
    )


@pytest.mark.parametrize('hardware', HARDWARE, ids=['mujoco', 'topic'])
def test_plugin_and_parameters_are_those_that_there_are(hardware) -> None:
    tag = control(hardware)
    plugin = tag.findtext('hardware/plugin')
    names = {param.get('name') for param in tag.findall('hardware/param')}
    assert names <= KNOWN[plugin]
    content = yaml.safe_load(shipped_file('robot_controllers.yaml').read_text())
    joints = content['/**/effort_controller']['ros__parameters']['joints']
    assert [joint.get('name') for joint in tag.findall('joint')] == joints
    for joint in tag.findall('joint'):
        commands = [each.get('name') for each in joint.findall('command_interface')]
        states = [each.get('name') for each in joint.findall('state_interface')]
        assert (commands, states) == (['effort'], ['position', 'velocity', 'effort'])


def test_an_arm_behind_topics_stands_where_it_stands() -> None:
    initial = './/param[@name="initial_value"]'
    assert len(control(HARDWARE[0]).findall(initial)) == 12
    tag = control(HARDWARE[1])
    assert not tag.findall(initial)
    assert tag.findtext('.//param[@name="trigger_joint_command_threshold"]') == '-1'
    with pytest.raises(InputError, match='initial_position: expected none for an arm behind'):
        hardware_description(ARM, HARDWARE[1], initial_position={'joint_1': 0.1})


@pytest.mark.parametrize('hardware', HARDWARE, ids=['mujoco', 'topic'])
def test_joints_that_take_commands_come_first(hardware) -> None:
    """A mimic joint gives states alone, after the others: efforts are sent in the order of names,
    and one without a command would shift those behind it.
    """
    robot = ned.load_urdf(FINGERS)
    joints = control(hardware, FINGERS).findall('joint')
    commanded = [joint.find('command_interface') is not None for joint in joints]
    assert len(joints) == len(robot.bodies) > robot.n
    assert commanded == sorted(commanded, reverse=True)
    assert sum(commanded) == robot.n


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(InputError, match="joint_commands_topic: expected a topic, got ''"):
        topic_hardware('', '/states')
    with pytest.raises(InputError, match='joint_states_topic: expected another one than'):
        topic_hardware('/both', '/both')
    with pytest.raises(InputError, match="model_file: expected a file name, got ''"):
        mujoco_hardware('')


@pytest.mark.parametrize('model', [ARM, FINGERS], ids=['arm', 'gripper'])
def test_motors_of_the_model_for_mujoco_hold_and_move_it(model) -> None:
    """With a motor at each joint, by name, MuJoCo's own acceleration is the one whose efforts are
    commanded.
    """
    mujoco = pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    robot = ned.load_urdf(model)
    physics = mujoco.MjModel.from_xml_string(mjcf_with_motors(robot))
    data = mujoco.MjData(physics)
    names = [physics.actuator(index).name for index in range(physics.nu)]
    assert names == list(robot.joint_names)
    assert (physics.actuator_gear[:, 0] == 1.0).all()
    if robot.n != len(robot.bodies):
        return  # mimic joints are a constraint there, which gives way
    dynamics, rng = ned.Dynamics(robot, backend='python'), np.random.default_rng(3)
    lower, upper = robot.limits('lower'), robot.limits('upper')
    for _ in range(10):
        q = rng.uniform(0.9 * np.maximum(lower, -3.0), 0.9 * np.minimum(upper, 3.0))
        qd, qdd = rng.uniform(-1.0, 1.0, (2, robot.n))
        data.qpos[:], data.qvel[:] = q, qd
        data.ctrl[:] = dynamics.inverse_dynamics(q, qd, qdd)
        mujoco.mj_forward(physics, data)
        np.testing.assert_allclose(data.qacc, qdd, atol=0.02)


def test_a_robot_that_mujoco_cannot_simulate_is_refused() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    robot = ned.load_dh(shipped_file('puma560_standard_dh.yaml'))
    with pytest.raises(ModelError, match=r"robot 'puma560.*': MuJoCo cannot simulate it"):
        mjcf_with_motors(robot)
