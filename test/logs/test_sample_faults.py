"""What samples show by themselves: found when it is there, and not when it only looks alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sine_log import make_log

from ne_dynamics.logs.log import Log
from ne_dynamics.logs.samples.effort_faults import find_cut_efforts, find_frozen_efforts
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.samples.sample_faults import (
    find_degrees,
    find_spikes,
    find_time_unit,
    find_wraps,
    unwrap_positions,
)


def with_effort(log, joint, column):
    """Return a log with another effort of a joint."""
    effort = log.effort.copy()
    effort[:, joint] = column
    return replace(log, effort=effort)


def silence(log, joint, share):
    """Return a log whose driver reports small efforts of a joint as 0."""
    size = np.abs(log.effort[:, joint])
    return with_effort(
        log, joint, np.where(size < np.quantile(size, share), 0.0, log.effort[:, joint])
    )


FOUND = {
    'cut off above': (
        lambda log: with_effort(log, 1, np.minimum(log.effort[:, 1], 5.0)),
        ('effort-cut-off', 1),
    ),
    'cut off below': (
        lambda log: with_effort(log, 1, np.maximum(log.effort[:, 1], -5.0)),
        ('effort-cut-off', 1),
    ),
    'zero from half of the log on': (
        lambda log: with_effort(log, 2, np.where(log.times > 10.0, 0.0, log.effort[:, 2])),
        ('effort-frozen', 2),
    ),
    'one value from half of the log on': (
        lambda log: with_effort(log, 2, np.where(log.times > 10.0, 3.0, log.effort[:, 2])),
        ('effort-frozen', 2),
    ),
    'a dead band': (lambda log: silence(log, 2, 0.7), ('effort-dead-band', 2)),
    'a wide dead band': (lambda log: silence(log, 1, 0.95), ('effort-dead-band', 1)),
}


@pytest.mark.parametrize('name', FOUND)
def test_efforts_that_are_none_are_found_and_nothing_else(given, name):
    """What was not recorded is gone: nothing is repaired."""
    change, (code, joint) = FOUND[name]
    _, (fault,) = check_samples(given, change(make_log(given)))
    assert (fault.code, fault.joints) == (code, (given.joint_names[joint],))
    assert not fault.is_certain
    assert code != 'effort-frozen' or '10.0' in fault.what


def saturate(robot, log):
    """Return the log of a motor that is at its limit."""
    limit = robot.limits('effort_limit')[1]
    return with_effort(log, 1, np.clip(limit / 5.0 * log.effort[:, 1], -limit, limit))


def cruise(robot, viscous):
    """Return a log of joints that speed up, cruise and slow down, without gravity or noise."""
    times = np.arange(4000) / 100.0
    phase = np.mod(times[:, np.newaxis] / (8.0 + np.arange(robot.n)), 1.0)
    velocity = 0.4 * np.clip(6.0 * np.sin(2.0 * np.pi * phase), -1.0, 1.0)
    position = np.cumsum(velocity, axis=0) / 100.0
    effort = 0.2 * np.gradient(velocity, times, axis=0) + viscous * velocity
    return Log.from_samples(robot.joint_names, times, np.round(position, 5), np.round(effort, 5))


LOOKS_ALIKE = {
    'a saturated motor: the fit leaves that out': saturate,
    'fine steps': lambda robot, log: replace(log, effort=0.02 * np.round(log.effort / 0.02)),
    'coarse steps': lambda robot, log: replace(log, effort=0.5 * np.round(log.effort / 0.5)),
    'one effort at a constant speed, below the largest': lambda robot, log: cruise(robot, 0.5),
    'one effort at a constant speed, the largest': lambda robot, log: cruise(robot, 50.0),
}


@pytest.mark.parametrize('name', LOOKS_ALIKE)
def test_efforts_that_look_as_if_they_were_cut_off_or_frozen(given, name):
    log = LOOKS_ALIKE[name](given, make_log(given))
    assert find_cut_efforts(given, log) == (log, None)
    assert find_frozen_efforts(given, log) == (log, None)


def test_degrees_beyond_the_limits(given):
    """Degrees are found by the limits, and velocities that are in radians already stay so."""
    log = make_log(given)
    velocity = np.gradient(log.position, log.times, axis=0)
    repaired, fault = find_degrees(
        given, replace(log, position=np.rad2deg(log.position), velocity=velocity)
    )
    assert fault.code == 'degrees'
    np.testing.assert_allclose(repaired.position, log.position, atol=1e-12)
    np.testing.assert_array_equal(repaired.velocity, velocity)


@pytest.mark.parametrize(('unit', 'factor'), [('ms', 1e3), ('us', 1e6), ('ns', 1e9)])
def test_units_of_time(given, unit, factor):
    log = make_log(given)
    repaired, fault = find_time_unit(given, replace(log, times=log.times * factor))
    assert f'--time-unit {unit}' in fault.remedy
    np.testing.assert_allclose(repaired.times, log.times)


def test_wrapped_angles_go_on(given):
    """Jumps by a turn are taken out, and the joint is back within its limits."""
    log = make_log(given)
    position = log.position.copy()
    position[:, 1] = np.mod(position[:, 1], 2.0 * np.pi)
    repaired, fault = find_wraps(given, replace(log, position=position))
    assert fault.joints == (given.joint_names[1],)
    np.testing.assert_allclose(repaired.position, log.position, atol=1e-12)
    np.testing.assert_allclose(unwrap_positions(given, position), log.position, atol=1e-12)


@pytest.mark.parametrize('held', [('position', 'effort'), ('position',), ('effort',)])
def test_repeated_samples_are_left_out(given, held):
    """Values that are held while the arm moves are found, whichever they are."""
    log = make_log(given)
    rows = np.arange(10, 1990, 10)
    newest = np.arange(log.times.size)
    newest[rows] -= 1
    stale = replace(log, **{key: getattr(log, key)[newest] for key in held})
    repaired, (fault,) = check_samples(given, stale)
    assert (fault.code, fault.severity, fault.amount) == ('samples-stale', 'error', rows.size)
    assert repaired.dropped['repeated'] == rows.size
    assert not np.isin(log.times[rows], repaired.times).any()


@pytest.mark.parametrize('key', ['position', 'effort'])
def test_spikes_are_left_out(given, key):
    """Single samples, and two in a row, that are far off are found with their joint."""
    log = make_log(given)
    table = getattr(log, key).copy()
    rows = [30, 400, 401, 1200, 1980]
    table[rows, 3] += 60.0
    repaired, fault = find_spikes(given, replace(log, times=5.0 + log.times, **{key: table}))
    assert (fault.joints, fault.amount) == ((given.joint_names[3],), len(rows))
    assert repaired.times.size == log.times.size - len(rows)
    assert key in fault.what
    assert 'the first 0.3 s after the start' in fault.what


def test_friction_that_turns_round_is_no_spike(given):
    """Steps of the effort, and ringing where a motion starts, are no spikes."""
    log = make_log(given)
    effort = log.effort + 15.0 * np.sign(np.gradient(log.position, axis=0))
    effort[:20] += 40.0 * (-1.0) ** np.arange(20)[:, np.newaxis]
    stepping = replace(log, effort=effort)
    assert find_spikes(given, stepping) == (stepping, None)
