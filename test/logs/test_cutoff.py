"""The cut-off that is chosen follows the motion and the effort, not the rate of the log."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.logs.cutoff import choose_cutoff
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.stale_samples import REPEATED, without_repeated
from ne_dynamics.logs.thresholds import FILTER


def swing(rate, frequency, *, noise=1e-5, effort_noise=0.1, duration=30.0):
    """Return positions and efforts of a joint that swings at two frequencies."""
    rng = np.random.default_rng(0)
    times = np.arange(0.0, duration, 1.0 / rate)
    position = np.sin(2.0 * np.pi * frequency * times) / frequency
    position += np.sin(2.0 * np.pi * 0.41 * frequency * times) / frequency
    velocity = np.gradient(position, times)
    effort = 20.0 * np.sin(position) + 3.0 * np.sign(velocity)
    return (
        (position + noise * rng.standard_normal(times.size))[:, None],
        (effort + effort_noise * rng.standard_normal(times.size))[:, None],
    )


@pytest.mark.parametrize('rate', [50.0, 500.0])
@pytest.mark.parametrize('frequency', [0.3, 1.0])
def test_the_cutoff_is_a_few_times_the_frequency_of_the_motion(rate, frequency):
    """Between the least and the most multiple, within a band, at any rate of the log."""
    found = choose_cutoff(*swing(rate, frequency), rate)
    assert (
        FILTER.cutoff_multiples[0] * frequency * 0.8
        <= found
        <= FILTER.cutoff_multiples[1] * frequency * 1.4
    )


def test_noise_on_the_effort_lowers_the_cutoff():
    """What is noise in every effort is not kept, but the least multiple of the motion is."""
    quiet = choose_cutoff(*swing(200.0, 0.5, effort_noise=1e-3), 200.0)
    loud = choose_cutoff(*swing(200.0, 0.5, effort_noise=5.0), 200.0)
    assert 0.8 * FILTER.cutoff_multiples[0] * 0.5 <= loud < quiet


def make_log(position):
    """Return a log of one joint."""
    times = 0.01 * np.arange(position.size)
    return Log.from_samples(('a',), times, position[:, None], np.ones((position.size, 1)))


def test_repeated_samples_of_a_moving_robot_are_dropped():
    """A reading published twice is left out and counted; those of a robot at rest are kept."""
    position = 0.5 - 0.5 * np.cos(np.pi * np.clip(np.arange(200) / 100.0 - 0.5, 0.0, 1.0))
    position[[70, 90, 120]] = position[[69, 89, 119]]
    log = without_repeated(make_log(position))
    assert log.times.size == 197
    assert log.dropped == {REPEATED: 3}
    assert not set(np.round(100 * log.times).astype(int)) & {70, 90, 120}
