"""Every published form on robots from files."""

from __future__ import annotations

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError, MissingDependencyError, ModelError
from ne_dynamics.model.robot import Link, Robot, Transform
from ne_dynamics.papers import robots
from ne_dynamics.papers.forms import FORMULATIONS
from ne_dynamics.papers.studies import forms
from ne_dynamics.shipped import shipped_file

GENERAL = set(FORMULATIONS) - {'sasaki_symbolic'}

TREE = """<robot name="tree">
<link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="left" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="right" type="continuous"><parent link="base"/><child link="b"/></joint>
</robot>"""


@pytest.fixture(autouse=True)
def short_timing(monkeypatch):
    """Time three calls a form and simulate five steps."""
    monkeypatch.setattr(forms, 'TIMED_SECONDS', 0.0)
    monkeypatch.setattr(forms, 'SIMULATION_STEPS', 5)


def run(robot, **given):
    """Return the data of the study on a robot."""
    return forms.study(robot, forms.choose_motion(robot, **given))


def check(robot, names):
    """Assert that these forms agree with this package, strobing too, and others say why not."""
    data = run(robot).data
    assert set(data['forms']) == set(FORMULATIONS)
    for name, result in data['forms'].items():
        if name not in names:
            assert result['refused'], name
            continue
        assert result['disagreement'] <= 1e-9, name
        assert np.abs(np.array(result['efforts']) - data['efforts']).max() <= 1e-7
        assert result['as_written'][0] > result['skipping_zeros_and_ones'][0] > 0
    assert len(data['strobing']) == 6
    assert max(data['strobing'].values()) <= 1e-8
    return data


def test_the_shipped_urdf_runs_through_every_general_form():
    """A URDF with axes in other directions than z agrees in all forms but the array form."""
    data = check(ned.load_urdf(shipped_file('six_axis_arm.urdf')), GENERAL)
    assert any('half-way' in phrase for phrase in data['forms']['sasaki_symbolic']['refused'])


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_the_shipped_puma_runs_with_friction_and_rotors(convention):
    """Nothing has to be taken off the Puma: its drives are terms of their own, and not zero."""
    robot = ned.load_dh(shipped_file(f'puma560_{convention}_dh.yaml'))
    data = check(robot, GENERAL)
    assert np.abs(data['rotors']).min() > 0.0
    assert np.abs(data['friction']).min() > 0.0


def test_the_six_link_arm_of_000_runs_through_all_eight_forms():
    """In the frames of its file the arm is one that even the array form of 000 takes."""
    check(ned.load_dh(shipped_file('six_link_dh.yaml')), set(FORMULATIONS))


@pytest.mark.parametrize('make', [robots.ur5, robots.panda], ids=['UR5', 'Panda'])
def test_robots_of_example_robot_data_run(make):
    """UR5 and Panda agree in all forms but the array form."""
    try:
        robot = make().robot
    except MissingDependencyError as error:
        pytest.skip(str(error))
    check(robot, GENERAL)


def test_a_tree_is_said_for_every_form_and_its_efforts_are_given():
    """A tree is no failure: its efforts are there, and every form says what it would take."""
    robot = ned.load_urdf(TREE)
    report = run(robot, qd=[0.0, 0.0], qdd=[1.0, 2.0])
    assert report.data['efforts'] == pytest.approx([1.0, 2.0])
    for result in report.data['forms'].values():
        assert 'expected a chain, got a tree' in result['refused'][0]
    assert 'strobing' not in report.data
    assert report.text().count('not for this robot') == len(FORMULATIONS)


def test_a_sliding_joint_is_said_by_the_form_that_has_none():
    """The array form names the joint that slides; all others take it."""
    text = TREE.replace(
        '<parent link="base"/><child link="b"/>', '<parent link="a"/><child link="b"/>'
    )
    text = text.replace('name="right" type="continuous"', 'name="right" type="prismatic"')
    text = text.replace(
        '<child link="b"/>',
        '<child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/>',
    )
    data = check(ned.load_urdf(text), GENERAL)
    refused = data['forms']['sasaki_symbolic']['refused']
    assert "joint 'right': expected a revolute joint, got a prismatic one" in refused


def test_a_motion_is_taken_or_drawn_within_limits():
    """What is given is taken, the rest drawn by the seed, positions within the joint limits."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    motion = forms.choose_motion(robot, 3, qd=[0.0] * 6)
    assert not motion.qd.any()
    assert (motion.q >= [joint.lower for joint in robot.joints]).all()
    assert (motion.q <= [joint.upper for joint in robot.joints]).all()
    assert (motion.q == forms.choose_motion(robot, 3).q).all()
    assert (motion.q != forms.choose_motion(robot, 4).q).any()
    with pytest.raises(InputError, match='qdd: expected 6 numbers, one a joint, got 2'):
        forms.choose_motion(robot, qdd=[1.0, 2.0])
    with pytest.raises(InputError, match='q: expected finite numbers'):
        forms.choose_motion(robot, q=[float('nan')] * 6)


def test_a_robot_without_joints_is_refused():
    """There is nothing to compare."""
    robot = Robot('rock', (), (), (Link('base', -1, Transform.identity(), None),), 'base')
    with pytest.raises(ModelError, match='expected at least one joint that moves'):
        run(robot)
