"""Windows say of a motion what it is in their middle, and lose no track of time."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.payload.motion_windows import MeasuredState, MotionWindows, make_window
from ne_dynamics.control.payload.thresholds import PAYLOAD

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


def test_a_joint_that_turns_round_has_no_least_speed() -> None:
    """Where the velocity changes its sign within a window, the least speed is not above 0."""
    rows = [MeasuredState(time, np.array([time**2, time])) for time in np.linspace(-0.1, 0.1, 20)]
    least = make_window(rows).least_speed
    assert least[0] < 0.0 < least[1]


def test_encoder_steps_hardly_show() -> None:
    """A position in steps of 16 bits is off by a few mrad/s^2, differenced twice by 20,000."""
    step = 2.0 * np.pi / 2**16
    rows = [state(time) for time in np.arange(0.0, PAYLOAD.window, PAYLOAD.sample_period)]
    window = make_window(
        [row._replace(position=np.round(row.position / step) * step) for row in rows]
    )
    np.testing.assert_allclose(window.acceleration, COEFFICIENTS[2], atol=0.02)
    np.testing.assert_allclose(
        window.velocity, COEFFICIENTS[1] + window.time * COEFFICIENTS[2], atol=5e-4
    )


def test_windows_follow_each_other() -> None:
    """They share their ends: 1 s of states makes as many as there is room for."""
    windows = gathered(np.arange(0.0, 1.1, 0.002)).windows()
    assert len(windows) == 5
    starts = [window.time - 0.5 * window.duration for window in windows]
    ends = [window.time + 0.5 * window.duration for window in windows]
    np.testing.assert_allclose(starts[1:], ends[:-1], atol=1e-9)


def test_most_states_are_passed_over() -> None:
    """A state that comes soon after the last one is not wanted."""
    windows = gathered([0.0])
    assert not windows.wants(0.5 * PAYLOAD.sample_period)
    assert windows.wants(PAYLOAD.sample_period)
    assert windows.wants(-1.0)


def test_a_gap_gives_a_window_up() -> None:
    """No window is made across a time without states."""
    before, after = np.arange(0.0, 0.15, 0.005), np.arange(0.5, 0.65, 0.005)
    assert gathered([*before, *after]).windows() == ()


def test_too_few_states_make_no_window() -> None:
    """Three states in a window tell next to nothing."""
    assert gathered(np.arange(0.0, 2.0, 0.08)).windows() == ()


def test_a_clock_that_is_set_back_forgets() -> None:
    """States of another time are of another motion."""
    windows = gathered(np.arange(10.0, 11.0, 0.005))
    assert windows.windows()
    gathered([3.0], windows)
    assert windows.windows() == ()


def test_old_windows_are_forgotten() -> None:
    """Those of before the span are gone, also when the span is made shorter."""
    windows = gathered(np.arange(0.0, 5.0, 0.005), MotionWindows(2.0))
    assert windows.windows()[0].time >= 2.9
    windows.span = 1.0
    assert windows.windows()[0].time >= 3.9


def test_what_some_states_lack_the_window_lacks() -> None:
    """A mean is one of all states, or there is none."""
    rows = [state(time, wrench=np.ones(6)) for time in np.linspace(0.0, 0.2, 10)]
    assert make_window(rows).wrench is not None
    assert make_window([*rows, state(0.21)]).wrench is None
