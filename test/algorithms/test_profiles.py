"""Trapezoidal, cubic and quintic motions from rest to rest."""

import math
from functools import partial

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError

START, END = np.array([0.2, -1.0, 0.7]), np.array([1.0, 2.0, 0.7])
DURATIONS = [0.3, 1.0, 7.0]

PROFILES = {
    'thirds': ned.trapezoidal_profile,
    'trapezoid': partial(ned.trapezoidal_profile, acceleration_time=0.06, deceleration_time=0.1),
    'triangle': lambda start, end, duration, time: ned.trapezoidal_profile(
        start,
        end,
        duration,
        time,
        acceleration_time=0.3 * duration,
        deceleration_time=0.7 * duration,
    ),
    'cubic': ned.cubic_profile,
    'quintic': ned.quintic_profile,
}


@pytest.mark.parametrize('profile', PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize('duration', DURATIONS)
def test_a_profile_goes_from_rest_to_rest_by_its_derivatives(profile, duration):
    """Exactly the start before and at 0, exactly the end at T and after, at rest; in between
    central differences of position and velocity, away from jumps, meet what is returned.
    """
    time = np.array([-1e9, -0.1, 0.0, duration, duration + 0.1, 1e9])
    q, qd, qdd = profile(START, END, duration, time)
    np.testing.assert_array_equal(q, [START] * 3 + [END] * 3)
    np.testing.assert_allclose(qd, 0.0, atol=1e-12)
    np.testing.assert_array_equal(qd[[0, 1, 4, 5]], 0.0)
    np.testing.assert_array_equal(qdd[[0, 1, 4, 5]], 0.0)
    count = 4000
    step = duration / count
    q, qd, qdd = profile(START, END, duration, np.linspace(0.0, duration, count + 1))
    unit = 10.0 * np.abs(END - START).max() / duration**2
    rate, change = ((values[2:] - values[:-2]) / (2.0 * step) for values in (q, qd))
    # Over a jump of acceleration the difference is off by jump * step / 4 at the most.
    jump = max(np.abs(np.diff(qdd, axis=0)).max(), np.abs(qdd).max())
    np.testing.assert_allclose(rate, qd[1:-1], rtol=0, atol=0.251 * step * jump)
    is_smooth = np.abs(qdd[2:] - qdd[:-2]).max(axis=1) < 0.01 * unit
    assert is_smooth.sum() > 0.99 * is_smooth.size
    np.testing.assert_allclose(change[is_smooth], qdd[1:-1][is_smooth], rtol=0, atol=1e-5 * unit)


@pytest.mark.parametrize(
    ('profile', 'velocity', 'acceleration'),
    [
        (PROFILES['thirds'], 1.5, 4.5),
        (PROFILES['cubic'], 1.5, 6.0),
        (PROFILES['quintic'], 15.0 / 8.0, 10.0 / math.sqrt(3.0)),
    ],
    ids=['thirds', 'cubic', 'quintic'],
)
@pytest.mark.parametrize('duration', DURATIONS)
def test_peaks_are_those_of_the_table(profile, velocity, acceleration, duration):
    """Largest velocity and acceleration, in D / T and D / T^2, are what the module says."""
    time = duration * np.union1d(np.linspace(0.0, 1.0, 3001), 0.5 - math.sqrt(3.0) / 6.0)
    _, sd, sdd = profile(0.0, 1.0, duration, time)
    assert sd.max() == pytest.approx(velocity / duration, rel=1e-12)
    assert np.abs(sdd).max() == pytest.approx(acceleration / duration**2, rel=1e-12)


@pytest.mark.parametrize(
    ('given', 'both'),
    [
        ({}, (0.5, 0.5)),
        ({'acceleration_time': 0.2}, (0.2, 0.2)),
        ({'deceleration_time': 0.2}, (0.5, 0.2)),
    ],
)
def test_phases_that_are_left_out_have_a_default(given, both):
    """One phase named: the other is as long; only the second one: the first is a third."""
    time = np.linspace(0.0, 1.5, 31)
    found = ned.trapezoidal_profile(0.0, 1.0, 1.5, time, **given)
    names = ('acceleration_time', 'deceleration_time')
    expected = ned.trapezoidal_profile(0.0, 1.0, 1.5, time, **dict(zip(names, both, strict=True)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize('profile', [PROFILES[name] for name in ('thirds', 'cubic', 'quintic')])
@pytest.mark.parametrize(
    ('arguments', 'match'),
    [
        ((np.zeros(2), np.zeros(3), 1.0, 0.0), r'end: expected the shape of start, \(2,\), got'),
        ((0.0, np.zeros(3), 1.0, 0.0), 'end: expected the shape of start'),
        ((np.zeros((2, 2)), np.zeros((2, 2)), 1.0, 0.0), 'start: expected a number or one row'),
        (([0.0, np.nan], [1.0, 1.0], 1.0, 0.0), 'start: expected finite numbers, got nan at .* 1'),
        ((0.0, np.inf, 1.0, 0.0), 'end: expected finite'),
        ((0.0, 1.0, 1.0, [0.0, 0.5, np.nan]), 'time: expected finite numbers, got nan at index 2'),
        ((0.0, 1.0, 1.0, np.zeros((2, 2))), 'time: expected a number or one row'),
        ((0.0, 1.0, 0.0, 0.0), 'duration: expected a number of seconds > 0, got 0.0'),
        ((0.0, 1.0, -1.0, 0.0), 'duration: .* got -1.0'),
        ((0.0, 1.0, np.nan, 0.0), 'duration: expected finite'),
        ((0.0, 1.0, np.inf, 0.0), 'duration: expected finite'),
        ((0.0, 1.0, [1.0], 0.0), 'duration: expected a number of seconds'),
        ((0.0, 1.0, 'long', 0.0), 'duration: expected real numbers'),
        ((1j, 1.0, 1.0, 0.0), 'start: expected real numbers'),
        (([[0.0], [1.0, 2.0]], 1.0, 1.0, 0.0), 'start: expected numbers'),
        ((np.ma.array([0.0], mask=[True]), [1.0], 1.0, 0.0), 'start: expected an array without'),
    ],
)
def test_arguments_that_make_no_motion_are_refused_by_name(profile, arguments, match):
    with pytest.raises(InputError, match=match):
        profile(*arguments)


@pytest.mark.parametrize(
    ('phases', 'match'),
    [
        ({'acceleration_time': 0.0}, 'acceleration_time: expected a number of seconds > 0'),
        ({'acceleration_time': np.nan}, 'acceleration_time: expected finite'),
        ({'deceleration_time': -0.1}, 'deceleration_time: expected a number of seconds > 0'),
        ({'acceleration_time': 0.6}, 'expected 1 s, the duration, or less together, got 0.6 s'),
        ({'acceleration_time': 0.2, 'deceleration_time': 0.81}, 'got 0.2 s and 0.81 s'),
    ],
)
def test_phases_that_do_not_fit_are_refused(phases, match):
    """Phases are longer than 0 s and together no longer than the motion."""
    with pytest.raises(InputError, match=match):
        ned.trapezoidal_profile(0.0, 1.0, 1.0, 0.5, **phases)
