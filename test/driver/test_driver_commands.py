"""Commands: their order, sign and unit, and by how much later efforts and motion follow them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.driver.command import describe_commands, describe_unit
from ne_dynamics.driver.delay import find_effort_delay
from ne_dynamics.driver.description import describe_driver
from ne_dynamics.driver.effort import describe_nothing
from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.order import find_order
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.driver.verdict import Verdict, unknown
from ne_dynamics.logs import Certainty
from ne_dynamics.logs.log import Log

pytest.importorskip('mujoco', reason='mujoco is missing')

from driver_arms import alter
from driver_signals import sine_recording

LATE = 0.005
"""About how late the simulated arm acts [s]."""


def evidence_of(forearm, times, position, commands):
    """Return what a motion says of commands in the place of efforts."""
    log = Log.from_samples(forearm.joint_names, times, position, commands)
    return LogEvidence(ned.Dynamics(forearm, backend='python'), log)


def commanded(planted):
    """Return instants, positions and the commands that made them, a column a joint."""
    commands = planted.commands.average(planted.times - LATE, 0.002)
    return planted.times, planted.record().position, commands


def permuted(commands, order):
    """Return commands of which the column k is that of the joint order[k]."""
    return CommandLog.from_samples(
        commands.joint_names, commands.times, commands.effort[:, list(order)]
    )


def test_every_order_of_the_commands_is_named(forearm, planted):
    """Whatever is exchanged is known, with whose each command is; the right order is none."""
    times, position, commands = commanded(planted)
    for order in itertools.permutations(range(forearm.n)):
        found = find_order(
            evidence_of(forearm, times, position, commands[:, order]), forearm.joint_names
        )
        assert found.level is Certainty.KNOWN
        assert found.value is (order == (0, 1, 2))
        names = ' '.join(forearm.joint_names[joint] for joint in order)
        assert order == (0, 1, 2) or f': {names};' in found.experiment


@pytest.mark.parametrize('factors', [(-1.0, -1.0, -1.0), (1.0, -1.0, 1.0), (0.07, 0.05, 0.08)])
def test_signs_and_units_are_no_other_order(forearm, planted, factors):
    """Commands that push the other way, or are currents, are not taken for another joint's."""
    times, position, commands = commanded(planted)
    found = find_order(
        evidence_of(forearm, times, position, commands * factors), forearm.joint_names
    )
    assert found.value is True
    other = (commands * factors)[:, [2, 0, 1]]
    found = find_order(evidence_of(forearm, times, position, other), forearm.joint_names)
    assert found.value is False


@pytest.mark.parametrize('frequency', [1.5, 0.4])
@pytest.mark.parametrize('order', [(0, 1, 2), (1, 2, 0), (0, 2, 1)])
def test_joints_that_move_alike_are_not_named_wrongly(forearm, frequency, order):
    """One sine of all joints: another order is named where it is one, or it cannot be told.

    Without gravity, as a driver that adds it commands, slow motions show friction alone.
    """
    truth = ned.Dynamics(alter(forearm, 1), backend='python')
    times = np.arange(0.0, 12.0, 0.005)
    phase = np.outer(times, np.full(forearm.n, frequency))
    motion = (
        0.6 * np.sin(phase),
        0.6 * frequency * np.cos(phase),
        -0.6 * frequency**2 * np.sin(phase),
    )
    gravity = np.asarray(truth.gravity_torque(motion[0]))
    for commands in (np.asarray(truth.inverse_dynamics(*motion)) - part for part in (0, gravity)):
        noise = np.random.default_rng(0).standard_normal(commands.shape)
        commands = commands + 0.01 * commands.std(axis=0) * noise
        found = find_order(
            evidence_of(forearm, times, motion[0], commands[:, order]), forearm.joint_names
        )
        if order == (0, 1, 2):
            assert found.value in (True, None)
        else:
            assert found.value in (False, None)
        assert found.is_identifiable or 'one after the other' in found.experiment


def test_what_has_no_effort_in_it_has_no_order(forearm, planted):
    """Noise, desired positions, and an arm of which one joint moves, tell none."""
    times, position, commands = commanded(planted)
    noise = np.random.default_rng(0).standard_normal(commands.shape)
    alone = position.copy()
    alone[:, 1:] = alone[0, 1:]
    for places, given in ((position, noise), (position, position), (alone, commands)):
        found = find_order(evidence_of(forearm, times, places, given), forearm.joint_names)
        assert not found.is_identifiable


def test_commands_in_another_order_tell_nothing_else(forearm, planted):
    """Of them no delay and no term of the model is said, and no profile makes that right."""
    recording = planted.record('nothing')
    recording = replace(recording, commands=permuted(recording.commands, (1, 2, 0)))
    description = describe_driver(forearm, recording)
    assert description.command.order.value is False
    for verdict in (description.command.delay, description.command.gravity):
        assert not verdict.is_identifiable
        assert 'another order' in verdict.text
    assert not {'terms.gravity', 'terms.friction'} & set(description.parameters())
    assert len(description.obstacles()) == 1
    assert 'WRONG' in description.profile()
    assert '--command-joints: joint_2 joint_3 joint_1' in description.text()


def test_commands_that_push_the_other_way_are_named(forearm, planted):
    """Efforts that are reversed with their commands make no right driver of it."""
    recording = planted.record('torque')
    commands = replace(recording.commands, effort=-recording.commands.effort)
    description = describe_driver(
        forearm, replace(recording, effort=-recording.effort, commands=commands)
    )
    assert description.command.sign.value == -1.0
    assert description.command.order.value is True
    assert [joint.effort.sign.value for joint in description.joints] == [-1.0] * 3
    assert description.parameters()['state_effort'] == 'ignore'
    assert 'terms.gravity' not in description.parameters()
    assert 'push the opposite way' in description.obstacles()[0]


def test_efforts_before_their_commands_are_no_delay(forearm, dynamics, planted):
    """Clocks that differ are named, in the place of a delay of 0."""
    log, commands = planted.record('torque').as_log(), planted.commands
    ahead = replace(commands, times=commands.times + 0.05)
    found = find_effort_delay(dynamics, log, ahead)
    assert found.delay == pytest.approx(planted.delay - 0.05, abs=0.003)
    effect = describe_commands(dynamics, log, ahead, found)
    for verdict in (effect.delay, effect.by_effort):
        assert not verdict.is_identifiable
        assert 'clocks' in verdict.text


def test_gravity_makes_no_effort_follow_a_command(forearm, dynamics, planted):
    """Efforts that gravity explains follow neither noise nor positions."""
    log, commands = planted.record('torque').as_log(), planted.commands
    noise = np.random.default_rng(0).standard_normal(commands.effort.shape)
    assert find_effort_delay(dynamics, log, replace(commands, effort=noise)) is None
    places = CommandLog.from_samples(forearm.joint_names, planted.times, planted.position)
    found = find_effort_delay(dynamics, log, places)
    assert found is None or not found.follows.all()


def test_efforts_that_are_filtered_are_no_late_effect(forearm, dynamics, planted):
    """The arm cannot move before its motors push: then the delay is that by the motion."""
    log, commands = planted.record('torque').as_log(), planted.commands
    part = np.exp(-2.0 * np.pi / 500.0)
    effort = np.array(log.effort)
    for row in range(1, len(effort)):
        effort[row] = part * effort[row - 1] + (1.0 - part) * effort[row]
    log = replace(log, effort=effort)
    found = find_effort_delay(dynamics, log, commands)
    assert found.delay > 0.03
    delay = describe_commands(dynamics, log, commands, found).delay
    assert delay.value == pytest.approx(planted.delay, abs=3.0 * delay.deviation)
    assert delay.level is Certainty.LIKELY
    assert 'efforts follow' in delay.text


def test_positions_that_are_all_reversed_are_no_reversed_efforts(forearm, planted):
    """All positions or all efforts are reversed: the motion tells which, and who can run it."""
    recording = planted.record('torque', commands=False)
    mirrored = describe_driver(forearm, replace(recording, position=-recording.position))
    assert [fault.code for fault in mirrored.faults] == ['position-sign']
    assert set(mirrored.faults[0].joints) == set(forearm.joint_names)
    assert mirrored.obstacles()
    assert 'velocity_source' not in mirrored.parameters()
    assert {joint.effort.sign.value for joint in mirrored.joints} <= {1.0, None}
    efforts = describe_driver(forearm, replace(recording, effort=-recording.effort))
    assert not efforts.obstacles()
    assert {joint.effort.sign.value for joint in efforts.joints} == {-1.0}


@pytest.mark.parametrize(('factors', 'unit'), [((0.3, 3.5), None), ((3.0, 3.5), 'current')])
def test_factors_on_both_sides_of_one_are_of_a_poor_model_and_no_unit(factors, unit):
    """A right log of commands in N m, by a model that was fitted to another part of it."""
    nothing = describe_nothing(unknown('not told', 'none'))
    efforts = tuple(
        replace(
            nothing,
            meaning=Verdict('current', Certainty.LIKELY, 'another unit'),
            scale=Verdict(factor, Certainty.LIKELY, 'a factor'),
        )
        for factor in factors
    )
    assert describe_unit(efforts).value == unit


def test_too_little_is_no_sign_that_efforts_are_not_the_commands(forearm, dynamics):
    """Of a recording that is too short to compare, or of commands before it, no echo is denied."""
    times = np.arange(40) * 0.002
    position = np.sin(times)[:, np.newaxis] * np.ones(forearm.n)
    efforts = 5.0 * position
    commands = CommandLog.from_samples(forearm.joint_names, times, efforts)
    recording = DriverRecording.from_samples(
        forearm.joint_names, times, position, None, efforts, commands=commands
    )
    for given in (commands, replace(commands, times=commands.times - 10.0)):
        echo = describe_driver(dynamics, replace(recording, commands=given)).command.echo
        assert echo.value is None
        assert not echo.is_identifiable


def follow(forearm, delay, noise=0.0, duration=4.0):
    """Return states whose efforts are late commands, and the commands."""
    recording = sine_recording(forearm, duration=duration, rate=500.0)
    commands = CommandLog.from_samples(forearm.joint_names, recording.stamps, recording.effort)
    late = np.nan_to_num(commands.hold(recording.stamps - delay))
    late += noise * np.random.default_rng(1).standard_normal(late.shape)
    return replace(recording, effort=late).as_log(), commands


@pytest.mark.kept(2)
@pytest.mark.parametrize('delay', [0.003, 0.099, 0.151, 0.361, 0.497])
def test_an_echo_is_found_however_late(forearm, dynamics, delay):
    """Efforts that are the commands of up to half a second before are named, with their delay."""
    found = find_effort_delay(dynamics, *follow(forearm, delay))
    assert found.is_echo
    assert found.delay == pytest.approx(delay, abs=0.0012)
    noisy = find_effort_delay(dynamics, *follow(forearm, delay, 0.2))
    assert not noisy.is_echo
    assert noisy.delay == pytest.approx(delay, abs=0.0025)


@pytest.mark.parametrize(('duration', 'longest'), [(4.0, 0.5), (0.5, 0.1)])
def test_an_echo_is_denied_up_to_the_delay_that_was_looked_for(
    forearm, dynamics, duration, longest
):
    """A recording that is too short for more says so."""
    log, commands = follow(forearm, 0.003, duration=duration)
    log = replace(log, effort=np.random.default_rng(2).standard_normal(log.effort.shape))
    found = find_effort_delay(dynamics, log, commands)
    echo = describe_commands(dynamics, log, commands, found).echo
    assert echo.value is False
    assert f'of up to {longest:g} s before' in echo.text
