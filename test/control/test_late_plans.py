"""Plans are made for a part of what is followed, come late, or were made by other settings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from obedient_arm import PERIOD, ObedientArm
from tuned_arm import ROBOT, ZERO, Q, make_tuning, make_waypoints

from ne_dynamics.control.controller import Controller
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.motion.partial_goal import NamedFields
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import PointFields, TrajectoryPoint
from ne_dynamics.ros.trajectory_planning import TrajectoryRules


def arm_of(when_infeasible=WhenInfeasible.REFUSE, method=Interpolation.LINEAR, **options):
    """Return an arm that is held."""
    options |= {'when_infeasible': when_infeasible, 'interpolation_method': method}
    return ObedientArm(Controller(make_tuning(kp=1.0, kv=2.0, **options)))


def plan_of(arm, lead, *points):
    """Return the plan for points that take over a little later than now."""
    return replace(arm.controller.motion.planner(), lead=lead).plan(make_waypoints(*points))


def test_a_joint_that_is_left_out_goes_on_though_the_plan_comes_late() -> None:
    """What is planned beside is for a time that is announced: nobody is set back to its own."""
    arm = arm_of()
    arm.follow(TrajectoryPoint(2.0, Q + np.eye(6)[0], ZERO, ZERO))
    arm.run(299)
    waves = Q[5] + 0.1 * (1.0 - np.cos(math.pi * np.arange(1, 101) / 100))
    points = [TrajectoryPoint(0.02 * (i + 1), [wave], (), ()) for i, wave in enumerate(waves)]
    given = NamedFields((ROBOT.joint_names[5],), PointFields.of(points, 1))
    planner = replace(arm.controller.motion.planner(math.inf), lead=0.05)
    rules = TrajectoryRules(ROBOT.joints, False, False, True)
    plan = planner.plan(rules.waypoints(given, planner, planner.start_of(None)), is_partial=True)
    arm.run(10)  # 20 ms later
    arm.controller.motion.follow_plan(plan)
    arm.run(290)
    assert all(command.refused is None for command in arm.commands)
    assert arm.desired().velocity[290:400, 0].min() > 0.5


def test_a_plan_with_a_corner_at_its_begin_is_never_late() -> None:
    """A straight line that began before would be elsewhere by now: it counts from then on."""
    arm = arm_of()
    arm.follow(TrajectoryPoint(2.0, Q + 0.4, (), ()))
    arm.run(250)
    plan = plan_of(arm, PERIOD, TrajectoryPoint(1.0, Q - 0.4, (), ()))
    arm.run(3)
    arm.controller.motion.follow_plan(plan)
    arm.run(146)
    positions, velocities, _ = arm.desired()
    assert np.abs(np.diff(positions, axis=0)).max() <= 1.001 * PERIOD * np.abs(velocities).max()
    end = arm.controller.motion.trajectory.end_time
    assert end == pytest.approx(254 * PERIOD + 1.0, abs=1e-9)


@pytest.mark.parametrize('late', [1, 4, 6, 40])
def test_a_plan_that_is_a_little_late_begins_as_announced(late: int) -> None:
    """Nothing steps, though what is followed went on for as long; later it counts from then on."""
    arm = arm_of(method=Interpolation.SPLINES)
    arm.follow(TrajectoryPoint(2.0, Q + 0.4, (), ()))
    arm.run(250)
    points = TrajectoryPoint(0.5, Q, (), ()), TrajectoryPoint(1.0, Q + 0.1, (), ())
    plan = plan_of(arm, PERIOD, *points)
    assert plan.request.start_time == arm.now + PERIOD
    arm.run(late - 1)
    arm.controller.motion.follow_plan(plan)
    arm.run(550 - late)
    starts = PERIOD * (251 if late < 6 else 250 + late)
    assert arm.controller.motion.trajectory.end_time == pytest.approx(starts + 1.0, abs=1e-9)
    # Whatever the delay: by the Taylor polynomial of the state before.
    position, velocity, acceleration = arm.desired()
    ahead = PERIOD * velocity[:-1] + 0.5 * PERIOD**2 * acceleration[:-1]
    assert np.abs(np.diff(position, axis=0) - ahead).max() < 2e-6
    assert np.abs(np.diff(velocity, axis=0) - PERIOD * acceleration[:-1]).max() < 2e-3
