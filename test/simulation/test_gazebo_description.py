"""What is added to a URDF for Gazebo."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.simulation.descriptions.control_description import WRENCH_INTERFACES
from ne_dynamics.simulation.descriptions.gazebo_description import (
    GAZEBO_PLUGIN,
    HARDWARE_PLUGIN,
    gazebo_description,
    links_at_sensor,
)

ARM = Path(__file__).resolve().parents[2] / 'config' / 'six_axis_arm.urdf'
JOINTS = [f'joint_{number}' for number in range(1, 7)]

GRIPPER = """<?xml version="1.0"?>
<robot name="gripper">
  <link name="palm"><inertial><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <link name="right"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="left_joint" type="prismatic"><parent link="palm"/><child link="left"/>
    <axis xyz="0 0 1"/><limit lower="0.01" upper="0.05" effort="20" velocity="1"/></joint>
  <joint name="right_joint" type="prismatic"><parent link="palm"/><child link="right"/>
    <axis xyz="0 0 1"/><limit lower="-0.1" upper="0.1" effort="20" velocity="1"/>
    <mimic joint="left_joint" multiplier="-2" offset="0.01"/></joint>
  {more}
</robot>
"""


def composed(source=ARM, controllers_file='controllers.yaml', **options):
    """Return the root element of the completed description."""
    return ElementTree.fromstring(gazebo_description(source, controllers_file, **options))


def initial_values(root, interface):
    """Return the initial value of a state interface by joint, where it has one."""
    values = {}
    for joint in root.find('ros2_control').findall('joint'):
        for element in joint.findall('state_interface'):
            if element.get('name') == interface and element.find('param') is not None:
                values[joint.get('name')] = float(element.find('param').text)
    return values


def canonical(element):
    """Return an element as text that does not depend on its white space."""
    return ElementTree.canonicalize(
        ElementTree.tostring(element, encoding='unicode'), strip_text=True
    )


def test_what_was_there_stays():
    before = list(ElementTree.parse(ARM).getroot())
    after = list(composed(sensor_joint='ft_sensor_joint'))
    assert [canonical(element) for element in after[: len(before)]] == [
        canonical(element) for element in before
    ]


def test_every_joint_takes_effort_and_gives_its_state():
    control = composed().find('ros2_control')
    assert control.get('type') == 'system'
    assert control.find('hardware/plugin').text == HARDWARE_PLUGIN
    joints = control.findall('joint')
    assert [joint.get('name') for joint in joints] == JOINTS
    limits = ned.load_urdf(ARM).limits('effort_limit')
    for joint, limit in zip(joints, limits, strict=True):
        (command,) = joint.findall('command_interface')
        assert command.get('name') == 'effort'
        bounds = {param.get('name'): float(param.text) for param in command}
        assert bounds == {'min': -limit, 'max': limit}
        states = [element.get('name') for element in joint.findall('state_interface')]
        assert states == ['position', 'velocity', 'effort']


@pytest.mark.parametrize('mount_rpy', [(0.0, 0.0, 0.0), (3.1, 0.4, -0.2)])
def test_initial_efforts_hold_the_arm(mount_rpy):
    start = dict(zip(JOINTS, (0.3, -0.5, 1.0, 0.2, -0.4, 0.6), strict=True))
    root = composed(initial_position=start, mount_rpy=mount_rpy)
    assert initial_values(root, 'position') == start
    rotation = ned.model.robot.Transform.from_xyz_rpy((0.0, 0.0, 0.0), mount_rpy).rotation
    gravity = rotation.T @ (0.0, 0.0, -9.80665)
    dynamics = ned.Dynamics(ned.load_urdf(ARM), gravity=gravity, backend='python')
    expected = dynamics.gravity_torque(list(start.values()))
    efforts = initial_values(root, 'effort')
    np.testing.assert_allclose(list(efforts.values()), expected, rtol=1e-9, atol=1e-9)


def test_a_mimic_joint_takes_no_command():
    control = composed(GRIPPER.format(more='')).find('ros2_control')
    left, right = control.findall('joint')
    assert (left.get('name'), right.get('name')) == ('left_joint', 'right_joint')
    assert len(left.findall('command_interface')) == 1
    assert right.findall('command_interface') == []
    root = composed(GRIPPER.format(more=''))
    assert initial_values(root, 'position') == pytest.approx(
        {'left_joint': 0.01, 'right_joint': -0.01}
    )
    assert list(initial_values(root, 'effort')) == ['left_joint']


def test_an_arm_that_is_fixed_to_the_world_stays_so():
    text = gazebo_description(ARM, 'controllers.yaml')
    again = ElementTree.fromstring(gazebo_description(text, 'other.yaml'))
    assert [joint.get('name') for joint in again.findall('joint')].count('world_mount') == 1
    with pytest.raises(ModelError, match='mount: expected no pose'):
        gazebo_description(text, 'other.yaml', mount_xyz=(0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ('filename', 'name'),
    [
        ('libgazebo_ros_control.so', 'gazebo_ros_control'),
        ('ign_ros2_control-system', 'ign_ros2_control::IgnitionROS2ControlPlugin'),
        ('libgz_ros2_control-system.so', 'gz_ros2_control::GazeboSimROS2ControlPlugin'),
    ],
)
def test_plugins_that_run_joints_are_replaced(filename, name):
    other = '<plugin filename="libgazebo_ros_camera.so" name="camera"/>'
    more = (
        f'<gazebo><plugin filename="{filename}" name="{name}"><robotNamespace>/</robotNamespace>'
    )
    more += f'</plugin>{other}</gazebo>'
    root = composed(GRIPPER.format(more=more))
    plugins = [plugin.get('name') for plugin in root.findall('gazebo/plugin')]
    assert plugins == ['camera', GAZEBO_PLUGIN]


def test_sensor_is_named_after_the_link_behind_it():
    assert links_at_sensor(ARM, 'ft_sensor_joint') == ('flange', 'ft_sensor')
    root = composed(sensor_joint='ft_sensor_joint')
    sensor = root.find('ros2_control/sensor')
    assert sensor.get('name') == 'ft_sensor'
    assert tuple(element.get('name') for element in sensor) == WRENCH_INTERFACES
    (extension,) = (element for element in root.findall('gazebo') if element.get('reference'))
    assert extension.get('reference') == 'ft_sensor_joint'
    assert extension.find('preserveFixedJoint').text == 'true'
    assert extension.find('sensor').attrib == {'name': 'ft_sensor', 'type': 'force_torque'}
    without = composed()
    assert without.find('ros2_control/sensor') is None
    assert not [one for one in without.findall('gazebo') if one.get('reference')]


MASSLESS = """
  <link name="{name}"/>
  <joint name="{name}_joint" type="{type}"><parent link="{parent}"/><child link="{name}"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
"""


@pytest.mark.parametrize(
    ('more', 'options', 'message'),
    [
        ('', {'sensor_joint': 'nowhere'}, "sensor_joint: expected one of 'left_joint'"),
        ('', {'sensor_joint': 'left_joint'}, "expected a fixed joint, got 'left_joint'"),
        (
            MASSLESS.format(name='plate', parent='left', type='fixed'),
            {'sensor_joint': 'plate_joint'},
            "expected a mass on both sides, .* got 0 kg on link 'plate'",
        ),
        (
            MASSLESS.format(name='plate', parent='palm', type='fixed'),
            {'sensor_joint': 'plate_joint'},
            'expected a joint on a moving link',
        ),
        (
            MASSLESS.format(name='finger', parent='left', type='revolute'),
            {},
            "joint 'finger_joint' moves link 'finger': expected a mass",
        ),
        ('<link name="world"/>', {}, 'world'),
        ('<joint name="world_mount" type="fixed"/>', {}, 'world_mount'),
    ],
)
def test_what_gazebo_could_not_simulate_is_refused(more, options, message):
    with pytest.raises(ModelError, match=message):
        gazebo_description(GRIPPER.format(more=more), 'controllers.yaml', **options)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'initial_position': {'elbow': 0.0}}, "expected joints out of joint_1.*got 'elbow'"),
        ({'initial_position': {'joint_3': 3.0}}, 'joint_3: expected a number from -2.8 to 2.8'),
        ({'initial_position': {'joint_3': np.nan}}, 'joint_3: expected a number'),
        ({'namespace': 'two words'}, "namespace: expected a ROS namespace, got 'two words'"),
        ({'mount_xyz': (0.0, 0.0)}, 'mount_xyz'),
        ({'mount_rpy': (0.0, 0.0, np.nan)}, 'mount_rpy'),
        ({'gravity': (0.0, 0.0, np.nan)}, 'gravity'),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises((InputError, ModelError), match=message):
        gazebo_description(ARM, 'controllers.yaml', **options)
    with pytest.raises(InputError, match='controllers_file: expected a file name'):
        gazebo_description(ARM, '')
