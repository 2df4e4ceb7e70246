"""Splines through positions alone: against SciPy's, continuous, near the true efforts."""

from __future__ import annotations

import numpy as np
import pytest
from streamed_motion import RATE, TrueMotion

from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import (
    Interpolation,
    passes_over_first,
    spline_derivatives,
)
from ne_dynamics.motion.replacement import replace_motion
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints, resting_state

interpolate = pytest.importorskip('scipy.interpolate', reason='needs SciPy')

JOINTS = (Joint('a', lower=-3.0, upper=3.0), Joint('b', lower=-3.0, upper=3.0))
STILL = np.zeros(2)


def positions_only(times, positions) -> Waypoints:
    """Return waypoints of two joints."""
    points = [TrajectoryPoint(*row) for row in zip(times, positions, strict=True)]
    return Waypoints.from_points(JOINTS, ('a', 'b'), points)


@pytest.mark.parametrize('count', [2, 3, 4, 9, 40])
def test_it_is_the_spline_that_its_conditions_say(count: int) -> None:
    """Velocities and accelerations are those of SciPy's cubic spline, natural at its end."""
    rng = np.random.default_rng(count)
    times = 3.0 + np.cumsum(rng.uniform(0.02, 1.0, count))
    positions, start = rng.normal(size=(count, 2)), rng.normal(size=2)
    velocities, accelerations = spline_derivatives(times, positions, start)
    ends = (1, start), (2, np.zeros(2))
    expected = interpolate.CubicSpline(times, positions, bc_type=ends)
    np.testing.assert_allclose(velocities, expected(times, 1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(accelerations[:-1], expected(times[:-1], 2), rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(accelerations[-1], 0.0)


@pytest.mark.parametrize(
    ('times', 'is_moving', 'passes'),
    [
        ([0.0], True, False),
        ([0.0, 1.0], False, True),
        ([0.01, 0.04], False, False),
        ([0.01, 0.04], True, True),
        ([0.02, 0.04], True, False),
    ],
)
def test_which_first_point_is_passed_over(times, is_moving: bool, passes: bool) -> None:
    """One that is due at once, and for a moving arm one that is nearer than half an interval."""
    assert passes_over_first(np.array(times), 0.0, is_moving=is_moving) is passes


def test_a_first_point_that_is_due_at_once_is_no_jump() -> None:
    """A chunk whose first position is that of now: the motion goes on from the desired state."""
    trajectory = Motion.through(
        positions_only([0.0, 0.1, 0.2], [[0.3, 0.3], [0.4, 0.2], [0.5, 0.1]]),
        now=5.0,
        start_state=resting_state(STILL),
        interpolation=Interpolation.SPLINES,
    )
    np.testing.assert_array_equal(trajectory.sample(5.0).position, STILL)
    np.testing.assert_allclose(trajectory.sample(5.1).position, [0.4, 0.2], atol=1e-12)


def test_chunks_that_disagree_are_joined_smoothly() -> None:
    """A policy's positions differ from chunk to chunk: no jump of what is desired, nor swings."""
    motion, rng = TrueMotion(), np.random.default_rng(7)
    running = Motion.through(
        motion.waypoints(motion.chunk(0.0, 16)),
        now=0.0,
        start_state=motion(0.0),
        interpolation=Interpolation.SPLINES,
    )
    due, last = 0.0, motion(0.0)
    for now in np.arange(0.0, 2.0, 1e-3):
        if now >= due:
            noise = rng.uniform(-2e-3, 2e-3, 6)
            points = motion.chunk(due - 0.02, 16, noise)
            # Each comes while its first point is all but past.
            running = replace_motion(
                running,
                motion.waypoints(points),
                now=now,
                start_time=due - 0.02,
                interpolation=Interpolation.SPLINES,
            )
            due += 4.0 / RATE
        state = running.sample(now)
        if now >= 4.0 / RATE:
            assert np.abs(state.position - last.position).max() < 0.006
            assert np.abs(state.velocity - last.velocity).max() < 0.05
            assert np.abs(state.acceleration - last.acceleration).max() < 10.0
        last = state
