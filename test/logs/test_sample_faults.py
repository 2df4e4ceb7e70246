"""What samples show by themselves: found when it is there, and not when it only looks alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sine_log import make_log

from ne_dynamics.logs.samples.sample_faults import (
    find_degrees,
    find_spikes,
    find_stale,
    find_time_unit,
    find_wraps,
    keep_samples,
    unwrap_positions,
)


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


def test_a_joint_may_turn_while_the_log_pauses(given):
    log = make_log(given, amplitude=2.45)
    moved = np.abs(log.position[230:, 1] - log.position[:-230, 1])
    start = int(moved.argmax()) + 1
    assert 4.7 < moved.max() < 4.95
    kept = np.ones(log.times.size, dtype=bool)
    kept[start : start + 229] = False
    paused = keep_samples(log, kept, 'pause')
    assert find_wraps(given, paused) == (paused, None)
    position = paused.position.copy()
    position[:, 1] = np.mod(position[:, 1], 2.0 * np.pi)
    repaired, fault = find_wraps(given, replace(paused, position=position))
    assert fault.joints == (given.joint_names[1],)
    turns = (repaired.position - paused.position) / (2.0 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


@pytest.mark.parametrize('held', [('position', 'effort'), ('position',), ('effort',)])
def test_repeated_samples_are_left_out(given, held):
    """Values that are held while the arm moves are found, whichever they are."""
    log = make_log(given)
    tables = {key: getattr(log, key).copy() for key in held}
    rows = np.arange(10, 1990, 10)
    for table in tables.values():
        table[rows] = table[rows - 1]
    repaired, fault = find_stale(given, replace(log, **tables))
    assert (fault.severity, fault.amount) == ('error', rows.size)
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
