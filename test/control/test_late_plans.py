"""Plans are made for a part of what is followed, come late, or were made by other settings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q, make_tuning, make_waypoints

from ne_dynamics.control.controller import Controller
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.motion.partial_goal import NamedFields
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import PointFields, TrajectoryPoint
from ne_dynamics.ros.trajectory_planning import TrajectoryRules


def controller_of(when_infeasible, interpolation=Interpolation.LINEAR, limits=LIMITS):
    """Return a controller that holds the arm."""
    options = {'interpolation_method': interpolation, 'effort_limits': limits}
    controller = Controller(
        make_tuning(kp=1.0, kv=2.0, when_infeasible=when_infeasible, **options)
    )
    controller.update(Q, ZERO, 0.0)
    return controller


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', [7, 8, 9])
def test_a_stream_is_checked_by_what_is_followed(seed: int) -> None:
    """One point a message, sent 30 times a second with jitter, none of it beyond the arm."""
    rng = np.random.default_rng(seed)
    differing = []
    for _ in range(2):
        controller = controller_of(WhenInfeasible.REFUSE, Interpolation.SPLINES, 0.5 * LIMITS)
        period = rng.choice([0.02, 0.033])
        sway, due, sent = np.array([0.7, 0.3, 0.3, 0.7, 0.7, 0.7]), 0.1, 0
        for step in range(1, 600):
            now = 0.002 * step
            if now >= due + 0.12 * period * rng.normal() and now > due - 0.24 * period:
                position = Q + sway * (1.0 - np.cos(1.5 * sent * period))
                points = make_waypoints(TrajectoryPoint(float(period), position, (), ()))
                planner = controller.motion.planner(None)
                whole = replace(planner, running=controller.motion.trajectory)
                found = []
                for each in (planner, whole):
                    try:
                        found.append(each.plan(points))
                    except NeDynamicsError as error:
                        found.append(str(error))
                if isinstance(found[0], str) and not isinstance(found[1], str):
                    differing.append(found[0])
                if not isinstance(found[0], str):
                    controller.motion.follow_plan(found[0])
                due, sent = due + period, sent + 1
            wanted = controller.motion.desired_at(Q, now)
            controller.update(wanted.position, wanted.velocity, now)
    assert not differing


def test_a_joint_that_is_left_out_goes_on_though_the_plan_comes_late() -> None:
    """What is planned beside is for a time that is announced: nobody is set back to its own."""
    controller = controller_of(WhenInfeasible.REFUSE)
    goal = Q + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    controller.motion.follow(make_waypoints(TrajectoryPoint(2.0, goal, ZERO, ZERO)))
    rules, plan, speeds = TrajectoryRules(ROBOT.joints, False, False, True), None, []
    for step in range(1, 600):
        if step == 300:
            points = [
                TrajectoryPoint(0.02 * i, [Q[5] + 0.1 * (1 - math.cos(math.pi * i / 100))], (), ())
                for i in range(1, 101)
            ]
            given = NamedFields((ROBOT.joint_names[5],), PointFields.of(points, 1))
            planner = replace(controller.motion.planner(math.inf), lead=0.05)
            start = planner.start_of(None)
            plan = planner.plan(rules.waypoints(given, planner, start), is_partial=True)
        if step == 310:  # 20 ms later
            controller.motion.follow_plan(plan)
        wanted = controller.motion.desired_at(Q, 0.002 * step)
        wanted = wanted if step > 1 else wanted._replace(position=Q, velocity=ZERO)
        command = controller.update(wanted.position, wanted.velocity, 0.002 * step)
        assert command.refused is None
        speeds.append(command.desired.velocity[0])
    assert min(speeds[290:400]) > 0.5


def test_a_plan_by_limits_of_before_is_made_anew() -> None:
    """Limits that are lowered between plan and motion count for the motion."""
    controller = controller_of(WhenInfeasible.SLOW_DOWN)
    low = replace(controller.tuning, effort_limits=0.55 * LIMITS)
    for step in range(1, 10):
        controller.update(Q, ZERO, 0.002 * step)
    away = Q + np.array([0.5, 0.4, -0.4, 0.3, 0.3, 0.3])
    points = make_waypoints(
        TrajectoryPoint(0.25, away, ZERO, ZERO), TrajectoryPoint(0.5, Q, ZERO, ZERO)
    )
    plan = controller.motion.planner(None).plan(points)
    controller.adopt(low)
    controller.motion.follow_plan(plan)
    wanted, worst = controller.motion.desired_at(Q, 0.02), 0.0
    for step in range(10, 1500):
        wanted = controller.update(wanted.position, wanted.velocity, 0.002 * step).desired
        effort = DYNAMICS.inverse_dynamics(*wanted)
        worst = max(worst, (np.abs(effort) / low.effort_limits).max())
    assert worst < 1.0


def test_a_plan_that_comes_later_than_announced_counts_from_then_on() -> None:
    """No point of it is skipped, and none is hurried to: its first one has its time."""
    controller = controller_of(WhenInfeasible.REFUSE)
    controller.motion.follow(make_waypoints(TrajectoryPoint(2.0, Q + 0.4, ZERO, ZERO)))
    for step in range(1, 500):
        now = 0.002 * step
        wanted = controller.motion.desired_at(Q, now)
        controller.update(wanted.position, wanted.velocity, now)
        if step == 250:
            planner = replace(controller.motion.planner(), lead=0.02)
            points = make_waypoints(TrajectoryPoint(0.5, Q, ZERO, ZERO))
            start = planner.start_of(None)
            assert start == now + 0.02
            plan = planner.plan(points)
    controller.motion.follow_plan(plan)
    command = controller.update(wanted.position, wanted.velocity, 1.0)
    assert command.refused is None
    assert controller.motion.trajectory is not None
    assert controller.motion.trajectory.end_time == 1.5


def test_a_plan_with_a_corner_at_its_begin_is_never_late() -> None:
    """A straight line that began before would be elsewhere by now: it counts from then on."""
    controller = controller_of(WhenInfeasible.REFUSE, Interpolation.LINEAR)
    controller.motion.follow(make_waypoints(TrajectoryPoint(2.0, Q + 0.4, (), ())))
    period, positions, fastest = 0.002, [], 0.0
    for step in range(1, 400):
        if step == 251:
            planner = replace(controller.motion.planner(), lead=period)
            plan = planner.plan(make_waypoints(TrajectoryPoint(1.0, Q - 0.4, (), ())))
        if step == 254:
            controller.motion.follow_plan(plan)
        wanted = controller.motion.desired_at(Q, period * step)
        command = controller.update(wanted.position, wanted.velocity, period * step)
        positions.append(command.desired.position)
        fastest = max(fastest, np.abs(command.desired.velocity).max())
    assert np.abs(np.diff(positions, axis=0)).max() <= 1.001 * period * fastest
    assert controller.motion.trajectory.end_time == pytest.approx(254 * period + 1.0, abs=1e-9)


@pytest.mark.parametrize('late', [1, 4, 6, 40])
def test_a_plan_that_is_a_little_late_begins_as_announced(late: int) -> None:
    """Nothing steps, though what is followed went on for as long; later it counts from then on."""
    controller = controller_of(WhenInfeasible.REFUSE, Interpolation.SPLINES)
    controller.motion.follow(make_waypoints(TrajectoryPoint(2.0, Q + 0.4, (), ())))
    period, begin, plan, states = 0.002, 0.5 + 0.002, None, []
    for step in range(1, 800):
        now = period * step
        if step == 251:
            planner = replace(controller.motion.planner(), lead=period)
            plan = planner.plan(
                make_waypoints(
                    TrajectoryPoint(0.5, Q, (), ()), TrajectoryPoint(1.0, Q + 0.1, (), ())
                )
            )
        if plan is not None and step == 250 + late:
            controller.motion.follow_plan(plan)
        wanted = controller.motion.desired_at(Q, now)
        command = controller.update(wanted.position, wanted.velocity, now)
        states.append(np.array(command.desired))
    starts = begin if late < 6 else period * (250 + late)
    assert controller.motion.trajectory.end_time == pytest.approx(starts + 1.0, abs=1e-9)
    # Whatever the delay: by the Taylor polynomial of the state before.
    before, after = np.array(states[:-1]), np.array(states[1:])
    predicted = before[:, 0] + period * before[:, 1] + 0.5 * period**2 * before[:, 2]
    assert np.abs(after[:, 0] - predicted).max() < 2e-6
    assert np.abs(after[:, 1] - before[:, 1] - period * before[:, 2]).max() < 2e-3
