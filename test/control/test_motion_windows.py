"""Windows say of a motion what it is in their middle, and lose no track of time."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.payload.motion_windows import MeasuredState, MotionWindows, make_window

COEFFICIENTS = np.array([[0.3, -1.0], [0.2, -0.1], [0.5, 0.4]])


def state(time, **felt):
    """Return a state of a quadratic motion."""
    position, velocity, acceleration = COEFFICIENTS
    return MeasuredState(time, position + time * velocity + 0.5 * time**2 * acceleration, **felt)


def gathered(times, windows=None):
    """Return windows that were given states at times."""
    windows = MotionWindows() if windows is None else windows
    for time in times:
        if windows.wants(time):
            windows.add(state(time))
    return windows


def test_a_quadratic_motion_is_what_it_is() -> None:
    """Position, velocity and acceleration of the middle are exact, at uneven times too."""
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(1.0, 1.2, 30))
    window = make_window([state(time, effort=np.array([time, 2.0])) for time in times])
    position, velocity, acceleration = COEFFICIENTS
    middle = 0.5 * (times[0] + times[-1])
    assert window.time == pytest.approx(middle)
    np.testing.assert_allclose(
        window.position, position + middle * velocity + 0.5 * middle**2 * acceleration, atol=1e-10
    )
    np.testing.assert_allclose(window.velocity, velocity + middle * acceleration, atol=1e-9)
    np.testing.assert_allclose(window.acceleration, acceleration, atol=1e-7)
    np.testing.assert_allclose(window.effort, [times.mean(), 2.0])
    ends = velocity + times[[0, -1], None] * acceleration
    np.testing.assert_allclose(window.largest_speed, np.abs(ends).max(axis=0), atol=1e-8)
    assert window.command is None
    assert window.wrench is None


def test_a_gap_gives_a_window_up() -> None:
    """No window is made across a time without states."""
    before, after = np.arange(0.0, 0.15, 0.005), np.arange(0.5, 0.65, 0.005)
    assert gathered([*before, *after]).windows() == ()


def test_a_clock_that_is_set_back_forgets() -> None:
    """States of another time are of another motion."""
    windows = gathered(np.arange(10.0, 11.0, 0.005))
    assert windows.windows()
    gathered([3.0], windows)
    assert windows.windows() == ()
