"""The checker finds what is wrong or doubtful, and nothing in a sound robot."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.model.checks import SEVERITIES, check_robot
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


CASES = {
    'missing inertial': (
        f'<link name="a">{INERTIAL}',
        '<link name="a">',
        [('warning', 'inertial-missing', "link 'a'")],
    ),
    'missing inertial at the end': (
        f'<link name="b">{INERTIAL}',
        '<link name="b">',
        [
            ('error', 'mass-matrix-singular', 'robot'),
            ('warning', 'inertial-missing', "link 'b'"),
        ],
    ),
    'zero mass': ('<mass value="1"', '<mass value="0"', [('warning', 'mass-zero', "link 'a'")]),
    'negative mass': (
        '<mass value="1"',
        '<mass value="-0.1"',
        [('error', 'mass-negative', "link 'a'")],
    ),
    'indefinite': (
        TENSOR,
        tensor(0.02, 0.02, -0.01),
        [('error', 'inertia-not-positive-definite', "link 'a'")],
    ),
    'indefinite by its products': (
        TENSOR,
        tensor(0.02, 0.02, 0.03, 0.03),
        [('error', 'inertia-not-positive-definite', "link 'a'")],
    ),
    'point mass': (
        TENSOR,
        tensor(0, 0, 0),
        [('warning', 'inertia-not-positive-definite', "link 'a'")],
    ),
    'rod': (
        TENSOR,
        tensor(0.02, 0.02, 0),
        [('warning', 'inertia-not-positive-definite', "link 'a'")],
    ),
    'triangle inequality': (
        TENSOR,
        tensor(0.01, 0.01, 0.05),
        [('error', 'inertia-triangle-inequality', "link 'a'")],
    ),
    'triangle inequality by a little': (
        TENSOR,
        tensor(0.01, 0.01, 0.021),
        [('warning', 'inertia-triangle-inequality', "link 'a'")],
    ),
    'triangle inequality by rounding': (TENSOR, tensor(0.01, 0.01, 0.02000001), []),
    'millimetres': (
        'xyz="0.01 0 0.1"',
        'xyz="10 0 100"',
        [('warning', 'center-of-mass-far', "link 'a'")],
    ),
    'tensor in g mm^2': (
        TENSOR,
        tensor(20, 20, 10),
        [('warning', 'inertia-large', "link 'a'")],
    ),
    'effort limit 0': (
        'effort="10"',
        'effort="0"',
        [('warning', 'effort-limit-zero', "joint 'j_a'")],
    ),
    'effort limit missing': (
        'effort="10"',
        '',
        [('warning', 'effort-limit-missing', "joint 'j_a'")],
    ),
    'effort limit negative': (
        'effort="10"',
        'effort="-1"',
        [('error', 'effort-limit-negative', "joint 'j_a'")],
    ),
    'velocity limit 0': (
        'velocity="2"',
        'velocity="0"',
        [('warning', 'velocity-limit-zero', "joint 'j_a'")],
    ),
    'velocity limit negative': (
        'velocity="2"',
        'velocity="-2"',
        [('error', 'velocity-limit-negative', "joint 'j_a'")],
    ),
    'no limits at all': (
        '<limit lower="-1" upper="1" effort="10" velocity="2"/>',
        '',
        [
            ('warning', 'effort-limit-missing', "joint 'j_a'"),
            ('info', 'position-limits-missing', "joint 'j_a'"),
        ],
    ),
    'position limits empty': (
        'lower="-1" upper="1"',
        '',
        [('warning', 'position-limits-empty', "joint 'j_a'")],
    ),
    'root inertia': (
        '<link name="base"/>',
        f'<link name="base">{INERTIAL}</link>',
        [('info', 'root-inertia', "link 'base'")],
    ),
    'inertia missing': (
        f'<inertia {TENSOR}/>',
        '',
        [
            ('warning', 'inertia-missing', "link 'a'"),
            ('warning', 'inertia-not-positive-definite', "link 'a'"),
        ],
    ),
    'unknown tag': (
        '<link name="base"/>',
        '<link name="base"/><foo/>',
        [('info', 'unknown-tag', 'robot')],
    ),
    'frame with explicit zeros': (
        '<link name="tool"/>',
        f'<link name="tool"><inertial><mass value="0"/><inertia {tensor(0, 0, 0)}/></inertial>'
        '</link>',
        [('info', 'mass-zero', "link 'tool'")],
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_fault_is_found(case):
    """Each fault alone gives its finding, of its severity, at its element, and nothing else."""
    old, new, expected = CASES[case]
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


def test_findings_come_by_severity():
    """The worst come first."""
    xml = GOOD.replace('<mass value="1"', '<mass value="-1"').replace('effort="10"', '')
    xml = xml.replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link><foo/>')
    severities = [finding.severity for finding in check_robot(load_urdf(xml))]
    assert severities == sorted(severities, key=SEVERITIES.index)
    assert set(severities) == set(SEVERITIES)


def test_a_small_hand_is_no_fault():
    """Masses of milligrams and lengths of millimetres alone are nothing to complain about."""
    xml = GOOD.replace(TENSOR, tensor(2e-13, 2e-13, 1e-13))
    xml = xml.replace('<mass value="1"', '<mass value="1e-6"')
    xml = xml.replace('xyz="0.01 0 0.1"', 'xyz="1e-4 0 1e-3"').replace('0 0 0.3', '0 0 3e-3')
    assert found(xml) == []


def test_mass_matrix_of_the_checker_is_that_of_the_recursion():
    """The checker's own mass matrix, from kinetic energy, agrees with the recursion."""
    dynamics = pytest.importorskip('ne_dynamics.dynamics')
    from ne_dynamics.model.checks import _mass_matrix

    robot = load_urdf(
        GOOD.replace('type="revolute"', 'type="prismatic"', 1).replace(
            '</joint></robot>',
            '</joint><link name="c">' + INERTIAL + '</link><joint name="j_c" type="revolute">'
            '<parent link="tool"/><child link="c"/><origin xyz="0.1 0.2 0" rpy="0.1 0.2 0.3"/>'
            '<axis xyz="0 1 0"/><mimic joint="j_b" multiplier="-1.5" offset="0.2"/>'
            '</joint></robot>',
        )
    )
    q = np.array([0.3, -0.7])
    np.testing.assert_allclose(
        _mass_matrix(robot, q), dynamics.Dynamics(robot).mass_matrix(q), rtol=1e-12
    )


def test_check_survives_extreme_figures():
    """Figures near the end of the number range give findings, not exceptions."""
    for value in ('1e300', '1e-300', '1e150'):
        for old in ('<mass value="1"', 'ixx="0.02"', 'xyz="0 0 0.3"'):
            new = old.replace('0 0 0.3', f'0 0 {value}')
            new = new.replace('"1"', f'"{value}"').replace('"0.02"', f'"{value}"')
            try:
                robot = load_urdf(GOOD.replace(old, new, 1))
            except ValueError:
                continue
            check_robot(robot)
