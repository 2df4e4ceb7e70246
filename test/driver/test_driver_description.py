"""What is planted in the reports of simulated drivers is found, or is said not to be told."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import numpy as np
import pytest
from example_robots import example_robots_folder
from recorded_robots import load_ur10e, read_panda, read_ur10e

import ne_dynamics as ned
from ne_dynamics.driver.delay import find_effort_delay
from ne_dynamics.driver.description import describe_driver
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.errors import InputError

pytest.importorskip('mujoco', reason='mujoco is missing')

from driver_arms import MEANINGS, load_shipped, simulate

EVERYTHING = os.environ.get('NE_DYNAMICS_ORACLES') == 'all'
OTHER_ARMS = (
    ('ur_description/urdf/ur5_robot.urdf', 'tool0'),
    ('ur_description/urdf/ur10_robot.urdf', 'tool0'),
    ('panda_description/urdf/panda.urdf', 'panda_link8'),
    ('xarm_description/urdf/xarm7.urdf', 'link_eef'),
)


CASES = [
    (file, tip, seed, meaning)
    for file, tip in OTHER_ARMS
    for seed in (1, 3)
    for meaning in MEANINGS
]
if not EVERYTHING:
    CASES = [(None, 'forearm', 1, 'torque')]


@pytest.fixture(scope='module')
def short():
    """Return the first three joints of the shipped arm."""
    return load_shipped('forearm')


@pytest.fixture(scope='module')
def planted(short):
    """Return what an arm near them did."""
    return simulate(short, 3)


def require_found(description, meaning, reversed_joint):
    """Require the meaning where it is told, on most joints, and no joint that says otherwise."""
    told = [joint.effort.meaning for joint in description.joints]
    assert {verdict.value for verdict in told if verdict.is_identifiable} == {meaning}
    assert sum(verdict.is_identifiable for verdict in told) >= 0.6 * len(told)
    assert description.effort.value == meaning
    if meaning == 'nothing':
        return
    signs = [joint.effort.sign.value for joint in description.joints]
    expected = [-1.0 if index == reversed_joint else 1.0 for index in range(len(signs))]
    told_signs = [sign == value for sign, value in zip(signs, expected, strict=True) if sign]
    assert all(told_signs)
    assert len(told_signs) >= len(signs) - 1


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('tip', 'meaning', 'reversed_joint', 'has_commands'),
    [
        ('forearm', 'torque_without_gravity', None, True),
        ('tcp', 'current', 4, False),
        ('forearm', 'current', 1, True),
        ('forearm', 'nothing', None, True),
    ],
)
def test_the_meaning_of_efforts_is_found(tip, meaning, reversed_joint, has_commands):
    """Torque, without gravity, current or nothing, and one reversed sign: by model and motion."""
    given = load_shipped(tip)
    planted = simulate(given, 3)
    recording = planted.record(meaning, reversed_joint=reversed_joint, commands=has_commands)
    description = describe_driver(given, recording)
    require_found(description, meaning, reversed_joint)
    assert not description.faults
    bits = [joint.position_step.text for joint in description.joints]
    assert all(f'{planted.bits} bits' in text for text in bits)
    assert {joint.velocity.source.value for joint in description.joints} == {'absent'}
    parameters = description.parameters()
    can_begin = meaning.startswith('torque') and reversed_joint is None
    assert parameters['state_effort'] == (meaning if can_begin else 'ignore')
    assert parameters['velocity_source'] == 'estimated'
    if has_commands:
        delay = description.command.delay
        assert delay.is_identifiable == (meaning != 'nothing') or delay.deviation < 4e-3
        assert (
            not delay.is_identifiable or abs(delay.value - planted.delay) < 3.0 * delay.deviation
        )
        assert description.command.gravity.value is True
        assert parameters['terms.gravity'] is True
    if has_commands and meaning == 'current':
        factors = [joint.effort.scale.value for joint in description.joints]
        np.testing.assert_allclose(factors, planted.factors, rtol=0.1)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('file', 'tip', 'seed', 'meaning'), CASES)
def test_the_meaning_of_efforts_is_found_on_other_arms(file, tip, seed, meaning):
    """No joint of any arm says otherwise, with commands or without."""
    path = example_robots_folder() / file if file else None
    robot = ned.load_urdf(path, tip_link=tip) if path else load_shipped(tip)
    planted = simulate(robot, seed)
    joint = None if meaning == 'nothing' else seed % robot.n
    for commands in (False, True):
        description = describe_driver(
            robot, planted.record(meaning, reversed_joint=joint, commands=commands)
        )
        require_found(description, meaning, joint)
    delay = description.command.delay
    assert abs(delay.value - planted.delay) < 3.0 * delay.deviation


def test_an_echo_is_named(short, planted):
    """Efforts that are the commands of before are no measurement, and are said not to be."""
    late = planted.commands.hold(planted.times - 0.003)
    dynamics = ned.Dynamics(short, backend='python')
    log = replace(planted.record('torque'), effort=late).as_log()
    found = find_effort_delay(dynamics, log, planted.commands)
    assert found.is_echo
    assert found.delay == pytest.approx(0.003, abs=0.0012)
    assert not find_effort_delay(dynamics, planted.record().as_log(), planted.commands).is_echo


def test_what_a_panda_reports():
    """The recorded Panda reports torques with gravity and friction at 30 Hz."""
    description = describe_driver(*read_panda())
    assert description.effort.value == 'torque'
    assert description.timing.rate == pytest.approx(30.0, rel=0.02)
    for joint in description.joints:
        assert joint.effort.meaning.value in ('torque', None)
        assert joint.effort.gravity.value in (True, None)
        assert joint.effort.sign.value in (1.0, None)
        assert joint.effort.friction.value in (True, None)
    assert description.parameters()['state_effort'] == 'torque'
    # At the times of measurement its velocities are seen to be a few milliseconds late.
    assert 0.0 <= description.parameters().get('observer.velocity_lag', 0.0) < 0.01


@pytest.mark.long
def test_what_a_ur10e_reports(tmp_path):
    """The recorded UR10e reports motor currents, with gravity, and a velocity that can be used."""
    robot = load_ur10e(tmp_path)
    log = read_ur10e(robot, 'ur-20_02_12-50sec_12harm.csv', 1.0)
    description = describe_driver(robot, log)
    assert description.effort.value == 'current'
    for joint in description.joints:
        assert joint.effort.meaning.value in ('current', None)
        assert joint.effort.gravity.value in (True, None)
        assert joint.velocity.can_be_used
    assert description.parameters()['state_effort'] == 'ignore'


def test_hostile_recordings_are_described_or_refused(short):
    """One sample is refused; a still arm, NaN, and constants tell nothing and say so."""
    names, rng = short.joint_names, np.random.default_rng(0)
    times = np.arange(400) * 0.01
    still = np.zeros((400, short.n))
    with pytest.raises(InputError, match='at least 2 states'):
        DriverRecording.from_samples(names, times[:1], still[:1])
    with pytest.raises(InputError, match='expected the joints'):
        describe_driver(short, DriverRecording.from_samples(names[::-1], times, still))
    with pytest.raises(InputError, match='expected shape'):
        CommandLog.from_samples(names, times[:-1], still)
    noise = rng.standard_normal(still.shape)
    missing = noise.copy()
    missing[:, 2] = np.nan
    moving = np.sin(times)[:, np.newaxis] + still
    for position, velocity, effort in (
        (still, None, noise),
        (moving, missing, missing),
        (moving, None, still + 3.0),
        (moving[:3], None, noise[:3]),
        (np.where(rng.random(still.shape) < 0.1, np.nan, moving), noise, noise),
    ):
        recording = DriverRecording.from_samples(
            names, times[: len(position)], position, velocity, effort
        )
        description = describe_driver(short, recording)
        assert description.effort.value in (None, 'nothing')
        assert description.parameters()['state_effort'] == 'ignore'
        assert description.text()
        for joint in description.joints:
            assert joint.effort.sign.value in (None, 'nothing')


def test_efforts_at_the_limit_and_other_rates_are_no_likely_error(short, planted):
    """Efforts that are always at their limit are never called a torque in the wrong direction."""
    limits = short.limits('effort_limit')
    recording = planted.record(commands=False)
    saturated = replace(recording, effort=np.sign(recording.effort) * limits)
    description = describe_driver(short, saturated)
    assert description.effort.value in (None, 'torque')
    assert all(joint.effort.sign.value in (None, 1.0) for joint in description.joints)


def test_commands_of_another_rate_and_length_tell_the_delay(short, planted):
    """Commands may come at their own times, and begin and end elsewhere than the states."""
    commands, log = planted.commands, planted.record().as_log()
    dynamics = ned.Dynamics(short, backend='python')
    part = CommandLog.from_samples(
        short.joint_names, commands.times[500:-900:2], commands.effort[500:-900:2]
    )
    # Half of the commands are missing: what was held meanwhile is off by a period.
    found = find_effort_delay(dynamics, log, part)
    assert abs(found.delay - planted.delay) < 3e-3
    few = CommandLog.from_samples(short.joint_names, [0.0, 0.1], commands.effort[:2])
    assert find_effort_delay(dynamics, log, few) is None
    with pytest.raises(InputError, match='expected commands for'):
        describe_driver(
            short,
            replace(log, joint_names=short.joint_names),
            replace(part, joint_names=('a', 'b', 'c')),
        )


def test_milliseconds_are_seconds_again(short, planted):
    """Stamps and commands in ms are named, and rate and timeout are those of seconds."""
    commands = planted.commands
    in_ms = CommandLog.from_samples(short.joint_names, 1e3 * commands.times, commands.effort)
    recording = planted.record('nothing')
    recording = replace(recording, stamps=1e3 * recording.stamps, commands=in_ms)
    description = describe_driver(short, recording)
    assert 'time-unit' in [fault.code for fault in description.faults]
    assert description.timing.rate == pytest.approx(500.0, rel=0.01)
    assert description.parameters()['state_timeout'] == pytest.approx(0.02)


def test_friction_has_the_units_of_its_coefficients(short):
    """Coulomb friction in N m, viscous friction in N m s/rad, as they were planted."""
    times = np.arange(0.0, 20.0, 0.004)
    rates = 2.0 * np.pi * np.array([0.23, 0.31, 0.41])
    position = 0.6 * np.sin(np.outer(times, rates)) + [0.2, -0.9, 1.1]
    velocity = 0.6 * rates * np.cos(np.outer(times, rates))
    acceleration = -0.6 * rates**2 * np.sin(np.outer(times, rates))
    efforts = ned.Dynamics(short, backend='python').inverse_dynamics(
        position, velocity, acceleration
    )
    viscous, coulomb = np.array([20.0, 15.0, 8.0]), np.array([12.0, 9.0, 5.0])
    efforts = efforts + viscous * velocity + coulomb * np.sign(velocity)
    noise = np.random.default_rng(1).normal(scale=0.1, size=efforts.shape)
    recording = DriverRecording.from_samples(
        short.joint_names, times, position, velocity=velocity, effort=efforts + noise
    )
    for joint, more, less in zip(
        describe_driver(short, recording).joints, viscous, coulomb, strict=True
    ):
        found = re.search(
            r'Coulomb (\S+) \+- \S+ N m, viscous (\S+) \+- \S+ N m s/rad',
            joint.effort.friction.text,
        )
        assert float(found[1]) == pytest.approx(less, rel=0.15)
        assert float(found[2]) == pytest.approx(more, rel=0.15)
