"""Tolerances and silence where nobody waits for the end of a motion, by JTC's rules."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.guards.goal import GoalMonitor, Tolerances
from ne_dynamics.control.guards.motion_watch import MotionWatch
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints, resting_state

JOINTS = (Joint('a', lower=-3.0, upper=3.0), Joint('b', lower=-3.0, upper=3.0))
STILL = np.zeros(2)


def motion() -> Motion:
    """Return one second from 0 to 1."""
    points = [TrajectoryPoint(1.0, [1.0, 1.0], STILL, STILL)]
    return Motion.through(
        Waypoints.from_points(JOINTS, ('a', 'b'), points),
        now=0.0,
        start_state=resting_state(STILL),
        interpolation=Interpolation.SPLINES,
    )


def watch(path=0.0, goal=0.0, goal_time=0.0, timeout=0.0) -> MotionWatch:
    """Return the watch of a motion that came by the topic."""
    tolerances = Tolerances(
        np.full(2, path), np.zeros(2), np.full(2, goal), np.zeros(2), goal_time
    )
    result = MotionWatch()
    result.begin(GoalMonitor(JOINTS, tolerances, np.subtract), timeout)
    return result


def observed(watch: MotionWatch, trajectory: Motion, now: float, error: float) -> str:
    """Return what is said of an arm that is so far behind."""
    desired = trajectory.sample(now)
    return watch.observe(now, trajectory, desired, desired.position - error, STILL)


def test_a_path_tolerance_ends_the_motion() -> None:
    """Within it nothing is said, beyond it what, where and by how much."""
    one, trajectory = watch(path=0.1), motion()
    assert not observed(one, trajectory, 0.2, 0.09)
    assert 'PATH_TOLERANCE_VIOLATED' in observed(one, trajectory, 0.4, 0.11)
    assert not observed(one, trajectory, 0.6, 0.5)


def test_the_goal_is_judged_for_as_long_as_nothing_else_comes() -> None:
    """A topic's trajectory never succeeds: pushed away long after its end it is given up."""
    one, trajectory = watch(goal=0.1, goal_time=0.5), motion()
    assert not observed(one, trajectory, 1.4, 0.3)
    for now in (1.45, 2.0, 50.0):
        assert not observed(one, trajectory, now, 0.05)
    assert 'GOAL_TOLERANCE_VIOLATED' in observed(one, trajectory, 60.0, 0.2)


def test_without_a_goal_time_there_is_no_hurry() -> None:
    """As with JTC, 0 is no limit."""
    one, trajectory = watch(goal=0.1), motion()
    assert not observed(one, trajectory, 1e6, 0.3)


@pytest.mark.parametrize('has_monitor', [True, False])
def test_silence_is_noticed(has_monitor: bool) -> None:
    """`cmd_timeout` counts from the last point on; with somebody who judges the rest as well."""
    one, trajectory = watch(timeout=0.5), motion()
    if not has_monitor:
        one.begin(None, 0.5)
    assert not observed(one, trajectory, 1.5, 0.0)
    assert 'cmd_timeout' in observed(one, trajectory, 1.6, 0.0)
    assert not observed(one, trajectory, 1.7, 0.0)


def test_another_motion_is_not_judged() -> None:
    """What took the place of the watched one has its own begin, or nobody watches it."""
    one = watch(path=0.1)
    first = motion()
    assert not observed(one, first, 0.2, 0.0)
    assert not observed(one, motion(), 0.4, 0.5)
    assert not observed(one, first, 0.4, 0.5)
    one.begin(None, 0.0)
    assert not observed(one, first, 9.0, 0.5)
