"""Stamps of a recorder that is faster than its source, and logs that only look like it."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.logs.log import Log
from ne_dynamics.logs.source_clock import with_source_clock
from ne_dynamics.logs.stale_samples import without_repeated

SOURCE = 0.034
RECORDER = 1.0 / 30.0


def move(times):
    """Return position and acceleration of two joints, shape (N, 2) each."""
    rates = 2.0 * np.pi * np.array([0.21, 0.34])
    angles = times[:, None] * rates + (0.3, 1.1)
    return np.sin(angles), -(rates**2) * np.sin(angles)


def publish(*, duration=24.0, source=SOURCE, jitter=0.0, fresh_efforts=False):
    """Return a log of the latest measurement at each tick of the recorder, efforts 3 qdd + 2 q."""
    rng = np.random.default_rng(0)
    stamps = np.arange(0.0, duration, RECORDER) + 0.02
    stamps = stamps + jitter * rng.uniform(-1.0, 1.0, stamps.size)
    measured = np.floor(stamps / source) * source
    position, acceleration = move(measured)
    if fresh_efforts:
        fresh, acceleration = move(stamps)
        return Log.from_samples(('a', 'b'), stamps, position, 3.0 * acceleration + 2.0 * fresh)
    return Log.from_samples(('a', 'b'), stamps, position, 3.0 * acceleration + 2.0 * position)


def put_on_clock(log):
    """Return the log without repetitions, and what becomes of it."""
    kept = without_repeated(log)
    return kept, with_source_clock(kept, log)


@pytest.mark.parametrize('jitter', [0.0, 0.003])
def test_samples_are_put_where_they_were_measured(jitter):
    """Stamps that are up to 33 ms late become those of the source, but for a constant."""
    log = publish(jitter=jitter)
    kept, found = put_on_clock(log)
    assert kept.times.size < log.times.size - 10
    true = np.unique(np.floor(log.times / SOURCE)) * SOURCE
    assert np.ptp(kept.times - true) > 0.03
    assert np.ptp(found.times - true) < 0.004
    spans = np.diff(found.times) / np.diff(found.times).min()
    assert np.allclose(spans, np.round(spans))
    assert np.array_equal(found.effort, kept.effort)


def test_what_is_no_slow_source_stays():
    """Few repetitions, efforts under stamps of their own, uneven sources: nothing is changed."""
    for log in (
        publish(duration=3.0),
        publish(fresh_efforts=True),
        publish(source=RECORDER),
        sample_unevenly(),
    ):
        kept, found = put_on_clock(log)
        assert found is kept


def sample_unevenly():
    """Return a log of a source that is slower for a while than it is before and after."""
    stamps = np.arange(0.0, 24.0, RECORDER) + 0.02
    instants = [0.0]
    while instants[-1] < stamps[-1]:
        slow = 8.0 < instants[-1] < 16.0
        instants.append(instants[-1] + (0.037 if slow else SOURCE))
    measured = np.array(instants)[np.searchsorted(instants, stamps, side='right') - 1]
    position, acceleration = move(measured)
    return Log.from_samples(('a', 'b'), stamps, position, acceleration)
