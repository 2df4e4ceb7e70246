"""What the controller holds and follows, and that it never jumps by itself."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics, load_urdf
from ne_dynamics.control.controller import Controller, Tuning
from ne_dynamics.control.laws import ControlLaw, Gains, Mode, Terms
from ne_dynamics.control.trajectory import TrajectoryPoint, Waypoints
from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

Q = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
ZERO = np.zeros(6)


@pytest.fixture(scope='module')
def dynamics() -> Dynamics:
    """Return the dynamics of the shipped arm."""
    return Dynamics(load_urdf(shipped_file('six_axis_arm.urdf')), backend='python')


def tuning(dynamics: Dynamics, mode: Mode = Mode.COMPUTED_TORQUE, **options) -> Tuning:
    """Return a tuning of the shipped arm, everything optional."""
    terms = options.pop('terms', Terms())
    return Tuning(
        law=ControlLaw(dynamics, mode, Gains.from_values(100.0, 20.0, 6), terms),
        hold_law=ControlLaw(dynamics, Mode.GRAVITY_COMPENSATION, terms=terms),
        effort_limits=options.pop('limits', dynamics.robot.limits('effort_limit')),
        effort_rates=np.array(options.pop('rates', ())),
    )


def waypoints(dynamics: Dynamics, *points: TrajectoryPoint) -> Waypoints:
    """Return checked waypoints of the arm."""
    return Waypoints.from_points(dynamics.robot.joints, dynamics.joint_names, points)


def test_the_first_state_is_held(dynamics: Dynamics) -> None:
    """Before any trajectory the arm is held where it is, by gravity's effort exactly."""
    controller = Controller(tuning(dynamics))
    command = controller.update(Q, ZERO, 0.0)
    np.testing.assert_allclose(command.effort, dynamics.gravity_torque(Q), atol=1e-9)
    moved = controller.update(Q + 0.1, ZERO, 0.1)
    np.testing.assert_array_equal(moved.desired.position, Q)


def test_a_trajectory_begins_at_the_next_state(dynamics: Dynamics) -> None:
    """A trajectory without a start time counts from the state that follows its arrival."""
    controller = Controller(tuning(dynamics))
    controller.update(Q, ZERO, 0.0)
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q + 0.5)))
    np.testing.assert_allclose(controller.update(Q, ZERO, 7.0).desired.position, Q)
    np.testing.assert_allclose(controller.update(Q, ZERO, 7.5).desired.position, Q + 0.25)
    np.testing.assert_allclose(controller.update(Q, ZERO, 9.0).desired.position, Q + 0.5)
    assert not controller.update(Q, ZERO, 9.0).desired.velocity.any()


def test_a_later_trajectory_replaces_without_a_jump(dynamics: Dynamics) -> None:
    """Replacing mid-way goes on from the desired position and velocity of that moment."""
    controller = Controller(tuning(dynamics))
    controller.update(Q, ZERO, 0.0)
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q + 0.5, ZERO, ZERO)))
    controller.update(Q, ZERO, 0.0)
    before = controller.update(Q, ZERO, 0.5).desired
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q - 0.5, ZERO, ZERO)))
    after = controller.update(Q, ZERO, 0.5).desired
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-12)
    assert before.velocity.min() > 0.5
    np.testing.assert_allclose(controller.update(Q, ZERO, 1.5).desired.position, Q - 0.5)


def test_hold_stops_where_the_motion_is(dynamics: Dynamics) -> None:
    """Holding keeps the desired position of the moment, at rest, and forgets what waited."""
    controller = Controller(tuning(dynamics))
    controller.hold()
    controller.update(Q, ZERO, 0.0)
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q + 0.5)))
    controller.update(Q, ZERO, 0.0)
    controller.update(Q, ZERO, 0.4)
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q)))
    controller.hold()
    held = controller.update(Q, ZERO, 3.0).desired
    np.testing.assert_allclose(held.position, Q + 0.2)
    assert not held.velocity.any()


def test_a_trajectory_that_is_past_is_refused_and_the_motion_goes_on(dynamics: Dynamics) -> None:
    """The state that finds a waiting trajectory past is answered all the same."""
    controller = Controller(tuning(dynamics))
    controller.update(Q, ZERO, 0.0)
    controller.follow(waypoints(dynamics, TrajectoryPoint(1.0, Q + 0.5)), start_time=5.0)
    command = controller.update(Q, ZERO, 10.0)
    assert 'ended 4 s ago' in str(command.refused)
    np.testing.assert_array_equal(command.desired.position, Q)
    assert controller.update(Q, ZERO, 10.0).refused is None


def test_gravity_mode_leaves_the_arm_where_it_is_led(dynamics: Dynamics) -> None:
    """After gravity compensation another mode holds where the arm is then, not where it was."""
    controller = Controller(tuning(dynamics, Mode.GRAVITY_COMPENSATION))
    controller.update(Q, None, 0.0)
    led = Q + 0.3
    command = controller.update(led, None, 1.0)
    np.testing.assert_allclose(command.effort, dynamics.gravity_torque(led), atol=1e-9)
    np.testing.assert_array_equal(command.desired.position, led)
    controller.adopt(tuning(dynamics))
    after = controller.update(led, ZERO, 1.1)
    np.testing.assert_array_equal(after.desired.position, led)
    np.testing.assert_allclose(after.effort, command.effort, atol=1e-9)


def test_a_missing_velocity_gives_no_command(dynamics: Dynamics) -> None:
    """A state without the velocity that the mode needs is refused and not taken note of."""
    controller = Controller(tuning(dynamics))
    with pytest.raises(InputError, match='velocity: got none; mode computed_torque'):
        controller.update(Q, None, 0.0)
    assert controller.position is None


def test_limits_apply_and_the_rate_goes_on_through_a_change(dynamics: Dynamics) -> None:
    """Commands stay within limits and rate, also across a change of the tuning."""
    controller = Controller(tuning(dynamics, limits=np.full(6, 30.0), rates=[5.0]))
    last = controller.update(Q, ZERO, 0.0).effort
    assert np.abs(last).max() <= 30.0
    for step in range(1, 40):
        if step == 20:
            controller.adopt(tuning(dynamics, limits=np.full(6, 25.0), rates=[5.0]))
            last = np.clip(last, -25.0, 25.0)
        command = controller.update(Q + 0.02 * step, ZERO, 0.01 * step)
        assert np.abs(command.effort - last).max() <= 0.05 + 1e-12
        assert command.saturated is not None
        last = command.effort
    assert np.abs(last).max() <= 25.0


def test_the_last_command_is_gravity(dynamics: Dynamics) -> None:
    """The last command holds the last pose, whatever was going on, and obeys the limits."""
    controller = Controller(tuning(dynamics, rates=[1.0]))
    assert controller.last_command() is None
    controller.update(Q, ZERO, 0.0)
    controller.update(Q + 0.1, np.ones(6), 0.1)
    np.testing.assert_allclose(controller.last_command(), dynamics.gravity_torque(Q + 0.1))


def test_the_last_command_spares_gravity_that_the_robot_carries(dynamics: Dynamics) -> None:
    """With the gravity term off the last command is zero: the robot holds itself."""
    controller = Controller(tuning(dynamics, terms=Terms(gravity=False)))
    controller.update(Q, ZERO, 0.0)
    np.testing.assert_allclose(controller.last_command(), 0.0, atol=1e-9)
