"""Drives that turn with several joints: where they are read, kept, moved and written."""

from dataclasses import replace

import numpy as np
import pytest
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.extras import read_extras
from ne_dynamics.model.extras_text import write_extras


def make_urdf(more=''):
    """Return a chain a, b, c of joints that turn, d that follows c threefold, and e fixed."""
    kinds = {'a': 'revolute', 'b': 'revolute', 'c': 'continuous', 'd': 'revolute', 'e': 'fixed'}
    links = ['base', *(f'l{name}' for name in kinds)]
    inside = limit_xml(-1, 1, 9, 2) + '<dynamics damping="0.5" friction="0.25"/>'
    mimic = {'d': '<mimic joint="c" multiplier="-3"/>'}
    joints = (
        joint_xml(name, parent, f'l{name}', kind, inside + mimic.get(name, ''), axis='0 1 0')
        for parent, (name, kind) in zip(links, kinds.items(), strict=False)
    )
    return robot_xml('base', *map(link_xml, links[1:]), *joints, *([more] if more else []))


def make_extras(**changes):
    """Return extras of one drive of a and b."""
    drive = {'ratios': {'a': 1, 'b': -2}, 'rotor_inertia': 1e-3, 'gear_ratio': 10}
    return {'coupled_drives': {'wrist': drive | {'viscous_friction': 0.5} | changes}}


DRIVE = CoupledDrive('wrist', ('a', 'b'), (1.0, -2.0), 1e-3, 10.0, 0.5)


def test_a_file_beside_the_urdf_has_drives(tmp_path, capsys):
    """They are read with their numbers, said in a remark, and printed by `check`."""
    path = tmp_path / 'arm.urdf'
    path.write_text(make_urdf())
    path.with_name('arm.extras.yaml').write_text(
        'coupled_drives:\n  wrist:\n    ratios: {a: 1, b: -2}\n    rotor_inertia: 1e-3\n'
        '    gear_ratio: 10\n    viscous_friction: 0.5\n'
    )
    robot = ned.load_urdf(path)
    assert robot.coupled_drives == (DRIVE,)
    assert robot.coupling_matrix.tolist() == [[1.0, -2.0, 0.0]]
    inertia = np.array([[0.1, -0.2, 0.0], [-0.2, 0.4, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(robot.coupled_inertia, inertia, rtol=1e-15)
    assert main(['check', str(path)]) == 0
    assert "coupled drive 'wrist'" in capsys.readouterr().out


HOSTILE = {
    'no mapping': ({'coupled_drives': [1]}, 'coupled_drives: expected a mapping from names'),
    'no row': (
        {'coupled_drives': {'x': 1}},
        "coupled drive 'x': expected a mapping with the keys",
    ),
    'no name': ({'coupled_drives': {1: {}}}, 'coupled_drives: expected names of drives, got 1'),
    'unknown key': (make_extras(inertia=1), "coupled drive 'wrist': unknown key 'inertia'"),
    'no ratios': ({'coupled_drives': {'x': {}}}, "'x': ratios: expected a mapping .* got nothing"),
    'one joint': (make_extras(ratios={'a': 1}), 'names of two joints or more'),
    'no joint': (make_extras(ratios={'a': 1, 'z': 1}), "coupled drive 'wrist': .* got 'z', which"),
    'fixed': (make_extras(ratios={'a': 1, 'e': 1}), "got 'e', which is fixed"),
    'zero': (make_extras(ratios={'a': 1, 'b': 0}), "ratio of joint 'b': expected other than 0"),
    'NaN': (make_extras(ratios={'a': 1, 'b': np.nan}), "joint 'b': expected a finite number"),
    'infinite': (make_extras(ratios={'a': np.inf, 'b': 1}), "joint 'a': expected a finite number"),
    'text': (make_extras(ratios={'a': 'x', 'b': 1}), "joint 'a': expected a number, got 'x'"),
    'number': (make_extras(ratios={1: 1, 'b': 1}), 'ratios: expected names of joints, got 1'),
    'friction': (make_extras(viscous_friction=-1), "'wrist': viscous_friction: expected >= 0"),
    'Coulomb': (make_extras(coulomb_friction=-1), "'wrist': coulomb_friction: expected >= 0"),
    'width': (make_extras(smoothing_velocity=1e-20), 'smoothing_velocity: expected 0 or at least'),
    'gear': (make_extras(gear_ratio=0), "'wrist': gear_ratio: expected other than 0"),
    'overflow': (make_extras(ratios={'a': 1e200, 'b': 1}), 'overflow with 1e\\+200'),
}


@pytest.mark.parametrize('case', HOSTILE)
def test_hostile_drives_are_refused_by_name(case):
    extras, match = HOSTILE[case]
    with pytest.raises(ModelError, match=match) as caught:
        ned.load_urdf(make_urdf(), extras=extras)
    assert str(caught.value).startswith('extras: ')


def test_a_robot_refuses_drives_of_other_joints_and_names_twice():
    """In memory, too."""
    robot = ned.load_urdf(make_urdf())
    with pytest.raises(ModelError, match="coupled drive 'wrist': no joint 'z'; the joints are a,"):
        replace(robot, coupled_drives=[replace(DRIVE, joints=('a', 'z'))])
    with pytest.raises(ModelError, match="coupled drive 'wrist': the name is used twice"):
        replace(robot, coupled_drives=[DRIVE, DRIVE])
    with pytest.raises(
        ModelError, match='expected joints with one ratio each, got 1 joints and 2'
    ):
        CoupledDrive('x', ('a',), (1.0, 2.0))
    with pytest.raises(ModelError, match='expected each joint once, got a, a'):
        CoupledDrive('x', ('a', 'a'), (1.0, 2.0))
    with pytest.raises(ModelError, match='coupled drive: expected a name'):
        CoupledDrive('', ('a',), (1.0,))


@pytest.mark.parametrize(
    ('ratios', 'locked'),
    [
        ({'a': 1, 'b': -2}, None),
        ({'b': 2, 'c': 1, 'd': 0.5}, None),
        ({'a': 1, 'b': 1}, {'a': 0.3}),
    ],
)
def test_extras_are_written_and_come_back(ratios, locked):
    """Changed numbers are in the file; joints that follow or stand stay in its ratios."""
    text = make_urdf()
    given = read_extras(make_extras(ratios=ratios))
    robot = ned.load_urdf(text, extras=make_extras(ratios=ratios), locked_joints=locked)
    changed = replace(
        robot, coupled_drives=[replace(d, rotor_inertia=3e-3) for d in robot.coupled_drives]
    )
    for each in (robot, changed):
        written = write_extras(text, each, given)
        read = read_extras(ned.model.yaml_text.parse_yaml(written.encode(), 'written'))
        assert dict(read.drives[0].items) == ratios
        again = ned.load_urdf(text, extras={'coupled_drives': {}}, locked_joints=locked)
        assert again.coupled_drives == ()
    without = replace(robot, coupled_drives=())
    assert 'coupled' not in write_extras(text, without, given)


DIFFERENTIAL = """<transmission name="wrist" xmlns:drake="http://drake.mit.edu">
  <type>transmission_interface/DifferentialTransmission</type>
  <actuator name="left"><role>actuator1</role>{first}
    <mechanicalReduction>50</mechanicalReduction></actuator>
  <actuator name="right"><role>actuator2</role>{second}
    <mechanicalReduction>-50</mechanicalReduction></actuator>
  <joint name="b"><role>joint2</role><mechanicalReduction>2</mechanicalReduction></joint>
  <joint name="a"><role>joint1</role></joint>
</transmission>
"""
ROTOR = '<drake:rotor_inertia value="2e-5"/>'


def test_a_differential_transmission_couples_its_rotors():
    """Each rotor turns with the sum or the difference of both joints; without inertia: nothing."""
    text = make_urdf(DIFFERENTIAL.format(first=ROTOR, second=ROTOR))
    left, right = ned.load_urdf(text).coupled_drives
    assert left == CoupledDrive('wrist left', ('a', 'b'), (1.0, 2.0), 2e-5, 50.0)
    assert right == CoupledDrive('wrist right', ('a', 'b'), (1.0, -2.0), 2e-5, -50.0)
    codes = [item.code for item in ned.load_urdf(text).findings]
    assert codes.count('coupled-drive') == 2
    (one,) = ned.load_urdf(make_urdf(DIFFERENTIAL.format(first='', second=ROTOR))).coupled_drives
    assert one == right
    bare = ned.load_urdf(make_urdf(DIFFERENTIAL.format(first='', second='')))
    assert bare.coupled_drives == ()
    extras = {'coupled_drives': {'wrist left': {'ratios': {'a': 1, 'b': 2}}}}
    changed = ned.load_urdf(text, extras=extras).coupled_drives
    assert [drive.reflected_inertia for drive in changed] == [0.0, right.reflected_inertia]


@pytest.mark.parametrize('locked', [{'a': 0.3}, {'b': 0.3}])
def test_a_differential_with_a_joint_that_stands_is_written(locked):
    """The written file has both joints of the URDF's drive, with the changed numbers."""
    text = make_urdf(DIFFERENTIAL.format(first=ROTOR, second=ROTOR))
    robot = ned.load_urdf(text, locked_joints=locked)
    changed = [replace(drive, rotor_inertia=3e-5) for drive in robot.coupled_drives]
    written = write_extras(text, replace(robot, coupled_drives=changed))
    extras = ned.model.yaml_text.parse_yaml(written.encode(), 'written')
    assert ned.load_urdf(text, extras=extras, locked_joints=locked).coupled_drives == (*changed,)
    left, right = ned.load_urdf(text, extras=extras).coupled_drives
    assert left == CoupledDrive('wrist left', ('a', 'b'), (1.0, 2.0), 3e-5, 50.0)
    assert right == CoupledDrive('wrist right', ('a', 'b'), (1.0, -2.0), 3e-5, -50.0)


@pytest.mark.parametrize(
    ('old', 'new', 'match'),
    [
        ('<joint name="a">', '<joint name="z">', "expected a joint of the robot, got 'z'"),
        ('<joint name="a"><role>joint1</role></joint>', '', 'expected two <joint> and two'),
        ('>2<', '>two<', 'mechanicalReduction'),
        ('>2<', '>0<', "ratio of joint 'b': expected other than 0"),
        ('2e-5', '-2e-5', 'drake:rotor_inertia: expected >= 0'),
    ],
)
def test_faults_in_a_differential_transmission_are_errors(old, new, match):
    """Beside a rotor inertia nothing is guessed."""
    text = make_urdf(DIFFERENTIAL.format(first=ROTOR, second=ROTOR).replace(old, new))
    with pytest.raises(ModelError, match=match):
        ned.load_urdf(text)
