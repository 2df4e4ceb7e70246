"""ros2_control.launch.py with stand-ins for ros2_control and its hardware."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip(
    'launch_ros', reason='launch_ros is missing: it comes with a ROS 2 installation, not from pip'
)
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from install_space import ROOT, add_stand_ins
from launch_process import LaunchProcess, refusal, write_parameters

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


@pytest.fixture
def folder(prefix, tmp_path):
    folder = tmp_path / 'stand_in'
    folder.mkdir()
    (folder / 'joints.json').write_text(json.dumps(JOINTS))
    add_stand_ins(prefix, PROGRAMS, STAND_IN, folder)
    return folder


def report(folder):
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
    values = {'state_timeout': 30.0, 'jump_velocity': [0.0], 'backend': 'python'}
    file = write_parameters(tmp_path / 'mine.yaml', values, '/**/computed_torque')
    arguments = [f'hardware:={hardware}', file]
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


OF_STATES = (
    'expected another topic than that which joint_state_broadcaster publishes, got the same'
)
REFUSED: list[tuple[list[str], str]] = [
    (['hardware:=gazebo'], 'expected one of mujoco, topic'),
    (['headless:=maybe'], 'argument headless:=maybe'),
    (['mjcf:=/nowhere.xml'], 'expected a file, there is none'),
    (['initial_position:=1 2'], 'initial_position: expected 6 numbers'),
    (['tip_link:=upper_arm'], 'joints: expected those of the model'),
    (['leader:=perhaps'], 'argument leader:=perhaps'),
    (['use_sim_time:=maybe'], 'argument use_sim_time:=maybe'),
    # The hardware would take its own states for those of the arm, or commands for states.
    (
        ['hardware:=topic', 'namespace:=arm', 'joint_states_topic:=/arm/joint_states'],
        OF_STATES,
    ),
    (
        ['hardware:=topic', 'joint_commands_topic:=/robot_joint_states'],
        'expected another topic than that of joint_commands_topic, got the same',
    ),
    (['hardware:=topic', 'joint_commands_topic:=joint_states'], OF_STATES),
]


@pytest.mark.parametrize(('arguments', 'reason'), REFUSED, ids=lambda value: value[-1][:30])
def test_an_argument_that_cannot_be_ends_the_launch(
    folder, environment, arguments, reason
) -> None:
    """By its name, before anything starts."""
    assert reason in refusal(LAUNCH_FILE, environment, *arguments)


@pytest.mark.parametrize(
    ('values', 'reason'),
    [
        # It would never be started: the first command of its type never comes.
        ({'command': {'type': 'joint_state'}}, 'command.type: expected float64_multi_array'),
        # The controller has others than the file of the node leaves.
        ({'tip_link': 'upper_arm'}, 'effort_controller: joints: expected those of the model'),
        ({'locked_joints': {'names': ['joint_6']}}, 'effort_controller: joints: expected'),
    ],
    ids=str,
)
def test_a_file_of_the_node_that_the_controller_does_not_fit_ends_the_launch(
    folder, environment, tmp_path, values, reason
) -> None:
    argument = write_parameters(tmp_path / 'mine.yaml', values)
    assert reason in refusal(LAUNCH_FILE, environment, argument)


def test_a_node_that_refuses_the_arm_ends_everything(folder, environment, tmp_path) -> None:
    """What only the node can know, at the start: its reason is the last word."""
    values = {'effort_limits': [1.0, 2.0], 'backend': 'python'}
    argument = write_parameters(tmp_path / 'mine.yaml', values)
    output = refusal(LAUNCH_FILE, environment, argument, starts=True)
    assert 'not configured: effort_limits: expected 1 or 6 values' in output
    assert 'ending everything: computed_torque' in output


def test_packages_that_are_missing_are_named(prefix, environment, tmp_path) -> None:
    """Those of the hardware that was asked for, as Debian calls them; nothing is started."""
    packages = 'controller_manager', 'joint_state_broadcaster'
    programs = {package: PROGRAMS[package] for package in packages}
    add_stand_ins(prefix, programs, STAND_IN, tmp_path)
    assert (
        'ros-$ROS_DISTRO-forward-command-controller '
        'ros-$ROS_DISTRO-joint-state-topic-hardware-interface '
        'ros-$ROS_DISTRO-robot-state-publisher'
    ) in refusal(LAUNCH_FILE, environment, 'hardware:=topic')
