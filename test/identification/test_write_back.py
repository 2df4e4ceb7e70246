"""A robot written back into the text of its URDF: its numbers, and nothing else."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.identification.regression.lumped_inertia import with_body_inertias
from ne_dynamics.identification.regression.pseudo_inertia import (
    inertia_of,
    is_body,
    pseudo_inertia,
)
from ne_dynamics.identification.writing.write_back import write_urdf
from ne_dynamics.model.description_file import read_text
from ne_dynamics.model.rigid_body import Inertia

ARM = Path(__file__).resolve().parents[2] / 'config' / 'six_axis_arm.urdf'

SMALL = """<?xml version="1.0" encoding="utf-8"?>
<!-- <mass value="1"/> in a comment, ümlaut -->
<robot name='small'>
  <link name="base"/>
  <joint name="swing" type="revolute"><!-- no dynamics -->
    <parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <link name='arm'>
    <visual><origin xyz="9 9 9"/><geometry><box size="1 1 1"/></geometry></visual>
    <inertial>
      <mass
        value = '2.0'
      />
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="glue" type="fixed"><parent link="arm"/><child link="hand"/>
    <origin xyz="0 0 0.5" rpy="0 0.3 0"/></joint>
  <link name="hand"><inertial><origin rpy="0.1 0 0" xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="slide" type="prismatic">
    <parent link="hand"/><child link="finger"/>
    <axis xyz="1 0 0"/>
    <limit lower="0" upper="1" effort="9" velocity="9"/>
    <dynamics damping="1" friction="2"/>
  </joint>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="follow" type="prismatic">
    <parent link="hand"/><child link="thumb"/>
    <axis xyz="-1 0 0"/>
    <limit lower="0" upper="1" effort="9" velocity="9"/>
    <mimic joint="slide" multiplier="2"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <link name="thumb"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <gazebo reference="arm"><mu1>0.2</mu1></gazebo>
</robot>
"""


def moved(robot, seed):
    """Return new inertias for all bodies of a robot, each one of a body that can exist."""
    rng = np.random.default_rng(seed)
    inertias = {}
    for index, body in enumerate(robot.bodies):
        pseudo = pseudo_inertia(body.inertia.parameters)
        segment = np.eye(4) + 0.1 * rng.standard_normal((4, 4))
        inertias[index] = inertia_of(segment @ pseudo @ segment.T)
    return inertias


def same_numbers(left, right):
    """Tell whether two robots have the same inertias and friction, but for printed digits."""
    for one, other in zip(left.bodies, right.bodies, strict=True):
        size = np.abs(other.inertia.parameters).max()
        if np.abs(one.inertia.parameters - other.inertia.parameters).max() > 1e-8 * size:
            return False
    return all(
        np.allclose(left.limits(key), right.limits(key), rtol=1e-8, atol=0.0)
        for key in ('viscous_friction', 'coulomb_friction')
    )


def without_numbers(text):
    """Return the text with the numbers of inertials and dynamics blotted out."""
    blotted = re.sub(
        r'<inertial>.*?</inertial>',
        lambda match: re.sub(r'"[^"]*"|\'[^\']*\'', '""', match.group()),
        text,
        flags=re.DOTALL,
    )
    return re.sub(r'<dynamics\b[^>]*>', '<dynamics>', blotted)


def with_friction(robot, viscous, coulomb):
    """Return the robot with other friction."""
    joints = [
        replace(joint, viscous_friction=v, coulomb_friction=c)
        for joint, v, c in zip(robot.joints, viscous, coulomb, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize('tip', ['tcp', None])
def test_arm_reloads_as_written(tip):
    """The arm comes back with the numbers it was given; all other text is as it was."""
    text, _ = read_text(ARM)
    robot = ned.load_urdf(ARM, tip_link=tip)
    robot = with_friction(robot, np.arange(1.0, 7.0) / 3.0, np.arange(2.0, 8.0) / 7.0)
    robot = with_body_inertias(robot, moved(robot, 1))
    written = write_urdf(text, robot)
    assert same_numbers(ned.load_urdf(written, tip_link=tip), robot)
    assert written != text
    assert without_numbers(written) == without_numbers(text)
    for tag in ('inertial', 'visual', 'dynamics', '<!--'):
        assert written.count(tag) == text.count(tag)


def test_unchanged_robot_gives_the_same_text():
    """A robot that nothing happened to is written as the very text it came from."""
    text, _ = read_text(ARM)
    assert write_urdf(text, ned.load_urdf(ARM, tip_link='tcp')) == text
    assert write_urdf(SMALL, ned.load_urdf(SMALL)) == SMALL


def test_only_what_moved_changes():
    """One joint's friction is one line of the file."""
    text, _ = read_text(ARM)
    robot = ned.load_urdf(ARM)
    coulomb = [0.0, 0.0, 1.25, 0.0, 0.0, 0.0]
    written = write_urdf(
        text, with_friction(robot, robot.joint_values('viscous_friction'), coulomb)
    )
    changes = [
        line for line in difflib.ndiff(text.splitlines(), written.splitlines()) if line[0] in '+-'
    ]
    assert changes == [
        '-     <dynamics damping="0.3" friction="0.0"/>',
        '+     <dynamics damping="0.3" friction="1.25"/>',
    ]


@pytest.mark.parametrize('line_end', ['\n', '\r\n'])
@pytest.mark.parametrize('mark', ['', '\ufeff'])
def test_missing_elements_are_added(line_end, mark):
    """Origin and dynamics are added where they are missing; quotes, spaces, line ends stay."""
    text = mark + SMALL.replace('\n', line_end)
    robot = ned.load_urdf(text, tip_link='hand')
    robot = with_friction(with_body_inertias(robot, moved(robot, 2)), [0.7], [0.9])
    written = write_urdf(text, robot)
    assert same_numbers(ned.load_urdf(written, tip_link='hand'), robot)
    assert written.startswith(mark)
    assert f'<dynamics damping="0.7" friction="0.9"/>{line_end}    <parent' in written
    assert written.count(line_end) == written.count('\n')
    assert '<!-- <mass value="1"/> in a comment, ümlaut -->' in written
    assert '<origin xyz="9 9 9"/>' in written
    assert "value = '" in written
    kept = [line for line in text.splitlines() if 'gazebo' in line or 'visual' in line]
    assert all(line in written.splitlines() for line in kept)


def test_quaternion_of_an_inertial_is_kept():
    """The tensor is written in the axes that a quat_xyzw turns, of whatever length."""
    text = SMALL.replace("<robot name='small'>", "<robot name='small' version='1.1'>").replace(
        '<inertial>\n      <mass',
        '<inertial>\n      <origin quat_xyzw="0.1 -0.6 0.4 1.3" xyz="0 0 0.2"/><mass',
    )
    robot = ned.load_urdf(text, tip_link='hand')
    robot = with_body_inertias(robot, moved(robot, 4))
    written = write_urdf(text, robot)
    assert same_numbers(ned.load_urdf(written, tip_link='hand'), robot)
    assert 'quat_xyzw="0.1 -0.6 0.4 1.3"' in written


def test_friction_of_joints_that_mimic():
    """The joint takes the difference; when its followers have more already, all shrink alike."""
    robot = ned.load_urdf(SMALL)
    assert robot.joint_names == ('swing', 'slide')
    assert robot.joint_values('viscous_friction').tolist() == [0.0, 3.0]
    for viscous, coulomb in ((4.5, 3.0), (1.5, 0.25), (0.0, 0.0)):
        wanted = with_friction(robot, [0.0, viscous], [0.0, coulomb])
        written = write_urdf(SMALL, wanted)
        assert same_numbers(ned.load_urdf(written), wanted)
        assert without_numbers(written) == without_numbers(SMALL)


def test_lumped_links_add_up_to_the_body():
    """The link at the joint takes the difference when it can; the sum is the body's either way."""
    robot = ned.load_urdf(SMALL, tip_link='hand')
    body = robot.bodies[0].inertia
    heavier = body + Inertia(0.5, np.array([0.1, 0.0, 0.1]), 0.01 * np.eye(3))
    result = with_body_inertias(robot, {0: heavier})
    assert np.allclose(result.bodies[0].inertia.parameters, heavier.parameters, atol=1e-12)
    assert result.link('hand') is robot.link('hand')
    assert result.link('arm').inertia.mass == pytest.approx(2.5)
    # Lighter than the hand alone: then every link gives its part.
    lighter = inertia_of(0.2 * pseudo_inertia(body.parameters))
    result = with_body_inertias(robot, {0: lighter})
    assert np.allclose(result.bodies[0].inertia.parameters, lighter.parameters, atol=1e-12)
    for name in ('arm', 'hand'):
        assert is_body(pseudo_inertia(result.link(name).inertia.parameters))
        assert result.link(name).inertia.mass == pytest.approx(0.2 * robot.link(name).inertia.mass)


def test_heaviest_link_takes_the_difference_of_an_empty_one():
    """A link without inertial gets none: the heaviest link fixed to it carries the change."""
    text = re.sub(r'(<link name=\'arm\'>.*?)<inertial>.*?</inertial>', r'\1', SMALL, flags=re.S)
    robot = ned.load_urdf(text, tip_link='hand')
    result = with_body_inertias(robot, moved(robot, 3))
    assert not result.link('arm').has_inertial
    assert same_numbers(ned.load_urdf(write_urdf(text, result), tip_link='hand'), result)


def test_refusals():
    """A link without inertial to write to, and a text of another robot, are refused by name."""
    robot = ned.load_urdf(SMALL)
    with pytest.raises(ModelError, match=r"link 'base': expected an <inertial> to write to"):
        write_urdf(
            SMALL,
            robot.with_links(
                replace(link, inertia=Inertia(1.0, np.zeros(3), np.eye(3)))
                if link.name == 'base'
                else link
                for link in robot.links
            ),
        )
    with pytest.raises(ModelError, match='hand'):
        write_urdf(SMALL.replace('"hand"', '"fist"'), robot)


def test_encodings(tmp_path):
    """The encoding that a file declares is the one it is read in."""
    for encoding in ('utf-8', 'latin-1', 'utf-16'):
        path = tmp_path / f'{encoding}.urdf'
        text = SMALL.replace('encoding="utf-8"', f'encoding="{encoding}"')
        path.write_bytes(text.encode(encoding))
        assert read_text(path) == (text, encoding)
    (tmp_path / 'bad.urdf').write_bytes(b'<?xml version="1.0" encoding="nope"?><robot/>')
    with pytest.raises(ModelError, match='expected a text in nope'):
        read_text(tmp_path / 'bad.urdf')
