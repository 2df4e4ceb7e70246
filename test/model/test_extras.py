"""Friction and drives of joints from YAML beside the URDF."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.extras import JOINT_KEYS, LARGEST_EXTRAS_FILE
from ne_dynamics.model.friction import FrictionModel

LIMIT, RUBS = limit_xml(-1, 1, 9, 2), '<dynamics friction="1"/>'
URDF = robot_xml(
    'base',
    *map(link_xml, 'abcd'),
    joint_xml('j_a', 'base', 'a', inside=LIMIT + '<dynamics damping="0.5" friction="0.25"/>'),
    joint_xml('j_b', 'a', 'b', 'continuous', LIMIT + '<dynamics damping="0.125"/>'),
    joint_xml(
        'j_c',
        'b',
        'c',
        inside=LIMIT + '<mimic joint="j_b" multiplier="2"/><dynamics friction="1"/>',
    ),
    joint_xml('j_d', 'c', 'd', 'fixed'),
)
TEXT = """
joints:
  j_a:
    viscous_friction: 0.75
    rotor_inertia: 1e-4
    gear_ratio: 100
    static_friction: 0.5
    stribeck_velocity: 0.1
  j_b: {friction_offset: -0.5, smoothing_velocity: 0.01}
"""
FRICTION_OF_A = FrictionModel(0.5, 0.1)


@pytest.fixture
def urdf(tmp_path):
    """Return the path of a URDF that has nothing beside it."""
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF, encoding='utf-8')
    return path


@pytest.fixture
def beside(urdf):
    """Return the path of extras beside the URDF."""
    path = urdf.with_name('arm.extras.yaml')
    path.write_text(TEXT, encoding='utf-8')
    return path


def infos(robot):
    """Return what the loader says of extras."""
    return [item for item in robot.findings if item.code.startswith('extras')]


@pytest.mark.parametrize('load', [ned.load_urdf, ned.load_model])
def test_a_file_beside_the_urdf_is_read(urdf, beside, load):
    """Numbers that it gives take the place of the URDF's, the others stay; a finding says so."""
    a, b = load(urdf).joints
    assert (a.viscous_friction, a.coulomb_friction) == (0.75, 0.25)
    assert (a.rotor_inertia, a.gear_ratio) == (1e-4, 100.0)
    assert a.friction == FRICTION_OF_A
    assert b.friction == FrictionModel(smoothing_velocity=0.01, friction_offset=-0.5)
    assert (b.viscous_friction, b.coulomb_friction) == (0.125, 2.0)
    assert load(str(urdf)).joints[0].friction == FRICTION_OF_A
    (finding,) = infos(load(urdf))
    assert (finding.severity, finding.code) == ('info', 'extras-read')
    assert str(beside) in finding.message
    assert 'j_a, j_b' in finding.message


@pytest.mark.parametrize('name', ['arm.extras.yml', 'arm.urdf.extras.yaml', 'arm.urdf.extras.yml'])
@pytest.mark.parametrize('has_right_one', [False, True])
def test_a_file_of_another_name_beside_the_urdf_is_a_finding(urdf, name, has_right_one):
    if has_right_one:
        urdf.with_name('arm.extras.yaml').write_text(TEXT, encoding='utf-8')
    urdf.with_name(name).write_text(TEXT, encoding='utf-8')
    for given in (urdf, str(urdf)):
        robot = ned.load_urdf(given)
        (finding,) = [item for item in robot.findings if item.code == 'extras-misnamed']
        assert finding.severity == 'warning'
        assert f'in arm.extras.yaml, got {name} beside arm.urdf' in finding.message
        assert robot.joints[0].viscous_friction == (0.75 if has_right_one else 0.5)


def test_what_is_given_goes_before_the_file_beside(urdf, beside, tmp_path):
    """A path or a mapping replaces the file as a whole, and an empty mapping switches it off."""
    off = ned.load_urdf(urdf, extras={})
    assert off.joints[0].viscous_friction == 0.5
    assert infos(off) == []
    given = {'joints': {'j_b': {'cubic_friction': 2}}}
    by_mapping = ned.load_model(urdf, extras=given)
    assert by_mapping.joints[0].viscous_friction == 0.5
    assert by_mapping.joints[1].friction == FrictionModel(cubic_friction=2.0)
    assert infos(by_mapping)[0].message.endswith('are those of extras')
    other = tmp_path / 'other.yaml'
    other.write_text('joints: {j_a: {coulomb_friction: 3}}', encoding='utf-8')
    for path in (other, str(other)):
        assert ned.load_urdf(urdf, extras=path).joints[0].coulomb_friction == 3.0
    # XML as text has nothing beside it.
    assert infos(ned.load_urdf(URDF)) == []
    assert ned.load_urdf(URDF, extras=beside).joints[0].friction == FRICTION_OF_A
    assert ned.load_urdf(URDF.encode(), extras=beside).joints[0].gear_ratio == 100.0


def test_joints_that_do_not_move_are_named_and_left(urdf, beside):
    robot = ned.load_urdf(urdf, locked_joints={'j_a': 0.3})
    assert [joint.name for joint in robot.joints] == ['j_b']
    codes = {item.code: item.element for item in infos(robot)}
    assert codes == {'extras-read': 'robot', 'extras-not-used': "joint 'j_a'"}


def test_a_joint_that_mimics_adds_its_own_to_the_other(urdf):
    """Viscous friction counts with the square of the multiplier, that of Coulomb with it."""
    extras = {'joints': {'j_c': {'viscous_friction': 3.0, 'coulomb_friction': 5.0}}}
    b = ned.load_urdf(urdf, extras=extras).joints[1]
    assert (b.viscous_friction, b.coulomb_friction) == (0.125 + 4.0 * 3.0, 10.0)
    rotor = {'j_c': {'rotor_inertia': 0.5, 'gear_ratio': 10.0}, 'j_b': {'rotor_inertia': 0.25}}
    b = ned.load_urdf(urdf, extras={'joints': rotor}).joints[1]
    assert b.reflected_inertia == 0.5 * (2.0 * 10.0) ** 2 + 0.25
    with pytest.raises(ModelError, match=r"'j_c': expected viscous_friction, .*mimics 'j_b'"):
        ned.load_urdf(urdf, extras={'joints': {'j_c': {'friction_offset': 1.0}}})


def test_a_dh_file_has_the_same_keys_and_takes_extras(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text(
        'convention: standard\njoints:\n'
        '  - {name: j_a, mass: 1, inertia: [1, 1, 1],\n'
        '     static_friction: 2, stribeck_velocity: 0.1}\n',
        encoding='utf-8',
    )
    (tmp_path / 'arm.extras.yaml').write_text('joints: {j_a: {}}', encoding='utf-8')
    assert ned.load_model(path).joints[0].friction == FrictionModel(2.0, 0.1)
    extras = {'joints': {'j_a': {'friction_offset': 1.0}}}
    assert ned.load_model(path, extras=extras).joints[0].friction == FrictionModel(
        2.0, 0.1, friction_offset=1.0
    )
    with pytest.raises(ModelError, match="expected a joint that can move, got 'j_z'"):
        ned.load_model(path, extras={'joints': {'j_z': {}}})
    path.write_text(path.read_text().replace('static_friction: 2', 'static_friction: -2'))
    with pytest.raises(ModelError, match="joint 'j_a': static_friction: expected >= 0, got -2"):
        ned.load_model(path)


HOSTILE = {
    'empty': ('', 'expected the extras of a model, got an empty file'),
    'malformed': ('joints: [', 'malformed YAML'),
    'tab': ('\tjoints: {}', 'malformed YAML'),
    'two documents': ('joints: {}\n---\njoints: {}', 'malformed YAML'),
    'complex key': ('? [1, 2]\n: 3', 'malformed YAML|expected a word|unknown key'),
    'XML': (URDF, 'expected extras of a model .YAML., got XML'),
    'a list': ('- 1', 'expected a mapping with the keys joints, coupled_drives, got'),
    'nothing': ('joints:', 'joints: expected a mapping from names of joints, got nothing'),
    'no joints': ('{}', 'joints: expected a mapping from names of joints, got nothing'),
    'unknown at the top': ('links: {}', "unknown key 'links'; the keys are joints"),
    'unknown joint': ('joints: {j_x: {}}', "expected a joint that can move, got 'j_x'.*j_a"),
    'fixed joint': ('joints: {j_d: {}}', "got 'j_d', which is fixed"),
    'number for a name': ('joints: {1: {}}', 'joints: expected names of joints, got 1'),
    'joint that is a number': ('joints: {j_a: 3}', "joint 'j_a': expected a mapping"),
    'unknown key': ('joints: {j_a: {damping: 1}}', "joint 'j_a': unknown key 'damping'.*viscous"),
    'text': ('joints: {j_a: {gear_ratio: high}}', "joint 'j_a': gear_ratio: expected a number"),
    'expression': ('joints: {j_a: {gear_ratio: pi/2}}', "expected a number, got 'pi/2'"),
    'date': ('joints: {j_a: {gear_ratio: 2024-13-45}}', 'malformed YAML'),
    'NaN in words': ('joints: {j_a: {gear_ratio: nan}}', "expected a number, got 'nan'"),
    'beyond doubles': ('joints: {j_a: {gear_ratio: 1e999}}', 'expected a finite number'),
    'list': ('joints: {j_a: {gear_ratio: [1]}}', "joint 'j_a': gear_ratio: expected a number"),
    'truth': ('joints: {j_a: {gear_ratio: yes}}', "joint 'j_a': gear_ratio: expected a number"),
    'null': ('joints: {j_a: {gear_ratio: }}', 'gear_ratio: expected a number, got nothing'),
    'NaN': ('joints: {j_a: {coulomb_friction: .nan}}', 'coulomb_friction: expected a finite'),
    'infinite': ('joints: {j_a: {friction_offset: -.inf}}', 'friction_offset: expected a finite'),
    'large': ('joints: {j_a: {cubic_friction: 1e300}}', 'expected at most 1e\\+100'),
    'huge': (f'joints: {{j_a: {{cubic_friction: {"9" * 400}}}}}', 'expected a finite number'),
    'negative': ('joints: {j_a: {rotor_inertia: -1}}', "'j_a': rotor_inertia: expected >= 0"),
    'overflow': (
        'joints: {j_a: {rotor_inertia: 1e200, gear_ratio: 1e200}}',
        'expected a finite gear_ratio',
    ),
    'rotor that never turns': (
        'joints: {j_a: {rotor_inertia: 1e-4, gear_ratio: 0}}',
        "'j_a': gear_ratio: expected other than 0 with a rotor_inertia of 0.0001, got 0",
    ),
    'minutes': ('joints: {j_a: {gear_ratio: 1:30}}', "expected a number, got '1:30'"),
    'underscores': ('joints: {j_a: {gear_ratio: 1_000}}', "expected a number, got '1_000'"),
    'hexadecimal': ('joints: {j_a: {gear_ratio: 0x10}}', "expected a number, got '0x10'"),
    'no Stribeck velocity': (
        'joints: {j_a: {static_friction: 1}}',
        'stribeck_velocity: expected > 0',
    ),
    'twice': ('joints: {j_a: {}, j_a: {}}', "the key 'j_a' is given twice"),
    'alias': ('joints: {j_a: &x {}, j_b: *x}', 'aliases are not supported'),
    'tag': ('joints: !!python/object/apply:os.getcwd []', 'malformed YAML'),
    'deep': ('joints: ' + '[' * 300, 'malformed YAML'),
    'too long': ('#' * (LARGEST_EXTRAS_FILE + 1), 'expected at most'),
}


@pytest.mark.parametrize('case', HOSTILE)
def test_hostile_extras_are_refused_with_file_joint_and_key(urdf, beside, case):
    """Whatever is wrong, the message names the file and what was expected."""
    text, match = HOSTILE[case]
    beside.write_text(text, encoding='utf-8')
    with pytest.raises(ModelError, match=match) as caught:
        ned.load_urdf(urdf)
    assert str(beside) in str(caught.value)


def test_files_that_cannot_be_read_are_refused(urdf, beside, tmp_path):
    """A missing file, a folder and what is no path are errors; the URDF alone is not taken."""
    with pytest.raises(ModelError, match=r'nowhere\.yaml'):
        ned.load_urdf(urdf, extras=tmp_path / 'nowhere.yaml')
    for wrong in (3, ['a'], True, ''):
        with pytest.raises(ModelError, match='extras: expected a file name, a mapping or None'):
            ned.load_urdf(urdf, extras=wrong)
    beside.unlink()
    beside.symlink_to(tmp_path / 'nowhere.yaml')
    with pytest.raises(ModelError, match=r'arm\.extras\.yaml'):
        ned.load_urdf(urdf)
    beside.unlink()
    os.mkdir(beside)
    with pytest.raises(ModelError, match=r'arm\.extras\.yaml'):
        ned.load_urdf(urdf)


def test_every_key_reaches_the_joint(urdf):
    """No key of the table is without effect."""
    plain = ned.load_urdf(urdf).joints[1]
    for key in JOINT_KEYS:
        needed = {
            'static_friction': {'stribeck_velocity': 1.0},
            'hysteresis_friction': {'hysteresis_displacement': 0.1},
        }
        numbers = {key: 0.5} | needed.get(key, {})
        changed = ned.load_urdf(urdf, extras={'joints': {'j_b': numbers}}).joints[1]
        holder = changed if hasattr(changed, key) else changed.friction
        before = plain if hasattr(plain, key) else plain.friction
        assert getattr(before, key) != getattr(holder, key)


# ---- the command line


def test_the_document_has_every_key_and_a_file_that_is_read(urdf):
    """The table of doc/friction.md names the keys that are read, and its example is sound."""
    text = (Path(__file__).parents[2] / 'doc' / 'friction.md').read_text(encoding='utf-8')
    assert set(re.findall(r'^\| `(\w+)` \|', text, re.MULTILINE)) == set(JOINT_KEYS)
    (example,) = re.findall(r'```yaml\n(.*?)```', text, re.DOTALL)
    beside = urdf.with_name('arm.extras.yaml')
    beside.write_text(example.replace('joint_1', 'j_a').replace('joint_2', 'j_b'))
    a, b = ned.load_urdf(urdf).joints
    assert a.friction == FrictionModel(15.0, 0.05, 0.01)
    assert (a.gear_ratio, b.viscous_friction) == (101.0, 9.5)
