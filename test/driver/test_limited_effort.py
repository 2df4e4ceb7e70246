"""Efforts that stay below what is commanded are named, with the limit or the part."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.driver.limited_effort import find_limited_efforts
from ne_dynamics.driver.recording import CommandLog
from ne_dynamics.logs import Log

LIMITS = np.array([150.0, 100.0, 28.0])
NAMES = ('shoulder', 'elbow', 'wrist')


def record(change=lambda effort: effort, *, delay=0.004, noise=0.01, size=0.9, seed=0):
    """Return 10 s of efforts that are their commands, late and with noise, changed; and these."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, 10.0, 0.002)
    rates, phases = rng.uniform(1.0, 3.0, (2, 3)), rng.uniform(0.0, 6.0, (2, 3))

    def command_at(when):
        waves = np.sin(rates[:, None] * when[:, None] + phases[:, None])
        return size * LIMITS * waves.mean(axis=0)

    command = command_at(times)
    effort = change(command_at(times - delay))
    effort = effort + noise * LIMITS * rng.standard_normal(effort.shape)
    log = Log.from_samples(NAMES, times, np.zeros_like(command), effort)
    return log, CommandLog.from_samples(NAMES, times, command), delay


def list_found(record):
    """Return code, joints and amount of what is found."""
    return [(one.code, one.joints, one.amount) for one in find_limited_efforts(*record, LIMITS)]


@pytest.mark.parametrize('delay', [0.0, 0.004, 0.03])
@pytest.mark.parametrize('seed', range(3))
def test_efforts_that_are_their_commands_are_free(delay, seed):
    """Late, with noise, and up to the limits that the model has."""
    assert list_found(record(delay=delay, seed=seed)) == []
    clipped = record(lambda effort: np.clip(effort, -LIMITS, LIMITS), size=1.6, seed=seed)
    assert list_found(clipped) == []


def test_an_effort_limited_to_45_per_cent_is_named():
    """With its joint and the plateau; the others are free."""
    limits = np.array([np.inf, 0.45 * LIMITS[1], np.inf])
    ((code, joints, amount),) = list_found(record(lambda effort: np.clip(effort, -limits, limits)))
    assert (code, joints) == ('effort-limited', ('elbow',))
    assert amount == pytest.approx(45.0, rel=0.1)


@pytest.mark.parametrize('seed', range(3))
def test_efforts_of_exchanged_commands_are_free(seed):
    """The command of another joint is beyond every effort now and then."""
    log, commands, delay = record(seed=seed)
    exchanged = CommandLog.from_samples(NAMES, commands.times, commands.effort[:, [1, 0, 2]])
    assert list_found((log, exchanged, delay)) == []


@pytest.mark.parametrize('part', [0.5, 0.6])
def test_a_motor_that_gives_half_of_its_torque_is_named(part):
    """With its joint and the part, though no effort has a plateau."""
    ((code, joints, amount),) = list_found(record(lambda effort: effort * [1.0, 1.0, part]))
    assert (code, joints) == ('effort-weak', ('wrist',))
    assert amount == pytest.approx(part, rel=0.05)


def test_currents_and_nothing_are_no_limited_efforts():
    """What is in another unit, or not reported, says nothing of a limit."""
    assert list_found(record(lambda effort: effort * [0.1, 0.09, 0.12], noise=0.001)) == []
    assert list_found(record(np.zeros_like, noise=0.0)) == []
