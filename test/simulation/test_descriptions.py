"""What is added to a URDF for Gazebo, MuJoCo and arms behind topics; the model for MuJoCo."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import yaml
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.rigid_body import Transform
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.descriptions.control_description import WRENCH_INTERFACES
from ne_dynamics.simulation.descriptions.gazebo_description import (
    GAZEBO_PLUGIN,
    HARDWARE_PLUGIN,
    gazebo_description,
    links_at_sensor,
)
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    mjcf_with_motors,
    mujoco_hardware,
    topic_hardware,
)

ARM = shipped_file('six_axis_arm.urdf')
JOINTS = [f'joint_{number}' for number in range(1, 7)]
LINKS = [link_xml(name, 0.2, '0 0 0.1') for name in ('palm', 'right', 'left', 'thumb')]
MIMIC = '<mimic joint="left_joint" multiplier="-2" offset="0.01"/>'


def gripper(*more):
    """Return a gripper whose mimic joint stands before the one that it follows."""
    follower = limit_xml(-0.1, 0.1, 20, 1) + MIMIC
    return robot_xml(
        *LINKS,
        joint_xml('right_joint', 'palm', 'right', 'prismatic', follower),
        joint_xml('left_joint', 'palm', 'left', 'prismatic', limit_xml(0.01, 0.05, 20, 1)),
        joint_xml('thumb_joint', 'left', 'thumb', inside=limit_xml(-1, 1, 2, 1), axis='0 1 0'),
        *more,
    )


def for_gazebo(source=ARM, **options):
    """Return the root of a description that is completed for Gazebo."""
    return ElementTree.fromstring(gazebo_description(source, 'controllers.yaml', **options))


def for_hardware(hardware):
    """Return what returns the root of a description that is completed for hardware."""
    return lambda source=ARM, **options: ElementTree.fromstring(
        hardware_description(source, hardware, **options)
    )


MUJOCO = for_hardware(mujoco_hardware('/tmp/arm.xml'))
TOPICS = for_hardware(topic_hardware('/commands', '/states'))
EVERY = pytest.mark.parametrize(
    'complete', [for_gazebo, MUJOCO, TOPICS], ids=['gazebo', 'mujoco', 'topics']
)

KNOWN = {
    HARDWARE_PLUGIN: set(),
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


def initial_values(root, interface):
    """Return the initial value of a state interface by joint, where it has one."""
    path = f'state_interface[@name="{interface}"]/param[@name="initial_value"]'
    joints = root.find('ros2_control').findall('joint')
    found = {joint.get('name'): joint.findtext(path) for joint in joints}
    return {name: float(text) for name, text in found.items() if text is not None}


def canonical(element):
    """Return an element as text that does not depend on its white space."""
    text = ElementTree.tostring(element, encoding='unicode')
    return ElementTree.canonicalize(text, strip_text=True)


@EVERY
def test_what_was_there_stays(complete) -> None:
    before = [canonical(element) for element in ElementTree.parse(ARM).getroot()]
    assert [canonical(element) for element in complete()][: len(before)] == before


@EVERY
def test_every_joint_takes_effort_and_gives_its_state(complete) -> None:
    """In the order of the shipped controllers, within the limits, by a plugin that there is."""
    control = complete().find('ros2_control')
    assert control.get('type') == 'system'
    names = {param.get('name') for param in control.findall('hardware/param')}
    assert names <= KNOWN[control.findtext('hardware/plugin')]
    content = yaml.safe_load(shipped_file('robot_controllers.yaml').read_text())
    joints = control.findall('joint')
    order = content['/**/effort_controller']['ros__parameters']['joints']
    assert [joint.get('name') for joint in joints] == order == JOINTS
    for joint, limit in zip(joints, ned.load_urdf(ARM).limits('effort_limit'), strict=True):
        (command,) = joint.findall('command_interface')
        assert command.get('name') == 'effort'
        bounds = {param.get('name'): float(param.text) for param in command}
        assert bounds == {'min': -limit, 'max': limit}
        states = [element.get('name') for element in joint.findall('state_interface')]
        assert states == ['position', 'velocity', 'effort']


@EVERY
def test_joints_that_take_commands_come_first(complete) -> None:
    """A mimic joint gives states alone, after the others: efforts are sent in the order of names,
    and one without a command would shift those behind it.
    """
    root = complete(gripper())
    joints = root.find('ros2_control').findall('joint')
    commands = {joint.get('name'): len(joint.findall('command_interface')) for joint in joints}
    assert list(commands.items()) == [('left_joint', 1), ('thumb_joint', 1), ('right_joint', 0)]
    if complete is not TOPICS:
        positions = {'left_joint': 0.01, 'thumb_joint': 0.0, 'right_joint': -0.01}
        assert initial_values(root, 'position') == pytest.approx(positions)
        assert list(initial_values(root, 'effort')) == ['left_joint', 'thumb_joint']


@pytest.mark.parametrize('mount_rpy', [None, (0.0, 0.0, 0.0), (3.1, 0.4, -0.2)])
def test_initial_efforts_hold_the_arm(mount_rpy) -> None:
    """In MuJoCo, and in Gazebo on any mount."""
    start = dict(zip(JOINTS, (0.3, -0.5, 1.0, 0.2, -0.4, 0.6), strict=True))
    complete, mount = (for_gazebo, {'mount_rpy': mount_rpy}) if mount_rpy else (MUJOCO, {})
    root = complete(initial_position=start, **mount)
    assert initial_values(root, 'position') == start
    rotation = Transform.from_xyz_rpy((0.0, 0.0, 0.0), mount_rpy or (0.0, 0.0, 0.0)).rotation
    gravity = rotation.T @ (0.0, 0.0, -9.80665)
    dynamics = ned.Dynamics(ned.load_urdf(ARM), gravity=gravity, backend='python')
    expected = dynamics.gravity_torque(list(start.values()))
    efforts = initial_values(root, 'effort')
    np.testing.assert_allclose(list(efforts.values()), expected, rtol=1e-9, atol=1e-9)


def test_an_arm_behind_topics_stands_where_it_stands() -> None:
    tag = TOPICS().find('ros2_control')
    assert not tag.findall('.//param[@name="initial_value"]')
    assert tag.findtext('.//param[@name="trigger_joint_command_threshold"]') == '-1'


def test_an_arm_that_is_fixed_to_the_world_stays_so() -> None:
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
def test_plugins_that_run_joints_are_replaced(filename, name) -> None:
    plugin = f'<plugin filename="{filename}" name="{name}"><robotNamespace>/</robotNamespace>'
    other = '<plugin filename="libgazebo_ros_camera.so" name="camera"/>'
    root = for_gazebo(gripper(f'<gazebo>{plugin}</plugin>{other}</gazebo>'))
    plugins = [plugin.get('name') for plugin in root.findall('gazebo/plugin')]
    assert plugins == ['camera', GAZEBO_PLUGIN]


def test_sensor_is_named_after_the_link_behind_it() -> None:
    assert links_at_sensor(ARM, 'ft_sensor_joint') == ('flange', 'ft_sensor')
    root = for_gazebo(sensor_joint='ft_sensor_joint')
    sensor = root.find('ros2_control/sensor')
    assert sensor.get('name') == 'ft_sensor'
    assert tuple(element.get('name') for element in sensor) == WRENCH_INTERFACES
    (extension,) = (element for element in root.findall('gazebo') if element.get('reference'))
    assert extension.get('reference') == 'ft_sensor_joint'
    assert extension.find('preserveFixedJoint').text == 'true'
    assert extension.find('sensor').attrib == {'name': 'ft_sensor', 'type': 'force_torque'}
    without = for_gazebo()
    assert without.find('ros2_control/sensor') is None
    assert not [one for one in without.findall('gazebo') if one.get('reference')]


PLATE = {'sensor_joint': 'plate_joint'}


@pytest.mark.parametrize(
    ('more', 'options', 'message'),
    [
        ((), {'sensor_joint': 'nowhere'}, "sensor_joint: expected one of 'right_joint'"),
        ((), {'sensor_joint': 'left_joint'}, "expected a fixed joint, got 'left_joint'"),
        (
            ('plate', joint_xml('plate_joint', 'left', 'plate', 'fixed')),
            PLATE,
            "expected a mass on both sides, .* got 0 kg on link 'plate'",
        ),
        (
            ('plate', joint_xml('plate_joint', 'palm', 'plate', 'fixed')),
            PLATE,
            'expected a joint on a moving link',
        ),
        (
            ('finger', joint_xml('finger_joint', 'left', 'finger')),
            {},
            "joint 'finger_joint' moves link 'finger': expected a mass",
        ),
        (('world',), {}, 'world'),
        (('<joint name="world_mount" type="fixed"/>',), {}, 'world_mount'),
    ],
)
def test_what_gazebo_could_not_simulate_is_refused(more, options, message) -> None:
    with pytest.raises(ModelError, match=message):
        for_gazebo(gripper(*more), **options)


@pytest.mark.parametrize(
    ('make', 'options', 'message'),
    [
        (for_gazebo, {'initial_position': {'elbow': 0}}, "joints out of joint_1.*got 'elbow'"),
        (for_gazebo, {'initial_position': {'joint_3': 3.0}}, 'joint_3: expected .* -2.8 to 2.8'),
        (for_gazebo, {'initial_position': {'joint_3': np.nan}}, 'joint_3: expected a number'),
        (for_gazebo, {'namespace': 'two words'}, "expected a ROS namespace, got 'two words'"),
        (for_gazebo, {'mount_xyz': (0.0, 0.0)}, 'mount_xyz'),
        (for_gazebo, {'mount_rpy': (0.0, 0.0, np.nan)}, 'mount_rpy'),
        (for_gazebo, {'gravity': (0.0, 0.0, np.nan)}, 'gravity'),
        (TOPICS, {'initial_position': {'joint_1': 0.1}}, 'expected none for an arm behind topics'),
        (lambda: gazebo_description(ARM, ''), {}, 'controllers_file: expected a file name'),
        (lambda: mujoco_hardware(''), {}, "model_file: expected a file name, got ''"),
        (lambda: topic_hardware('', '/states'), {}, 'joint_commands_topic: expected a topic'),
        (lambda: topic_hardware('/x', '/x'), {}, 'joint_states_topic: expected another one than'),
    ],
)
def test_wrong_arguments_are_refused(make, options, message) -> None:
    with pytest.raises((InputError, ModelError), match=message):
        make(**options)


@pytest.mark.parametrize('model', [ARM, gripper()], ids=['arm', 'gripper'])
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
