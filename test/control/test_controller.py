"""What the controller holds and follows, and that it never jumps by itself."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import DYNAMICS, ROBOT, ZERO, Q, follow, make_tuning, make_waypoints

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import FaultKind, StateLimits, StateRefused
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import OnFault
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import JointType
from ne_dynamics.motion.waypoints import TrajectoryPoint


def test_a_ramp_has_an_end() -> None:
    """A rate limit too slow to get there in time is obeyed all the same, and told of."""
    controller = Controller(make_tuning(effort_rates=[1.0]))
    controller.update(Q, ZERO, 0.0, measured_effort=DYNAMICS.gravity_torque(Q) + 10.0)
    ramp = list(controller.machine.last_commands())
    assert len(ramp) == round(COMMAND.longest_ramp / COMMAND.ramp_period)
    assert not controller.machine.is_left
    assert np.abs(np.diff(ramp, axis=0)).max() <= COMMAND.ramp_period + 1e-9


def test_a_tuning_that_comes_during_the_last_commands_makes_no_step() -> None:
    """The command after them goes on from the last that was sent, whatever was set meanwhile."""
    chosen = make_tuning(effort_rates=[10.0])
    controller = Controller(chosen)
    controller.update(Q, ZERO, 0.0, measured_effort=DYNAMICS.gravity_torque(Q) + 2.0)
    commands = controller.machine.last_commands()
    for _ in range(5):
        next(commands)
    controller.adopt(chosen)
    sent = list(commands)
    assert len(sent) > 5
    command = controller.update(Q, ZERO, COMMAND.ramp_period)
    assert np.abs(command.effort - sent[-1]).max() <= 10.0 * COMMAND.ramp_period + 1e-9


def test_a_gap_ends_the_motion_without_a_jump() -> None:
    """After a gap in the stamps the arm is held where it is, and the command does not step."""
    states = StateLimits(timeout=0.1)
    controller = Controller(make_tuning(effort_rates=[1000.0], states=states))
    controller.update(Q, ZERO, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
    for step in range(1, 50):
        before = controller.update(Q, ZERO, 0.01 * step)
    assert before.desired.velocity.any()
    found = Q + 0.2
    command = controller.update(found, ZERO, 5.0)
    assert command.fault.kind is FaultKind.GAP
    np.testing.assert_array_equal(command.desired.position, found)
    np.testing.assert_array_equal(command.effort, before.effort)
    after = controller.update(found, ZERO, 5.01)
    assert after.fault is None
    np.testing.assert_array_equal(after.desired.position, found)
    for step in range(2, 62):
        after = controller.update(found, ZERO, 5.0 + 0.01 * step)
    np.testing.assert_allclose(after.effort, DYNAMICS.gravity_torque(found), atol=1e-9)


def test_a_return_that_cannot_be_answered_is_no_return() -> None:
    """A state after a gap whose effort is not finite leaves the fault, until one is answered."""
    controller = Controller(make_tuning(effort_rates=[100.0], states=StateLimits(timeout=0.1)))
    controller.update(Q, ZERO, 0.0)
    before = controller.update(Q + 0.01, ZERO, 0.05)
    too_fast = np.full(6, 1e308)
    with np.errstate(all='ignore'):
        with pytest.raises(StateRefused, match='effort') as refusal:
            controller.update(Q, too_fast, 3.0)
        assert refusal.value.fault.kind is FaultKind.GAP
        with pytest.raises(StateRefused, match='effort') as refusal:
            controller.update(Q, too_fast, 3.01)
        assert refusal.value.fault is None
    command = controller.update(Q, ZERO, 3.5)
    assert command.fault.kind is FaultKind.GAP
    np.testing.assert_array_equal(command.effort, before.effort)


def test_what_became_impossible_is_no_excuse_for_another_impossible_thing() -> None:
    """Limits with which the arm cannot be held where it is: the gains must be possible still."""
    weak = make_tuning(effort_limits=np.full(6, 5.0))
    controller = Controller(weak)
    for step in range(20):
        controller.update(Q, ZERO, 0.002 * step)
    assert controller.check.find_verdict(weak).refusals
    assert not controller.check.check_change(replace(weak, effort_limits=np.full(6, 4.0))).refusals
    stiff = ControlLaw(DYNAMICS, Mode.COMPUTED_TORQUE, Gains.from_values(1e5, 40.0, 6))
    (refusal,) = controller.check.check_change(replace(weak, law=stiff)).refusals
    assert 'phase margin' in refusal


def test_a_timeout_shorter_than_the_time_between_two_states_cannot_work() -> None:
    """Each state would be a gap; with less than two periods one that is lost is."""
    usual = make_tuning(states=StateLimits(timeout=0.1))
    controller = Controller(usual)
    for step in range(20):
        controller.update(Q, ZERO, 0.01 * step)
    verdicts = [
        controller.check.find_verdict(replace(usual, states=StateLimits(timeout=timeout)))
        for timeout in (0.005, 0.015, 0.025)
    ]
    assert 'expected more' in verdicts[0].refusals[0]
    assert 'one lost state' in verdicts[1].remarks[0]
    assert not any(verdicts[2])


def test_a_mode_that_needs_velocities_is_refused_where_there_are_none() -> None:
    """Floating on states without velocities; computed torque can take them from the positions."""
    floating = make_tuning(Mode.GRAVITY_COMPENSATION)
    controller = Controller(floating)
    controller.update(Q, None, 0.0)
    held = make_tuning()
    (refusal,) = controller.check.check_change(held).refusals
    assert 'velocity_source' in refusal
    estimated = VelocitySettings(source=VelocitySource.ESTIMATED)
    assert not controller.check.check_change(replace(held, velocity=estimated)).refusals
    controller.update(Q, ZERO, 0.002)
    assert not controller.check.check_change(held).refusals


@pytest.mark.parametrize('method', ['none', 'linear', 'splines'])
def test_a_joint_that_turns_without_end_is_not_sent_beyond_numbers(method) -> None:
    """What is refused is named; what is not, however far, ends as a fault that names the joint."""
    endless = replace(ROBOT.joints[5], type=JointType.CONTINUOUS, lower=-np.inf, upper=np.inf)
    model = replace(ROBOT, joints=(*ROBOT.joints[:5], endless))
    controller = node_controller(
        model, **{'interpolation_method': method, 'trajectory.when_infeasible': 'follow'}
    )
    place = np.array([0.0, -1.2, 1.0, 0.2, -0.4, 0.1])
    controller.update(place, np.zeros(6), 0.0)
    for far in (1.1e9, 1e300, 1.7e308):
        points = [TrajectoryPoint(1e-3, [*place[:5], far])]
        with pytest.raises(TrajectoryError, match=r"'joint_6': expected a finite number of at"):
            make_waypoints(*points, robot=model)
    points = [TrajectoryPoint(1e-3, [*place[:5], 9e8])]
    follow(controller, *points, robot=model)

    def hold_still() -> None:
        for k in range(1, 1000):
            controller.update(place, np.zeros(6), 0.002 * k)

    with pytest.raises(StateRefused, match='joint_6') as refusal:
        hold_still()
    assert refusal.value.fault.kind in (FaultKind.FOLLOWING, FaultKind.FROZEN_POSITION)


# ---- faults that stay until somebody clears them


def leaving_controller() -> Controller:
    """Return a controller with the limits that the node derives, which leaves a faulty arm."""
    following = FollowingLimits.derived(ROBOT.joints, 1.0)
    values = {'states': StateLimits(0.1), 'following': following, 'on_fault': OnFault.LEAVE}
    return Controller(make_tuning(velocity=VelocitySettings(), **values))


def test_states_are_observed_and_not_answered_until_the_fault_is_cleared() -> None:
    """The last command is gravity's at the newest pose; cleared, the arm is held there."""
    controller, now = leaving_controller(), 0.0
    controller.update(Q, ZERO, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
    with contextlib.suppress(StateRefused):
        while now < 5.0:
            now += 0.01
            controller.update(Q, ZERO, now, now)
    fault = controller.fault
    assert fault.latches
    assert fault.kind is FaultKind.FROZEN_POSITION
    assert 'clear_fault' in str(fault)
    found = Q + 0.3
    for step in range(1, 300):
        with pytest.raises(StateRefused, match='frozen') as refusal:
            controller.update(found, ZERO, now + 0.01 * step, now + 0.01 * step)
        assert refusal.value.fault is None
    np.testing.assert_array_equal(controller.position, found)
    *_, last = controller.machine.last_commands()  # a ramp
    np.testing.assert_allclose(last, DYNAMICS.gravity_torque(found))
    assert controller.accept.guard.clear() == fault
    now += 3.0
    needed = GUARD_LIMITS.states_to_return
    for step in range(1, needed):
        with pytest.raises(StateRefused, match='in a row'):
            controller.update(found, ZERO, now + 0.01 * step)
    command = controller.update(found, ZERO, now + 0.01 * needed)
    np.testing.assert_array_equal(command.desired.position, found)
    assert command.fault.kind is FaultKind.FROZEN_POSITION
    assert controller.update(found, ZERO, now + 0.01 * needed + 0.01).fault is None


def test_a_driver_without_velocities_can_be_used() -> None:
    """With another source the law has a velocity, and the command says which."""
    controller = Controller(
        make_tuning(velocity=VelocitySettings(source=VelocitySource.ESTIMATED))
    )
    for step in range(200):
        position = Q + 0.001 * step
        command = controller.update(position, None, 0.01 * step, 0.01 * step)
    np.testing.assert_allclose(command.velocity, np.full(6, 0.1), rtol=1e-6)
    ignored = controller.update(Q + 0.2, np.full(6, 9.0), 2.0, 2.0)
    np.testing.assert_allclose(ignored.velocity, np.full(6, 0.1), rtol=1e-6)


def test_gains_are_checked_again_when_states_come_more_slowly() -> None:
    """What is stable at 500 Hz is given up at 12 Hz, before the arm is thrown."""
    controller, now = leaving_controller(), 0.0
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
