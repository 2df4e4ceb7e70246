"""What is planted in the reports of simulated drivers is found, or is said not to be told."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from driver_arms import MEANINGS, load_shipped, simulate
from driver_signals import meaning_of, sine_recording
from example_robots import example_robots_folder

import ne_dynamics as ned
from ne_dynamics.driver.delay import EffortDelay, find_effort_delay
from ne_dynamics.driver.description import describe_driver
from ne_dynamics.driver.effort import describe_efforts
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Certainty

pytest.importorskip('mujoco', reason='mujoco is missing')

OTHER_ARMS = (
    ('ur_description/urdf/ur5_robot.urdf', 'tool0'),
    ('ur_description/urdf/ur10_robot.urdf', 'tool0'),
    ('panda_description/urdf/panda.urdf', 'panda_link8'),
    ('xarm_description/urdf/xarm7.urdf', 'link_eef'),
)
CASES = [
    (None, 'forearm', 'torque_without_gravity', None, True),
    (None, 'forearm', 'torque', 1, True),
    (None, 'tcp', 'current', 4, False),
    (None, 'forearm', 'current', 1, True),
    (None, 'forearm', 'nothing', None, True),
]
if os.environ.get('NE_DYNAMICS_ORACLES') == 'all':
    CASES += [
        (file, tip, meaning, None if meaning == 'nothing' else 3, commands)
        for file, tip in OTHER_ARMS
        for meaning in MEANINGS
        for commands in (False, True)
    ]


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


@pytest.mark.kept(2)
@pytest.mark.parametrize(('file', 'tip', 'meaning', 'reversed_joint', 'has_commands'), CASES)
def test_the_meaning_of_efforts_is_found(file, tip, meaning, reversed_joint, has_commands):
    """Torque, without gravity, current or nothing, and one reversed sign: by model and motion."""
    given = load_shipped(tip)
    if file:
        given = ned.load_urdf(example_robots_folder() / file, tip_link=tip)
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


def test_hostile_recordings_are_described_or_refused(forearm):
    """One sample is refused; a still arm, NaN, and constants tell nothing and say so."""
    names, rng = forearm.joint_names, np.random.default_rng(0)
    times = np.arange(400) * 0.01
    still = np.zeros((400, forearm.n))
    with pytest.raises(InputError, match='at least 2 states'):
        DriverRecording.from_samples(names, times[:1], still[:1])
    with pytest.raises(InputError, match='expected the joints'):
        describe_driver(forearm, DriverRecording.from_samples(names[::-1], times, still))
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
        description = describe_driver(forearm, recording)
        assert description.effort.value in (None, 'nothing')
        assert description.parameters()['state_effort'] == 'ignore'
        assert description.text()
        for joint in description.joints:
            assert joint.effort.sign.value in (None, 'nothing')


def test_efforts_at_the_limit_have_no_likely_sign(forearm, planted):
    """Efforts that are always at their limit are never called a torque in the wrong direction."""
    limits = forearm.limits('effort_limit')
    recording = planted.record(commands=False)
    saturated = replace(recording, effort=np.sign(recording.effort) * limits)
    description = describe_driver(forearm, saturated)
    assert description.effort.value in (None, 'torque')
    assert all(joint.effort.sign.value in (None, 1.0) for joint in description.joints)


def test_commands_of_another_rate_and_length_tell_the_delay(forearm, dynamics, planted):
    """Commands may come at their own times, and begin and end elsewhere than the states."""
    commands, log = planted.commands, planted.record().as_log()
    part = CommandLog.from_samples(
        forearm.joint_names, commands.times[500:-900:2], commands.effort[500:-900:2]
    )
    # Half of the commands are missing: what was held meanwhile is off by a period.
    found = find_effort_delay(dynamics, log, part)
    assert abs(found.delay - planted.delay) < 3e-3
    few = CommandLog.from_samples(forearm.joint_names, [0.0, 0.1], commands.effort[:2])
    assert find_effort_delay(dynamics, log, few) is None
    with pytest.raises(InputError, match='expected commands for'):
        describe_driver(
            forearm,
            replace(log, joint_names=forearm.joint_names),
            replace(part, joint_names=('a', 'b', 'c')),
        )


def test_milliseconds_are_seconds_again(forearm, planted):
    """Stamps and commands in ms are named, and rate and timeout are those of seconds."""
    commands = planted.commands
    in_ms = CommandLog.from_samples(forearm.joint_names, 1e3 * commands.times, commands.effort)
    recording = planted.record('nothing')
    recording = replace(recording, stamps=1e3 * recording.stamps, commands=in_ms)
    description = describe_driver(forearm, recording)
    assert 'time-unit' in [fault.code for fault in description.faults]
    assert description.timing.rate == pytest.approx(500.0, rel=0.01)
    assert description.parameters()['state_timeout'] == pytest.approx(0.02)


# ---- what differs from joint to joint, or between commands and motion


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
    forearm, factor, gain, per_command, meaning
):
    """Efforts equal to commands are in N m only where the motion does not surely say otherwise."""
    n = forearm.n
    ones = np.ones(n)
    follows = EffortDelay(0.003, 5e-4, np.nan, ones, per_command * ones, 1e-3 * ones, False)
    reported = np.random.default_rng(0).standard_normal((50, n))
    still, moves = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    found = describe_efforts(forearm, reported, still, moves, meaning_of(n, factor, gain), follows)
    assert [effort.meaning.value for effort in found] == [meaning] * n
    for effort in found:
        assert effort.scale.is_identifiable is (meaning is not None)
        if meaning is None:
            assert 'payload' in effort.scale.experiment
            assert 'command' in effort.scale.text


def test_of_a_joint_that_stands_nothing_is_claimed(forearm):
    """Text, JSON and profile name what was not seen of it, and efforts are not begun at."""
    standing = forearm.joint_names[2]
    description = describe_driver(forearm, sine_recording(forearm, (standing,)))
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
    moving = describe_driver(forearm, sine_recording(forearm))
    assert moving.parameters()['state_effort'] == 'torque'
    assert moving.effort.level is Certainty.KNOWN
    assert not moving.as_json()['not_seen']
