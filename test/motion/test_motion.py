"""Motions as piecewise polynomials, against SciPy's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints, resting_state

interpolate = pytest.importorskip('scipy.interpolate', reason='needs SciPy')

JOINTS = tuple(Joint(name, lower=-100.0, upper=100.0) for name in 'abc')
NAMES = tuple(joint.name for joint in JOINTS)


def random_waypoints(rng, count: int = 12) -> Waypoints:
    """Return waypoints that carry positions, velocities too, or accelerations too."""
    times = np.cumsum(rng.uniform(0.05, 0.8, count))
    points = [
        TrajectoryPoint(
            time,
            rng.uniform(-3.0, 3.0, 3),
            rng.uniform(-3.0, 3.0, 3) if order > 0 else (),
            rng.uniform(-9.0, 9.0, 3) if order > 1 else (),
        )
        for time, order in zip(times, rng.integers(0, 3, count), strict=True)
    ]
    return Waypoints.from_points(JOINTS, NAMES, points, allow_nonzero_velocity_at_end=True)


def random_motion(seed: int) -> Motion:
    """Return a motion from a state that moves."""
    rng = np.random.default_rng(seed)
    start = resting_state(rng.uniform(-1.0, 1.0, 3))
    start = start._replace(velocity=rng.uniform(-1.0, 1.0, 3))
    return Motion.through(random_waypoints(rng), now=-0.3, start_state=start, start_time=0.0)


def oracle(motion: Motion):
    """Return the same as SciPy has it, between the knots."""
    return interpolate.PPoly(motion.coefficients.swapaxes(0, 1)[::-1], motion.knots)


def inside(motion: Motion, count: int = 3001) -> np.ndarray:
    """Return times from the first knot on, before the last one."""
    return np.linspace(motion.start_time, motion.end_time, count)[:-1]


@pytest.mark.parametrize('seed', range(10))
def test_many_samples_are_those_of_scipy(seed: int) -> None:
    """Position, velocity and acceleration, also one instant after the other."""
    motion = random_motion(seed)
    times = inside(motion)
    found = motion.sample_many(times)
    for order, values in enumerate(found):
        expected = oracle(motion)(times, nu=order)
        np.testing.assert_allclose(values, expected, rtol=0.0, atol=1e-12 * abs(expected).max())
        singly = np.array([motion.sample(time)[order] for time in times.tolist()])
        np.testing.assert_allclose(values, singly, rtol=0.0, atol=1e-12 * abs(expected).max())


@pytest.mark.parametrize('order', [0, 1, 2])
@pytest.mark.parametrize('seed', range(6))
def test_roots_are_those_of_scipy(order: int, seed: int) -> None:
    """Of position, velocity and acceleration, inside of segments."""
    motion = random_motion(50 + seed)
    expected = oracle(motion).derivative(order).roots(discontinuity=False, extrapolate=False)
    for found, times in zip(motion.roots(order), expected, strict=True):
        times = times[np.isfinite(times)]
        apart = np.abs(times[:, np.newaxis] - motion.knots).min(axis=1)
        np.testing.assert_allclose(found, np.sort(times[apart > 1e-9]), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize('interpolation', list(Interpolation))
def test_a_pickled_motion_is_the_same(interpolation: Interpolation) -> None:
    """Also one that waits for its time, and one that goes in steps; in a few bytes a number."""
    rng = np.random.default_rng(91)
    running = Motion.through(random_waypoints(rng), now=0.0, start_state=resting_state([0.0] * 3))
    motion = Motion.through(
        random_waypoints(rng),
        now=2.0,
        start_state=running.sample(2.0),
        interpolation=interpolation,
    ).waiting_after(running, 0.0)
    again = pickle.loads(pickle.dumps(motion))
    assert again.has_steps == motion.has_steps == (interpolation is Interpolation.NONE)
    assert again.first_time == motion.first_time == 0.0
    times = np.linspace(-1.0, 12.0, 300)
    singly = [again.sample(time) for time in times.tolist()]
    for order, (values, expected) in enumerate(
        zip(again.sample_many(times), motion.sample_many(times), strict=True)
    ):
        np.testing.assert_array_equal(values, expected)
        rows = np.array([each[order] for each in singly])
        np.testing.assert_allclose(values, rows, rtol=0.0, atol=1e-9 * (1.0 + abs(rows).max()))
