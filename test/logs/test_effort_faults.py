"""Efforts that are cut off or stand still: found when they are, and not when they look alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sine_log import make_log

from ne_dynamics.logs.log import Log
from ne_dynamics.logs.samples.effort_faults import (
    find_cut_efforts,
    find_dead_bands,
    find_frozen_efforts,
)
from ne_dynamics.logs.samples.sample_checks import check_samples


def with_effort(log, joint, column):
    """Return a log with another effort of a joint."""
    effort = log.effort.copy()
    effort[:, joint] = column
    return replace(log, effort=effort)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_an_effort_that_is_cut_off_is_found(given, side):
    """Half of the largest effort, on one side, below the limit of the motor."""
    log = make_log(given)
    cut = side * np.minimum(side * log.effort[:, 1], 5.0)
    _, faults = check_samples(given, with_effort(log, 1, cut))
    assert [(fault.code, fault.joints) for fault in faults] == [
        ('effort-cut-off', (given.joint_names[1],))
    ]
    assert not faults[0].is_certain


def test_an_effort_at_the_limit_of_the_motor_is_no_fault_of_the_log(given):
    """A saturated motor is what the log should show; the fit leaves these samples out."""
    limit = given.limits('effort_limit')[1]
    log = make_log(given)
    log = with_effort(log, 1, np.clip(limit / 5.0 * log.effort[:, 1], -limit, limit))
    assert find_cut_efforts(given, log) == (log, None)


@pytest.mark.parametrize('step', [0.02, 0.1, 0.5])
def test_coarse_steps_are_neither(given, step):
    """What is rounded has flat tops and stands still by itself."""
    log = make_log(given)
    log = replace(log, effort=step * np.round(log.effort / step))
    assert find_cut_efforts(given, log) == (log, None)
    assert find_frozen_efforts(given, log) == (log, None)


@pytest.mark.parametrize('value', [0.0, 3.0])
def test_an_effort_that_stands_still_is_found(given, value):
    """From half of the log on, while the joint goes on."""
    log = make_log(given)
    column = np.where(log.times > 10.0, value, log.effort[:, 2])
    _, faults = check_samples(given, with_effort(log, 2, column))
    assert [(fault.code, fault.joints) for fault in faults] == [
        ('effort-frozen', (given.joint_names[2],))
    ]
    assert '10.0' in faults[0].what


@pytest.mark.parametrize(
    ('step', 'noise', 'level'),
    [(0.1, 0.02, 0.1), (0.1, 0.02, 0.07), (1.0, 0.2, 5.0), (0.0, 0.0, 2.0)],
)
def test_a_joint_that_stands_flickers(given, step, noise, level):
    """The rounded effort of a joint that stands has neither spikes nor is it cut off."""
    log = make_log(given)
    column = level + noise * np.random.default_rng(0).standard_normal(log.times.size)
    if step:
        column = step * np.round(column / step)
    position = log.position.copy()
    position[:, 3] = 0.3
    _, faults = check_samples(given, replace(with_effort(log, 3, column), position=position))
    assert [fault.code for fault in faults if fault.severity == 'error'] == []


def cruising_log(robot, *, viscous):
    """Return a log of joints that speed up, cruise and slow down, without gravity or noise."""
    times = np.arange(4000) / 100.0
    phase = np.mod(times[:, np.newaxis] / (8.0 + np.arange(robot.n)), 1.0)
    velocity = 0.4 * np.clip(6.0 * np.sin(2.0 * np.pi * phase), -1.0, 1.0)
    position = np.cumsum(velocity, axis=0) / 100.0
    acceleration = np.gradient(velocity, times, axis=0)
    effort = 0.2 * acceleration + viscous * velocity
    return Log.from_samples(robot.joint_names, times, np.round(position, 5), np.round(effort, 5))


@pytest.mark.parametrize('viscous', [0.5, 50.0])
def test_a_joint_that_cruises_has_one_effort(given, viscous):
    """At a constant speed the effort of a vertical axis is the same: below its largest, or it."""
    log = cruising_log(given, viscous=viscous)
    assert find_cut_efforts(given, log) == (log, None)
    assert find_frozen_efforts(given, log) == (log, None)


@pytest.mark.parametrize('share', [0.85, 0.7])
def test_a_dead_band_is_named_joint_by_joint(given, log, share):
    """A driver that reports small efforts as 0: the joint is named, and no other."""
    effort = log.effort.copy()
    size = np.abs(effort[:, 2])
    effort[size < np.quantile(size, share), 2] = 0.0
    _, fault = find_dead_bands(given, replace(log, effort=effort))
    assert (fault.code, fault.joints) == ('effort-dead-band', (given.joint_names[2],))
    assert not fault.is_certain
    _, faults = check_samples(given, replace(log, effort=effort))
    assert 'effort-dead-band' in {one.code for one in faults}


def test_what_is_left_by_a_dead_band_is_no_spike(given, log):
    """Where the effort comes out of the band for a sample, it is as far from zero as it was."""
    effort = log.effort[:, 1] + np.random.default_rng(3).normal(0.0, 2.0, log.times.size)
    seen = np.where(np.abs(effort) > np.quantile(np.abs(effort), 0.95), effort, 0.0)
    _, faults = check_samples(given, with_effort(log, 1, seen))
    assert [fault.code for fault in faults] == ['effort-dead-band']
