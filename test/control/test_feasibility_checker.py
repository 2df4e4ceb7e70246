"""What the controller follows, refuses and says of it, before the arm moves."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from tuned_arm import DYNAMICS, ROBOT, ZERO, Q, make_tuning, make_waypoints

from ne_dynamics import Dynamics
from ne_dynamics.control.controller import Controller
from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.model.robot import Robot
from ne_dynamics.motion.limit_violation import InfeasibleMotionError, Quantity, WhenInfeasible
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

BOTH = tuple(WhenInfeasible)


def controller_of(
    when_infeasible: WhenInfeasible = WhenInfeasible.REFUSE, robot: Robot = ROBOT, **options
) -> Controller:
    """Return a controller that holds the arm."""
    dynamics = DYNAMICS if robot is ROBOT else Dynamics(robot, backend='python')
    controller = Controller(
        make_tuning(dynamics=dynamics, when_infeasible=when_infeasible, **options)
    )
    controller.update(Q, ZERO, 0.0)
    return controller


def swing() -> Waypoints:
    """Return points at 2.75 rad, where the limit is 2.8, with 3 rad/s between them."""
    there, speed = Q.copy(), ZERO.copy()
    there[2], speed[2] = 2.75, 3.0
    return make_waypoints(
        TrajectoryPoint(2.0, there, speed, ZERO),
        TrajectoryPoint(2.75, there, -speed, ZERO),
        TrajectoryPoint(5.0, Q, ZERO, ZERO),
    )


@pytest.mark.parametrize('method', [Interpolation.LINEAR, Interpolation.SPLINES])
@pytest.mark.parametrize('when_infeasible', BOTH)
def test_waypoints_within_the_limits_may_lead_beyond(when_infeasible, method) -> None:
    """A joint that swings out between two good waypoints is refused, whatever is set."""
    controller, motion = controller_of(when_infeasible, interpolation_method=method), swing()
    if method is Interpolation.SPLINES:
        there = replace_joint(Q, 2.79)
        motion = make_waypoints(*map(TrajectoryPoint, (0.5, 0.8, 1.0, 2.0), (Q, there, there, Q)))
    with pytest.raises(InfeasibleMotionError) as refusal:
        controller.motion.follow(motion)
    worst = refusal.value.violations[0]
    assert worst.quantity is Quantity.POSITION
    assert worst.joint.name == 'joint_3'
    assert worst.limit == 2.8
    if method is Interpolation.LINEAR:
        assert worst.value > 3.2
        assert worst.time == pytest.approx(2.375)
        assert "joint 'joint_3': position of 3." in str(refusal.value)
        assert 'at 2.375 s, expected at most 2.8 rad' in str(refusal.value)


def test_a_refused_motion_changes_nothing() -> None:
    """The motion under way, and one that waits, go on when another one is refused."""
    controller = controller_of()
    controller.motion.follow(make_waypoints(TrajectoryPoint(1.0, Q + 0.2, ZERO, ZERO)))
    controller.update(Q, ZERO, 0.002)
    trajectory = controller.motion.trajectory
    before = controller.update(Q, ZERO, 0.004).desired
    for bad in (swing(), make_waypoints(TrajectoryPoint(0.01, Q + 0.4, ZERO, ZERO))):
        with pytest.raises(InfeasibleMotionError):
            controller.motion.follow(bad)
    command = controller.update(Q, ZERO, 0.006)
    assert controller.motion.trajectory is trajectory
    assert command.refused is None
    assert np.abs(command.desired.position - before.position).max() < 1e-4
    controller.motion.follow(make_waypoints(TrajectoryPoint(1.0, Q - 0.1, ZERO, ZERO)))
    with pytest.raises(InfeasibleMotionError):
        controller.motion.follow(swing())
    controller.update(Q, ZERO, 0.008)
    assert controller.motion.trajectory is not trajectory
    assert controller.motion.trajectory is not None
    np.testing.assert_array_equal(controller.motion.trajectory.final.position, Q - 0.1)


@pytest.mark.parametrize('when_infeasible', BOTH)
@pytest.mark.parametrize('pauses', [False, True])
def test_a_pose_that_cannot_be_held_is_refused(
    when_infeasible: WhenInfeasible, pauses: bool
) -> None:
    """At the end, or where the motion pauses: the motors must carry the arm there."""
    stretched = np.zeros(6)
    motors = ROBOT.limits('effort_limit').copy()
    motors[1] = 0.9 * np.abs(DYNAMICS.gravity_torque(stretched))[1]
    controller = controller_of(when_infeasible, effort_limits=motors)
    points = [TrajectoryPoint(8.0, stretched, ZERO, ZERO)]
    if pauses:
        points += [TrajectoryPoint(9.0, stretched, ZERO, ZERO)]
        points += [TrajectoryPoint(17.0, Q, ZERO, ZERO)]
    with pytest.raises(InfeasibleMotionError) as refusal:
        controller.motion.follow(make_waypoints(*points))
    worst = refusal.value.violations[0]
    assert worst.quantity is Quantity.HOLDING
    assert worst.joint.name == 'joint_2'
    assert worst.time == 8.0


def replace_joint(position: np.ndarray, value: float) -> np.ndarray:
    """Return a position with another value of joint 3."""
    other = position.copy()
    other[2] = value
    return other


def test_a_motion_that_begins_otherwise_than_it_was_checked_is_checked_again() -> None:
    """A first segment that has shrunk since, because no state came, is not followed."""
    controller = controller_of()
    motion = make_waypoints(TrajectoryPoint(0.5, Q + 0.1, ZERO, ZERO))
    controller.motion.follow(motion, start_time=0.0)
    command = controller.update(Q, ZERO, 0.08)
    assert command.refused is None
    controller = controller_of()
    controller.motion.follow(motion, start_time=0.0)
    command = controller.update(Q, ZERO, 0.495)
    assert isinstance(command.refused, InfeasibleMotionError)
    np.testing.assert_array_equal(command.desired.position, Q)


@pytest.mark.parametrize('speed', [1e160, 1e300, 1.7e308])
@pytest.mark.parametrize('when_infeasible', BOTH)
def test_a_motion_beyond_all_numbers_can_be_given_up(
    when_infeasible: WhenInfeasible, speed: float
) -> None:
    """An arm that was found at any speed is held where it is asked for, and no error escapes."""
    controller = controller_of(when_infeasible)
    controller.reset()
    with contextlib.suppress(NeDynamicsError):
        controller.update(Q, np.full(6, speed), 1.0)
    with contextlib.suppress(NeDynamicsError):
        controller.update(Q, ZERO, 1.002)
    controller.motion.hold()
    with contextlib.suppress(NeDynamicsError):
        controller.update(Q, ZERO, 1.004)
