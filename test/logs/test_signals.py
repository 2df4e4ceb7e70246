"""The filter has no phase, leaves slow motion alone and takes noise away."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.segment import derivatives
from ne_dynamics.logs.signals import filtered

RATE = 500.0
NONE = np.array([np.inf])


def sine_log(frequency=0.7, duration=8.0, noise=0.0, gaps=()):
    """Return a log of one joint that swings, its effort in step with its velocity's sign."""
    rng = np.random.default_rng(0)
    times = np.arange(0.0, duration, 1.0 / RATE)
    for start, end in gaps:
        times = times[(times < start) | (times > end)]
    phase = 2.0 * np.pi * frequency * times
    position = np.sin(phase) + noise * rng.standard_normal(times.size)
    effort = 3.0 * np.sign(np.cos(phase)) - 2.0 * np.sin(phase)
    return Log.from_samples(('a',), times, position[:, None], effort[:, None])


def test_derivatives_of_a_quartic_are_exact():
    """Five points differentiate a polynomial of fourth order without error."""
    times = np.arange(20) / 50.0
    first, second = derivatives((times**4)[:, None], 50.0)
    assert np.allclose(first[:, 0], 4.0 * times[2:-2] ** 3, atol=1e-10)
    assert np.allclose(second[:, 0], 12.0 * times[2:-2] ** 2, atol=1e-8)


def test_signals_of_a_swing():
    """Velocity, acceleration and the filtered sign go together with the filtered effort."""
    signals = filtered(sine_log(), NONE, 10.0)
    rate = 2.0 * np.pi * 0.7
    phase = rate * signals.times
    assert np.abs(signals.velocity[:, 0] - rate * np.cos(phase)).max() < 1e-3
    assert np.abs(signals.acceleration[:, 0] + rate**2 * np.sin(phase)).max() < 2e-2
    rest = signals.effort[:, 0] + 2.0 * signals.position[:, 0] - 3.0 * signals.direction[:, 0]
    assert np.abs(rest).max() < 0.15
    assert signals.moves.tolist() == [True]
    assert np.diff(signals.times).mean() == pytest.approx(0.04, rel=1e-6)
    slow = np.abs(signals.velocity[:, 0]) < 0.02 * rate * 0.99
    assert not signals.usable[slow].any()
    assert signals.usable[np.abs(signals.velocity[:, 0]) > 0.03 * rate].all()


def test_uneven_stamps_are_made_even():
    """A swing sampled at uneven times, that are known, is the swing at even ones."""
    rate = 2.0 * np.pi * 0.7
    times = np.arange(0.0, 8.0, 1.0 / 50.0)
    times[1:-1] += np.random.default_rng(5).uniform(-0.006, 0.006, times.size - 2)
    position = np.sin(rate * times)[:, np.newaxis]
    signals = filtered(Log.from_samples(('a',), times, position, position), NONE, 10.0)
    assert np.abs(signals.position[:, 0] - np.sin(rate * signals.times)).max() < 1e-4
    assert np.abs(signals.velocity[:, 0] - rate * np.cos(rate * signals.times)).max() < 3e-3


def test_still_joint():
    """A joint that stands in noise does not move: nothing of it is usable."""
    log = sine_log(noise=1e-4)
    still = Log.from_samples(
        ('a',),
        log.times,
        log.position - np.sin(2.0 * np.pi * 0.7 * log.times)[:, None],
        log.effort,
    )
    signals = filtered(still, NONE)
    assert not signals.moves.any()
    assert not signals.usable.any()
    assert not signals.direction.any()


def test_refusals():
    """A cut-off that is too high or not above 0, and a log too short for it, are refused."""
    log = sine_log()
    for cutoff in (0.0, -1.0, 130.0, float('nan')):
        with pytest.raises(InputError, match='expected more than 0 and at most 125'):
            filtered(log, NONE, cutoff)
    with pytest.raises(
        InputError, match=r'more than 12 s without a gap, got .* in all: record longer'
    ):
        filtered(sine_log(duration=2.0), NONE, 0.5)
