"""What is said of a driver whose joints, or whose commands and motion, differ or say nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from driver_arms import load_shipped
from driver_signals import meaning_of

import ne_dynamics as ned
from ne_dynamics.driver.command import describe_commands
from ne_dynamics.driver.delay import EffortDelay, find_effort_delay
from ne_dynamics.driver.description import describe_driver
from ne_dynamics.driver.effort import (
    describe_efforts,
    summarise_meaning,
    summarise_scale,
)
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.logs import Certainty


@pytest.fixture(scope='module')
def robot():
    """Return the first three joints of the shipped arm."""
    return load_shipped('forearm')


@pytest.mark.parametrize(
    ('factor', 'gain', 'per_command', 'meaning'),
    [
        (12.0, -20.0, 1.0, None),
        (1.0, 20.0, 0.08, None),
        (12.0, -20.0, 0.08, 'current'),
        (1.0, 20.0, 1.0, 'torque'),
        # Motion that is not sure does not stand against commands.
        (1.0, 1.0, 1.0, 'torque'),
        (3.0, -4.0, 1.0, 'torque'),
    ],
)
def test_commands_in_another_unit_make_no_torque_of_a_current(
    robot, factor, gain, per_command, meaning
):
    """Efforts equal to commands are in N m only where the motion does not surely say otherwise."""
    n = robot.n
    ones = np.ones(n)
    follows = EffortDelay(0.003, 5e-4, np.nan, ones, per_command * ones, 1e-3 * ones, False)
    reported = np.random.default_rng(0).standard_normal((50, n))
    still, moves = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    found = describe_efforts(robot, reported, still, moves, meaning_of(n, factor, gain), follows)
    assert [effort.meaning.value for effort in found] == [meaning] * n
    for effort in found:
        assert effort.scale.is_identifiable is (meaning is not None)
        if meaning is None:
            assert 'payload' in effort.scale.experiment
            assert 'command' in effort.scale.text


def test_too_little_is_no_sign_that_efforts_are_not_the_commands(robot):
    """Of a recording that is too short to compare, or of commands before it, no echo is denied."""
    times = np.arange(40) * 0.002
    position = np.sin(times)[:, np.newaxis] * np.ones(robot.n)
    efforts = 5.0 * position
    commands = CommandLog.from_samples(robot.joint_names, times, efforts)
    recording = DriverRecording.from_samples(
        robot.joint_names, times, position, None, efforts, commands=commands
    )
    dynamics = ned.Dynamics(robot, backend='python')
    for given in (commands, replace(commands, times=commands.times - 10.0)):
        echo = describe_driver(dynamics, replace(recording, commands=given)).command.echo
        assert echo.value is None
        assert not echo.is_identifiable


def test_constant_efforts_of_some_joints_are_not_nothing_of_all(robot):
    """Two constant efforts and one that cannot be told: each is said of its joint."""
    reported = np.tile([0.0, 3.0, 0.0], (50, 1))
    reported[:, 1] += np.sin(np.arange(50))
    moves = np.ones(robot.n, dtype=bool)
    efforts = describe_efforts(robot, reported, ~moves, moves, None)
    assert [effort.meaning.value for effort in efforts] == ['nothing', None, 'nothing']
    found = summarise_meaning(robot, efforts, moves)
    assert found.value is None
    assert not found.is_identifiable
    first, second, third = robot.joint_names
    assert f'{first}, {third}: nothing' in found.text
    assert f'{second}: too little was recorded' in found.text
    silent = describe_efforts(robot, np.zeros((50, robot.n)), ~moves, moves, None)
    assert summarise_meaning(robot, silent, moves).value == 'nothing'


@pytest.mark.parametrize(
    ('factors', 'deviation', 'agree'),
    [
        ([12.0, 12.5, 11.0], 0.1, True),
        ([2.0, 12.0, 40.0], 0.1, False),
        ([2.0, 12.0, 40.0], 2.0, True),
    ],
)
def test_factors_of_another_unit_are_told_and_compared(robot, factors, deviation, agree):
    """One is so many N m of each joint; where they disagree there is no unit of all."""
    moves = np.ones(robot.n, dtype=bool)
    reported = np.random.default_rng(0).standard_normal((50, robot.n))
    meaning = meaning_of(robot.n, np.array(factors), -20.0)
    meaning = replace(meaning, factor_deviations=deviation * np.ones(robot.n))
    efforts = describe_efforts(robot, reported, ~moves, moves, meaning)
    found, scale = (
        summarise_meaning(robot, efforts, moves),
        summarise_scale(robot, efforts),
    )
    assert found.value == 'current'
    for name, factor in zip(robot.joint_names, factors, strict=True):
        assert f'{name} {factor:.3g} N m' in found.text
    assert scale.is_identifiable is agree
    assert ('disagree' in found.text) is not agree
    assert not agree or scale.value == pytest.approx(np.exp(np.log(factors).mean()), rel=0.05)


def sine_recording(robot, standing=(), seed=0, duration=12.0, rate=200.0):
    """Return exact states and torques of a motion in which some joints stand."""
    rng = np.random.default_rng(seed)
    times = np.arange(round(duration * rate)) / rate
    rates = np.array([1.1, 1.7, 2.3])[: robot.n] + rng.uniform(0.0, 0.2, robot.n)
    size = np.where(np.isin(robot.joint_names, standing), 0.0, 0.6)
    phase = np.outer(times, rates) + rng.uniform(0.0, 3.0, robot.n)
    position, velocity = size * np.sin(phase), size * rates * np.cos(phase)
    acceleration = -size * rates**2 * np.sin(phase)
    dynamics = ned.Dynamics(robot, backend='python')
    effort = np.asarray(dynamics.inverse_dynamics(position, velocity, acceleration))
    effort += 2.0 * np.tanh(velocity / 0.02) + 0.5 * velocity
    effort += 0.01 * rng.standard_normal(effort.shape)
    return DriverRecording.from_samples(robot.joint_names, times, position, velocity, effort)


def test_of_a_joint_that_stands_nothing_is_claimed(robot):
    """Text, JSON and profile name what was not seen of it, and efforts are not begun at."""
    standing = robot.joint_names[2]
    description = describe_driver(robot, sine_recording(robot, (standing,)))
    assert [joint.moved for joint in description.joints] == [True, True, False]
    assert description.effort.value == 'torque'
    assert description.effort.level is Certainty.LIKELY
    assert f'{standing}: the joint did not move' in description.effort.text
    assert list(description.as_json()['not_seen']) == [standing]
    assert f'  {standing}: what its effort is' in description.text()
    assert description.parameters()['state_effort'] == 'ignore'
    profile = ' '.join(description.profile().replace('#', '').split())
    assert f'not seen, since {standing} did not move: what its effort is' in profile
    assert f'the effort of {standing} were not seen' in profile
    assert f'not told: {standing}' in profile
    moving = describe_driver(robot, sine_recording(robot))
    assert moving.parameters()['state_effort'] == 'torque'
    assert moving.effort.level is Certainty.KNOWN
    assert not moving.as_json()['not_seen']


def commanded(robot, delay, noise=0.0, duration=4.0):
    """Return dynamics, states whose efforts are late commands, and the commands."""
    recording = sine_recording(robot, duration=duration, rate=500.0)
    commands = CommandLog.from_samples(robot.joint_names, recording.stamps, recording.effort)
    late = commands.hold(recording.stamps - delay)
    rng = np.random.default_rng(1)
    late = np.where(np.isnan(late), 0.0, late) + noise * rng.standard_normal(late.shape)
    dynamics = ned.Dynamics(robot, backend='python')
    return dynamics, replace(recording, effort=late).as_log(), commands


@pytest.mark.kept(2)
@pytest.mark.parametrize('delay', [0.003, 0.099, 0.151, 0.361, 0.497])
def test_an_echo_is_found_however_late(robot, delay):
    """Efforts that are the commands of up to half a second before are named, with their delay."""
    dynamics, log, commands = commanded(robot, delay)
    found = find_effort_delay(dynamics, log, commands)
    assert found.is_echo
    assert found.delay == pytest.approx(delay, abs=0.0012)
    noisy = find_effort_delay(*commanded(robot, delay, 0.2))
    assert not noisy.is_echo
    assert noisy.delay == pytest.approx(delay, abs=0.0025)


@pytest.mark.parametrize(('duration', 'longest'), [(4.0, 0.5), (0.5, 0.1)])
def test_an_echo_is_denied_up_to_the_delay_that_was_looked_for(robot, duration, longest):
    """A recording that is too short for more says so."""
    dynamics, log, commands = commanded(robot, 0.003, duration=duration)
    unrelated = np.random.default_rng(2).standard_normal(log.effort.shape)
    log = replace(log, effort=unrelated)
    found = find_effort_delay(dynamics, log, commands)
    echo = describe_commands(dynamics, log, commands, found).echo
    assert echo.value is False
    assert f'of up to {longest:g} s before' in echo.text
