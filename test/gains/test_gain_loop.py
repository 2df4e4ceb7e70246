"""Sampled loops with dead time, against sums over aliases and against their own eigenvalues."""

import numpy as np
import pytest

from ne_dynamics.control.sensors.velocity_source import (
    VelocitySettings,
    VelocitySource,
    velocity_filter,
)
from ne_dynamics.gains.loop import (
    JointGains,
    LoopTiming,
    Modes,
    close_loop,
    elastic_modes,
    frequencies,
    growth,
    open_loop,
    respond,
    resting_loop,
    rigid_modes,
)
from ne_dynamics.gains.margins import find_margins

PERIOD = 0.004
ALIASES = 4000
FILTER = velocity_filter(
    VelocitySettings(source=VelocitySource.DIFFERENTIATED, cutoff_frequency=40.0), PERIOD
)
ESTIMATE = velocity_filter(
    VelocitySettings(source=VelocitySource.ESTIMATED, cutoff_frequency=40.0), PERIOD
)


def random_masses(count, n, seed=0):
    """Return positive definite matrices."""
    parts = np.random.default_rng(seed).normal(size=(count, n, n))
    return parts @ np.swapaxes(parts, 1, 2) + 0.5 * np.eye(n)


@pytest.mark.parametrize('dead_time', [0.3 * PERIOD, PERIOD, 2.7 * PERIOD])
@pytest.mark.parametrize(
    ('square', 'damping'), [(0.0, 0.0), (150.0**2, 0.03), (-(6.0**2), 0.0)], ids=str
)
def test_response_is_the_sum_over_all_aliases(dead_time, square, damping):
    """A mode behind a hold and a dead time is what sampling makes of its transfer function."""
    at = np.array([20.0, 130.0, 400.0, 700.0])
    position, velocity = respond(
        np.array([[square]]), np.array([damping]), LoopTiming(PERIOD, dead_time, None), at
    )
    shift = 2.0 * np.pi / PERIOD * np.arange(-ALIASES, ALIASES + 1)
    s = 1j * (at[:, np.newaxis] + shift)
    hold = (1.0 - np.exp(-s * PERIOD)) / (s * PERIOD)
    rate = np.sqrt(complex(square)).real
    plant = np.exp(-s * dead_time) / (s * s + 2.0 * damping * rate * s + square)
    np.testing.assert_allclose(position[0, 0], (hold * plant).sum(axis=1), rtol=1e-6, atol=1e-12)
    # Velocities fall by one power less: their sums end earlier.
    np.testing.assert_allclose(velocity[0, 0], (hold * plant * s).sum(axis=1), rtol=2e-3)


@pytest.mark.parametrize('velocity', [None, FILTER, ESTIMATE], ids=('true', 'filter', 'estimate'))
@pytest.mark.parametrize('dead_time', [0.0, 1.6 * PERIOD])
@pytest.mark.parametrize('ki', [0.0, 40.0])
def test_margins_are_where_eigenvalues_reach_the_circle(velocity, dead_time, ki):
    """Gains times their margin, and the dead time with its own, are just at the edge."""
    timing = LoopTiming(PERIOD, dead_time, velocity)
    modes = rigid_modes(np.array([[[2.0]]]))
    gains = JointGains(np.array([300.0]), np.array([45.0]), np.array([ki]))
    at = frequencies(timing, count=1500)
    margins = find_margins(open_loop(modes, None, gains, timing, at)[0, :, 0, 0], at)
    assert growth(close_loop(modes, None, gains, timing), ki > 0.0) < 1.0
    for late, factor in ((0.0, margins.gain), (margins.delay, 1.0)):
        for side, is_stable in ((0.995, True), (1.01, False)):
            scaled = gains.scaled(side * factor if late == 0.0 else 1.0)
            moved = timing._replace(dead_time=dead_time + side * late)
            found = growth(close_loop(modes, None, scaled, moved), ki > 0.0)
            assert (found[0] < 1.0) == is_stable
    if ki:
        less = close_loop(modes, None, gains.scaled(0.98 / margins.reduction), timing)
        assert growth(less, has_integral=True) > 1.0


@pytest.mark.parametrize('is_elastic', [False, True], ids=('rigid', 'elastic'))
def test_closed_loop_goes_as_the_open_one_says(is_elastic):
    """Eigenvalues of the step of all joints are the roots of the determinant of I + L."""
    masses = random_masses(2, 3, seed=4) + 2.0 * np.eye(3)
    slopes = np.array([np.diag((3.0, -2.0, 1.0))] * 2)
    timing = LoopTiming(PERIOD, 1.4 * PERIOD, FILTER)
    gains = JointGains(*np.array(((90.0, 60.0, 50.0), (12.0, 9.0, 8.0), (20.0, 0.0, 10.0))))
    modes = rigid_modes(masses, slopes)
    if is_elastic:
        stiffness = np.array((5e3, 4e3, 9e3))
        modes = elastic_modes(masses, slopes, np.full(3, 0.8), stiffness, 0.02)
    weights = random_masses(2, 3, seed=5)
    loop = close_loop(modes, weights, gains, timing)
    for arm in range(2):
        roots = np.linalg.eigvals(loop.matrix[arm])
        slow = roots[(np.abs(roots) > 0.3) & (np.abs(roots.imag) > 1e-3)]
        assert slow.size
        at = np.log(slow) / (1j * PERIOD)
        response = open_loop(modes[np.array([arm])], weights[[arm]], gains, timing, at)[0]
        determinants = np.linalg.det(np.eye(3) + response)
        size = np.abs(response).max(axis=(1, 2)) ** 3
        assert (np.abs(determinants) < 1e-6 * np.maximum(size, 1.0)).all()


def test_a_mode_that_falls_is_told_from_one_that_is_free():
    """Down to a billionth of the fastest one; what is free counts as returning slowly."""
    shapes, gains = np.eye(2)[np.newaxis], JointGains(np.ones(2), np.ones(2), np.zeros(2))
    for square, falls in ((-1.5e-9, True), (-0.7e-9, False)):
        modes = Modes(np.array([[square, 1.0]]), shapes, shapes, np.zeros(2))
        rest = resting_loop(modes, None, gains)
        assert (rest[0, 0, 0] < 0.0) == falls


def test_a_locus_that_ends_beside_the_negative_axis_does_not_fall():
    at, response = np.array([1.0, 2.0]), np.array([0.1 - 0.1j, 0.05 - 0.05j])
    for beside, reduction in ((0.7e-6, 2.0), (1.5e-6, np.inf)):
        rest = np.array(-2.0 * (1.0 + 1j * beside))
        assert find_margins(response, at, rest).reduction == pytest.approx(reduction)
