"""Rotor inertias and reductions that a URDF gives reach the joints, and what is wrong is named."""

import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.urdf.tree import load_urdf

LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0.02 0.2"/><mass value="2"/><inertia ixx="0.05" '
    'ixy="0.01" ixz="0.002" iyy="0.06" iyz="-0.003" izz="0.07"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0.3 0 0.1" '
    'rpy="0.4 0.5 0.6"/><axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="10" velocity="3"/>'
    '{}</joint>'
)


def urdf(*parts, inside=('', '', ''), kinds=('revolute', 'prismatic', 'revolute')):
    """Return an arm with the joints j_a, j_b and j_c, and further elements in robot and joints."""
    links = ('base', 'a', 'b', 'c')
    joints = (
        JOINT.format(f'j_{child}', kind, parent, child, more)
        for parent, child, kind, more in zip(links, links[1:], kinds, inside, strict=False)
    )
    return (
        '<robot name="t" xmlns:drake="http://drake.mit.edu">'
        f'{"".join(map(LINK.format, links[1:]))}<link name="base"/>{"".join(joints)}'
        f'{"".join(parts)}</robot>'
    )


def rotor(inertia='3e-5', ratio=None):
    """Return the elements of Drake."""
    gear = '' if ratio is None else f'<drake:gear_ratio value="{ratio}"/>'
    return f'<drake:rotor_inertia value="{inertia}"/>{gear}'


def reduction(value):
    """Return the element of ros_control."""
    return f'<mechanicalReduction>{value}</mechanicalReduction>'


def transmission(joint='j_a', actuator='', inside='', at_joint='', name='t_a'):
    """Return a transmission as ros_control has it."""
    return (
        f'<transmission name="{name}"><type>transmission_interface/SimpleTransmission</type>'
        f'<joint name="{joint}"><hardwareInterface>EffortJointInterface</hardwareInterface>'
        f'{at_joint}</joint><actuator name="m">{actuator}</actuator>{inside}</transmission>'
    )


def codes(xml):
    """Return severity, code and element of what the reader noticed."""
    return [(item.severity, item.code, item.element) for item in load_urdf(xml).findings]


PLACES = {
    'drake': urdf(transmission(actuator=rotor(ratio=160))),
    'reduction in the actuator': urdf(transmission(actuator=rotor() + reduction(160))),
    'reduction in the transmission': urdf(transmission(actuator=rotor(), inside=reduction(160))),
    'reduction in the joint': urdf(transmission(actuator=rotor(), at_joint=reduction(160))),
    'same reduction twice': urdf(
        transmission(actuator=rotor() + reduction(160), inside=reduction(' 160.0 '))
    ),
    'reduction of 1 beside drake': urdf(
        transmission(actuator=rotor(ratio=160) + reduction(1), inside=reduction(1))
    ),
    'actuator of the joint': urdf(inside=(f'<actuator>{rotor(ratio=160)}</actuator>', '', '')),
    'inertia in the joint, reduction in a transmission': urdf(
        transmission(inside=reduction(160)), inside=(f'<actuator>{rotor()}</actuator>', '', '')
    ),
    'prefix not declared': urdf(transmission(actuator=rotor(ratio=160))).replace(
        ' xmlns:drake="http://drake.mit.edu"', ''
    ),
    'prefix for another name': urdf(transmission(actuator=rotor(ratio=160))).replace(
        'http://drake.mit.edu', 'http://example.org/drake'
    ),
}


@pytest.mark.parametrize('place', PLACES)
def test_rotor_reaches_its_joint(place):
    robot = load_urdf(PLACES[place])
    assert [(joint.rotor_inertia, joint.gear_ratio) for joint in robot.joints] == [
        (3e-5, 160.0),
        (0.0, 1.0),
        (0.0, 1.0),
    ]
    assert robot.joints[0].reflected_inertia == pytest.approx(3e-5 * 160**2)
    (finding,) = robot.findings
    assert (finding.severity, finding.code) == ('info', 'rotor-inertia')
    assert finding.element == "joint 'j_a'"
    assert 'rotor inertia 3e-05 and reduction 160 add 0.768 kg m^2' in finding.message


def test_rotor_of_a_mimic_joint_has_its_kinetic_energy():
    """What a follower's rotor adds is multiplied by the square, beside the coordinate's own."""
    mimic = '<mimic joint="j_a" multiplier="-3"/>'
    followed = transmission('j_c', rotor('2e-5', 10), name='t_c')
    robot = load_urdf(urdf(followed, inside=('', '', mimic)))
    assert (robot.joints[0].rotor_inertia, robot.joints[0].gear_ratio) == (2e-5, -30.0)
    assert "which follows 'j_a'" in robot.findings[0].message
    both = load_urdf(
        urdf(transmission('j_a', rotor('1e-4', 50)), followed, inside=('', '', mimic))
    )
    assert both.joints[0].gear_ratio == 1.0
    assert both.joints[0].rotor_inertia == pytest.approx(1e-4 * 50**2 + 9 * 2e-5 * 10**2)


def test_rotor_of_a_locked_joint_adds_nothing():
    robot = load_urdf(urdf(transmission('j_a', rotor())), locked_joints={'j_a': 0.2})
    assert not robot.joint_values('reflected_inertia').any()
    assert 'rotor-inertia' not in {item.code for item in robot.findings}


TWICE = r"'j_a': expected one rotor inertia, got two: in transmission 't_a', .*'m', and in "
FAULTS = {
    'NaN': (transmission(actuator=rotor('nan')), r"'t_a', actuator 'm': drake:rotor_i.*'nan'"),
    'overflow': (transmission(actuator=rotor('1e999')), r"'t_a'.*rotor_inertia value: .*'1e999'"),
    'two numbers': (transmission(actuator=rotor('1 2')), r"'t_a'.*expected 1 number, got '1 2'"),
    'negative': (
        transmission(actuator=rotor('-1e-5')),
        r"'t_a'.*rotor_inertia: .*>= 0, got -1e-05",
    ),
    'no value': (
        transmission(actuator='<drake:rotor_inertia>1</drake:rotor_inertia>'),
        r"'t_a'.*drake:rotor_inertia: expected the attribute 'value', got none",
    ),
    'given twice': (transmission(actuator=rotor() * 2), r"'t_a'.*one <drake:rotor_inertia>"),
    'zero ratio': (transmission(actuator=rotor(ratio=0)), r"'t_a'.*gear_ratio: .*other than 0"),
    'NaN ratio': (transmission(actuator=rotor(ratio='nan')), r"'t_a'.*drake:gear_ratio.*'nan'"),
    'zero reduction': (
        transmission(actuator=rotor() + reduction('0.0')),
        r"'t_a'.*mechanicalReduction: expected a reduction other than 0",
    ),
    'empty reduction': (transmission(actuator=rotor() + reduction('')), r'Reduction: .*1 number'),
    'reduction in xacro': (transmission(actuator=rotor() + reduction('${n}')), r"'t_a'.*xacro"),
    'two reductions': (
        transmission(actuator=rotor() + reduction(2), inside=reduction(3)),
        r"'t_a'.*mechanicalReduction: expected one value, got 2, 3",
    ),
    'unknown joint': (
        transmission('j_x', rotor()),
        r"transmission 't_a': joint: .*'j_x', which does not exist",
    ),
    'two transmissions': (
        transmission(actuator=rotor()) + transmission(actuator=rotor(), name='t_b'),
        TWICE + "transmission 't_b'",
    ),
    'overflow together': (transmission(actuator=rotor('1e300', '1e10')), r"'j_a'.*finite"),
    'nameless': (
        '<transmission><joint/><actuator>' + rotor() + '</actuator></transmission>',
        r"<transmission>: joint: expected the attribute 'name'",
    ),
}


@pytest.mark.parametrize('case', FAULTS)
def test_fault_beside_a_rotor_inertia_is_named(case):
    """What would change the dynamics is refused, with the transmission and what was expected."""
    parts, message = FAULTS[case]
    with pytest.raises(ModelError, match=message):
        load_urdf(urdf(parts))


def test_rotor_in_joint_and_transmission_is_refused():
    """Two rotor inertias of one joint are ambiguous, wherever they stand."""
    inside = (f'<actuator>{rotor()}</actuator>', '', '')
    with pytest.raises(ModelError, match=TWICE + "joint 'j_a'"):
        load_urdf(urdf(transmission(actuator=rotor()), inside=inside))
    with pytest.raises(ModelError, match=r"'j_a': expected one <actuator>, got several"):
        load_urdf(urdf(inside=(inside[0] * 2, '', '')))
    bare = transmission(inside=reduction(2)) + transmission(inside=reduction(3), name='t_b')
    with pytest.raises(ModelError, match=r'2 in transmission .*t_a.* and 3 in transmission .*t_b'):
        load_urdf(urdf(bare, inside=inside))


RATIO = '<drake:gear_ratio value="{}"/>'
T_A = "transmission 't_a'"
MISSING = ('info', 'rotor-inertia-missing', 'robot')
UNUSABLE = ('warning', 'reduction-unusable', T_A)
DOUBTS = {
    'reduction alone': (transmission(actuator=reduction(100)), MISSING),
    'ratio alone': (transmission(actuator=RATIO.format(100)), MISSING),
    'zero reduction': (transmission(actuator=reduction(0)), UNUSABLE),
    'NaN reduction': (transmission(inside=reduction('nan')), UNUSABLE),
    'unknown joint': (
        transmission('j_x', reduction(1)),
        ('warning', 'transmission-joint-unknown', T_A),
    ),
    'different reductions': (
        transmission(actuator=reduction(2)) + transmission(actuator=reduction(3), name='t_b'),
        ('warning', 'gear-ratio-ambiguous', "joint 'j_a'"),
    ),
    'drake and another': (
        transmission(actuator=RATIO.format(3) + reduction(2)),
        ('warning', 'gear-ratio-ambiguous', T_A),
    ),
    'two joints': (
        transmission(actuator=rotor(), inside='<joint name="j_b"/>'),
        ('warning', 'rotor-inertia-unused', T_A),
    ),
}


@pytest.mark.parametrize('case', DOUBTS)
def test_doubt_without_a_rotor_inertia_is_a_finding(case):
    """What changes no dynamics does not keep a robot from loading; it is said."""
    parts, expected = DOUBTS[case]
    xml = urdf(parts)
    assert codes(xml)[0] == expected
    assert not load_urdf(xml).joint_values('reflected_inertia').any()
    assert (load_urdf(xml).joint_values('gear_ratio') == 1.0).all()


def test_transmissions_as_they_are_in_the_field_say_nothing():
    """A reduction of 1, and transmissions of several joints, are no reason for a remark."""
    gripper = (
        '<transmission type="pr2_mechanism_model/PR2GripperTransmission" name="g"><actuator '
        'name="m"/><gap_joint name="gap" mechanical_reduction="1.0"/></transmission>'
    )
    several = transmission(actuator=reduction(3), inside='<joint name="j_b"/>', name='t_b')
    assert codes(urdf(transmission(actuator=reduction(1)), gripper, several)) == []


def test_rotor_inertia_in_other_units_is_found():
    """A rotor of 350 g cm^2 written as 350 kg m^2 is reported; the right one is not."""
    right, wrong = (
        [item.code for item in check_robot(load_urdf(urdf(transmission(actuator=rotor(j, 100)))))]
        for j in ('3.5e-5', '350')
    )
    assert 'rotor-inertia-large' not in right
    assert 'rotor-inertia-large' in wrong
