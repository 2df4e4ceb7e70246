"""The pace of a motion that the motors are too weak for, for an arm that does as it is told."""

from __future__ import annotations

import numpy as np
import pytest
from motion_loop import node_controller
from obedient_arm import ObedientArm
from tuned_arm import ROBOT, ZERO

from ne_dynamics.motion.waypoints import TrajectoryPoint

START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])


def arm_of(**changes) -> ObedientArm:
    """Return an arm that is slowed down where it is to."""
    chosen = {'trajectory.when_infeasible': 'slow_down', **changes}
    return ObedientArm(node_controller(ROBOT, **chosen), START)


def test_a_stamp_in_the_future_is_kept_where_more_than_the_sent_speed_is_asked_for() -> None:
    """An arm that is held goes no faster: what waits for its time does not miss it."""
    arm = arm_of()
    arm.run(50)
    arm.controller.motion.scale_speed(10.0)
    arm.follow(TrajectoryPoint(1.0, START + 0.3, ZERO, ZERO), start_time=arm.now + 0.3)
    arm.run(750)
    moved = (arm.desired().position != START).any(axis=1)
    assert moved.argmax() == pytest.approx(200, abs=10)


def test_a_path_that_is_not_planned_yet_is_begun_at_the_sent_speed_at_the_most() -> None:
    """A speed above 1 of the motion before is none that the next one may have."""
    arm = arm_of()
    arm.run(50)
    arm.controller.motion.scale_speed(5.0)
    arm.follow(TrajectoryPoint(1.0, START + 0.3, ZERO, ZERO))
    arm.run(1000)
    assert arm.speeds[-1] > 4.0
    arm.follow(TrajectoryPoint(1.0, START, ZERO, ZERO))
    arm.run(1)
    assert arm.speeds[-1] <= 1.0
    np.testing.assert_allclose(arm.run(1000).desired.position, START, atol=1e-12)
