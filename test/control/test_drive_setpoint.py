"""What drives are told that close a loop of their own: it goes on from what they were told."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import DYNAMICS, ROBOT, ZERO, Q, follow, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import FaultKind, StateLimits
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.motion.waypoints import TrajectoryPoint

STEP = 0.002


def tuning(mode: Mode = Mode.FEEDFORWARD, **options) -> Tuning:
    """Return a tuning for drives that close the loop."""
    return make_tuning(mode, drives_close_loop=True, states=StateLimits(0.1), **options)


def under_way(**options) -> tuple[Controller, float]:
    """Return a controller in the middle of a motion, and the time."""
    controller = Controller(tuning(**options))
    controller.update(Q, ZERO, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5, ZERO, ZERO))
    now = 0.0
    for _ in range(250):
        now += STEP
        desired = controller.update(Q, ZERO, now, now).desired
        # The drives see to it.
        assert desired.position is controller.limits.setpoint.position
    return controller, now


def follow_down(controller: Controller):
    """Return what is sent last: positions, velocities and efforts, the present ones before."""
    efforts, sent = [], [controller.limits.setpoint]
    for effort in controller.machine.last_commands():
        efforts.append(effort)
        sent.append(controller.limits.setpoint)
    position, velocity, _ = map(np.array, zip(*sent, strict=True))
    return position, velocity, np.array(efforts)


def test_an_arm_that_does_not_follow_is_met_where_it_is() -> None:
    """After a fault of the motion the drives are led to the last position, without a step."""
    controller, _ = under_way()
    sent = controller.limits.setpoint
    controller.trip(FaultKind.FOLLOWING, 'by the test')
    position, velocity, efforts = follow_down(controller)
    distance = np.abs(sent.position - Q).max()
    assert distance > 0.1
    np.testing.assert_allclose(position[-1], Q, atol=1e-9)
    longest = COMMAND.ramp_period * (
        np.abs(sent.velocity).max() + 1.5 * 2.0 * distance / COMMAND.transition_time
    )
    assert np.abs(np.diff(position, axis=0)).max() < longest
    between = 0.5 * COMMAND.ramp_period * (velocity[1:] + velocity[:-1])
    np.testing.assert_allclose(np.diff(position, axis=0), between, atol=1e-4)
    assert not velocity[-1].any()
    np.testing.assert_allclose(efforts[-1], DYNAMICS.gravity_torque(Q), atol=1e-9)


def test_states_that_return_far_away_begin_where_the_arm_is() -> None:
    """An arm that somebody moved is not drawn back: the drives are told where it is."""
    controller, now = under_way()
    controller.trip(FaultKind.STOPPED, 'by the test')
    rest = follow_down(controller)[0][-1]
    far = rest + 1.1 * COMMAND.reach_time * ROBOT.limits('velocity_limit').max() * np.eye(6)[0]
    command = controller.update(far, ZERO, now + 1.0)
    np.testing.assert_array_equal(command.desired.position, far)


@pytest.mark.parametrize('moves', [False, True])
def test_a_plan_that_begins_a_little_elsewhere_makes_no_step(moves: bool) -> None:
    """A first point due at once, as planners send it, is gone over to from what was sent; soon
    the plan is followed.
    """
    controller, now = under_way()
    if not moves:
        for _ in range(500):
            now += STEP
            controller.update(Q, ZERO, now, now)
    begin = controller.motion.present_state()
    off = np.array([0.02, -0.02, 0.015, -0.03, 0.03, 0.02])
    points = tuple(
        TrajectoryPoint(time, begin.position + off + time * begin.velocity, begin.velocity, ZERO)
        for time in (0.0, 0.4)
    )
    end = TrajectoryPoint(1.4, points[-1].positions + 0.5 * begin.velocity, ZERO, ZERO)
    follow(controller, *points, end)
    sent = [controller.limits.setpoint.position]
    for index in range(1, 200):
        command = controller.update(Q, ZERO, now + STEP * index, now + STEP * index)
        np.testing.assert_array_equal(
            command.desired.position, controller.limits.setpoint.position
        )
        sent.append(command.desired.position)
    steepest = np.abs(begin.velocity).max() + 12.3 * 0.03
    assert np.abs(np.diff(sent, axis=0)).max() < 1.1 * steepest * STEP
    expected = points[0].positions + 198 * STEP * begin.velocity
    np.testing.assert_allclose(sent[-1], expected, atol=1e-3)
