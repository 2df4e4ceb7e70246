"""The pace of a motion that the motors are too weak for, for an arm that does as it is told."""

from __future__ import annotations

import numpy as np
import pytest
from motion_loop import node_controller
from obedient_arm import PERIOD, ObedientArm
from tuned_arm import DYNAMICS, ROBOT, ZERO

from ne_dynamics.motion.waypoints import TrajectoryPoint

START = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])


def arm_of(**changes) -> ObedientArm:
    """Return an arm that is slowed down where it is to."""
    chosen = {'trajectory.when_infeasible': 'slow_down', **changes}
    return ObedientArm(node_controller(ROBOT, **chosen), START)


def test_the_end_of_a_spline_is_slowed_down_for() -> None:
    """No motor is beyond its limit while a motion comes to rest that asks for most there."""
    ways = np.outer(np.linspace(0.6, 1.2, 4), np.random.default_rng(3).choice([-0.3, 0.3], 6))
    positions = START + np.cumsum(ways, axis=0)
    points = [TrajectoryPoint(0.5 * (i + 1), positions[i]) for i in range(4)]
    arm = arm_of()
    arm.follow(*points)
    arm.run(1001)
    motion = arm.desired()
    efforts, before = np.abs(DYNAMICS.inverse_dynamics(*motion)), slice(0, 749)
    held = np.abs(DYNAMICS.gravity_torque(motion.position)).max(axis=0)
    limits = np.maximum(1.1 * efforts[before].max(axis=0), 1.15 * held)
    assert (efforts[749:].max(axis=0) > 1.3 * limits).any()
    arm = arm_of(effort_limits=tuple(limits))
    plan = arm.follow(*points)
    assert plan.exceeded
    last = arm.run(round((1.1 * plan.duration + 0.1) / PERIOD))
    assert (np.abs(DYNAMICS.inverse_dynamics(*arm.desired())) < limits).all()
    np.testing.assert_allclose(last.desired.position, positions[-1], atol=1e-12)


def test_where_no_speed_keeps_the_limits_the_motion_makes_no_step() -> None:
    """A stream that is far too fast slows down at what other motors can bear."""
    rng = np.random.default_rng(0)
    rates, ways = np.pi * rng.uniform(0.6, 1.0, 6), 0.8 * rng.uniform(0.3, 1.0, 6)
    phases = rng.uniform(0.0, 6.0, 6)
    arm = arm_of(effort_limits=(16.0, 112.0, 48.0, 12.0, 6.4, 2.4))
    arm.run(50)
    times = np.arange(1, 17) / 30.0
    for begin in np.arange(12) * 8.0 / 30.0:
        angles = rates * (begin + times[:, np.newaxis]) + phases
        positions = START + ways * (np.sin(angles) - np.sin(phases))
        arm.follow(*map(TrajectoryPoint, times.tolist(), positions), start_time=arm.now)
        arm.run(133)
    assert np.abs(np.diff(arm.desired().velocity, axis=0)).max() < 0.5


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


def test_what_takes_over_where_a_stop_ends_keeps_its_plan() -> None:
    """Whichever state the next motion comes before, the one in which the arm comes to rest too."""
    stopped = 0
    for states in range(1, 60, 6):
        arm = arm_of()
        arm.run(10)
        arm.follow(TrajectoryPoint(0.8, START + 0.6, ZERO, ZERO))
        arm.run(150)
        arm.controller.motion.hold()
        arm.run(states)
        stopped += arm.speeds[-1] == 1.0
        assert arm.follow(TrajectoryPoint(0.1, START - 0.2, ZERO, ZERO)).exceeded
        arm.run(1)
        assert arm.controller.motion.time_scaling.clock.profile is not None
    # Among them are motions that came before the arm stood, and some after.
    assert 0 < stopped < 10
