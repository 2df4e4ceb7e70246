"""What drives are told that close a loop of their own: it goes on from what they were told."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q, follow, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.drive_setpoint import plan_rest
from ne_dynamics.control.guards.state_guard import FaultKind, StateLimits
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import OnStateLoss, Tuning
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.waypoints import TrajectoryPoint, resting_state

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


@pytest.mark.parametrize('factor', [None, 0.3, 0.0])
def test_a_pace_of_its_own_is_told_as_it_is_gone(factor: float | None) -> None:
    """Held or slowed down, the motion that is sent goes with its effort, and makes no step."""
    controller, now = under_way()
    sent = [controller.limits.setpoint.position]
    speed = np.abs(controller.limits.setpoint.velocity).max()
    if factor is None:
        controller.motion.hold()
    else:
        controller.motion.scale_speed(factor)
    for index in range(1, 300):
        time = now + STEP * index
        command = controller.update(Q, ZERO, time, time)
        expected = DYNAMICS.inverse_dynamics(*controller.limits.setpoint)
        np.testing.assert_allclose(command.effort, expected, atol=1e-9)
        sent.append(controller.limits.setpoint.position)
    assert np.abs(np.diff(sent, axis=0)).max() < 1.1 * speed * STEP
    assert (
        np.abs(controller.limits.setpoint.velocity).max() <= (factor or 0.0) * 1.1 * speed + 1e-9
    )


@pytest.mark.parametrize('transition', [COMMAND.transition_time, 0.0])
@pytest.mark.parametrize('loss', list(OnStateLoss))
def test_what_is_sent_last_comes_to_rest_along_the_motion(
    transition: float, loss: OnStateLoss
) -> None:
    """It begins with position, velocity and effort as they were sent; it ends held, at rest."""
    controller, _ = under_way(transition_time=transition, on_state_loss=loss)
    sent, before = controller.limits.setpoint, controller.update(Q, ZERO, 0.502).effort
    controller.trip(FaultKind.STOPPED, 'by the test')
    position, velocity, efforts = follow_down(controller)
    speed = np.abs(sent.velocity).max()
    assert speed > 0.5
    assert np.abs(np.diff(position, axis=0)).max() < 1.1 * speed * COMMAND.ramp_period
    assert np.abs(np.diff(velocity, axis=0)).max() < 0.1 * speed
    assert not velocity[-1].any()
    assert (velocity * np.sign(sent.velocity) > -1e-9).all()
    assert len(efforts) * COMMAND.ramp_period <= COMMAND.longest_ramp
    assert np.abs(efforts[0] - before).max() < 0.1 * LIMITS.max()
    np.testing.assert_allclose(efforts[-1], DYNAMICS.gravity_torque(position[-1]), atol=1e-9)
    assert controller.machine.is_left


@pytest.mark.parametrize('inertia', [True, False])
def test_the_effort_on_the_way_is_that_of_the_law(inertia: bool) -> None:
    """It is the model's of the motion beside it, with the terms that are used: nothing decays."""
    terms = Terms(inertia=inertia)
    controller, now = under_way(terms=terms)
    controller.update(Q, ZERO, now + STEP, now + STEP)
    expected, sent = [], []
    for effort in controller.machine.last_commands():
        position, velocity, acceleration = controller.limits.setpoint
        sent.append(effort)
        acceleration = acceleration if inertia else ZERO
        expected.append(DYNAMICS.inverse_dynamics(position, velocity, acceleration))
    assert len(sent) > 10
    np.testing.assert_allclose(sent, expected, atol=1e-9)


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


@pytest.mark.parametrize('leap', [0.08, -0.08])
def test_states_that_stay_away_for_a_moment_make_no_step(leap: float) -> None:
    """The motion goes on meanwhile, or a stamp was ahead of its time: it is caught up with."""
    controller, now = under_way()
    speed = np.abs(controller.limits.setpoint.velocity).max()
    positions = [controller.limits.setpoint.position]
    times = [now + 0.08 + STEP * index for index in range(1, 200)]
    if leap < 0.0:
        times = [now + 0.08, *[now + STEP * index for index in range(1, 200)]]
    for index, time in enumerate(times):
        # The first one is ahead of the others by its stamp, not by when it comes.
        arrival = now + STEP * (index + 1) if leap < 0.0 else time
        positions.append(controller.update(Q, ZERO, time, arrival).desired.position)
    assert controller.fault is None
    away = speed * abs(leap)
    assert np.abs(np.diff(positions, axis=0)).max() < 1.1 * speed * STEP + 12.3 * away * STEP
    followed = controller.motion.trajectory.sample(times[-1]).position
    np.testing.assert_allclose(positions[-1], followed, atol=0.02 * away)


def test_another_mode_makes_no_step() -> None:
    """Led by hand, the drives are told where the arm is; they get there in the transition time."""
    controller, now = under_way()
    sent = controller.limits.setpoint
    found = sent.position - 0.05
    controller.adopt(tuning(Mode.GRAVITY_COMPENSATION))
    positions = [sent.position]
    for index in range(1, 400):
        positions.append(controller.update(found, ZERO, now + STEP * index).desired.position)
    np.testing.assert_allclose(positions[-1], found, atol=1e-4)
    assert np.abs(np.diff(positions, axis=0)).max() < 12.3 * 0.05 * STEP


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


def test_a_continuous_joint_is_met_by_the_nearest_turn() -> None:
    """Where the arm is found a turn farther on nothing turns back; it takes 0.2 s by default."""
    sent, turn = resting_state(Q), 2.0 * np.pi

    def nearest(there: np.ndarray, here: np.ndarray) -> np.ndarray:
        return np.remainder(there - here + np.pi, turn) - np.pi

    way = plan_rest(
        ZERO,
        sent,
        DemandLimits.of(ROBOT.joints, LIMITS),
        DYNAMICS.inverse_dynamics,
        duration=0.0,
        period=0.002,
        found=Q + turn + 0.1,
        position_error=nearest,
    )
    assert len(way) == 100
    np.testing.assert_allclose(way[-1][1].position, Q + 0.1)
