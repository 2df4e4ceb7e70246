"""Points for some of the joints: what the others do meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.partial_goal import NamedFields, completed
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.replacement import replace_motion
from ne_dynamics.motion.waypoints import PointFields, TrajectoryPoint, Waypoints

NAMES = ('a', 'b', 'c')
JOINTS = tuple(Joint(name, lower=-3.0, upper=3.0) for name in NAMES)
HELD = np.array([0.1, 0.2, 0.3])
REST = np.zeros(3)


def partial(names, *points) -> NamedFields:
    """Return points of some joints."""
    rows = [TrajectoryPoint(*row) for row in points]
    return NamedFields(names, PointFields.of(rows, len(names)))


def followed(running: Motion, given: NamedFields, now: float) -> Motion:
    """Return what is followed once partial points have come."""
    names, fields = completed(NAMES, given, running, now)
    return replace_motion(
        running,
        Waypoints.from_fields(JOINTS, names, fields),
        now=now,
        start_time=None,
        interpolation=Interpolation.SPLINES,
    )


def under_way() -> Motion:
    """Return a motion of all joints for four seconds."""
    points = [TrajectoryPoint(4.0, HELD + 1.0, REST, REST)]
    return replace_motion(
        Motion.hold(HELD),
        Waypoints.from_points(JOINTS, NAMES, points),
        now=0.0,
        start_time=None,
        interpolation=Interpolation.SPLINES,
    )


@pytest.mark.parametrize('fields', [1, 2, 3])
def test_where_the_arm_is_held_the_others_stay(fields: int) -> None:
    """As in every release of JTC; whatever derivatives the points carry."""
    row = (1.0, [0.5], [0.0], [0.0])[: fields + 1]
    motion = followed(Motion.hold(HELD), partial(['b'], row), 0.0)
    for time in (0.0, 0.5, 1.0):
        np.testing.assert_allclose(motion.sample(time).position[[0, 2]], HELD[[0, 2]])
    np.testing.assert_allclose(motion.sample(1.0).position[1], 0.5)


def test_the_others_go_on_with_what_they_follow() -> None:
    """They pass where they would have been at each point, and reach their end after the last."""
    running = under_way()
    rows = [(time, [0.2 - 0.1 * time], [-0.1], [0.0]) for time in (0.5, 1.0, 1.5)]
    rows.append((2.0, [0.0], [0.0], [0.0]))
    motion = followed(running, partial(['b'], *rows), 1.0)
    for time in np.linspace(1.0, 4.0, 31):
        got, wanted = motion.sample(time), running.sample(time)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one[[0, 2]], other[[0, 2]], atol=1e-9)
    np.testing.assert_allclose(motion.sample(3.5).position[1], 0.0, atol=1e-12)
    assert motion.end_time == 4.0
    np.testing.assert_allclose(motion.final.position, [1.1, 0.0, 1.3], atol=1e-12)
