"""How fast a path may be followed: beyond no limit, always at one, whatever the limits are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import ROBOT
from timed_paths import TimedPath

from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimalProfile

NONE = np.full(6, np.inf)
UNLIMITED = replace(
    DemandLimits.of(ROBOT.joints, NONE), velocity=NONE, acceleration=NONE, deceleration=NONE
)
"""No limits but those of positions."""


def test_velocities_may_be_all_that_is_limited() -> None:
    """Without limits of efforts and accelerations the fastest joint is at its limit."""
    timed = TimedPath(ROBOT, np.random.default_rng(1))
    largest = np.abs(timed.path.velocity).max(axis=(0, 1))
    limits = replace(UNLIMITED, velocity=0.5 * largest)
    _, _, taken = timed.plan(limits)
    speeds = np.sqrt(taken[:-1, np.newaxis]) * np.abs(timed.path.velocity[0]) / limits.velocity
    assert speeds.max() == pytest.approx(1.0)
    slower = taken[:-1] < 0.99
    assert slower.any()
    np.testing.assert_allclose(speeds.max(axis=1)[slower], 1.0, rtol=1e-9)


@pytest.mark.parametrize(
    ('time', 'square'),
    [(0.9, np.inf), (1.0, 4.0), (1.5, 6.5), (2.0, 9.0), (3.0, 5.0), (4.0, np.inf)],
)
def test_squares_of_speeds_are_linear_between_points_and_unknown_beyond(time, square) -> None:
    profile = TimeOptimalProfile(np.array([1.0, 2.0, 4.0]), np.array([4.0, 9.0, 1.0]))
    assert profile.speed_at(time) == pytest.approx(np.sqrt(square))
