"""A DH file says what its documented schema says, and nothing else gets through."""

from __future__ import annotations

import copy
import random
import re

import numpy as np
import pytest
import yaml

from ne_dynamics.errors import ModelError
from ne_dynamics.model import dh
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.robot import JointType

GOOD = """
name: test_arm
convention: standard
angle_unit: rad
base: {xyz: [0.1, 0.0, 0.2], rpy: [0.0, 0.0, 0.5]}
tool: {xyz: [0.0, 0.0, 0.05]}
joints:
  - name: turn
    d: 0.3
    a: 0.2
    alpha: 0.4
    offset: 0.1
    limits: {lower: -1.0, upper: 1.0, velocity: 2.0, effort: 30.0}
    mass: 2.0
    center_of_mass: [0.1, 0.0, 0.02]
    inertia: [0.02, 0.03, 0.04]
    viscous_friction: 0.5
    coulomb_friction: 0.25
    rotor_inertia: 1.0e-4
    gear_ratio: -50.0
  - name: slide
    type: prismatic
    theta: 0.3
    d: 0.1
    offset: 0.05
    a: 0.02
    alpha: -0.6
    mass: 1.5
    center_of_mass: [0.0, 0.1, 0.0]
    inertia: {ixx: 0.02, iyy: 0.03, izz: 0.04, ixy: 0.001, ixz: -0.002, iyz: 0.003}
  - name: spin
    type: continuous
    theta: 0.2
"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a DH file and returns its path."""

    def writer(content):
        path = tmp_path / 'arm.yaml'
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding='utf-8')
        else:
            path.write_text(yaml.safe_dump(content), encoding='utf-8')
        return path

    return writer


def test_everything_in_the_file_arrives(write):
    robot = load_dh(write(GOOD))
    assert robot.name == 'test_arm'
    assert robot.joint_names == ('turn', 'slide', 'spin')
    assert (robot.base_link, robot.tip_link) == ('base', 'tool')
    turn, slide, spin = robot.joints
    assert (turn.lower, turn.upper, turn.velocity_limit, turn.effort_limit) == (-1, 1, 2, 30)
    assert (turn.viscous_friction, turn.coulomb_friction) == (0.5, 0.25)
    assert turn.reflected_inertia == pytest.approx(0.25)
    assert slide.type is JointType.PRISMATIC
    assert (slide.lower, slide.upper, slide.effort_limit) == (-np.inf, np.inf, np.inf)
    assert spin.type is JointType.CONTINUOUS
    inertia = robot.link('link_1').inertia
    assert inertia.mass == 2.0
    np.testing.assert_array_equal(inertia.center_of_mass, (0.1, 0.0, 0.02))
    np.testing.assert_array_equal(inertia.inertia_about_com, np.diag((0.02, 0.03, 0.04)))
    np.testing.assert_array_equal(
        robot.link('link_2').inertia.inertia_about_com,
        [[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]],
    )
    assert not robot.link('link_3').has_inertial
    assert robot.source.endswith('arm.yaml')


def test_defaults(write):
    robot = load_dh(write({'convention': 'modified', 'joints': [{}, {'mass': 1}]}))
    assert robot.name == 'arm'
    assert robot.joint_names == ('joint_1', 'joint_2')
    assert robot.tip_link == 'link_2'
    assert robot.joints[0].type is JointType.REVOLUTE
    assert robot.joints[0].gear_ratio == 1.0
    assert [item.code for item in robot.findings] == ['inertia-missing']


def test_quarter_turns_in_degrees_are_exact(write):
    """In degrees, a multiple of 90 leaves no 6e-17 behind; radians stay what they are."""
    rows = [{'alpha': angle, 'offset': angle} for angle in (90, -90, 180, 270, -450, 0)]
    document = {'convention': 'modified', 'angle_unit': 'deg', 'joints': rows}
    robot = load_dh(write(document | {'base': {'rpy': [90, -90, 180]}}))
    for body in robot.bodies:
        assert np.isin(body.pose_in_parent.rotation, (-1.0, 0.0, 1.0)).all()
    robot = load_dh(write({'convention': 'modified', 'joints': [{'alpha': 1.5707963}]}))
    assert robot.bodies[0].pose_in_parent.rotation[1, 1] == np.cos(1.5707963)


def test_schema_in_the_docstring_names_every_key():
    documented = set(re.findall(r'^``(\w+)``', dh.__doc__, re.MULTILINE))
    assert documented == {*dh._TOP_KEYS, *dh._JOINT_KEYS}


CASES = {
    'malformed YAML': ('name: test_arm', 'name: [test_arm', 'malformed YAML'),
    'not a mapping': (GOOD, '- 1\n- 2\n', 'expected a mapping'),
    'a text': (GOOD, 'puma', 'expected a mapping'),
    'alias': ('name: test_arm', 'name: &a test_arm\nx: *a', r'aliases.*\*a in line 3'),
    'duplicate key': ('convention: standard', 'convention: standard\nname: x', "'name'.*twice"),
    'unknown key': ('name: test_arm', 'nam: test_arm', "unknown key 'nam'; .*convention"),
    'unknown joint key': ('d: 0.3', 'D: 0.3', r"joints\[0\]: unknown key 'D'; .*alpha"),
    'unknown limit key': ('velocity:', 'speed:', "'turn': limits: unknown key 'speed'"),
    'no convention': ('convention: standard', '', "expected the key 'convention'"),
    'unknown convention': ('standard', 'craig', "convention: .*standard, modified, got 'craig'"),
    'unknown unit': ('angle_unit: rad', 'angle_unit: grad', "angle_unit: .*rad, deg, got 'grad'"),
    'no joints': (GOOD[GOOD.index('joints') :], 'joints: []', 'joints: expected a list'),
    'joints missing': (GOOD[GOOD.index('joints') :], '', "expected the key 'joints'"),
    'joints a mapping': (GOOD[GOOD.index('joints') :], 'joints: {a: 1}', 'joints: expected a'),
    'joint not a mapping': ('joints:', 'joints:\n  - 3', r'joints\[0\]: expected a mapping'),
    'duplicate joint': ('name: slide', 'name: turn', r"joint 'turn': the name is used twice"),
    'empty name': ('name: turn', "name: ''", r'joints\[0\]: name: expected a name'),
    'number as name': ('name: turn', 'name: 1', r'joints\[0\]: name: expected a name, got 1'),
    'unknown type': ('type: prismatic', 'type: screw', "'slide': type: .*got 'screw'"),
    'word as number': ('d: 0.3', 'd: long', "'turn': d: expected a number, got 'long'"),
    'NaN': ('d: 0.3', 'd: .nan', "'turn': d: expected a finite number, got nan"),
    'NaN limit': ('effort: 30.0', 'effort: .nan', "'turn': limits: effort: .*finite"),
    'limits crossed': ('lower: -1.0', 'lower: 2.0', r"'turn': .*lower <= upper"),
    'limits of a continuous joint': (
        'type: continuous',
        'type: continuous\n    limits: {lower: 0}',
        "'spin': limits: a continuous joint",
    ),
    'NaN mass': ('mass: 2.0', 'mass: .nan', "'turn': mass: .*finite"),
    'no mass': ('mass: 2.0', '', "'turn': mass: expected a number beside center_of_mass"),
    'short centre of mass': ('[0.1, 0.0, 0.02]', '[0.1, 0.0]', "'turn': center_of_mass: .*3"),
    'NaN centre of mass': ('[0.1, 0.0, 0.02]', '[0.1, .nan, 0]', r'center_of_mass\[1\]: .*finite'),
    'six numbers': ('[0.02, 0.03, 0.04]', '[1, 1, 1, 0, 0, 0]', "'turn': inertia: expected"),
    'inertia a number': ('[0.02, 0.03, 0.04]', '1.0', "'turn': inertia: expected"),
    'NaN inertia': ('[0.02, 0.03, 0.04]', '[.nan, 1, 1]', r"'turn': inertia\[0\]: .*finite"),
    'inertia not symmetric': (
        '[0.02, 0.03, 0.04]',
        '[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]',
        "'turn': .*symmetric",
    ),
    'inertia entry missing': ('ixx: 0.02, ', '', "'slide': inertia: expected the key 'ixx'"),
    'inertia entry unknown': ('ixx:', 'Ixx:', "'slide': inertia: unknown key 'Ixx'"),
    'negative friction': (
        'viscous_friction: 0.5',
        'viscous_friction: -1',
        "'turn': viscous.*>= 0",
    ),
    'NaN gear': ('gear_ratio: -50.0', 'gear_ratio: .nan', "'turn': gear_ratio: .*finite"),
    'unknown pose key': ('{xyz: [0.0', '{position: [0.0', "tool: unknown key 'position'"),
    'NaN pose': ('[0.1, 0.0, 0.2]', '[0.1, .nan, 0.2]', r'base: xyz\[1\]: .*finite'),
    'pose not a mapping': ('tool: {xyz: [0.0, 0.0, 0.05]}', 'tool: 3', 'tool: expected a mapping'),
    'long number': ('d: 0.3', 'd: ' + '1' * 10_000, 'YAML|finite'),
}


@pytest.mark.parametrize('case', CASES)
def test_fault_is_named(case, write):
    """The message begins with the file, once, and names joint, key and value.

    YAML and its numbers are read as those of extras are, see `test_extras.py`.
    """
    old, new, message = CASES[case]
    assert old in GOOD
    path = str(write(GOOD.replace(old, new, 1)))
    with pytest.raises(ModelError, match=message) as caught:
        load_dh(path)
    assert str(caught.value).count(path) == 1
    assert str(caught.value).startswith(f'{path}: ')


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (b'', 'empty file'),
        (b'\xff\xff\x00', 'malformed YAML'),
        (b'name: \x00', 'malformed YAML'),
        (b'<robot name="x"/>', 'got XML; use load_urdf'),
        (b'# long\n' * 200_000, 'at most'),
        (b'null', 'got nothing'),
    ],
)
def test_content_that_is_no_dh_file(content, message, write):
    with pytest.raises(ModelError, match=message):
        load_dh(write(content))


@pytest.mark.filterwarnings('error')
def test_mutations_give_a_robot_or_a_model_error(write):
    """However the values of a DH file are damaged: a robot that can be checked, or ModelError."""
    chance = random.Random(5)
    values = [None, True, 'x', '', -1, 0, 1e300, 1e-300, float('nan'), float('inf'), [], {}]
    outcomes = {True: 0, False: 0}
    for _ in range(100):
        document = copy.deepcopy(yaml.safe_load(GOOD))
        target = document
        while True:
            key = chance.choice(list(target) if isinstance(target, dict) else range(len(target)))
            if (
                not target[key]
                or not isinstance(target[key], (dict, list))
                or chance.random() < 0.1
            ):
                break
            target = target[key]
        target[key] = chance.choice(values)
        try:
            check_robot(load_dh(write(document)))
            outcomes[True] += 1
        except ModelError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 10
