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


A, J = "link 'a'", "joint 'j_a'"
HEAD_OF_A, HEAD_OF_B = (f'<link name="{name}">' for name in 'ab')


@pytest.mark.parametrize(
    ('old', 'new', 'expected'),
    [
        (HEAD_OF_A + INERTIAL, HEAD_OF_A, [(W, 'inertial-missing', A)]),
        (
            HEAD_OF_B + INERTIAL,
            HEAD_OF_B,
            [(E, 'mass-matrix-singular', 'robot'), (W, 'inertial-missing', "link 'b'")],
        ),
        (f'<inertia {TENSOR}/>', '', [(W, 'inertia-missing', A), NO_TENSOR]),
        (
            '<link name="base"/>',
            f'<link name="base">{INERTIAL}</link>',
            [(INFO, 'root-inertia', "link 'base'")],
        ),
        ('<link name="base"/>', '<link name="base"/><foo/>', [(INFO, 'unknown-tag', 'robot')]),
        (
            '<link name="tool"/>',
            f'<link name="tool">{ZEROS}</link>',
            [(INFO, 'mass-zero', "link 'tool'")],
        ),
        (LIMIT, '', [(W, 'effort-limit-missing', J), (INFO, 'position-limits-missing', J)]),
        ('mass value="1"', 'mass value="0"', [(W, 'mass-zero', A)]),
        ('mass value="1"', 'mass value="-0.1"', [(E, 'mass-negative', A)]),
        ('xyz="0.01 0 0.1"', 'xyz="10 0 100"', [(W, 'center-of-mass-far', A)]),
        ('effort="10"', 'effort="0"', [(W, 'effort-limit-zero', J)]),
        ('effort="10"', '', [(W, 'effort-limit-missing', J)]),
        ('effort="10"', 'effort="-1"', [(E, 'effort-limit-negative', J)]),
        ('velocity="2"', 'velocity="0"', [(W, 'velocity-limit-zero', J)]),
        ('velocity="2"', 'velocity="-2"', [(E, 'velocity-limit-negative', J)]),
        ('lower="-1" upper="1"', '', [(W, 'position-limits-empty', J)]),
        # Tensors that no body has.
        (TENSOR, tensor(0.02, 0.02, -0.01), [(E, 'inertia-not-positive-definite', A)]),
        (TENSOR, tensor(0.02, 0.02, 0.03, 0.03), [(E, 'inertia-not-positive-definite', A)]),
        (TENSOR, tensor(0, 0, 0), [NO_TENSOR]),
        (TENSOR, tensor(0.02, 0.02, 0), [NO_TENSOR]),
        (TENSOR, tensor(0.01, 0.01, 0.05), [(E, 'inertia-triangle-inequality', A)]),
        (TENSOR, tensor(0.01, 0.01, 0.021), [(W, 'inertia-triangle-inequality', A)]),
        (TENSOR, tensor(0.01, 0.01, 0.02000001), []),  # by rounding
        (TENSOR, tensor(20, 20, 10), [(W, 'inertia-large', A)]),  # g mm^2
    ],
)
def test_what_is_wrong_or_doubtful_is_found(old, new, expected):
    assert old in GOOD
    assert found(GOOD.replace(old, new, 1)) == expected


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
