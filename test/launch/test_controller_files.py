"""The parameter files for the controllers of ros2_control, and what must fit to them."""

import ast
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

import ne_dynamics as ned
from ne_dynamics.ros.settings.parameter_file import flattened
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.simulation.descriptions.gazebo_description import (
    STANDARD_GRAVITY,
    gazebo_description,
    links_at_sensor,
)

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
ARM = CONFIG / 'six_axis_arm.urdf'
CONTROLLER_FILES = (
    'gazebo_controllers.yaml',
    'robot_controllers.yaml',
    'jtc_effort_controllers.yaml',
)


JTC_INTERFACES = (['effort'], ['position', 'effort'])
"""Combinations of command interfaces with effort that joint_trajectory_controller takes."""


def nodes(name):
    """Return the parameters in a file by node, whose keys all fit any namespace."""
    content = yaml.safe_load((CONFIG / name).read_text(encoding='utf-8'))
    assert all(key.startswith('/**/') for key in content)
    assert all(list(value) == ['ros__parameters'] for value in content.values())
    return {key.removeprefix('/**/'): value['ros__parameters'] for key, value in content.items()}


def constants(launch_file, folder='launch'):
    """Return the names that a file gives to literals."""
    found = {}
    for statement in ast.parse((ROOT / folder / launch_file).read_text(encoding='utf-8')).body:
        if isinstance(statement, ast.Assign):
            try:
                found[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:
                continue
    return found


@pytest.fixture(scope='module')
def robot():
    return ned.load_urdf(ARM, tip_link='tcp')


@pytest.mark.parametrize('name', CONTROLLER_FILES)
def test_joints_are_those_of_the_arm(name, robot):
    """Every list of joints is that of the URDF, in the order of the model."""
    found = [values['joints'] for values in nodes(name).values() if 'joints' in values]
    assert len(found) >= 2
    assert all(joints == list(robot.joint_names) for joints in found)


@pytest.mark.parametrize('name', ['gazebo_controllers.yaml', 'robot_controllers.yaml'])
def test_controllers_take_and_say_what_the_node_does(name):
    """Efforts by the topic of the node; readings of the sensor in its frame."""
    content = nodes(name)
    assert content['controller_manager']['effort_controller']['type'] == (
        'forward_command_controller/ForwardCommandController'
    )
    assert content['effort_controller']['interface_name'] == 'effort'
    topics = constants('computed_torque.launch.py')['TOPICS']
    assert topics['effort_commands'] == 'effort_controller/commands'
    assert links_at_sensor(ARM, 'ft_sensor_joint') == ('flange', 'ft_sensor')
    sensor = content['force_torque_sensor_broadcaster']
    assert sensor == {'sensor_name': 'ft_sensor', 'frame_id': 'ft_sensor'}


def test_gazebo_launch_starts_what_is_configured():
    names = constants('launch_files.py', 'ne_dynamics/ros/launching')
    names |= constants('gazebo.launch.py')
    keys = ('JOINT_STATE_BROADCASTER', 'SENSOR_BROADCASTER', 'EFFORT_CONTROLLER')
    started = {names[key] for key in keys}
    assert started == set(nodes('gazebo_controllers.yaml')) - {'controller_manager'}


def test_controllers_claim_what_the_description_offers():
    """Every interface that Gazebo's controllers ask for is in the completed description."""
    text = gazebo_description(ARM, 'file', sensor_joint='ft_sensor_joint')
    control = ElementTree.fromstring(text).find('ros2_control')
    states, commands = set(), set()
    for owner in (*control.findall('joint'), *control.findall('sensor')):
        for offered, tag in ((states, 'state_interface'), (commands, 'command_interface')):
            offered |= {f'{owner.get("name")}/{x.get("name")}' for x in owner.findall(tag)}
    content = nodes('gazebo_controllers.yaml')
    broadcaster = content['joint_state_broadcaster']
    wanted = {f'{j}/{i}' for j in broadcaster['joints'] for i in broadcaster['interfaces']}
    sensor = content['force_torque_sensor_broadcaster']['sensor_name']
    wanted |= {f'{sensor}/{kind}.{axis}' for kind in ('force', 'torque') for axis in 'xyz'}
    assert wanted == states
    controller = content['effort_controller']
    assert {f'{j}/{controller["interface_name"]}' for j in controller['joints']} == commands


def test_node_parameters_for_gazebo_are_possible(robot):
    values = dict(flattened(nodes('gazebo.params.yaml')['computed_torque']))
    for name, value in values.items():
        PARAMETERS.find(name).check(value)
    assert robot.link(values['tip_link'])
    for world in ('gazebo_world.sdf', 'gazebo_world_without_floor.sdf'):
        text = ElementTree.parse(CONFIG / world).findtext('world/gravity')
        in_world = [float(word) for word in text.split()]
        assert values['gravity'] == in_world == list(STANDARD_GRAVITY)


def test_trajectory_controllers_are_of_both_kinds():
    """One takes effort alone, with gains for every joint, the other position and effort."""
    content = nodes('jtc_effort_controllers.yaml')
    kinds = [values for values in content.values() if 'command_interfaces' in values]
    assert [values['command_interfaces'] for values in kinds] == list(JTC_INTERFACES)
    assert all(values['state_interfaces'] == ['position', 'velocity'] for values in kinds)
    effort, position_effort = kinds
    assert list(effort['gains']) == effort['joints']
    assert 'gains' not in position_effort
