"""The checker finds what is wrong or doubtful, and nothing in a sound robot."""

import pytest

from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.urdf.tree import load_urdf

INERTIAL = (
    '<inertial><origin xyz="0.01 0 0.1"/><mass value="1"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
)
GOOD = (
    '<robot name="test"><link name="base"/>'
    f'<link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link><link name="tool"/>'
    '<joint name="j_a" type="revolute"><parent link="base"/><child link="a"/>'
    '<limit lower="-1" upper="1" effort="10" velocity="2"/></joint>'
    '<joint name="j_b" type="revolute"><parent link="a"/><child link="b"/>'
    '<origin xyz="0 0 0.3"/><limit lower="-1" upper="1" effort="10" velocity="2"/></joint>'
    '<joint name="j_tool" type="fixed"><parent link="b"/><child link="tool"/></joint></robot>'
)
TENSOR = 'ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"'


def tensor(xx, yy, zz, xy=0.0):
    """Return the attributes of an inertia tensor."""
    return f'ixx="{xx}" ixy="{xy}" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"'


def found(xml):
    """Return severity, code and element of every finding."""
    return [(item.severity, item.code, item.element) for item in check_robot(load_urdf(xml))]


def test_a_sound_robot_has_no_findings():
    """Neither a massless base nor a massless tool frame is worth a word."""
    assert found(GOOD) == []


W, E, INFO = 'warning', 'error', 'info'
NO_TENSOR = (W, 'inertia-not-positive-definite', "link 'a'")
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
ZEROS = f'<inertial><mass value="0"/><inertia {tensor(0, 0, 0)}/></inertial>'


def at(element, *found):
    """Return findings at one link or joint, from pairs of severity and code."""
    return [(severity, code, element) for severity, code in found]


CASES = {
    'missing inertial': (
        f'<link name="a">{INERTIAL}',
        '<link name="a">',
        at("link 'a'", (W, 'inertial-missing')),
    ),
    'missing inertial at the end': (
        f'<link name="b">{INERTIAL}',
        '<link name="b">',
        [(E, 'mass-matrix-singular', 'robot'), (W, 'inertial-missing', "link 'b'")],
    ),
    'inertia missing': (
        f'<inertia {TENSOR}/>',
        '',
        [(W, 'inertia-missing', "link 'a'"), NO_TENSOR],
    ),
    'root inertia': (
        '<link name="base"/>',
        f'<link name="base">{INERTIAL}</link>',
        at("link 'base'", (INFO, 'root-inertia')),
    ),
    'unknown tag': (
        '<link name="base"/>',
        '<link name="base"/><foo/>',
        at('robot', (INFO, 'unknown-tag')),
    ),
    'frame with explicit zeros': (
        '<link name="tool"/>',
        f'<link name="tool">{ZEROS}</link>',
        at("link 'tool'", (INFO, 'mass-zero')),
    ),
    'no limits at all': (
        LIMIT,
        '',
        at("joint 'j_a'", (W, 'effort-limit-missing'), (INFO, 'position-limits-missing')),
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_fault_is_found(case):
    old, new, expected = CASES[case]
    assert old in GOOD
    assert found(GOOD.replace(old, new, 1)) == expected


@pytest.mark.parametrize(
    ('new', 'findings'),
    [
        (tensor(0.02, 0.02, -0.01), [(E, 'inertia-not-positive-definite')]),
        (tensor(0.02, 0.02, 0.03, 0.03), [(E, 'inertia-not-positive-definite')]),
        (tensor(0, 0, 0), [(W, 'inertia-not-positive-definite')]),
        (tensor(0.02, 0.02, 0), [(W, 'inertia-not-positive-definite')]),
        (tensor(0.01, 0.01, 0.05), [(E, 'inertia-triangle-inequality')]),
        (tensor(0.01, 0.01, 0.021), [(W, 'inertia-triangle-inequality')]),
        (tensor(0.01, 0.01, 0.02000001), []),  # by rounding
        (tensor(20, 20, 10), [(W, 'inertia-large')]),  # g mm^2
    ],
)
def test_tensor_that_no_body_has(new, findings):
    assert found(GOOD.replace(TENSOR, new, 1)) == at("link 'a'", *findings)


@pytest.mark.parametrize(
    ('old', 'new', 'element', 'severity', 'code'),
    [
        ('mass value="1"', 'mass value="0"', "link 'a'", W, 'mass-zero'),
        ('mass value="1"', 'mass value="-0.1"', "link 'a'", E, 'mass-negative'),
        ('xyz="0.01 0 0.1"', 'xyz="10 0 100"', "link 'a'", W, 'center-of-mass-far'),
        ('effort="10"', 'effort="0"', "joint 'j_a'", W, 'effort-limit-zero'),
        ('effort="10"', '', "joint 'j_a'", W, 'effort-limit-missing'),
        ('effort="10"', 'effort="-1"', "joint 'j_a'", E, 'effort-limit-negative'),
        ('velocity="2"', 'velocity="0"', "joint 'j_a'", W, 'velocity-limit-zero'),
        ('velocity="2"', 'velocity="-2"', "joint 'j_a'", E, 'velocity-limit-negative'),
        ('lower="-1" upper="1"', '', "joint 'j_a'", W, 'position-limits-empty'),
    ],
)
def test_number_that_is_doubtful(old, new, element, severity, code):
    assert found(GOOD.replace(old, new, 1)) == [(severity, code, element)]


def test_coaxial_joints_without_mass_between_are_singular():
    """Two joints on one axis with nothing between them have no unique acceleration."""
    xml = GOOD.replace(f'<link name="a">{INERTIAL}', '<link name="a">').replace(
        '<origin xyz="0 0 0.3"/>', ''
    )
    findings = check_robot(load_urdf(xml))
    assert findings[0].code == 'mass-matrix-singular'
    assert 'j_a' in findings[0].message
    assert 'j_b' in findings[0].message


def test_a_small_hand_is_no_fault():
    """Masses of milligrams and lengths of millimetres alone are nothing to complain about."""
    xml = GOOD.replace(TENSOR, tensor(2e-13, 2e-13, 1e-13))
    xml = xml.replace('<mass value="1"', '<mass value="1e-6"')
    xml = xml.replace('xyz="0.01 0 0.1"', 'xyz="1e-4 0 1e-3"').replace('0 0 0.3', '0 0 3e-3')
    assert found(xml) == []
