"""A URDF that is not one sound robot is refused with a message that names the fault."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.robot import Robot
from ne_dynamics.model.urdf.tree import load_urdf

GOOD = """<?xml version="1.0"?>
<robot name="test">
  <link name="base"/>
  <link name="a">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0.1 0"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0" rpy="0 0 0"/>
      <geometry><cylinder radius="0.1" length="0.2"/></geometry>
    </visual>
  </link>
  <link name="b">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="j_a" type="revolute">
    <parent link="base"/>
    <child link="a"/>
    <origin xyz="0 0 0.5" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="j_b" type="prismatic">
    <parent link="a"/>
    <child link="b"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <mimic joint="j_a" multiplier="0.5" offset="0.1"/>
  </joint>
</robot>
"""

BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha">'
    + ''.join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "&a;" * 10}">' for i in range(9))
    + ']><robot name="&a8;"><link name="base"/></robot>'
)

CASES = {
    # what is replaced, by what, and what the message must name
    'malformed XML': ('</robot>', '', 'malformed XML'),
    'text after the end': ('</robot>', '</robot>junk', 'malformed XML'),
    'entity': ('name="test"', 'name="&name;"', 'malformed XML'),
    'wrong root': ('robot', 'sdf', r'<robot>.*<sdf>'),
    'wrong version': ('name="test"', 'name="test" version="2.0"', r"'1.0'.*'2.0'"),
    'missing child': ('<child link="b"/>', '', r"joint 'j_b': expected <child"),
    'missing parent': ('<parent link="a"/>', '', r"joint 'j_b': expected <parent"),
    'child without link': ('<child link="b"/>', '<child/>', r"'j_b': child: .*'link'"),
    'unknown child': ('<child link="b"/>', '<child link="c"/>', r"'j_b': child.*'c'.*not exist"),
    'unknown parent': ('<parent link="a"/>', '<parent link="c"/>', r"'j_b': parent.*'c'"),
    'two parents': ('<child link="b"/>', '<child link="a"/>', r"link 'a'.*'j_a' and 'j_b'"),
    'loop': ('<parent link="base"/>', '<parent link="b"/>', 'loop through a, b'),
    'self loop': ('<parent link="a"/>', '<parent link="b"/>', 'loop through b'),
    'two roots': ('<link name="base"/>', '<link name="base"/><link name="r"/>', 'got 2: base, r'),
    'no links': (GOOD[GOOD.index('<link') : GOOD.index('</robot>')], '', 'got none'),
    'no joints': (GOOD[GOOD.index('<link name="a"') : GOOD.index('</robot>')], '', 'joint that'),
    'duplicate link': ('<link name="base"/>', '<link name="base"/>' * 2, r"'base'.*twice"),
    'duplicate joint': ('name="j_b"', 'name="j_a"', r"'j_a'.*twice"),
    'link without name': ('<link name="base"/>', '<link/>', r"<link>.*'name'"),
    'joint without name': (' name="j_b"', '', r"<joint>.*'name'"),
    'empty name': ('name="j_b"', 'name=" "', r"<joint>.*'name'"),
    'joint without type': (' type="revolute"', '', r"'j_a'.*'type'"),
    'unknown type': ('"prismatic"', '"screw"', r"'j_b': type.*'screw'"),
    'floating on the way': ('type="revolute"', 'type="floating"', r"'j_a': type.*'floating'"),
    'planar on the way': ('type="revolute"', 'type="planar"', r"'j_a': type.*'planar'"),
    'NaN mass': ('<mass value="2"', '<mass value="nan"', r"link 'a'.*mass value.*'nan'"),
    'infinite mass': ('<mass value="2"', '<mass value="1e999"', r"mass value.*'1e999'"),
    'mass in words': ('<mass value="2"', '<mass value="two"', r"mass value.*'two'"),
    'mass in hexadecimal': ('<mass value="2"', '<mass value="0x2"', r"mass value.*'0x2'"),
    'mass with underscore': ('<mass value="2"', '<mass value="1_0"', r"mass value.*'1_0'"),
    'mass in foreign digits': ('<mass value="2"', '<mass value="\u0662"', 'mass value'),
    'two masses': ('<mass value="2"', '<mass value="2 3"', r"mass value.*'2 3'"),
    'mass without value': ('<mass value="2"/>', '<mass/>', r"'a'.*mass.*'value'"),
    'no mass': ('<mass value="2"/>', '', r"link 'a': inertial: expected <mass>"),
    'mass twice': ('<mass value="2"/>', '<mass value="2"/>' * 2, r"link 'a'.*one <mass>"),
    'inertial twice': ('</inertial>\n    <v', '</inertial><inertial/><v', 'one <inertial>'),
    'inertia entry missing': ('izz="0.01"', '', r"link 'a'.*inertia.*'izz'"),
    'NaN inertia': ('ixx="0.02"', 'ixx="NaN"', r"link 'a'.*inertia ixx.*'NaN'"),
    'NaN position': ('xyz="0 0 0.5"', 'xyz="0 0 nan"', r"'j_a': origin xyz.*'nan'"),
    'infinite angle': ('rpy="0 0.1 0"', 'rpy="0 inf 0"', r"'a': .*origin rpy.*'inf'"),
    'short position': ('xyz="0 0 0.5"', 'xyz="0 0.5"', r"'j_a': origin xyz.*3 numbers"),
    'long axis': ('xyz="0 0 1"', 'xyz="0 0 1 0"', r"'j_a': axis xyz.*3 numbers"),
    'NaN axis': ('xyz="0 0 1"', 'xyz="0 0 nan"', r"'j_a': axis xyz.*'nan'"),
    'zero axis': ('xyz="0 0 1"', 'xyz="0 0 0"', r"'j_a': axis.*length 0"),
    'axis too long': ('xyz="0 0 1"', 'xyz="0 0 2"', r"'j_a': axis.*length 2"),
    'axis not unit': ('xyz="0 0 1"', 'xyz="0 1 1"', r"'j_a': axis.*length 1.41421"),
    'axis without xyz': ('<axis xyz="0 0 1"/>', '<axis/>', r"'j_a': axis.*'xyz'"),
    'NaN limit': ('effort="10"', 'effort="nan"', r"'j_a': limit effort.*'nan'"),
    'infinite limit': ('upper="1"', 'upper="inf"', r"'j_a': limit upper.*'inf'"),
    'limits crossed': ('lower="-1"', 'lower="2"', r"'j_a': limit.*2.0 > 1.0"),
    'NaN damping': ('damping="0.1"', 'damping="nan"', r"'j_a': dynamics damping.*'nan'"),
    'negative damping': ('damping="0.1"', 'damping="-0.1"', r"'j_a': dynamics damping.*-0.1"),
    'negative friction': ('friction="0.2"', 'friction="-1"', r"'j_a': dynamics friction.*-1"),
    'NaN in a visual': ('radius="0.1"', 'radius="nan"', r"'a': visual: cylinder radius.*'nan'"),
    'unknown mimic': ('mimic joint="j_a"', 'mimic joint="j"', r"'j_b': mimic.*'j'.*not exist"),
    'mimic of itself': ('mimic joint="j_a"', 'mimic joint="j_b"', 'cycle: j_b -> j_b'),
    'mimic without joint': ('mimic joint="j_a"', 'mimic', r"'j_b': mimic.*'joint'"),
    'NaN multiplier': ('multiplier="0.5"', 'multiplier="nan"', r"'j_b': mimic multiplier"),
    'origin twice': ('<axis xyz="0 0 1"/>', '<origin/><axis xyz="0 0 1"/>', 'one <origin>'),
    'quaternion': ('rpy="0 0 0"/>\n    <ax', 'quat_xyzw="0 0 0 1"/><ax', 'quat_xyzw'),
    'doctype': ('<robot name', '<!DOCTYPE robot><robot name', 'DOCTYPE'),
    'xacro expression': ('xyz="0 0 0.5"', 'xyz="0 0 ${h}"', r"'j_a': origin xyz.*xacro"),
    'xacro element': (
        '<robot name="test">',
        '<robot name="test" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/>',
        'xacro',
    ),
    'xacro without namespace': ('<robot name="test">', '<robot name="t"><xacro:arm/>', 'xacro'),
}


@pytest.mark.parametrize('case', CASES)
def test_fault_is_named(case, capfd):
    old, new, message = CASES[case]
    assert old in GOOD
    count = GOOD.count(old) if case == 'wrong root' else 1
    with pytest.raises(ModelError, match=message):
        load_urdf(GOOD.replace(old, new, count))
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize('encoding', ['', 'utf-8', 'utf-16', 'latin-1'])
def test_entities_are_never_expanded(encoding, tmp_path):
    """A billion laughs, and a file that an entity names: refused before the first one, in text
    and in any encoding.
    """
    secret = tmp_path / 'secret'
    secret.write_text('secret')
    external = (
        f'<?xml version="1.0" encoding="{encoding or "utf-8"}"?>'
        f'<!DOCTYPE robot [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
        '<robot name="&x;"><link name="base"/></robot>'
    )
    for xml in (BILLION_LAUGHS, external):
        with pytest.raises(ModelError, match='DOCTYPE'):
            load_urdf(xml.encode(encoding) if encoding else xml)


def test_deep_nesting_is_refused():
    xml = '<robot name="x">' + '<a>' * 100_000 + '</a>' * 100_000 + '</robot>'
    with pytest.raises(ModelError, match='deep'):
        load_urdf(xml)


CYCLE = GOOD.replace('<dynamics', '<mimic joint="j_b"/><dynamics', 1)
FIXED = GOOD.replace('type="revolute"', 'type="fixed"')


@pytest.mark.parametrize(
    ('xml', 'choice', 'message'),
    [
        (CYCLE, {}, 'cycle: j_a -> j_b -> j_a'),
        (FIXED, {}, r"'j_b': mimic.*'j_a', which is fixed"),
        (GOOD, {'base_link': 'nowhere'}, "base_link: .*'nowhere'; the links are a, b, base"),
        (GOOD, {'tip_link': 'nowhere'}, "tip_link: .*'nowhere'; the links are a, b, base"),
        (GOOD, {'base_link': 'b', 'tip_link': 'a'}, "beyond the base link 'b', got 'a'"),
        (GOOD, {'base_link': 'b'}, 'joint that moves'),
        (GOOD, {'locked_joints': {'j_a': 0.0}}, 'joint that moves'),
    ],
)
def test_joints_that_follow_nobody_and_chains_that_are_none(xml, choice, message):
    with pytest.raises(ModelError, match=message):
        load_urdf(xml, **choice)


@pytest.mark.parametrize(
    ('locked', 'message'),
    [
        ({'nowhere': 0.0}, r"'nowhere', which does not exist; the joints are j_a, j_b"),
        ({'j_a': float('nan')}, r"'j_a': expected a finite position"),
        ({'j_a': float('inf')}, r"'j_a': expected a finite position"),
        ({'j_a': 'up'}, r"'j_a': expected a position, got 'up'"),
        ({'j_a': None}, r"'j_a': expected a position, got None"),
        ({'j_a': '1'}, r"'j_a': expected a position, got '1'"),
        ({'j_a': True}, r"'j_a': expected a position, got True"),
        ({'j_a': np.True_}, r"'j_a': expected a position, got .*True"),
        ({'j_a': 1j}, r"'j_a': expected a position, got 1j"),
        ({'j_a': [0.1]}, r"'j_a': expected a position, got \[0.1\]"),
        ({'j_a': 10**400}, r"'j_a': expected a finite position, got overflow"),
        ({'j_a': -(10**400)}, r"'j_a': expected a finite position, got overflow"),
        (['j_a'], 'locked_joints: expected a mapping'),
    ],
)
def test_bad_locks(locked, message):
    with pytest.raises(ModelError, match=message):
        load_urdf(GOOD, locked_joints=locked)


@pytest.mark.parametrize(
    ('source', 'message'),
    [
        ('no/such/file.urdf', r"'no/such/file.urdf'.*No such file"),
        ('with\0nul', 'cannot read'),
        ('', 'empty'),
        ('  \n', 'empty'),
        ('robot:\n  name: x', 'file name or the XML'),
        (b'', 'malformed XML'),
        (b'robot', 'malformed XML'),
        ('<robot name="\ud800"/>', 'not text'),
        (None, 'NoneType'),
        (3, 'int'),
    ],
)
def test_source_that_is_no_description(source, message):
    with pytest.raises(ModelError, match=message):
        load_urdf(source)


def mutated(text, chance):
    """Return a text with one to four random edits."""
    fragments = ['"', '<', '/>', '&amp;', 'nan', '1e400', '-', '0', ' ', 'j_a', 'base', '\u00e9']
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice([0, 1, 1, 3, 10, 60]))
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:start] + chance.choice(fragments) + text[start:]
        elif kind == 2:
            text = text[:start] + chance.choice(fragments) + text[end:]
        elif kind == 3:
            lines = text.splitlines(keepends=True)
            i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            text = ''.join(lines)
        else:
            lines = text.splitlines(keepends=True)
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            text = ''.join(lines)
    return text


@pytest.mark.filterwarnings('error')
def test_mutations_give_a_robot_or_a_model_error(capfd):
    """However a URDF is damaged: a robot that can be checked, or ModelError; never a print."""
    chance = random.Random(20)
    outcomes = {True: 0, False: 0}
    for _ in range(400):
        xml = mutated(GOOD, chance)
        try:
            robot = load_urdf(xml)
        except ModelError:
            outcomes[False] += 1
        else:
            assert isinstance(robot, Robot)
            check_robot(robot)
            outcomes[True] += 1
    assert min(outcomes.values()) > 20
    assert capfd.readouterr() == ('', '')
