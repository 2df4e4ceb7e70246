"""What a driver, a base or a description has that no column shows is named by the efforts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import planted_faults
import pytest
from example_robots import example_robots_folder
from planted_faults import simulate_log
from recorded_motion import altered

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.driver.evidence.gravity_columns import compute_gravity_columns, turn_gravity
from ne_dynamics.shipped import shipped_file

UR = 'ur_description/urdf/{}_robot.urdf'
ARMS = {
    'three axes': (None, 'forearm'),
    'six_axis_arm': (None, 'tcp'),
    'ur3': (UR.format('ur3'), 'tool0'),
    'ur5': (UR.format('ur5'), 'tool0'),
    'ur10': (UR.format('ur10'), 'tool0'),
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link8'),
}


def load(name):
    """Return an arm of which logs are simulated."""
    file, tip = ARMS[name]
    path = shipped_file('six_axis_arm.urdf') if file is None else example_robots_folder() / file
    return ned.load_urdf(path, tip_link=tip)


def change_position(log, joint, change):
    """Return a log in which the position of a joint is another function of what it is."""
    position, velocity = log.position.copy(), log.velocity.copy()
    position[:, joint] = change(position[:, joint])
    velocity[:, joint] *= change(1.0) - change(0.0)
    return replace(log, position=position, velocity=velocity)


def list_faults(robot, log):
    """Return code, joints and whether it is certain, of all that is found."""
    found = diagnose_log(robot, log).faults
    return [(fault.code, fault.joints, fault.is_certain) for fault in found]


@pytest.mark.kept(4)
@pytest.mark.parametrize('name', ARMS)
@pytest.mark.parametrize('seed', [21, 22])
def test_good_logs_of_six_arms_raise_no_alarm(name, seed):
    """Links 30 % off, friction that no fit has, noise and other rates are no fault."""
    log = simulate_log(
        load(name),
        seed,
        rate=(100.0, 250.0)[seed % 2],
        stribeck=(0.0, 0.4)[seed % 2],
        effort_noise=(0.01, 0.04)[seed % 2],
        hysteresis=(0.0, 1.0)[seed % 2],
    )
    assert diagnose_log(load(name), log).faults == ()


@pytest.mark.kept(1)
@pytest.mark.parametrize(('name', 'joint'), [('three axes', 1), ('ur5', 1), ('panda', 5)])
def test_a_zero_that_is_off_by_twenty_degrees_is_named(name, joint):
    """With its joint and the angle; the repaired log has the right zero within 2 degrees."""
    robot = load(name)
    log = simulate_log(robot, 7)
    wrong = change_position(log, joint, lambda angle: angle + np.radians(20.0))
    diagnosis = diagnose_log(robot, wrong)
    assert [fault.code for fault in diagnosis.faults] == ['zero-offset']
    assert diagnosis.faults[0].joints == (robot.joint_names[joint],)
    assert np.degrees(diagnosis.faults[0].amount) == pytest.approx(-20.0, abs=2.0)
    np.testing.assert_allclose(diagnosis.repaired.position, log.position, atol=np.radians(2.0))


@pytest.mark.kept(1)
@pytest.mark.parametrize(('name', 'joint'), [('three axes', 2), ('ur5', 2), ('panda', 3)])
def test_the_gear_of_an_encoder_is_named(name, joint):
    """A position that is 1.1 times what it is, with its joint and the factor."""
    robot = load(name)
    wrong = change_position(simulate_log(robot, 7), joint, lambda angle: 1.1 * angle)
    (fault,) = diagnose_log(robot, wrong).faults
    assert (fault.code, fault.joints) == ('position-scaled', (robot.joint_names[joint],))
    assert 1.0 / fault.amount == pytest.approx(1.1, abs=0.02)


@pytest.mark.parametrize(('name', 'joint'), [('three axes', 2), ('ur5', 2)])
def test_the_gear_of_a_drive_is_named(name, joint):
    """Its effort is wrong by the inverse of what its position is, and still a torque."""
    robot = load(name)
    wrong = change_position(simulate_log(robot, 7), joint, lambda angle: 1.25 * angle)
    effort = wrong.effort.copy()
    effort[:, joint] /= 1.25
    wrong = replace(wrong, effort=effort)
    described = describe_driver(robot, wrong)
    assert described.effort.value in ('torque', None)
    for faults in (diagnose_log(robot, wrong).faults, described.faults):
        (fault,) = faults
        assert (fault.code, fault.joints) == ('position-scaled', (robot.joint_names[joint],))
        assert 1.0 / fault.amount == pytest.approx(1.25, abs=0.04)
        assert 'drive' in fault.remedy


@pytest.mark.parametrize(('factor', 'seed'), [(0.8, 4), (0.88, 4), (0.88, 7), (1.15, 7)])
def test_an_effort_that_is_a_little_off_is_no_wrong_gear_of_another_joint(factor, seed):
    """A factor that but brings the arm nearer to the given one is no repair."""
    robot = load('ur5')
    log = simulate_log(robot, seed)
    effort = log.effort.copy()
    effort[:, 2] *= factor
    wrong = replace(log, effort=effort)
    diagnosis = diagnose_log(robot, wrong)
    assert 'position-scaled' not in {fault.code for fault in diagnosis.faults}
    np.testing.assert_array_equal(diagnosis.repaired.position, wrong.position)


@pytest.mark.parametrize('name', ['three axes', 'ur5', 'panda'])
def test_exchanged_efforts_are_no_signs_and_units(name):
    """Whatever efforts mean is looked for once they are with their joints."""
    robot = load(name)
    log = simulate_log(robot, 7)
    described = describe_driver(
        robot, replace(log, effort=log.effort[:, [0, 2, 1, 3, 4, 5, 6][: robot.n]])
    )
    assert [(fault.code, fault.joints) for fault in described.faults] == [
        ('efforts-swapped', robot.joint_names[1:3])
    ]
    assert described.effort.value in ('torque', None)


@pytest.mark.parametrize('name', ['three axes', 'ur5'])
def test_an_effort_that_drifts_is_named(name):
    """By how much over the log; nothing is repaired."""
    robot = load(name)
    log = simulate_log(robot, 7)
    effort = log.effort.copy()
    drift = 0.4 * np.sqrt(np.mean(effort[:, 1] ** 2))
    effort[:, 1] += drift * np.linspace(0.0, 1.0, len(effort))
    wrong = replace(log, effort=effort)
    diagnosis = diagnose_log(robot, wrong)
    for faults in (diagnosis.faults, describe_driver(robot, wrong).faults):
        (fault,) = faults
        assert (fault.code, fault.joints) == ('effort-drift', (robot.joint_names[1],))
        assert fault.amount == pytest.approx(drift, rel=0.15)
    np.testing.assert_array_equal(diagnosis.repaired.effort, effort)


def filter_effort(log, frequency):
    """Return a log whose efforts passed a low-pass of first order [Hz]."""
    effort = log.effort.copy()
    part = 1.0 - np.exp(-2.0 * np.pi * frequency * np.median(np.diff(log.times)))
    for row in range(1, len(effort)):
        effort[row] = effort[row - 1] + part * (effort[row] - effort[row - 1])
    return replace(log, effort=effort)


@pytest.mark.parametrize('name', ['three axes', 'ur5'])
def test_efforts_behind_a_slow_low_pass_are_no_delay(name):
    """The frequency is named, nothing is repaired, and the node takes no such efforts."""
    robot = load(name)
    log = filter_effort(simulate_log(robot, 7), 1.5)
    diagnosis, described = diagnose_log(robot, log), describe_driver(robot, log)
    for faults in (diagnosis.faults, described.faults):
        (fault,) = faults
        assert (fault.code, fault.severity, len(fault.joints)) == (
            'effort-filtered',
            'error',
            robot.n,
        )
        assert 0.5 / np.pi / fault.amount == pytest.approx(1.5, rel=0.1)
    assert diagnosis.remaining
    np.testing.assert_array_equal(diagnosis.repaired.effort, log.effort)
    assert described.parameters()['state_effort'] == 'ignore'


@pytest.mark.parametrize('name', ['three axes', 'ur5'])
def test_one_late_joint_is_named_whatever_efforts_are(name):
    """As where they are torques: the others are not late, and the node takes no such efforts."""
    robot = load(name)
    log = simulate_log(robot, 7)
    effort = log.effort.copy()
    effort[:, 1] = np.roll(effort[:, 1], 4)
    described = describe_driver(robot, replace(log, effort=effort))
    (fault,) = described.faults
    assert (fault.code, fault.joints) == ('effort-delay', (robot.joint_names[1],))
    assert fault.amount == pytest.approx(0.04, abs=0.015)
    assert abs(described.effort_delay.value or 0.0) < 0.01
    assert described.parameters()['state_effort'] == 'ignore'


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['three axes', 'ur5', 'panda'])
def test_one_joint_of_several_in_degrees_is_named(name):
    """The others are in radians, and are left as they are."""
    robot = load(name)
    log = simulate_log(robot, 7)
    diagnosis = diagnose_log(robot, change_position(log, 2, np.degrees))
    (fault,) = diagnosis.faults
    assert (fault.code, fault.joints) == ('degrees', (robot.joint_names[2],))
    assert fault.is_certain
    np.testing.assert_allclose(diagnosis.repaired.position, log.position, atol=1e-9)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('name', 'axis'), [('three axes', 1), ('ur5', 0), ('panda', 1)])
def test_a_base_that_is_tilted_by_fifteen_degrees_is_named(monkeypatch, name, axis):
    """With the angle and the gravity to be given; a log cannot be repaired of it."""
    robot = load(name)
    tilt = np.radians(15.0) * np.eye(2)[axis]
    gravity = turn_gravity(np.array([0.0, 0.0, -9.80665]), tuple(tilt))
    tilted = ned.Dynamics(altered(robot, 7), gravity, backend='python')
    with monkeypatch.context() as patch:
        patch.setattr(planted_faults.ned, 'Dynamics', lambda robot, **_: tilted)
        log = simulate_log(robot, 7)
    (fault,) = diagnose_log(robot, log).faults
    assert (fault.code, fault.is_certain) == ('base-tilted', False)
    assert np.degrees(fault.amount) == pytest.approx(15.0, abs=1.0)
    given = np.array(fault.remedy.split('--gravity ')[1].split(), dtype=float)
    np.testing.assert_allclose(given, gravity, atol=0.3)
    assert diagnose_log(tilted.robot, log).faults
    stands = ned.Dynamics(robot, gravity, backend='python')
    assert diagnose_log(stands, log).faults == ()


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['three axes', 'ur5'])
def test_an_arm_that_hangs_from_the_ceiling_is_named(monkeypatch, name):
    """Not as a zero that is off by half a turn, which turns gravity round as well."""
    robot = load(name)
    hung = ned.Dynamics(altered(robot, 35), (0.0, 0.0, 9.80665), backend='python')
    with monkeypatch.context() as patch:
        patch.setattr(planted_faults.ned, 'Dynamics', lambda robot, **_: hung)
        log = simulate_log(robot, 35)
    (fault,) = diagnose_log(robot, log).faults
    assert (fault.code, fault.amount) == ('base-tilted', pytest.approx(np.pi))


@pytest.mark.parametrize('name', ARMS)
def test_efforts_without_their_sign_are_named(name):
    """Absolute values are no efforts of the wrong sign; nothing is repaired."""
    robot = load(name)
    log = simulate_log(robot, 7)
    diagnosis = diagnose_log(robot, replace(log, effort=np.abs(log.effort)))
    assert [fault.code for fault in diagnosis.errors] == ['unsigned']
    assert diagnosis.remaining
    np.testing.assert_array_equal(diagnosis.repaired.effort, np.abs(log.effort))


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['three axes', 'ur5', 'six_axis_arm'])
def test_efforts_of_one_sign_by_themselves_are_no_fault(name):
    """Of joints that gravity loads one way, and that alone move."""
    robot = load(name)
    log = simulate_log(robot, 7)
    heavy = ned.Dynamics(robot, (0.0, 0.0, -9.80665), backend='python')
    weight = heavy.gravity_torque(log.position)
    loaded = np.argmax(np.abs(weight).mean(axis=0))
    position = log.position.copy()
    standing = np.arange(robot.n) != loaded
    position[:, standing] = position[0, standing]
    position[:, loaded] = position[0, loaded] + 0.1 * np.sin(2.0 * log.times)
    velocity = np.gradient(position, log.times, axis=0)
    effort = heavy.inverse_dynamics(position, velocity, np.gradient(velocity, log.times, axis=0))
    effort *= np.sign(effort.mean(axis=0))
    kept = replace(log, position=position, velocity=velocity, effort=np.abs(effort))
    assert 'unsigned' not in {fault.code for fault in diagnose_log(robot, kept).faults}


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['three axes', 'panda'])
def test_efforts_in_newton_millimetres_are_one_finding(name):
    """A factor of a thousand on all efforts is not taken for faults of single joints."""
    robot = load(name)
    log = simulate_log(robot, 32, rate=125.0)
    found = list_faults(robot, replace(log, effort=1e3 * log.effort))
    assert found == [('efforts-scaled', robot.joint_names, False)]


@pytest.mark.kept(2)
@pytest.mark.parametrize('name', ['three axes', 'ur5', 'six_axis_arm', 'panda'])
@pytest.mark.parametrize('own', ['arm', 'given'])
def test_gravity_that_a_driver_takes_out_is_named(name, own):
    """Whether the driver's gravity is that of the arm or that of the given model."""
    robot = load(name)
    log = simulate_log(robot, 7)
    model = robot if own == 'given' else altered(robot, 7)
    weight = ned.Dynamics(model, backend='python').gravity_torque(log.position)
    found = list_faults(robot, replace(log, effort=log.effort - weight))
    assert found == [('gravity-removed', robot.joint_names, False)]


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('own', 'given'), [('ur5', 'ur3'), ('ur5', 'ur10'), ('ur5', 'six_axis_arm')]
)
def test_a_description_of_another_robot_is_named(own, given):
    """One finding of all joints in the place of many, with what else it may be; none certain."""
    robot = load(given)
    log = replace(simulate_log(load(own), 7), joint_names=robot.joint_names)
    diagnosis = diagnose_log(robot, log)
    assert 'other-model' in [fault.code for fault in diagnosis.faults]
    assert {fault.code for fault in diagnosis.faults} <= {'other-model', 'effort-unexplained'}
    assert diagnosis.remaining
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)
    described = describe_driver(robot, log)
    assert described.faults[0].code == 'other-model'
    assert not any(fault.is_certain for fault in described.faults)
    assert described.effort.value is None
    assert described.parameters()['state_effort'] == 'ignore'


def test_two_joints_in_another_unit_are_no_other_robot():
    """Each is named with its factor, and the log is repaired."""
    robot = load('ur5')
    log = simulate_log(robot, 7)
    effort = log.effort * [1.0, 3.0, 1.0, 3.0, 1.0, 1.0]
    found = list_faults(robot, replace(log, effort=effort))
    names = {(robot.joint_names[joint],) for joint in (1, 3)}
    assert {(code, is_certain) for code, _, is_certain in found} == {('effort-scaled', True)}
    assert {joints for _, joints, _ in found} == names


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['three axes', 'ur5'])
def test_what_nothing_explains_says_what_was_tried_and_repairs_nothing(name):
    """A zero that is off in a log whose efforts are half noise is no certain cause."""
    robot = load(name)
    log = simulate_log(robot, 7)
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(log.effort.shape).cumsum(axis=0)
    noise = np.sin(noise / 20.0) * np.sqrt(np.mean(log.effort**2, axis=0))
    wrong = change_position(replace(log, effort=log.effort + noise), 1, lambda q: q + np.pi / 2.0)
    diagnosis = diagnose_log(robot, wrong)
    (last,) = [fault for fault in diagnosis.faults if fault.code == 'effort-unexplained']
    for code in ('zero-offset', 'position-scaled', 'base-tilted', 'other-model'):
        assert code in last.what
    assert not any(fault.is_certain for fault in diagnosis.faults)
    np.testing.assert_array_equal(diagnosis.repaired.position, wrong.position)


@pytest.mark.parametrize('name', ['six_axis_arm', 'panda', 'standard DH'])
def test_columns_of_gravity_are_those_of_the_regressor(name):
    """Of any direction of gravity, the same as the traced recursion at rest."""
    is_dh = name == 'standard DH'
    robot = ned.load_dh(shipped_file('puma560_standard_dh.yaml')) if is_dh else load(name)
    rng = np.random.default_rng(0)
    position, gravity = rng.uniform(-2.0, 2.0, (5, robot.n)), rng.uniform(-9.0, 9.0, 3)
    still = np.zeros_like(position)
    traced = ned.Dynamics(robot, gravity, backend='python').regressor(position, still, still)
    dynamics = ned.Dynamics(robot, backend='python')
    columns = compute_gravity_columns(dynamics, position, gravity)
    np.testing.assert_allclose(columns.reshape(traced.shape), traced, atol=1e-12)
