"""The low-pass filter of stamped readings, against its differential equation."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.sensors.low_pass import LowPass
from ne_dynamics.control.sensors.thresholds import SENSORS

ONE = np.ones(2)


def test_a_step_is_answered_by_the_exponential_whatever_the_stamps() -> None:
    """After a step the value is 1 - exp(-2 pi f t), at even and uneven stamps alike."""
    rng = np.random.default_rng(1)
    for times in (np.arange(1, 60) * 0.002, np.cumsum(rng.uniform(1e-6, 0.02, 60))):
        low_pass = LowPass(3.0)
        low_pass.update(np.zeros(2), 0.0)
        for time in times:
            low_pass.update(ONE, time)
            expected = 1.0 - np.exp(-2.0 * np.pi * 3.0 * time)
            np.testing.assert_allclose(low_pass.value, expected, rtol=1e-9)


def test_of_one_moment_there_is_one_reading() -> None:
    """Two of them are one, the later; so are any number without stamps. One that was overtaken
    changes nothing.
    """
    once, twice = LowPass(5.0), LowPass(5.0)
    for low_pass in (once, twice):
        low_pass.update(np.zeros(2), 0.0)
    once.update(3.0 * ONE, 0.01)
    for reading in (100.0, -8.0, 3.0):
        assert twice.update(reading * ONE, 0.01)
    np.testing.assert_array_equal(twice.value, once.value)
    assert not twice.update(100.0 * ONE, 0.005)
    for low_pass in (once, twice):
        low_pass.update(4.0 * ONE, 0.02)
    np.testing.assert_array_equal(twice.value, once.value)
    at_first = LowPass(5.0)
    at_first.update(ONE, 0.0)
    at_first.update(2.0 * ONE, 0.0)
    np.testing.assert_array_equal(at_first.value, 2.0)


@pytest.mark.parametrize('gap', [0.1, np.inf])
@pytest.mark.parametrize('stamp', [1.0 - 2.0 * SENSORS.latest_stamp, -1e9, np.nan])
def test_a_clock_that_was_set_back_starts_it_anew(stamp: float, gap: float) -> None:
    """A stamp far older than the newest is of another clock, and so is one that is no number."""
    low_pass = LowPass(5.0, gap)
    low_pass.update(ONE, 1.0)
    assert low_pass.update(6.0 * ONE, stamp)
    np.testing.assert_array_equal(low_pass.value, 6.0)
    low_pass.update(8.0 * ONE, 3.0)
    assert np.isfinite(low_pass.value).all()


def test_the_derivative_is_that_of_the_value_and_never_more_than_the_cut_off_allows() -> None:
    """A ramp has its slope; a jump at stamps close together has 2 pi f times its height. Without a
    filter there is none.
    """
    unfiltered = LowPass()
    for k in range(3):
        unfiltered.update(k * ONE, 0.005 * k)
    assert unfiltered.derivative() is None
    low_pass = LowPass(4.0)
    for k in range(400):
        low_pass.update(3.0 * k * 0.005 * ONE, k * 0.005)
    np.testing.assert_allclose(low_pass.derivative(), 3.0, rtol=1e-6)
    value = low_pass.value
    low_pass.update(value + 1.0, low_pass.stamp + 1e-7)
    np.testing.assert_allclose(low_pass.derivative(), 2.0 * np.pi * 4.0, rtol=1e-3)
