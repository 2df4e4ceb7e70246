"""Logs with one fault: cause, joints and size are named, and what is certain is repaired.

`identify` and `evaluate` take what `diagnose_log` says, `whatis` what `describe_driver` says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from log_arms import LIGHT, PLANTED, SIX, THREE, load, require_planted, simulate
from planted_faults import PLANTED_FAULTS, simulate_log
from recorded_motion import altered
from recorded_robots import LOGS, load_ur10e, read_panda, read_ur10e

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.driver.evidence.gravity_columns import turn_gravity
from ne_dynamics.model.rigid_body import Inertia

UPRIGHT = np.array([0.0, 0.0, -9.80665])


def change_position(log, joint, change):
    """Return a log in which the position of a joint is another function of what it is."""
    position, velocity = log.position.copy(), log.velocity.copy()
    position[:, joint] = change(position[:, joint])
    velocity[:, joint] *= change(1.0) - change(0.0)
    return replace(log, position=position, velocity=velocity)


def change_effort(log, joint, change):
    """Return a log in which the effort of a joint is another function of what it is."""
    effort = log.effort.copy()
    effort[:, joint] = change(effort[:, joint])
    return replace(log, effort=effort)


def change_gear(log, joint, factor):
    """Return a log in which a position is a multiple of what it is, and its effort that part."""
    scaled = change_position(log, joint, lambda angle: factor * angle)
    return change_effort(scaled, joint, lambda effort: effort / factor)


def drift(column):
    """Return an effort that is larger by a part of itself in the end, and by nothing at first."""
    return column + 0.4 * np.sqrt(np.mean(column**2)) * np.linspace(0.0, 1.0, column.size)


def low_pass(log, frequency):
    """Return a log whose efforts passed a low-pass of first order [Hz]."""
    effort = log.effort.copy()
    part = 1.0 - np.exp(-2.0 * np.pi * frequency * np.median(np.diff(log.times)))
    for row in range(1, len(effort)):
        effort[row] = effort[row - 1] + part * (effort[row] - effort[row - 1])
    return replace(log, effort=effort)


def stand_otherwise(robot, log, gravity):
    """Return the log of the same arm on a base in whose axes gravity is another one."""
    weights = [
        ned.Dynamics(altered(robot, 7), each, backend='python').gravity_torque(log.position)
        for each in (gravity, UPRIGHT)
    ]
    return replace(log, effort=log.effort + weights[0] - weights[1])


def tilt(degrees, axis):
    """Return gravity in the axes of a base that is tilted."""
    return turn_gravity(UPRIGHT, tuple(np.radians(degrees) * np.eye(2)[axis]))


def take_gravity_out(robot, log):
    """Return a log without the gravity of the given model."""
    weight = ned.Dynamics(robot, backend='python').gravity_torque(log.position)
    return replace(log, effort=log.effort - weight)


def couple(log, of_motors):
    """Return a log in which the elbow is reported against the horizon."""
    position, effort = log.position.copy(), log.effort.copy()
    position[:, 2] += position[:, 1]
    effort[:, 1] -= of_motors * effort[:, 2]
    return replace(log, position=position, effort=effort, velocity=None)


def slip(log, angle):
    """Return the log of an encoder of joint 3 that slips from a third of it to two."""
    start, end = np.quantile(log.times, [1 / 3, 2 / 3])
    position = log.position.copy()
    position[:, 2] += angle * np.clip((log.times - start) / (end - start), 0.0, 1.0)
    return replace(log, position=position)


def weaken(log, factor):
    """Return the log of a torque sensor of joint 3 whose gain falls half-way."""
    late = log.times > np.median(log.times)
    return change_effort(log, 2, lambda effort: np.where(late, factor * effort, effort))


def hang(robot, mass, center, spread):
    """Return the log of an arm with a load that the model lacks."""
    body = Inertia(mass, np.array(center), spread * np.eye(3))
    return simulate_log(robot.with_payload(body), 3)


def silence(column, share):
    """Return an effort of which all below a share of its largest value is reported as 0."""
    return np.where(np.abs(column) < share * np.abs(column).max(), 0.0, column)


class Said(NamedTuple):
    """What is to be said of a fault: no joints stand for all, no amount for any."""

    code: str
    joints: tuple = ()
    amount: object = None
    says: str = ''
    severity: str = 'error'
    is_repaired: bool = False


IGNORE, TORQUE = 'ignore', 'torque'
FAULTS = {
    'a zero off by 20 degrees': (
        lambda robot, log: change_position(log, 1, lambda angle: angle + np.radians(20.0)),
        Said('zero-offset', (1,), pytest.approx(-0.349, abs=0.035), is_repaired=True),
        None,
        (THREE, 'ur5'),
    ),
    'the gear of an encoder': (
        lambda robot, log: change_position(log, 2, lambda angle: 1.1 * angle),
        Said(
            'position-scaled', (2,), pytest.approx(0.909, abs=0.018), 'encoder', is_repaired=True
        ),
        None,
        (THREE, 'ur5'),
    ),
    'the gear of a drive': (
        lambda robot, log: change_gear(log, 2, 1.25),
        Said('position-scaled', (2,), pytest.approx(0.8, abs=0.026), 'drive', is_repaired=True),
        IGNORE,
        (THREE, SIX, 'ur5'),
    ),
    'one joint in degrees': (
        lambda robot, log: change_position(log, 2, np.degrees),
        Said('degrees', (2,), is_repaired=True),
        None,
        (THREE, 'ur5', 'panda'),
    ),
    'exchanged efforts': (
        lambda robot, log: replace(log, effort=log.effort[:, [0, 2, 1, 3, 4, 5, 6][: robot.n]]),
        Said('efforts-swapped', (1, 2), is_repaired=True),
        IGNORE,
        (SIX, 'panda'),
    ),
    'an effort that drifts': (
        lambda robot, log: change_effort(log, 1, drift),
        Said('effort-drift', (1,)),
        IGNORE,
        (THREE, SIX, 'ur5'),
    ),
    'efforts behind a low-pass': (
        lambda robot, log: low_pass(log, 1.5),
        Said('effort-filtered', (), pytest.approx(0.106, rel=0.1), 'low-pass of 1.'),
        IGNORE,
        (THREE, SIX, 'ur5'),
    ),
    'one late effort': (
        lambda robot, log: change_effort(log, 1, lambda effort: np.roll(effort, 4)),
        Said('effort-delay', (1,), pytest.approx(0.04, abs=0.015), is_repaired=True),
        IGNORE,
        (THREE, SIX, 'ur5'),
    ),
    'an arm that hangs': (
        lambda robot, log: stand_otherwise(robot, log, -UPRIGHT),
        Said('base-tilted', (), pytest.approx(np.pi)),
        None,
        (THREE, 'ur5'),
    ),
    'a base tilted by 15 degrees': (
        lambda robot, log: stand_otherwise(robot, log, tilt(15.0, 1)),
        Said('base-tilted', (), pytest.approx(0.262, abs=0.018)),
        TORQUE,
        (SIX, 'panda'),
    ),
    'a base tilted by 15 degrees, of three joints': (
        lambda robot, log: stand_otherwise(robot, log, tilt(15.0, 1)),
        Said('base-tilted', (), pytest.approx(0.262, abs=0.018)),
        None,
        (THREE,),
    ),
    'absolute values': (
        lambda robot, log: replace(log, effort=np.abs(log.effort)),
        Said('unsigned'),
        IGNORE,
        (SIX, THREE, 'ur3', 'ur5', 'ur10', 'panda'),
    ),
    'newton millimetres': (
        lambda robot, log: replace(log, effort=1e3 * log.effort),
        Said('efforts-scaled'),
        None,
        (THREE, 'panda'),
    ),
    'gravity taken out': (
        take_gravity_out,
        Said('gravity-removed'),
        None,
        (THREE, 'ur5', SIX, 'panda'),
    ),
    'gravity taken out by its own model': (
        lambda robot, log: take_gravity_out(altered(robot, 7), log),
        Said('gravity-removed'),
        None,
        ('panda', 'ur5', SIX, THREE),
    ),
    'a load of 3 kg': (
        lambda robot, log: hang(robot, 3.0, (0.1, 0.0, 0.1), 0.2),
        Said('load-missing', severity='warning'),
        None,
        (SIX,),
    ),
    'a load nearly as heavy as its arm': (
        lambda robot, log: hang(robot, 9.0, (0.05, 0.02, 0.1), 0.09),
        Said('load-missing', severity='warning'),
        TORQUE,
        ('ur10',),
    ),
    'an elbow against the horizon': (
        lambda robot, log: couple(log, of_motors=False),
        Said('joints-coupled', (2, 1), 1.0, 'of the joints'),
        None,
        (SIX,),
    ),
    'an elbow against the horizon, by its motor': (
        lambda robot, log: couple(log, of_motors=True),
        Said('joints-coupled', (2, 1), 1.0, 'of the motors'),
        IGNORE,
        (SIX,),
    ),
    'a dead band': (
        lambda robot, log: change_effort(log, 4, lambda effort: silence(effort, 0.7)),
        Said('effort-dead-band', (4,)),
        None,
        (SIX,),
    ),
    'a wrist that a spring holds': (
        lambda robot, log: replace(log, effort=log.effort + np.eye(6)[4] * 3.0 * log.position),
        Said('effort-unexplained', (4,), None, 'a spring', 'warning'),
        None,
        (SIX,),
    ),
}
"""What makes the fault of a robot and its log, what is said of it, which `state_effort` the driver
profile has, where `whatis` is asked too, and arms: the first one always, others by long tests."""

CASES = [
    pytest.param(name, arm, marks=[pytest.mark.long] * bool(place))
    for name, (*_, arms) in FAULTS.items()
    for place, arm in enumerate(arms)
]


def require_said(faults, said, robot):
    """Require one finding, and what is to be said in it."""
    (found,) = faults
    assert (found.code, found.severity) == (said.code, said.severity)
    assert found.joints == (tuple(robot.joint_names[j] for j in said.joints) or robot.joint_names)
    assert found.is_certain == said.is_repaired
    assert said.says in f'{found.what}; {found.remedy}'
    assert said.amount is None or found.amount == said.amount


@pytest.mark.parametrize(('name', 'arm'), CASES)
def test_a_fault_is_named_with_its_joints_and_nothing_else(name, arm):
    """By `identify` and by `whatis`; a log of which the cause is not certain stays as it is."""
    plant, said, state_effort, _ = FAULTS[name]
    robot, log = load(arm), simulate(arm)
    wrong = plant(robot, log)
    diagnosis = diagnose_log(robot, wrong)
    require_said(diagnosis.faults, said, robot)
    assert bool(diagnosis.remaining) == (said.severity == 'error' and not said.is_repaired)
    if said.code == 'effort-drift':
        size = np.ptp((wrong.effort - log.effort)[:, 1])
        assert diagnosis.faults[0].amount == pytest.approx(size, rel=0.15)
    if not said.is_repaired:
        np.testing.assert_array_equal(diagnosis.repaired.position, wrong.position)
        np.testing.assert_array_equal(diagnosis.repaired.effort, wrong.effort)
    elif said.code != 'effort-delay':  # what is late has no efforts at the end
        np.testing.assert_allclose(diagnosis.repaired.position, log.position, atol=0.035)
    if state_effort is not None:
        described = describe_driver(robot, wrong)
        require_said(described.faults, said, robot)
        assert described.effort.value in ('torque', None)
        assert described.parameters()['state_effort'] == state_effort


def test_the_gravity_that_is_to_be_given_is_that_of_the_base():
    """With it the log is right, and an arm that is known all the better is not."""
    robot, gravity = load(THREE), tilt(15.0, 1)
    log = stand_otherwise(robot, simulate(THREE), gravity)
    (fault,) = diagnose_log(robot, log).faults
    given = np.array(fault.remedy.split('--gravity ')[1].split(), dtype=float)
    np.testing.assert_allclose(given, gravity, atol=0.3)
    assert diagnose_log(altered(robot, 7), log).faults
    assert diagnose_log(ned.Dynamics(robot, gravity, backend='python'), log).faults == ()


@pytest.mark.kept(1)
@pytest.mark.parametrize(('change', 'amount'), [(slip, 0.3), (slip, 0.5), (weaken, 0.6)])
def test_what_changes_meanwhile_is_named_and_nothing_is_repaired(change, amount):
    """An encoder that slips has no zero that is off, whatever explains half of its log."""
    log = change(simulate(SIX), amount)
    diagnosis = diagnose_log(load(SIX), log)
    assert any('something changed' in fault.text.lower() for fault in diagnosis.faults)
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)
    np.testing.assert_array_equal(diagnosis.repaired.effort, log.effort)
    for faults in (diagnosis.faults, describe_driver(load(SIX), log).faults):
        assert not any(fault.is_certain for fault in faults)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('own', 'given'), [('ur5', 'ur3'), ('ur5', 'ur10'), ('ur5', SIX)])
def test_a_description_of_another_robot_is_named(own, given):
    """One finding of all joints in the place of many, with what else it may be; none certain."""
    robot = load(given)
    log = replace(simulate(own), joint_names=robot.joint_names)
    diagnosis = diagnose_log(robot, log)
    codes = {fault.code for fault in diagnosis.faults}
    assert 'other-model' in codes
    assert codes <= {'other-model', 'effort-unexplained'}
    assert diagnosis.remaining
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)
    described = describe_driver(robot, log)
    assert described.faults[0].code == 'other-model'
    assert not any(fault.is_certain for fault in described.faults)
    assert described.effort.value is None
    assert described.parameters()['state_effort'] == 'ignore'


def test_more_causes_than_a_log_has_are_none():
    """Four causes at once are named as what explains the log together, and not repaired."""
    log = change_position(simulate(SIX), 1, lambda angle: angle + 0.5 * np.pi)
    log = change_position(log, 2, lambda angle: 1.3 * angle)
    effort = log.effort * [1.0, 1.0, 1.0, -1.0, 4.0, 1.0]
    (fault,) = diagnose_log(load(SIX), replace(log, effort=effort, velocity=None)).errors
    assert (fault.code, fault.is_certain) == ('effort-unexplained', False)
    for code in ('zero-offset', 'position-scaled', 'wrong-sign', 'effort-scaled', 'coupled'):
        assert code in fault.what


# ---- faults that other tests plant too, in simulated and in recorded logs


def require_close(repaired, log):
    """Require a repaired log that is near another one, where it has samples."""
    size = np.sqrt(np.mean(log.effort**2, axis=0))
    for table, original, largest in (
        (repaired.position, log.position, 1e-3),
        (repaired.effort, log.effort, 0.2 * size),
    ):
        expected = np.stack([np.interp(repaired.times, log.times, c) for c in original.T], axis=1)
        assert (np.sqrt(np.mean((table - expected) ** 2, axis=0)) <= largest).all()


@pytest.mark.kept(2)
@pytest.mark.parametrize('planted', PLANTED_FAULTS, ids=lambda planted: planted.name)
def test_planted_faults_are_found_and_repaired(planted):
    """A factor on all efforts is as well one of all masses: it is named, and not repaired."""
    name = SIX if planted.name == 'late 5 ms' else THREE  # no error where three joints tell it
    diagnosis = diagnose_log(load(name), planted.plant(simulate(name), 2))
    require_planted(diagnosis, planted, load(name).joint_names, 2)
    assert bool(diagnosis.remaining) == (planted.code == 'efforts-scaled')
    if not diagnosis.remaining:
        require_close(diagnosis.repaired, simulate(name))


@pytest.mark.kept(1)
@pytest.mark.parametrize('first', ['effort sign', 'zero + 90 deg', 'effort x 3'])
def test_two_faults_are_both_found(first):
    """A fault of one joint does not hide one of another."""
    robot, log = load(LIGHT), simulate(LIGHT)
    diagnosis = diagnose_log(robot, PLANTED['effort sign'].plant(PLANTED[first].plant(log, 1), 2))
    _, second, third = robot.joint_names
    found = {(fault.code, fault.joints) for fault in diagnosis.errors}
    assert found == {(PLANTED[first].code, (second,)), ('wrong-sign', (third,))}
    require_close(diagnosis.repaired, log)


def test_velocities_tell_a_position_sign_at_once():
    """A position that runs against the log's own velocity is no effort of the wrong sign."""
    log = simulate(THREE)
    wrong = replace(PLANTED['position sign'].plant(log, 2), velocity=log.velocity)
    diagnosis = diagnose_log(load(THREE), wrong)
    require_planted(diagnosis, PLANTED['position sign'], load(THREE).joint_names, 2)
    np.testing.assert_array_equal(diagnosis.repaired.velocity, log.velocity)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('name', 'joint'),
    [
        ('effort sign', 4),
        ('effort x 3', 2),
        ('joints swapped', 1),
        ('zero + 90 deg', 3),
        ('position sign', 0),
        ('degrees', 0),
        ('milliseconds', 0),
        ('late 50 ms', 0),
    ],
)
@pytest.mark.parametrize('robot', ['panda', 'ur10e'])
def test_faults_planted_in_recorded_logs_are_found(robot, name, joint, tmp_path):
    """The same faults are found in logs of real robots."""
    if robot == 'panda':
        model, log = read_panda()
    else:
        model = load_ur10e(tmp_path)
        log = read_ur10e(model, next(iter(LOGS)))
    diagnosis = diagnose_log(model, PLANTED[name].plant(log, joint))
    require_planted(diagnosis, PLANTED[name], model.joint_names, joint)
    assert not diagnosis.remaining


def test_currents_are_no_torques(tmp_path):
    """Motor currents of a UR10e in the place of torques are named, and not repaired."""
    robot = load_ur10e(tmp_path)
    diagnosis = diagnose_log(robot, read_ur10e(robot, next(iter(LOGS)), 1.0))
    assert [fault.code for fault in diagnosis.remaining] == ['efforts-scaled']
    assert 'currents' in diagnosis.remaining[0].what
