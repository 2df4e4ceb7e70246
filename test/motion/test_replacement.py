"""Motions that wait for their time, and how they take over."""

from __future__ import annotations

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
