"""ros2_control.launch.py with stand-ins for ros2_control and its hardware."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from install_space import ROOT, add_executable, add_package
from launch_process import LaunchProcess

LAUNCH_FILE = ROOT / 'launch/ros2_control.launch.py'
STAND_IN = Path(__file__).parents[1] / 'support' / 'ros2_control_stand_in.py'
PROGRAMS = {
    'controller_manager': ['spawner', 'ros2_control_node'],
    'forward_command_controller': [],
    'joint_state_broadcaster': [],
    'joint_state_topic_hardware_interface': [],
    'mujoco_ros2_control': ['ros2_control_node'],
    'robot_state_publisher': ['robot_state_publisher'],
}
MANAGERS = {'controller_manager', 'mujoco_ros2_control'}
"""Packages that have a controller manager."""

JOINTS = [f'joint_{number}' for number in range(1, 7)]


def install(prefix, folder, packages):
    """Install the stand-ins of some packages."""
    for package in packages:
        add_package(prefix, package)
        for program in PROGRAMS[package]:
            text = f'import os, sys\nos.execv({sys.executable!r}, [{sys.executable!r}, '
            text += f'{str(STAND_IN)!r}, {program!r}, {str(folder)!r}, *sys.argv[1:]])'
            add_executable(prefix, package, program, text)


@pytest.fixture
def folder(prefix, tmp_path):
    """Install the stand-ins; return the folder that they write to."""
    folder = tmp_path / 'stand_in'
    folder.mkdir()
    (folder / 'joints.json').write_text(json.dumps(JOINTS))
    install(prefix, folder, PROGRAMS)
    return folder


def report(folder):
    """Return the last report of the hardware."""
    path = folder / 'report.json'
    return json.loads(path.read_text()) if path.exists() else {}


def answered(folder):
    """Return how many commands came since the effort controller was started."""
    found = report(folder)
    return found.get('commands', 0) - found.get('commands before', 0)


@pytest.mark.parametrize(
    ('hardware', 'package', 'plugin'),
    [
        ('mujoco', 'mujoco_ros2_control', 'mujoco_ros2_control/MujocoSystemInterface'),
        (
            'topic',
            'controller_manager',
            'joint_state_topic_hardware_interface/JointStateTopicSystem',
        ),
    ],
)
def test_the_arm_is_held_from_the_start(
    prefix, folder, environment, tmp_path, hardware, package, plugin
) -> None:
    """The description reaches the hardware, the effort controller is started once the node has
    answered, and the arm stays where it was from the first step on.
    """
    for other in MANAGERS - {package}:
        (prefix / 'lib' / other / 'ros2_control_node').unlink()
    file = tmp_path / 'mine.yaml'
    values = {'state_timeout': 30.0, 'jump_velocity': [0.0], 'backend': 'python'}
    file.write_text(yaml.safe_dump({'/**/computed_torque': {'ros__parameters': values}}))
    arguments = [f'hardware:={hardware}', f'params_file:={file}']
    if hardware == 'mujoco':
        arguments.append('initial_position:=0.1 -1.0 1.2 0.3 0.4 0.5')
    with LaunchProcess(LAUNCH_FILE, arguments, environment) as process:
        process.wait_until(lambda: answered(folder) >= 200, timeout=180.0)
    found = report(folder)
    assert answered(folder) >= 200, process.output
    assert found['plugin'] == plugin
    assert found['commands before'] > 0
    assert found['sag'] < 1e-3
    lines = (folder / 'started.jsonl').read_text().splitlines()
    started = [json.loads(line) for line in lines]
    assert {entry['program'] for entry in started} == {
        'robot_state_publisher',
        'ros2_control_node',
        'spawner',
    }
    spawned = [entry['arguments'][0] for entry in started if entry['program'] == 'spawner']
    assert spawned == ['joint_state_broadcaster', 'effort_controller']
    assert process.returncode == 0, process.output
    assert 'Traceback' not in process.output


@pytest.mark.parametrize(
    ('argument', 'reason'),
    [
        ('hardware:=gazebo', 'expected one of mujoco, topic'),
        ('headless:=maybe', 'argument headless:=maybe'),
        ('mjcf:=/nowhere.xml', 'expected a file, there is none'),
        ('initial_position:=1 2', 'initial_position: expected 6 numbers'),
        ('tip_link:=upper_arm', 'joints: expected those of the model'),
        ('leader:=perhaps', 'argument leader:=perhaps'),
        ('use_sim_time:=maybe', 'argument use_sim_time:=maybe'),
    ],
)
def test_an_argument_that_cannot_be_ends_the_launch(folder, environment, argument, reason) -> None:
    """By its name, before anything starts."""
    with LaunchProcess(LAUNCH_FILE, [argument], environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert reason in process.output
    assert 'process started' not in process.output
    assert process.returncode == 1


def test_states_by_the_topic_of_the_broadcaster_are_refused(folder, environment) -> None:
    """The hardware would take its own states for those of the arm."""
    arguments = ['hardware:=topic', 'namespace:=arm', 'joint_states_topic:=/arm/joint_states']
    with LaunchProcess(LAUNCH_FILE, arguments, environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert 'expected another topic than that which joint_state_broadcaster' in process.output
    assert 'process started' not in process.output


@pytest.mark.parametrize(
    ('topic', 'taken'),
    [
        ('/robot_joint_states', 'that of joint_commands_topic'),
        ('joint_states', 'that which joint_state_broadcaster publishes'),
    ],
)
def test_commands_by_a_topic_of_states_are_refused(folder, environment, topic, taken) -> None:
    """However it is written: commands would be taken for states."""
    arguments = ['hardware:=topic', f'joint_commands_topic:={topic}']
    with LaunchProcess(LAUNCH_FILE, arguments, environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert f'expected another topic than {taken}, got the same' in process.output
    assert 'process started' not in process.output


def test_commands_that_the_effort_controller_does_not_take_are_refused(
    folder, environment, tmp_path
) -> None:
    """It would never be started: the first command of its type never comes."""
    file = tmp_path / 'mine.yaml'
    file.write_text('/**:\n  ros__parameters: {command: {type: joint_state}}\n')
    with LaunchProcess(LAUNCH_FILE, [f'params_file:={file}'], environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert f'{file}: command.type: expected float64_multi_array' in process.output
    assert 'process started' not in process.output


@pytest.mark.parametrize(
    'values', [{'tip_link': 'upper_arm'}, {'locked_joints': {'names': ['joint_6']}}], ids=str
)
def test_the_joints_are_those_that_the_file_of_the_node_leaves(
    folder, environment, tmp_path, values
) -> None:
    """Its tip and its locked joints count as the argument does: the controller has others."""
    file = tmp_path / 'mine.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}))
    with LaunchProcess(LAUNCH_FILE, [f'params_file:={file}'], environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert 'effort_controller: joints: expected those of the model' in process.output
    assert 'process started' not in process.output


def test_a_node_that_refuses_the_arm_ends_everything(folder, environment, tmp_path) -> None:
    """What only the node can know, at the start: its reason is the last word."""
    file = tmp_path / 'mine.yaml'
    file.write_text('/**:\n  ros__parameters: {effort_limits: [1.0, 2.0], backend: python}\n')
    with LaunchProcess(LAUNCH_FILE, [f'params_file:={file}'], environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert 'not configured: effort_limits: expected 1 or 6 values' in process.output
    assert 'ending everything: computed_torque' in process.output


def test_packages_that_are_missing_are_named(prefix, environment, tmp_path) -> None:
    """Those of the hardware that was asked for, as Debian calls them; nothing is started."""
    install(prefix, tmp_path, ['controller_manager', 'joint_state_broadcaster'])
    with LaunchProcess(LAUNCH_FILE, ['hardware:=topic'], environment) as process:
        assert process.wait_until(lambda: not process.is_running)
    assert (
        'ros-$ROS_DISTRO-forward-command-controller '
        'ros-$ROS_DISTRO-joint-state-topic-hardware-interface '
        'ros-$ROS_DISTRO-robot-state-publisher'
    ) in process.output
    assert 'process started' not in process.output
