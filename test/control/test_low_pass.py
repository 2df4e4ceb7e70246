"""The low-pass filter of stamped readings, against its differential equation."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.sensors.low_pass import LowPass
from ne_dynamics.control.sensors.thresholds import SENSORS
from ne_dynamics.errors import ParameterError

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


def test_it_passes_what_is_slow_and_damps_what_is_fast() -> None:
    """At the cut-off 1/sqrt(2) of a sine passes, far below all of it, far above next to none."""
    times = np.arange(0.0, 10.0, 1e-4)
    for frequency, expected in ((0.2, 0.995), (2.0, 0.5**0.5), (200.0, 0.01)):
        low_pass, values = LowPass(2.0), []
        for time, reading in zip(times, np.sin(2.0 * np.pi * frequency * times), strict=True):
            low_pass.update(np.array([reading]), time)
            values.append(low_pass.value[0])
        size = np.sqrt(2.0 * np.mean(np.square(values[len(values) // 2 :])))
        assert size == pytest.approx(expected, rel=0.01)


def test_the_first_reading_is_taken_as_it_is() -> None:
    """There is no run-in from zero, neither at first nor after a reset."""
    low_pass = LowPass(0.1)
    assert low_pass.value is None
    low_pass.update(7.0 * ONE, 5.0)
    np.testing.assert_array_equal(low_pass.value, 7.0)
    low_pass.reset()
    low_pass.update(3.0 * ONE, 5.1)
    np.testing.assert_array_equal(low_pass.value, 3.0)


def test_without_a_cut_off_every_reading_is_the_value() -> None:
    """0 Hz is no filter."""
    low_pass = LowPass()
    for stamp, reading in enumerate((ONE, 5.0 * ONE, -ONE)):
        low_pass.update(reading, 1e-3 * stamp)
        np.testing.assert_array_equal(low_pass.value, reading)
    assert low_pass.derivative() is None


def test_after_a_gap_it_starts_anew() -> None:
    """A reading that comes later than the gap allows is taken as it is."""
    low_pass = LowPass(1.0, gap=0.1)
    low_pass.update(ONE, 0.0)
    low_pass.update(2.0 * ONE, 0.1)
    assert 1.0 < low_pass.value[0] < 2.0
    low_pass.update(9.0 * ONE, 0.2001)
    np.testing.assert_array_equal(low_pass.value, 9.0)
    assert low_pass.derivative() is None


def test_a_repeated_stamp_replaces_the_reading() -> None:
    """Two readings of one moment are one, the later; so are any number without stamps."""
    once, twice = LowPass(5.0), LowPass(5.0)
    for low_pass in (once, twice):
        low_pass.update(np.zeros(2), 0.0)
    once.update(3.0 * ONE, 0.01)
    for reading in (100.0, -8.0, 3.0):
        twice.update(reading * ONE, 0.01)
    np.testing.assert_array_equal(twice.value, once.value)
    for low_pass in (once, twice):
        low_pass.update(4.0 * ONE, 0.02)
    np.testing.assert_array_equal(twice.value, once.value)
    at_first = LowPass(5.0)
    at_first.update(ONE, 0.0)
    at_first.update(2.0 * ONE, 0.0)
    np.testing.assert_array_equal(at_first.value, 2.0)


def test_an_overtaken_reading_changes_nothing() -> None:
    """A stamp a little older than the newest does not count."""
    low_pass = LowPass(5.0)
    low_pass.update(ONE, 1.0)
    assert low_pass.update(2.0 * ONE, 1.02)
    value = low_pass.value
    assert not low_pass.update(1e3 * ONE, 1.01)
    np.testing.assert_array_equal(low_pass.value, value)
    assert low_pass.stamp == 1.02


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


def test_another_cut_off_goes_on_from_the_value() -> None:
    """A change of the cut-off moves nothing by itself."""
    low_pass = LowPass(1.0)
    low_pass.update(np.zeros(2), 0.0)
    low_pass.update(ONE, 0.05)
    before = low_pass.value
    low_pass.configure(2.0, np.inf)
    np.testing.assert_array_equal(low_pass.value, before)
    low_pass.update(ONE, 0.1)
    expected = 1.0 - (1.0 - before) * np.exp(-2.0 * np.pi * 2.0 * 0.05)
    np.testing.assert_allclose(low_pass.value, expected, rtol=1e-12)


def test_the_derivative_is_that_of_the_value_and_never_more_than_the_cut_off_allows() -> None:
    """A ramp has its slope; a jump at stamps close together has 2 pi f times its height."""
    low_pass = LowPass(4.0)
    for k in range(400):
        low_pass.update(3.0 * k * 0.005 * ONE, k * 0.005)
    np.testing.assert_allclose(low_pass.derivative(), 3.0, rtol=1e-6)
    value = low_pass.value
    low_pass.update(value + 1.0, low_pass.stamp + 1e-7)
    np.testing.assert_allclose(low_pass.derivative(), 2.0 * np.pi * 4.0, rtol=1e-3)


def test_a_value_can_be_given() -> None:
    """The filter goes on from a value it is told."""
    low_pass = LowPass(4.0)
    low_pass.update(ONE, 0.0)
    low_pass.settle(5.0 * ONE)
    low_pass.update(5.0 * ONE, 0.01)
    np.testing.assert_array_equal(low_pass.value, 5.0)


@pytest.mark.parametrize('frequency', [-1.0, np.nan, np.inf])
def test_a_cut_off_that_is_none_is_refused(frequency: float) -> None:
    """The error names the parameter."""
    with pytest.raises(ParameterError, match=r'wrench\.cutoff_frequency: expected .*got'):
        LowPass(frequency, name='wrench.')
