"""`ne_dynamics setup` writes a package that says of an arm what its URDF says."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from brought_up_arms import ARMS, find_arm

import ne_dynamics as ned
from ne_dynamics.bring_up import BroughtUpArm, render_package
from ne_dynamics.bring_up.package import render_file
from ne_dynamics.cli.main import main
from ne_dynamics.ros.settings.parameter_file import read_parameters
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.simulation.robot_parameters import PARAMETERS as ROBOT_PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'config/six_axis_arm.urdf'


@pytest.fixture(params=ARMS)
def written(request, tmp_path, capsys):
    """Return the package that was written for an arm, and its robot."""
    model, options = find_arm(request.param)
    folder = tmp_path / 'my_arm_bringup'
    assert main(['setup', str(model), *options, '-o', str(folder)]) == 0
    shown = capsys.readouterr().out
    assert 'ros2 launch my_arm_bringup simulation.launch.py' in shown
    given = dict(zip(options[::2], options[1::2], strict=True))
    lock = given.get('--lock')
    locked = {lock.partition('=')[0]: float(lock.partition('=')[2])} if lock else None
    robot = ned.load_urdf(model, given.get('--base-link'), given['--tip-link'], locked)
    return folder, robot


def test_the_tip_that_is_said_is_the_one_that_is_written(tmp_path, capsys):
    folder = tmp_path / 'arm_bringup'
    assert main(['setup', str(ARM), '-o', str(folder)]) == 0
    values = read_parameters(folder / 'config/computed_torque.params.yaml', '/computed_torque')
    assert values['tip_link'] == 'tcp'
    assert 'tip tcp\n' in capsys.readouterr().out


def test_the_parameter_files_are_those_of_the_arm(written):
    folder, robot = written
    for file, node, table in (
        ('computed_torque.params.yaml', '/computed_torque', PARAMETERS),
        ('simulated_robot.params.yaml', '/simulated_robot', ROBOT_PARAMETERS),
    ):
        values = read_parameters(folder / 'config' / file, node)
        for name, value in values.items():
            table.find(name).check(value)
        locked = dict(
            zip(
                values.get('locked_joints.names', ()),
                values.get('locked_joints.positions', ()),
                strict=True,
            )
        )
        loaded = ned.load_urdf(
            folder / 'urdf/arm.urdf', values['base_link'], values['tip_link'], locked or None
        )
        assert list(loaded.joint_names) == values['joints'] == list(robot.joint_names)
    limits = read_parameters(
        folder / 'config/computed_torque.params.yaml', '/computed_torque'
    ).get('effort_limits')
    assert limits == [joint.effort_limit for joint in robot.joints]


def test_controllers_and_layouts_name_the_joints(written):
    folder, robot = written
    names = list(robot.joint_names)
    controllers = yaml.safe_load((folder / 'config/controllers.yaml').read_text())
    assert controllers['/**/effort_controller']['ros__parameters'] == {
        'joints': names,
        'interface_name': 'effort',
    }
    moveit = yaml.safe_load((folder / 'config/moveit_controllers.yaml').read_text())
    assert moveit['moveit_simple_controller_manager']['computed_torque']['joints'] == names
    curves = ElementTree.parse(folder / 'config/plotjuggler.xml').getroot().iter('curve')
    assert {curve.get('name').split('/')[-2] for curve in curves} == set(names)
    layout = json.loads((folder / 'config/foxglove.json').read_text())
    paths = layout['configById']['Plot!position0']['paths']
    assert [path['label'] for path in paths] == names
    rviz = yaml.safe_load((folder / 'config/arm.rviz').read_text())
    frame = rviz['Visualization Manager']['Global Options']['Fixed Frame']
    assert frame == robot.base_link


@pytest.mark.parametrize(
    ('shipped', 'name'),
    [
        ('plotjuggler.xml', 'plotjuggler.xml'),
        ('foxglove.json', 'foxglove.json'),
        ('six_axis_arm.rviz', 'arm.rviz'),
    ],
)
def test_shipped_layouts_are_made_of_the_same_templates(shipped, name):
    robot = ned.load_urdf(ARM)
    arm = BroughtUpArm('arm', robot, ARM.read_text(), 'tcp')
    assert render_file(f'config/{name}', arm) == (ROOT / 'config' / shipped).read_text()


def test_the_example_motion_goes_away_from_the_nearer_limit():
    """By 0.2 rad, or half of the way to the farther limit where that is less."""
    robot = ned.load_urdf(ARM)
    limits = {'joint_2': (-2.0, 0.1), 'joint_3': (-0.1, 0.3)}
    joints = tuple(
        replace(joint, **dict(zip(('lower', 'upper'), limits[joint.name], strict=True)))
        if joint.name in limits
        else joint
        for joint in robot.joints
    )
    arm = BroughtUpArm('arm', replace(robot, joints=joints), ARM.read_text(), 'tcp')
    ways = dict(zip(robot.joint_names, np.subtract(arm.target, arm.start), strict=True))
    assert [ways[name] for name in limits] == pytest.approx([-0.2, 0.15])
    assert all(abs(way) == pytest.approx(0.2) for name, way in ways.items() if name != 'joint_3')


HOSTILE = 'j: "1" </a> \\ {{ 7 * 7 }} # é'


def test_names_from_outside_stay_names():
    text = ARM.read_text().replace('"joint_1"', f"'{HOSTILE.replace('<', '&lt;')}'")
    robot = ned.load_urdf(text)
    assert robot.joint_names[0] == HOSTILE
    texts = render_package(BroughtUpArm('arm', robot, text, 'tcp'))
    files = [yaml.safe_load(texts[f'config/{name}']) for name in ('controllers.yaml',)]
    assert files[0]['/**/effort_controller']['ros__parameters']['joints'][0] == HOSTILE
    parameters = yaml.safe_load(texts['config/computed_torque.params.yaml'])
    assert parameters['/**/computed_torque']['ros__parameters']['joints'][0] == HOSTILE
    layout = json.loads(texts['config/foxglove.json'])
    assert layout['configById']['Plot!effort2']['paths'][0]['label'] == HOSTILE
    curve = next(ElementTree.fromstring(texts['config/plotjuggler.xml'].encode()).iter('curve'))
    assert curve.get('name') == f'/joint_states/{HOSTILE}/position'


def test_a_missing_effort_interface_is_named(tmp_path, capsys):
    joints = ''.join(
        f'<joint name="joint_{number}"><command_interface name="{kind}"/></joint>'
        for number, kind in enumerate(['position', *['effort'] * 5], 1)
    )
    tag = f'<ros2_control name="arm" type="system">{joints}</ros2_control></robot>'
    model = tmp_path / 'arm.urdf'
    model.write_text(ARM.read_text().replace('</robot>', tag))
    assert main(['setup', str(model), '-o', str(tmp_path / 'arm_bringup')]) == 0
    assert 'no command interface effort in <ros2_control>: joint_1\n' in capsys.readouterr().out
    assert '<ros2_control>`: joint_1.**' in (tmp_path / 'arm_bringup/README.md').read_text()


@pytest.mark.parametrize(
    ('folder', 'options', 'reason'),
    [
        ('My-Arm', [], 'package name: expected lower-case letters'),
        ('full', [], 'expected a new or empty folder'),
        ('arm_bringup', ['--tip-link', 'nothing'], "expected a link of the robot, got 'nothing'"),
    ],
)
def test_nothing_is_written_over_or_half(folder, options, reason, tmp_path, capsys):
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full/file').touch()
    arguments = ['setup', str(ARM), *options, '-o', str(tmp_path / folder)]
    assert main(arguments) == 1
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob('*')].count('package.xml') == 0


def test_a_tip_is_proposed_where_the_tree_has_several_ends(capsys, tmp_path):
    model, _ = find_arm('TIAGo')
    assert main(['setup', str(model), '-o', str(tmp_path / 'tiago_bringup')]) == 1
    error = capsys.readouterr().err
    assert '--tip-link: expected one of ' in error
    assert 'arm_tool_link' in error or 'hand_' in error


@pytest.mark.kept(1)
def test_colcon_builds_it(written):
    pytest.importorskip('colcon_core', reason='colcon is missing')
    folder, _ = written
    ended = subprocess.run(
        [sys.executable, '-m', 'colcon', 'build', '--base-paths', folder.name],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    share = folder.parent / 'install/my_arm_bringup/share/my_arm_bringup'
    for path in ('package.xml', 'launch/simulation.launch.py', 'urdf/arm.urdf'):
        assert (share / path).is_file()
