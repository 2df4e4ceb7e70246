"""URDF 1.1 and 1.2: quaternions, capsules, limits of acceleration, deceleration and jerk."""

from itertools import product

import numpy as np
import pytest

from ne_dynamics.errors import ModelError
from ne_dynamics.model.urdf.tree import load_urdf

LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'


def random_quaternions(count):
    """Return unit quaternions: random ones, and turns by quarters with a pitch of 90 degrees."""
    rng = np.random.default_rng(17)
    quarters = [each for each in product((-1, 0, 1), (-1, 0, 1), (-1, 0, 1), (0, 1)) if any(each)]
    rolls = [(np.sin(a), np.cos(a), np.sin(b), np.cos(b)) for a, b in rng.normal(size=(9, 2))]
    values = np.array([*rng.normal(size=(count, 4)), *quarters, *rolls])
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def urdf(turns, version='1.1', limits=(LIMIT, LIMIT), inside=''):
    """Return an arm of two joints with the orientations given: of j_a, j_b, and b's inertial."""
    start = f'<robot name="t" version="{version}">' if version else '<robot name="t">'
    inertial = (
        '<inertial><origin xyz="0.1 0.2 0.3" {}/><mass value="2"/><inertia ixx="0.05" ixy="0.01" '
        'ixz="0.002" iyy="0.06" iyz="-0.003" izz="0.07"/></inertial>'
    )
    return (
        f'{start}<link name="base"/><link name="a">{inertial.format("")}</link>'
        f'<link name="b">{inertial.format(turns[2])}</link>'
        '<joint name="j_a" type="revolute"><parent link="base"/><child link="a"/>'
        f'<origin xyz="0 0 0.4" {turns[0]}/><axis xyz="0 0 1"/>{limits[0]}</joint>'
        '<joint name="j_b" type="prismatic"><parent link="a"/><child link="b"/>'
        f'<origin xyz="0.3 0 0" {turns[1]}/><axis xyz="0 1 0"/>{limits[1]}</joint>{inside}</robot>'
    )


def quat(quaternion):
    """Return the attribute of an orientation."""
    return f'quat_xyzw="{" ".join(map(repr, map(float, quaternion)))}"'


PLAIN = (quat((0, 0, 0, 1)), '', '')


def test_quaternions_arrive_in_the_robot():
    """Placements and inertias have the rotation of the quaternion, which SciPy says."""
    turns = pytest.importorskip('scipy.spatial.transform', reason='needs SciPy').Rotation
    for first, second, third in zip(*[iter(random_quaternions(60))] * 3, strict=False):
        robot = load_urdf(urdf((quat(first), quat(second), quat(third))))
        plain = load_urdf(urdf(('', '', ''), version=None))
        for body, quaternion in zip(robot.bodies, (first, second), strict=True):
            np.testing.assert_allclose(
                body.pose_in_parent.rotation, turns.from_quat(quaternion).as_matrix(), atol=1e-15
            )
        turn = turns.from_quat(third).as_matrix()
        np.testing.assert_allclose(
            robot.link('b').inertia.inertia_about_com,
            turn @ plain.link('b').inertia.inertia_about_com @ turn.T,
            atol=1e-16,
        )
        assert not robot.findings


@pytest.mark.parametrize(
    ('numbers', 'severities'),
    [
        ('0 0 0.7071067811865476 0.7071067811865475', []),
        ('0 0 0.7071 0.7071', ['info']),
        ('0 0 1 1', ['warning']),
        ('0 0 1e300 1e300', ['warning']),
        ('0 0 5e-324 5e-324', ['warning']),
    ],
)
def test_quaternions_are_normalised(numbers, severities):
    """The rotation is that of the direction; a length that is not 1 is said, with the joint."""
    robot = load_urdf(urdf((f'quat_xyzw="{numbers}"', '', '')))
    quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(robot.bodies[0].pose_in_parent.rotation, quarter, atol=5e-16)
    findings = [item for item in robot.findings if item.code == 'quaternion-normalised']
    assert [item.severity for item in findings] == severities
    assert all(item.element == "joint 'j_a'" for item in findings)


@pytest.mark.parametrize(
    ('attributes', 'message'),
    [
        ('quat_xyzw="0 0 0"', r"'j_a': origin quat_xyzw: expected 4 numbers, got '0 0 0'"),
        ('quat_xyzw="0 0 0 1 0"', r"'j_a': origin quat_xyzw: expected 4 numbers"),
        ('quat_xyzw=""', r"'j_a': origin quat_xyzw: expected 4 numbers"),
        ('quat_xyzw="0 0 0 nan"', r"'j_a': origin quat_xyzw: .*'nan'"),
        ('quat_xyzw="0 0 0 1e999"', r"'j_a': origin quat_xyzw: .*'1e999'"),
        ('quat_xyzw="0 0 0 one"', r"'j_a': origin quat_xyzw: .*'one'"),
        ('quat_xyzw="0 0 0 0"', r"'j_a': origin quat_xyzw: .*length above 0"),
        ('quat_xyzw="0 -0 0 0e9"', r"'j_a': origin quat_xyzw: .*length above 0"),
        ('quat_xyzw="0 0 0 ${w}"', r"'j_a': origin quat_xyzw: .*xacro"),
        ('quat_xyzw="0 0 0 1" rpy="0 0 0"', r"'j_a': origin: expected rpy or quat_xyzw, got both"),
    ],
)
def test_faulty_quaternion_is_named(attributes, message):
    with pytest.raises(ModelError, match=message):
        load_urdf(urdf((attributes, '', '')))


@pytest.mark.parametrize(
    'version',
    [
        *('2.0', '0.9', '1.3', '1', '1.1.0', '1.1~pre6', 'abc', '', '-1.1', '1.-1', 'nan'),
        *('1e0.1', '1.' + '1' * 5000, '\u0661.\u0661'),
    ],
)
def test_other_versions_are_refused(version):
    """As by urdfdom: neither newer versions nor what is no version."""
    with pytest.raises(ModelError, match=r"robot 't': version: expected '1.0', '1.1' or '1.2'"):
        load_urdf(urdf(('', '', ''), version or ' '))


@pytest.mark.parametrize(
    ('attributes', 'expected'),
    [
        ('', (np.inf, np.inf, np.inf)),
        ('acceleration="4"', (4.0, 4.0, np.inf)),
        ('deceleration="5"', (np.inf, 5.0, np.inf)),
        ('acceleration="4" deceleration="5" jerk="60"', (4.0, 5.0, 60.0)),
        ('jerk="0"', (np.inf, np.inf, 0.0)),
    ],
)
def test_limits_of_acceleration(attributes, expected):
    """They arrive in the joint they are given for; a missing deceleration is the acceleration."""
    limit = LIMIT.replace('/>', f' {attributes}/>')
    robot = load_urdf(urdf(PLAIN, '1.2', (LIMIT, limit)))
    keys = ('acceleration_limit', 'deceleration_limit', 'jerk_limit')
    assert [[getattr(joint, key) for key in keys] for joint in robot.joints] == [
        [np.inf] * 3,
        list(expected),
    ]
    assert robot.limits('acceleration_limit').tolist() == [np.inf, expected[0]]
    assert not robot.findings


@pytest.mark.parametrize('version', [None, '1.0', '1.1'])
def test_limits_of_acceleration_need_version_1_2(version):
    """Under an older version they are left out and said to be unknown, whatever they are."""
    limit = LIMIT.replace('/>', ' acceleration="nan" jerk="-1"/>')
    robot = load_urdf(urdf(('', '', ''), version, (limit, LIMIT)))
    assert robot.joints[0].acceleration_limit == robot.joints[0].jerk_limit == np.inf
    assert [(item.severity, item.code, item.element) for item in robot.findings] == [
        ('warning', 'unknown-attribute', "joint 'j_a'")
    ]


@pytest.mark.parametrize('key', ['acceleration', 'deceleration', 'jerk'])
@pytest.mark.parametrize('value', ['nan', 'inf', '', '1 2', 'fast', '1e999'])
def test_faulty_limit_of_acceleration_is_named(key, value):
    limit = LIMIT.replace('/>', f' {key}="{value}"/>')
    with pytest.raises(ModelError, match=rf"'j_b': limit {key}: expected (a|1) "):
        load_urdf(urdf(PLAIN, '1.2', (LIMIT, limit)))


def test_effort_and_velocity_are_optional_and_both_bounds_are_not():
    robot = load_urdf(urdf(PLAIN, '1.2', ('<limit lower="0" upper="1"/>', LIMIT)))
    assert robot.joints[0].effort_limit == robot.joints[0].velocity_limit == np.inf
    for missing, rest in (('upper', 'lower="-1"'), ('lower', 'upper="1"')):
        limits = (f'<limit {rest}/>', LIMIT)
        with pytest.raises(ModelError, match=rf"'j_a': limit: .*'{missing}', got none"):
            load_urdf(urdf(PLAIN, '1.2', limits))
        assert getattr(load_urdf(urdf(('', '', ''), '1.0', limits)).joints[0], missing) == 0.0
    xml = urdf(PLAIN, '1.2', ('<limit acceleration="2"/>', LIMIT))
    robot = load_urdf(xml.replace('"revolute"', '"continuous"'))
    assert (robot.joints[0].lower, robot.joints[0].acceleration_limit) == (-np.inf, 2.0)
