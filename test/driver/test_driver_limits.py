"""Each limit of what is said of a driver: so just inside it, and otherwise just outside."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from driver_arms import load_shipped
from driver_signals import PLACE, SPEED, TIMES, describe, differenced, meaning_of, positions

from ne_dynamics.driver import command, velocity
from ne_dynamics.driver.command import (
    _tells_delay,
    describe_commands,
    describe_no_commands,
    level_of_delay,
)
from ne_dynamics.driver.delay import EffortDelay, find_effort_delay
from ne_dynamics.driver.effort import describe_efforts, summarise_scale
from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.evidence.evidence import _is_one_sided
from ne_dynamics.driver.order import _describe_other, _Order
from ne_dynamics.driver.profile import _find_state_effort, _find_timeout, _find_velocity
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.driver.steps import describe_step, find_step
from ne_dynamics.driver.timing import Timing, describe_timing, time_stamps
from ne_dynamics.driver.velocity import JointVelocity, _find_source, _rests
from ne_dynamics.driver.verdict import Verdict
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Certainty
from ne_dynamics.logs.log import Log

ROBOT = load_shipped('forearm')
NAMES = ROBOT.joint_names
ONES = np.ones(3)
KNOWN, LIKELY = Certainty.KNOWN, Certainty.LIKELY


def describe_joint(follows=None, factor=1.0, gain=20.0, **changes):
    """Return what is said of the first of three efforts that mean something."""
    meaning = replace(meaning_of(3, factor, gain), **changes)
    reported = np.random.default_rng(0).standard_normal((50, 3))
    moves = ONES > 0.0
    return describe_efforts(ROBOT, reported, ~moves, moves, meaning, follows)[0]


def with_friction(amount, deviation):
    """Return what is said of an effort of 10 N m with Coulomb friction of an amount [N m]."""
    terms = meaning_of(3, 1.0, 20.0).terms
    return describe_joint(
        terms=replace(
            terms,
            viscous=0.0 * ONES,
            viscous_deviation=0.0 * ONES,
            coulomb=amount * ONES,
            coulomb_deviation=deviation * ONES,
        )
    ).friction


def follow(factor, deviation):
    """Return what is said of an effort that follows its command by a factor."""
    follows = EffortDelay(0.003, 5e-4, np.nan, ONES, factor * ONES, deviation * ONES, False)
    return describe_joint(follows, gain=1.0).scale


def summarise(apart):
    """Return what is said of three currents whose factors are known to 10 % and apart."""
    effort = describe_joint(factor=12.0, gain=-20.0)
    factors = 12.0 * np.exp([-apart, 0.0, apart])
    scales = (Verdict(float(one), LIKELY, '', '', 0.1 * float(one)) for one in factors)
    return summarise_scale(ROBOT, tuple(replace(effort, scale=scale) for scale in scales))


def reorder(gain, misfit=1.0):
    """Return what is said of commands that are likelier in another order."""
    own, other, far = np.arange(3), np.array([1, 0, 2]), np.array([2, 1, 0])
    orders = _Order(own, 0.0, None), _Order(other, -gain, None), _Order(far, 99.0, None)
    return _describe_other(NAMES, *orders, misfit)


def contradict(deviations):
    """Return the delay where those by effort and by motion are so many deviations apart."""
    effort = EffortDelay(0.02, 5e-4, np.nan, ONES, ONES, ONES, False)
    off = deviations * np.hypot(5e-4, 1e-3)
    by_motion = replace(describe_no_commands(), delay=Verdict(0.02 + off, KNOWN, '', '', 1e-3))
    log, commands = record(np.zeros((300, 3)), 0.0)
    with mock.patch.object(command, '_find_by_motion', return_value=by_motion):
        return describe_commands(Dynamics(ROBOT), log, commands, effort).delay


def record(command_effort, noise, delay=0.0085):
    """Return states at 250 Hz, and commands that their efforts follow with noise [N m]."""
    times = np.arange(len(command_effort)) / 250.0
    commands = CommandLog.from_samples(NAMES, times, command_effort)
    position = 0.5 * np.sin(np.outer(times, (1.0, 1.4, 1.9)))
    effort = np.nan_to_num(commands.hold(times - delay))
    effort += noise * np.random.default_rng(1).standard_normal(effort.shape)
    return Log.from_samples(NAMES, times, position, effort), commands


def find_delay(part):
    """Return how efforts follow random commands, but for a part of their squares."""
    log, commands = record(np.random.default_rng(3).standard_normal((1200, 3)), np.sqrt(part))
    return find_effort_delay(Dynamics(ROBOT), log, commands)


def find_jitter(change):
    """Return the jitter of efforts whose commands change by so many deviations of noise."""
    values = change * np.sign(np.sin(np.arange(1200) * np.pi / 10.0 + 0.1))
    log, commands = record(np.outer(values, ONES), 1.0)
    return find_effort_delay(Dynamics(ROBOT), log, commands).jitter


def stamp(step):
    """Return the times of states of which one comes after so many periods."""
    return time_stamps(0.01 * np.cumsum(np.where(np.arange(100) == 50, step, 1.0)))


def drift_of(duration):
    """Return the drift of clocks that is found in a recording so long [s]."""
    stamps = np.arange(0.0, duration, 0.01)
    recording = DriverRecording.from_samples(
        ('a',), stamps, np.zeros((stamps.size, 1)), received=1.001 * stamps
    )
    return describe_timing(recording, 0, 0).drift


def steps_of(count=400, off=0.0, others=0.0, most=8, size=1e-3):
    """Return the step of values of so many changes, some off by a part, some no multiples."""
    rng = np.random.default_rng(6)
    values = size * np.cumsum(rng.integers(1, most + 1, count + 1)).astype(float)
    values += size * off * rng.uniform(-0.5, 0.5, count + 1)
    wrong = rng.uniform(size=count + 1) < others / 2.0
    return find_step(values + size * wrong * rng.uniform(0.3, 0.7, count + 1))


def step_text(step, is_angle):
    """Return what is said of values in a step."""
    return describe_step(step * np.resize([0.0, 1.0, 3.0], 200), 'rad', is_angle).text


def source_of(speed):
    """Return what is said of the velocity of the first joint."""
    return describe(np.c_[speed, SPEED[:, 1]])[0].source


def mix(own, other):
    """Return a velocity that is correlated so much with the two joints, and else another one."""
    basis = np.stack([*SPEED.T, np.cos(3.3 * TIMES)], axis=1)
    basis, triangle = np.linalg.qr(basis - basis.mean(axis=0))
    return (
        40.0
        * (basis * np.sign(np.diag(triangle)))
        @ [
            own,
            other,
            np.sqrt(1.0 - own**2 - other**2),
        ]
    )


def rest(past, both):
    """Return the source of a velocity of which its past, and positions too, leave a rest."""
    log = Log.from_samples(('a', 'b'), TIMES, positions(15), 0.0 * PLACE, SPEED)
    with mock.patch.object(velocity, '_rests', return_value=(past, both)):
        return _find_source(log, 0, 0.0, 1e-3)


def source_with_lag(lag, deviation):
    """Return the source of a velocity that is late [s]."""
    log = Log.from_samples(('a', 'b'), TIMES, positions(15), 0.0 * PLACE, SPEED)
    return _find_source(log, 0, lag, deviation).value


def has_rests(count, uneven=0.0):
    """Tell whether so few samples, or times so uneven, tell what a velocity is made of."""
    times = np.cumsum(np.resize([1.0, 1.0, 1.0 + uneven], count)) / 250.0
    return np.isfinite(_rests(times, PLACE[:count, 0], SPEED[:count, 0])[0])


def timeout(period, longest_gap=0.0):
    """Return the time without states that is a fault [s]."""
    timing = Timing(100, 10.0, period=period, longest_gap=longest_gap)
    return _find_timeout(SimpleNamespace(timing=timing))['state_timeout'][0]


def begin_effort(delay):
    """Return the parameter for the efforts of a driver that are all late [s]."""
    described = SimpleNamespace(
        joints=[],
        effort=Verdict('torque', KNOWN, ''),
        effort_delay=Verdict(delay, KNOWN, ''),
        faults=(),
    )
    return _find_state_effort(described)[0]


def node_velocity(rate=1000.0, **found):
    """Return the parameters for the velocity of a driver."""
    source = Verdict(found.pop('source', 'measured'), KNOWN, '')
    joint = SimpleNamespace(name='a', velocity=JointVelocity(source, **found))
    timing = Timing(100, 10.0, rate=rate)
    return {
        key: value
        for key, (value, _) in _find_velocity(
            SimpleNamespace(joints=[joint], timing=timing)
        ).items()
    }


ROWS = {
    'known_deviation': (lambda size: level_of_delay(size) is KNOWN, 1.2e-3, 2.2e-3),
    'likely_deviation': (lambda size: level_of_delay(size) is not Certainty.UNKNOWN, 3e-3, 6e-3),
    'longest_by_motion': (lambda delay: _tells_delay(delay, 1e-3), 0.05, 0.08),
    'contradicting_deviations': (lambda size: contradict(size).level is KNOWN, 2.5, 4.0),
    'exact_share': (lambda part: find_delay(part).is_echo, 7e-7, 1.5e-6),
    'plain_share': (lambda part: find_delay(part).factor_deviation.max() < 0.1, 0.014, 0.03),
    'beside_gravity': (lambda most: find_delay(0.1).factor_deviation.max() < most, 0.3, 0.15),
    'telling_change': (lambda change: np.isfinite(find_jitter(change)), 8.0, 3.0),
    'unexplained_share': (
        lambda left: not describe_joint(left=left * ONES).is_unexplained,
        0.5,
        0.8,
    ),
    'explained_share': (
        lambda left: (
            not describe_joint(
                unit_gain=11.0, joint_unit_gains=-20.0 * ONES, left=left * ONES
            ).meaning.is_identifiable
        ),
        0.07,
        0.15,
    ),
    'gravity_share': (
        lambda share: describe_joint(gravity_share=share * ONES).gravity.level is KNOWN,
        0.15,
        0.07,
    ),
    'friction_deviations': (lambda size: with_friction(1.0, 1.0 / size).value, 5.0, 3.0),
    'friction_share': (lambda share: with_friction(10.0 * share, 1e-3).value, 0.03, 0.015),
    'disagreeing_deviations': (lambda size: summarise(0.1 * size).is_identifiable, 1.5, 3.0),
    'known_scale_deviation': (lambda size: follow(1.0, size).level is KNOWN, 0.04, 0.08),
    'commanded_factor': (lambda factor: follow(factor, 1e-3).value == 1.0, 1.2, 1.4),
    'model_prior_scale': (
        lambda most: describe_joint(factor=1.0, gain=-20.0).scale.deviation < most,
        0.4,
        0.25,
    ),
    'likely_order_gain': (lambda gain: reorder(gain).value is False, 15.0, 10.0),
    'known_order_gain': (lambda gain: reorder(gain).level is KNOWN, 30.0, 20.0),
    'order_misfit': (lambda part: reorder(99.0, part).value is False, 0.25, 0.15),
    'gap_periods': (lambda step: stamp(step).gaps == 0, 2.0, 3.5),
    'burst_share': (lambda step: stamp(step).bursts > 0.0, 0.2, 0.4),
    'clock_difference': (lambda late: not Timing(9, 1.0, latency=late).has_other_clock, 0.7, 1.5),
    'drift_time': (lambda duration: np.isfinite(drift_of(duration)), 7.0, 4.0),
    'fewest_changes': (lambda count: steps_of(count), 40, 25),
    'step_off': (lambda off: steps_of(off=off, most=1), 0.04, 0.08),
    'most_multiples': (lambda part: steps_of(others=part), 0.02, 0.12),
    'bits_off': (
        lambda off: 'bits' in step_text(2.0 * np.pi / 2 ** (15.0 + off), True),
        3e-3,
        7e-3,
    ),
    'decimal_off': (lambda off: 'rounded' in step_text(1e-3 * (1.0 + off), False), 7e-4, 1.6e-3),
    'step_rounding': (
        lambda part: np.isinf(find_step(1.0 + part * np.resize([0.0, 1.0], 90))),
        7e-12,
        1.6e-11,
    ),
    'gain_off': (lambda off: source_of((1.0 + off) * SPEED[:, 0]).value == 'measured', 0.1, 0.22),
    'unit_off': (
        lambda off: 'degrees' in source_of(np.degrees((1.0 + off) * SPEED[:, 0])).text,
        0.03,
        0.08,
    ),
    'related': (lambda part: 'joint b' in source_of(mix(0.1, part)).text, 0.94, 0.8),
    'unrelated': (lambda part: 'little' in source_of(mix(part, 0.1)).text, 0.4, 0.6),
    'exact_share of velocities': (
        lambda part: rest(1.0, part).value == 'differentiated',
        7e-4,
        2e-3,
    ),
    'own_share': (lambda part: rest(1.0, part).level is KNOWN, 0.4, 0.2),
    'fewest_velocities': (has_rests, 80, 50),
    'same_period_share': (lambda part: has_rests(200, part), 0.15, 0.3),
    'longest_difference': (
        lambda count: 'over' in source_of(differenced(count)[:, 0]).text,
        10,
        15,
    ),
    'lag_deviations': (lambda size: source_with_lag(1e-3 * size, 1e-3) == 'filtered', 4.0, 2.0),
    'shortest_lag': (lambda lag: source_with_lag(lag, 1e-6) == 'filtered', 7e-4, 4e-4),
    'harmful': (lambda delay: begin_effort(delay) == 'torque', 0.018, 0.022),
    'timeout_periods': (lambda most: timeout(0.01) < most, 0.13, 0.07),
    'timeout_gaps': (lambda most: timeout(0.01, 0.2) < most, 0.5, 0.3),
    'shortest_timeout': (lambda most: timeout(1e-4) < most, 0.03, 0.015),
    'longest_timeout': (lambda most: timeout(1.0) < most, 1.5, 0.7),
    'velocity_cutoff': (
        lambda most: node_velocity(source='wrong')['velocity_cutoff_frequency'] < most,
        40.0,
        20.0,
    ),
    'velocity_cutoff_share': (
        lambda most: node_velocity(100.0, source='wrong')['velocity_cutoff_frequency'] < most,
        13.0,
        7.0,
    ),
    'longest_node_lag': (
        lambda most: node_velocity(lag=0.5, lag_deviation=0.0)['observer.velocity_lag'] < most,
        0.13,
        0.07,
    ),
    'shortest_node_lag': (
        lambda lag: 'observer.velocity_lag' in node_velocity(lag=lag, lag_deviation=0.0),
        1.5e-3,
        7e-4,
    ),
}
"""By the name of a limit: what is so inside it and not outside, and two values."""


@pytest.mark.parametrize('name', ROWS)
def test_a_limit_of_what_is_said_is_where_it_is(name):
    """At twice the limit, or half of it, one of the two would be otherwise."""
    is_so, inside, outside = ROWS[name]
    assert is_so(inside)
    assert not is_so(outside)


@pytest.mark.parametrize(('least', 'is_one_sided'), [(-0.019, True), (-0.021, False)])
def test_negative_efforts_up_to_a_fiftieth_are_noise(least, is_one_sided):
    assert _is_one_sided(np.array([[1.0, 0.5], [least, 0.0]])) is is_one_sided


@pytest.mark.parametrize(('share', 'votes'), [(0.015, True), (0.009, False)])
def test_a_joint_votes_where_the_model_is_a_hundredth_of_what_a_load_may_be(share, votes):
    """Of the effort that a load's first moment makes; below, quotients are arbitrary."""
    drawn = np.random.default_rng(0).standard_normal((40, 5))
    columns, _ = np.linalg.qr(np.c_[np.ones(40), drawn])
    model, load, *rates = columns[:, 1:].T[:, :, np.newaxis]
    evidence = SimpleNamespace(
        get_effort=lambda reading: share * model,
        get_given_effort=lambda reading: share * model,
        get_load_columns=lambda reading: load[:, :, np.newaxis],
        get_moment_columns=lambda reading: load[:, :, np.newaxis],
        get_rates=lambda reading: rates,
        count=lambda reading: ONES[:1],
    )
    assert (compare_with_given(evidence, None).weights[0] > 0.0) == votes
