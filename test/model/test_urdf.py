"""What a URDF says arrives in the robot: links, joints, lumping, locking, mimic joints."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from urdf_text import joint_xml, link_xml, robot_xml

from ne_dynamics.model.rigid_body import axis_angle_rotation
from ne_dynamics.model.urdf.tree import load_urdf


def tree():
    """Return a tree: base -> a -> b -> c and b -> d -> e, with a fixed flange beyond c."""
    return robot_xml(
        *(link_xml(name) for name in ('base', 'a', 'b', 'c', 'd', 'e', 'flange')),
        joint_xml('j_a', 'base', 'a', xyz='0 0 0.3'),
        joint_xml('j_b', 'a', 'b', axis='0 1 0', xyz='0 0 0.2'),
        joint_xml('j_d', 'b', 'd', kind='prismatic', axis='1 0 0', xyz='0.1 0 0', rpy='0 0.3 0'),
        joint_xml('j_c', 'b', 'c', axis='1 0 0', xyz='0 0 0.4'),
        joint_xml('j_e', 'd', 'e', kind='continuous', inside='<dynamics damping="0.1"/>'),
        joint_xml('j_flange', 'c', 'flange', kind='fixed', xyz='0 0 0.1', rpy='1 0 0'),
    )


def test_chain_runs_from_base_to_tip_and_lumps_the_rest():
    """With a tip only the joints on the way move, and no mass beyond the base gets lost."""
    robot = load_urdf(tree(), tip_link='flange')
    assert robot.joint_names == ('j_a', 'j_b', 'j_c')
    assert robot.is_chain
    assert robot.tip.body == 2
    assert robot.tip.parent == 'c'
    assert [body.inertia.mass for body in robot.bodies] == [1.0, 3.0, 2.0]
    np.testing.assert_allclose(robot.tip.pose_in_body.translation, (0.0, 0.0, 0.1))
    assert any(finding.code == 'joints-locked' for finding in robot.findings)


def test_limits_damping_and_friction():
    xml = robot_xml(
        *(link_xml(name) for name in ('base', 'a', 'b', 'c', 'd')),
        joint_xml(
            'j_a',
            'base',
            'a',
            inside='<limit lower="-1" upper="1.5" effort="0" velocity="2.5"/>'
            '<dynamics damping="0.7" friction="0.2"/>',
        ),
        joint_xml('j_b', 'a', 'b', inside='<dynamics damping="0.1"/>'),
        joint_xml('j_c', 'b', 'c', kind='continuous'),
        joint_xml('j_d', 'c', 'd', inside='<limit lower="-1" upper="1"/>'),
    )
    a, b, c, d = load_urdf(xml).joints
    assert (a.lower, a.upper, a.effort_limit, a.velocity_limit) == (-1.0, 1.5, 0.0, 2.5)
    assert (a.viscous_friction, a.coulomb_friction) == (0.7, 0.2)
    assert (b.lower, b.upper, b.effort_limit) == (-np.inf, np.inf, np.inf)
    assert (b.viscous_friction, b.coulomb_friction) == (0.1, 0.0)
    assert (c.lower, c.upper, c.effort_limit) == (-np.inf, np.inf, 10.0)
    assert (d.effort_limit, d.velocity_limit) == (np.inf, np.inf)


@pytest.mark.parametrize(
    ('axis', 'finding'), [('0.70711 0 0.70711', True), ('0.70710678 0 0.70710678', False)]
)
def test_axis_off_by_the_rounding_of_its_digits_is_normalised(axis, finding):
    """A printed axis has unit length to its last digit; a coarse one is reported."""
    xml = robot_xml(link_xml('base'), link_xml('a'), joint_xml('j', 'base', 'a', axis=axis))
    robot = load_urdf(xml)
    assert np.linalg.norm(robot.bodies[0].axis) == pytest.approx(1.0, abs=1e-15)
    assert any(item.code == 'axis-normalised' for item in robot.findings) is finding


def mimic(target, multiplier=None, offset=None):
    """Return a mimic element."""
    more = '' if multiplier is None else f' multiplier="{multiplier}"'
    more += '' if offset is None else f' offset="{offset}"'
    return f'<mimic joint="{target}"{more}/><dynamics damping="0.5" friction="0.25"/>'


def mimic_tree(*extra):
    """Return base -> a -> b -> c, where c follows b and b follows a."""
    return robot_xml(
        *(link_xml(name) for name in ('base', 'a', 'b', 'c')),
        joint_xml('j_a', 'base', 'a', inside='<dynamics damping="0.1" friction="0.05"/>'),
        joint_xml('j_b', 'a', 'b', inside=mimic('j_a', -2.0, 0.5)),
        joint_xml('j_c', 'b', 'c', inside=mimic('j_b', 0.5, 0.1)),
        *extra,
    )


def test_mimic_chains_fold_into_one_coordinate():
    robot = load_urdf(mimic_tree())
    assert robot.joint_names == ('j_a',)
    assert [body.joint_name for body in robot.bodies] == ['j_a', 'j_b', 'j_c']
    assert [body.coordinate for body in robot.bodies] == [0, 0, 0]
    assert [body.multiplier for body in robot.bodies] == [1.0, -2.0, -1.0]
    np.testing.assert_allclose([body.offset for body in robot.bodies], [0.0, 0.5, 0.35])
    assert robot.joints[0].viscous_friction == pytest.approx(0.1 + 4.0 * 0.5 + 0.5)
    assert robot.joints[0].coulomb_friction == pytest.approx(0.05 + 2.0 * 0.25 + 0.25)


def test_mimic_off_the_way_to_the_tip_stands_where_the_zero_of_its_coordinate_puts_it():
    """A finger that follows an arm joint is lumped at its offset, and that is said."""
    robot = load_urdf(mimic_tree(), tip_link='a')
    assert robot.joint_names == ('j_a',)
    np.testing.assert_allclose(
        robot.link('c').pose_in_body.rotation,
        axis_angle_rotation((0, 0, 1), 0.5 + 0.35),
        atol=1e-15,
    )
    assert sum(finding.code == 'mimic-locked' for finding in robot.findings) == 2


def test_what_is_locked_is_said():
    """A lock that is named wins over mimicry, and may be outside of the limits; a joint of several
    coordinates off the way to the tip stands, and is lumped.
    """
    robot = load_urdf(mimic_tree(), locked_joints={'j_b': 0.0})
    assert [body.joint_name for body in robot.bodies] == ['j_a']
    robot = load_urdf(tree(), locked_joints={'j_a': 2.5})
    assert 'locked-outside-limits' in {item.code for item in robot.findings}
    floating = '<joint name="j_x" type="floating"><parent link="a"/><child link="x"/></joint>'
    robot = load_urdf(tree().replace('</robot>', f'{link_xml("x")}{floating}</robot>'), None, 'a')
    assert robot.bodies[0].inertia.mass == 7.0
    assert 'unsupported-joint-locked' in {item.code for item in robot.findings}


def test_link_without_inertial_is_massless_and_says_so():
    """A missing inertial is not the same as a given zero."""
    robot = load_urdf(
        robot_xml('<link name="base"/>', link_xml('a', 0.0), joint_xml('j', 'base', 'a'))
    )
    assert not robot.link('base').has_inertial
    assert robot.link('a').has_inertial
    assert robot.link('base').inertia.is_zero


def test_unknown_tags_become_findings_and_print_nothing(capfd):
    xml = robot_xml(
        link_xml('base'),
        link_xml('a').replace('</link>', '<sensor/></link>'),
        joint_xml(
            'j', 'base', 'a', inside='<limit effort="1" velocity="1" acceleration="2"/><gear/>'
        ),
        '<foo/><gazebo reference="a"><mu>1</mu></gazebo><transmission name="t"/>',
    )
    findings = load_urdf(xml).findings
    assert [(item.severity, item.code, item.element) for item in findings] == [
        ('info', 'unknown-tag', "link 'a'"),
        ('warning', 'unknown-attribute', "joint 'j'"),
        ('warning', 'unknown-tag', "joint 'j'"),
        ('info', 'unknown-tag', 'robot'),
    ]
    assert '<foo>' in findings[-1].message
    assert capfd.readouterr() == ('', '')


def test_long_chains_do_not_hit_the_recursion_limit():
    """A chain of thousands of links loads."""
    count = 1 + sys.getrecursionlimit()
    xml = robot_xml(
        *(link_xml(f'l{i}') for i in range(count + 1)),
        *(joint_xml(f'j{i}', f'l{i}', f'l{i + 1}') for i in range(count - 1, -1, -1)),
    )
    robot = load_urdf(xml)
    assert robot.n == count
    assert robot.tip_link == f'l{count}'
