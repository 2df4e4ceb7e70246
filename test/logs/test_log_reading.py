"""Other readings of a log: what one changes the other undoes."""

from __future__ import annotations

import numpy as np

from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading


def make_log(n=3, samples=400):
    """Return a log of sines."""
    times = 5.0 + np.arange(samples) * 0.01
    phase = times[:, np.newaxis] * np.arange(1, n + 1)
    names = tuple(f'joint_{index}' for index in range(n))
    velocity = np.cos(phase) * np.arange(1, n + 1)
    return Log.from_samples(names, times, np.sin(phase), np.cos(phase), velocity)


def test_changes_follow_one_another():
    """Changes act in the order in which they are made: a factor also counts for earlier zeros."""
    log = make_log()
    reading = (
        LogReading.as_recorded(3)
        .with_position((1,), offset=0.5)
        .with_position((1,), factor=-2.0)
        .with_effort((2,), factor=3.0)
        .with_swap(0, 2, position=False, effort=True)
    )
    read = reading.read_log(log)
    np.testing.assert_allclose(read.position[:, 1], -2.0 * (log.position[:, 1] + 0.5))
    np.testing.assert_array_equal(read.effort[:, 0], 3.0 * log.effort[:, 2])
    np.testing.assert_array_equal(read.effort[:, 2], log.effort[:, 0])
    np.testing.assert_array_equal(read.position[:, 0], log.position[:, 0])


def test_delay_is_taken_out_and_ends_are_left_out():
    """A late effort comes back to its instant; where there is none the sample goes."""
    log = make_log()
    read = LogReading.as_recorded(3).with_effort((0, 1, 2), delay=0.05).read_log(log)
    np.testing.assert_allclose(
        read.effort, np.cos((read.times[:, None] + 0.05) * [1, 2, 3]), atol=1e-3
    )
    assert read.times[-1] <= log.times[-1] - 0.05 + 1e-9
    assert read.position.shape == read.effort.shape == read.velocity.shape


def test_velocity_that_agrees_stays():
    """A position sign is taken out of the velocity only where it was in it."""
    log = make_log()
    flipped = Log.from_samples(
        log.joint_names, log.times, log.position * [1, -1, 1], log.effort, log.velocity
    )
    read = LogReading.as_recorded(3).with_position((1,), factor=-1.0).read_log(flipped)
    np.testing.assert_allclose(read.position, log.position)
    np.testing.assert_array_equal(read.velocity, log.velocity)
