"""Motions that wait for their time, and how they take over."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.replacement import replace_motion
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

JOINTS = (Joint('a', lower=-3.0, upper=3.0), Joint('b', lower=-3.0, upper=3.0))
REST = [0.0, 0.0]
HELD = [0.5, -0.5]


def waypoints(*points) -> Waypoints:
    """Return waypoints of (time, positions, velocities, accelerations)."""
    return Waypoints.from_points(JOINTS, ('a', 'b'), [TrajectoryPoint(*row) for row in points])


def replaced(running: Motion, *points, now: float, start_time: float | None = None):
    """Return what is followed once points have come."""
    return replace_motion(
        running,
        waypoints(*points),
        now=now,
        start_time=start_time,
        interpolation=Interpolation.SPLINES,
    )


def under_way() -> Motion:
    """Return a motion of ten seconds that is at its fastest after five."""
    return replaced(Motion.hold(HELD), (10.0, [2.0, 1.0], REST, REST), now=0.0)


def check_equal(one, other, **tolerance) -> None:
    """Check two states for equality."""
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, **tolerance)


def test_a_motion_is_followed_until_the_next_ones_time() -> None:
    """Up to the stamp it is the same motion, to the last digit."""
    running = under_way()
    motion = replaced(running, (1.0, [0.0, 0.0], REST, REST), now=3.0, start_time=8.0)
    for time in np.linspace(3.0, 7.999, 50):
        check_equal(motion.sample(time), running.sample(time), rtol=0.0)
    np.testing.assert_allclose(motion.sample(9.0).position, 0.0, atol=1e-12)
    assert motion.end_time == 9.0


@pytest.mark.parametrize('is_due_at_once', [False, True])
def test_it_takes_over_without_a_jump(is_due_at_once: bool) -> None:
    """Position, velocity and acceleration go on at the stamp.

    A first point that is due there, where the running motion is not, is passed over.
    """
    rows = [(0.0, REST, REST, REST)] * is_due_at_once
    motion = replaced(under_way(), *rows, (1.0, [0.2, 0.2], REST, REST), now=3.0, start_time=5.0)
    check_equal(motion.sample(5.0 - 1e-9), motion.sample(5.0), atol=1e-6)
    assert motion.sample(5.0).velocity.min() > 0.2
    np.testing.assert_allclose(motion.sample(6.0).position, 0.2)


def test_one_point_that_is_due_at_the_stamp_is_reached_by_then() -> None:
    """There is no time after it: the way begins at once, as with JTC, and never jumps."""
    motion = replaced(Motion.hold(HELD), (0.0, REST, REST, REST), now=3.0, start_time=5.0)
    np.testing.assert_allclose(motion.sample(4.0).position, 0.5 * np.array(HELD))
    np.testing.assert_allclose(motion.sample(5.0 - 1e-6).position, REST, atol=1e-9)


def test_several_wait_for_their_times() -> None:
    """Each begins from the one before it, in the order of their stamps."""
    motion = Motion.hold(HELD)
    for index in range(5):
        goal = [0.1 * index, 0.0]
        motion = replaced(motion, (0.5, goal, REST, REST), now=0.0, start_time=1.0 + index)
    np.testing.assert_allclose(motion.sample(0.9).position, HELD)
    for index in range(5):
        np.testing.assert_allclose(motion.sample(1.6 + index).position, [0.1 * index, 0.0])


def test_an_earlier_stamp_takes_the_place_of_later_ones() -> None:
    """What was to begin after the new one's begin is forgotten."""
    motion = replaced(Motion.hold(HELD), (1.0, [1.0, 1.0], REST, REST), now=0.0, start_time=9.0)
    motion = replaced(motion, (1.0, REST, REST, REST), now=1.0, start_time=3.0)
    np.testing.assert_allclose(motion.sample(2.0).position, HELD)
    np.testing.assert_allclose(motion.sample(20.0).position, REST, atol=1e-12)


def test_a_stream_that_is_stamped_ahead_keeps_nothing_of_the_past() -> None:
    """Hundreds of messages, each for 0.1 s later: what is over is let go."""
    motion = Motion.hold(HELD)
    for index in range(300):
        now = 0.03 * index
        motion = replaced(motion, (0.2, HELD, REST, REST), now=now, start_time=now + 0.1)
    kept, before = 0, motion._before
    while before is not None:
        kept, before = kept + 1, before._before
    assert kept <= 5


def test_too_many_that_wait_are_refused() -> None:
    """Each costs a little at every state: the next one is refused by its stamp."""
    motion = Motion.hold(HELD)
    for index in range(100):
        motion = replaced(motion, (0.5, HELD, REST, REST), now=0.0, start_time=1.0 + index)
    with pytest.raises(TrajectoryError, match='wait for their time'):
        replaced(motion, (0.5, HELD, REST, REST), now=0.0, start_time=1e3)
