"""The clock of a motion that goes at a pace of its own."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.desired.path_parameter import Band, PathParameter
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimalProfile

PERIOD = 0.002
FREE = Band()


def run(clock: PathParameter, seconds: float, band: Band = FREE) -> np.ndarray:
    """Let states come; return time, place, speed and acceleration at each."""
    rows = []
    for _ in range(round(seconds / PERIOD)):
        clock.advance(clock.time + PERIOD)
        clock.choose(band, PERIOD)
        rows.append((clock.time, clock.place, clock.speed, clock.change))
    return np.array(rows)


def test_the_place_is_the_integral_of_the_speed() -> None:
    """What is said of the place, the speed and the acceleration fits together."""
    clock = PathParameter(0.0, 0.0)
    clock.target = 0.3
    rows = run(clock, 0.5)
    _, place, speed, change = rows.T
    # But for the state in which the speed is reached.
    errors = np.abs(np.diff(speed) - PERIOD * change[:-1])
    assert np.sort(errors)[-2] < 1e-12
    assert errors.max() < 5e-4
    np.testing.assert_allclose(np.diff(place), 0.5 * PERIOD * (speed[1:] + speed[:-1]), atol=1e-12)
    assert speed[-1] == pytest.approx(0.3, abs=1e-6)
    assert np.abs(change).max() <= DESIRED.scaling_rate
    # From state to state no more than the swing.
    steps = np.abs(np.diff(change))
    assert steps.max() <= 1.01 * DESIRED.scaling_rate * PERIOD / DESIRED.swing_time


@pytest.mark.parametrize('low', [-2.0, -8.0, -40.0])
def test_a_stop_takes_what_the_band_leaves(low: float) -> None:
    """It comes to rest not much farther than at the band's lower end throughout, and stays."""
    clock = PathParameter(0.0, 0.0)
    band = Band(low, 40.0)
    clock.stop(band)
    rows = run(clock, 2.0 - 2.0 / low, band)
    assert clock.has_stopped
    assert clock.speed <= DESIRED.standing_speed
    assert (rows[:, 3] >= low - 1e-12).all()
    shortest = 0.5 / -low
    # The swing at the begin and the landing at the end cost so much time at full speed.
    assert rows[-1, 1] <= shortest + 0.06


def test_a_profile_is_kept_to() -> None:
    """The speed stays below that of the profile, within a hundredth, and near to it."""
    places = np.linspace(0.0, 3.0, 301)
    speeds = 0.6 + 0.35 * np.cos(4.0 * places)
    clock = PathParameter(0.0, 0.0)
    clock.profile = TimeOptimalProfile(places, speeds**2)
    clock.speed = float(speeds[0])
    rows = run(clock, 4.0)
    inside = rows[:, 1] < 2.9
    allowed = np.interp(rows[inside, 1], places, speeds)
    assert (rows[inside, 2] <= 1.01 * allowed).all()
    assert (rows[inside, 2] >= 0.8 * allowed).all()


def test_a_band_is_what_all_rows_leave() -> None:
    """Each row gives two ends, whatever the sign of its slope; a slope of nothing gives none."""
    slope = np.array([2.0, -1.0, 0.0])
    band = Band.of(slope, np.array([-4.0, -3.0, -9.0]), np.array([2.0, 1.5, -8.0]))
    assert band == (-1.5, 1.0)
    assert Band.of(np.zeros(2), np.zeros(2), np.zeros(2)) == (-np.inf, np.inf)
    assert Band(1.0, 0.0).is_empty
    assert band.within(Band(-1.0, 9.0)) == (-1.0, 1.0)
