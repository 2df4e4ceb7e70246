"""What is believed of an arm and of a sensor, and from when on a load is told."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q

from ne_dynamics.control.payload.carrier import Carrier, PayloadSource
from ne_dynamics.control.payload.effort_equations import make_effort_equations
from ne_dynamics.control.payload.equations import PayloadEquations
from ne_dynamics.control.payload.estimate import _find_load
from ne_dynamics.control.payload.motion_windows import (
    MeasuredState,
    MotionWindows,
    Window,
    make_window,
)
from ne_dynamics.control.payload.sensor_equations import make_sensor_equations
from ne_dynamics.control.payload.states import choose_windows
from ne_dynamics.errors import InputError, PayloadError

EFFORT = PayloadSource.EFFORT


COEFFICIENTS = np.array([[0.3, -1.0], [0.2, -0.1], [0.5, 0.4]])


def window(time=0.0, speed=0.0, acceleration=0.0, duration=0.2) -> Window:
    """Return a window of an arm whose first joint moves."""
    one = np.eye(6)[0]
    felt = np.full(6, 2.0), None, np.array([30.0, 40.0, 0.0, 3.0, 4.0, 0.0]), None
    return Window(time, duration, Q, speed * one, acceleration * one, *felt)


def is_refused(compute, *arguments) -> bool:
    """Return whether something is no load, or no log of one."""
    try:
        compute(*arguments)
    except (PayloadError, InputError):
        return True
    return False


def leaves(error: float, load: float) -> bool:
    """Return whether a fit is refused that leaves so many deviations, of a load that explains."""
    right = np.repeat([load + error, load - error], 4)
    rows, ones = np.tile(np.eye(4), (2, 1)), np.ones(8)
    equations = PayloadEquations(rows, np.zeros((8, 0)), right, ones, ones, ZERO[:0], slice(0))
    return is_refused(equations.solve, ROBOT)


def is_told(mass: float, deviation: float, moment: float = 0.0, offset: float = 0.0) -> bool:
    """Return whether a load is told that has such deviations, and a centre of mass."""
    found = np.array([mass, mass * offset, 0.0, 0.0])
    covariance = np.diag([deviation**2, *[moment**2] * 3])
    return not is_refused(_find_load, found, covariance, 'tcp')


def gathered(step: float, count: int, gap: float = 0.0) -> list[Window]:
    """Return the windows of an arm at rest, and of a gap after half of the states."""
    windows = MotionWindows()
    for k in range(count):
        time = step * k + gap * (k >= count // 2)
        if windows.wants(time):
            windows.add(MeasuredState(time, Q))
    return list(windows.windows())


def log_is_too_coarse(length: float) -> bool:
    """Return whether a log is refused of which ten samples take so long."""
    times = 0.1 * length * np.arange(30)
    return is_refused(MotionWindows.of_log, times, np.zeros((30, 6)), np.zeros((30, 6)))


def repeats_of(count: int, speed: float) -> np.ndarray:
    """Return how many windows count as one, of a joint with a speed."""
    windows = [window(0.2 * k, speed) for k in range(count)]
    return choose_windows(ROBOT, windows, EFFORT)[1].repeats[:, 0]


@pytest.mark.parametrize(
    ('value', 'happens'),
    [
        pytest.param(1.5, lambda error: leaves(error, 0.0), id='largest_misfit'),
        pytest.param(0.2, lambda share: leaves(10.0 * share, 10.0), id='largest_rest'),
        pytest.param(0.15, lambda one: not is_told(0.5, one), id='mass_deviation'),
        pytest.param(0.15, lambda share: not is_told(10.0, 10.0 * share), id='mass_share'),
        pytest.param(
            2.0, lambda times: not is_told(0.1 * times, 0.1, 1.0), id='significant_deviations'
        ),
        pytest.param(0.03, lambda one: not is_told(10.0, 0.01, 10.0 * one), id='com_deviation'),
        pytest.param(0.03, lambda one: not is_told(0.5, 0.01, one), id='moment_deviation'),
        pytest.param(1.0, lambda far: not is_told(5.0, 1e-9, 1e-9, far), id='farthest_com'),
        pytest.param(0.5, lambda speed: not window(speed=speed).is_slow, id='slow_velocity'),
        pytest.param(
            1.0, lambda rate: not window(acceleration=rate).is_slow, id='slow_acceleration'
        ),
        pytest.param(0.1, lambda gap: not gathered(0.006, 60, gap - 0.006), id='largest_gap'),
        pytest.param(1.0, log_is_too_coarse, id='longest_window'),
        pytest.param(0.005, lambda speed: repeats_of(7, speed)[0] == 5, id='standing_velocity'),
        pytest.param(
            0.8,
            lambda time: not is_refused(choose_windows, ROBOT, [window(duration=time)], EFFORT),
            id='least_time, less a window',
        ),
    ],
)
def test_it_happens_beyond_the_threshold_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


def test_windows_are_of_a_fifth_of_a_second_and_of_five_states() -> None:
    """States that come within 5 ms are passed over; one in 50 ms is enough, one in 67 not."""
    dense = gathered(0.001, 500)
    assert len(dense) == 2
    assert dense[0].duration == pytest.approx(0.2, abs=0.01)
    windows = MotionWindows()
    windows.add(MeasuredState(0.0, Q))
    assert not windows.wants(0.0049)
    assert windows.wants(0.0051)
    assert gathered(0.05, 12)
    assert not gathered(0.067, 12)


def test_what_is_believed_of_the_efforts() -> None:
    """Friction by the limits, a part of it while a joint moves, the model's scale and weight."""
    windows = [window(0.2 * k, 0.1 * (k >= 6)) for k in range(12)]
    used, states = choose_windows(ROBOT, windows, EFFORT)
    found = make_effort_equations(Carrier.of_robot(DYNAMICS), used, states, EFFORT)
    friction = ROBOT.joint_values('coulomb_friction') + 0.005 * LIMITS
    viscous = ROBOT.joint_values('viscous_friction') + friction
    expected = [*friction, *viscous, *[0.03] * 6, *[0.003] * 12]
    np.testing.assert_allclose(found.width, expected)
    rigid = DYNAMICS.without_friction()
    for row, share in ((0, np.ones(6)), (11, np.array([0.1, 1.0, 1.0, 1.0, 1.0, 1.0]))):
        own = rigid.inverse_dynamics(Q, windows[row].velocity, ZERO)
        deviation = found.deviation.reshape(12, 6)[row]
        np.testing.assert_allclose(deviation, np.hypot(share * friction, 0.01 * own))
    assert states.repeats[11, 0] == 5


def test_what_is_believed_of_a_sensor() -> None:
    """Noise, a share of the reading, a bias, and the mass of the tool of the model."""
    windows = [window(0.2 * k) for k in range(6)]
    used, states = choose_windows(ROBOT, windows, PayloadSource.WRENCH)
    found = make_sensor_equations(Carrier.of_robot(DYNAMICS), used, states)
    np.testing.assert_allclose(found.width, [1.0] * 3 + [0.1] * 3 + [0.03])
    expected = [0.2 + 0.01 * 50.0] * 3 + [0.02 + 0.01 * 5.0] * 3
    np.testing.assert_allclose(found.deviation[:6], expected)
    assert inf not in found.repeats


def test_a_quadratic_motion_is_what_it_is() -> None:
    """Position, velocity and acceleration of the middle are exact, at uneven times too."""

    def moved(time: float) -> MeasuredState:
        place = COEFFICIENTS.T @ [1.0, time, 0.5 * time**2]
        return MeasuredState(time, place, effort=np.array([time, 2.0]))

    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(1.0, 1.2, 30))
    window = make_window([moved(time) for time in times])
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


def test_a_clock_that_is_set_back_forgets() -> None:
    """States of another time are of another motion."""
    windows = MotionWindows()
    for time in [*np.arange(10.0, 11.0, 0.005), 3.0]:
        assert time != 3.0 or windows.windows()
        windows.add(MeasuredState(time, Q))
    assert windows.windows() == ()
