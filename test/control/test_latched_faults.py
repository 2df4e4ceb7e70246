"""Faults that stay until somebody clears them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from tuned_arm import DYNAMICS, ROBOT, ZERO, Q, follow, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import (
    FaultKind,
    StateGuard,
    StateLimits,
    StateRefused,
)
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.control.tuning import OnFault
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.waypoints import TrajectoryPoint

JOINTS = [Joint('a', JointType.REVOLUTE)]


def make_controller(
    mode: Mode = Mode.COMPUTED_TORQUE, velocity: VelocitySettings | None = None
) -> Controller:
    """Return a controller of the shipped arm with the limits that the node derives.

    After a fault it leaves the arm.
    """
    following = FollowingLimits.derived(ROBOT.joints, 1.0)
    return Controller(
        make_tuning(
            mode,
            states=StateLimits(0.1, repeat_window=10.0),
            following=following,
            velocity=velocity or VelocitySettings(),
            on_fault=OnFault.LEAVE,
        )
    )


def fail_to_follow(controller: Controller) -> tuple[float, StateRefused]:
    """Let an arm stand still while it is sent away; return when and how that ended."""
    controller.update(Q, ZERO, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
    for step in range(1, 500):
        try:
            controller.update(Q, ZERO, 0.01 * step, 0.01 * step)
        except StateRefused as error:
            return 0.01 * step, error
    raise AssertionError('no fault')


def test_states_are_observed_and_not_answered_until_the_fault_is_cleared() -> None:
    """The last command is gravity's at the newest pose; cleared, the arm is held there."""
    controller = make_controller()
    now, error = fail_to_follow(controller)
    assert error.fault.latches
    assert error.fault.kind is FaultKind.FROZEN_POSITION
    assert 'clear_fault' in str(error.fault)
    found = Q + 0.3
    for step in range(1, 300):
        with pytest.raises(StateRefused, match='frozen') as refusal:
            controller.update(found, ZERO, now + 0.01 * step, now + 0.01 * step)
        assert refusal.value.fault is None
    np.testing.assert_array_equal(controller.position, found)
    *_, last = controller.machine.last_commands()  # a ramp
    np.testing.assert_allclose(last, DYNAMICS.gravity_torque(found))
    assert controller.accept.guard.clear() == error.fault
    now += 3.0
    needed = GUARD_LIMITS.states_to_return
    for step in range(1, needed):
        with pytest.raises(StateRefused, match='in a row'):
            controller.update(found, ZERO, now + 0.01 * step)
    command = controller.update(found, ZERO, now + 0.01 * needed)
    np.testing.assert_array_equal(command.desired.position, found)
    assert command.fault.kind is FaultKind.FROZEN_POSITION
    assert controller.update(found, ZERO, now + 0.01 * needed + 0.01).fault is None


def test_what_cannot_be_cleared_says_why() -> None:
    """Without a fault, with one that does not latch, and before a state has come since."""
    controller = make_controller()
    with pytest.raises(StateRefused, match='there is no latched fault'):
        controller.accept.guard.clear()
    controller.update(Q, ZERO, 0.0)
    controller.trip(FaultKind.STOPPED, 'no usable one for 0.1 s')
    with pytest.raises(StateRefused, match='joint_states stopped'):
        controller.accept.guard.clear()
    controller = make_controller()
    now, _ = fail_to_follow(controller)
    with pytest.raises(StateRefused, match='no state has come since the fault'):
        controller.accept.guard.clear()
    with pytest.raises(StateRefused):
        controller.update(Q, ZERO, now + 0.01)
    controller.accept.guard.clear()


@pytest.mark.parametrize('mode', [Mode.FEEDFORWARD, Mode.GRAVITY_COMPENSATION])
def test_modes_without_feedback_are_not_stopped_by_derived_limits(mode) -> None:
    """Nothing makes the error small in feedforward, and in gravity mode there is none."""
    with pytest.raises(AssertionError, match='no fault'):
        fail_to_follow(make_controller(mode))


def test_a_driver_without_velocities_can_be_used() -> None:
    """With another source the law has a velocity, and the command says which."""
    velocity = VelocitySettings(source=VelocitySource.ESTIMATED)
    controller = make_controller(velocity=velocity)
    for step in range(200):
        position = Q + 0.001 * step
        command = controller.update(position, None, 0.01 * step, 0.01 * step)
    np.testing.assert_allclose(command.velocity, np.full(6, 0.1), rtol=1e-6)
    ignored = controller.update(Q + 0.2, np.full(6, 9.0), 2.0, 2.0)
    np.testing.assert_allclose(ignored.velocity, np.full(6, 0.1), rtol=1e-6)


def jump(guard: StateGuard, now: float) -> StateRefused:
    """Let a joint jump and come back; return the refusal of the jump."""
    guard.check(np.zeros(1), None, now, now)
    with pytest.raises(StateRefused) as refusal:
        guard.check(np.ones(1), None, now + 0.01, now + 0.01)
    return refusal.value


def come_back(guard: StateGuard, now: float) -> None:
    """Let states agree until they are believed."""
    for step in range(GUARD_LIMITS.states_after_jump + 1):
        try:
            guard.check(np.zeros(1), None, now + 0.01 * step, now + 0.01 * step)
        except StateRefused:
            continue
        return


def test_a_fault_that_keeps_coming_back_latches() -> None:
    """The third jump within ten seconds stays; states that agree do not end it."""
    guard = StateGuard(JOINTS, StateLimits(velocities=np.ones(1), repeat_window=10.0))
    for count in range(1, GUARD_LIMITS.repeats + 1):
        refusal = jump(guard, float(count))
        assert refusal.fault.latches == (count == GUARD_LIMITS.repeats)
        come_back(guard, count + 0.1)
        assert (guard.fault is not None) == (count == GUARD_LIMITS.repeats)
    assert '3 times within 10 s' in guard.fault.text
    guard.clear()
    come_back(guard, 4.5)
    assert guard.fault is None
    assert not jump(guard, 5.0).fault.latches


def test_gains_are_checked_again_when_states_come_more_slowly() -> None:
    """What is stable at 500 Hz is given up at 12 Hz, before the arm is thrown."""
    controller, now = make_controller(), 0.0
    for period, count in ((0.002, 300), (0.08, 400)):
        for _ in range(count):
            now += period
            with contextlib.suppress(StateRefused):
                controller.update(Q, ZERO, now, now)
                controller.review()
            if period == 0.002:
                assert controller.fault is None
    assert controller.fault is not None
    assert controller.fault.kind is FaultKind.UNSTABLE
