"""What the controller holds and follows, and that it never jumps by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import DYNAMICS, ROBOT, ZERO, Q, follow, make_tuning, make_waypoints

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.state_guard import FaultKind, StateGuard, StateLimits, StateRefused
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.sensors.velocity_source import VelocitySettings, VelocitySource
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import OnFault
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.waypoints import TrajectoryPoint


def test_a_rate_limit_makes_a_ramp_of_the_last_command() -> None:
    """No step is larger than the rate allows, and the ramp ends at gravity's effort."""
    rate = 2000.0
    controller = Controller(make_tuning(effort_rates=[rate]))
    controller.update(Q, ZERO, 0.0)
    for step in range(1, 40):
        before = controller.update(Q, np.full(6, -2.0), 0.002 * step).effort
    ramp = list(controller.machine.last_commands())
    assert len(ramp) > 3
    for command in ramp:
        assert np.abs(command - before).max() <= rate * COMMAND.ramp_period + 1e-9
        before = command
    np.testing.assert_allclose(ramp[-1], DYNAMICS.gravity_torque(Q))


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


@pytest.mark.parametrize(
    ('away', 'until', 'is_fault'),
    # Nobody may be away for longer than half a second.
    [(0.3, 0.35, False), (0.2, 0.35, True), (2.0, 1.0, True)],
)
def test_a_gap_in_which_nobody_listened_is_no_fault(
    away: float, until: float, is_fault: bool
) -> None:
    """What the own thread was away for is taken off a gap, once."""
    controller = Controller(make_tuning(states=StateLimits(timeout=0.1)))
    controller.update(Q, ZERO, 1.0)
    controller.accept.guard.excuse(away / 2.0)
    controller.accept.guard.excuse(away / 2.0)
    command = controller.update(Q, ZERO, 1.0 + until)
    assert (command.fault is not None) == is_fault
    assert controller.update(Q, ZERO, 1.0 + 2.0 * until).fault.kind is FaultKind.GAP


def test_the_period_is_not_that_of_one_pair_of_stamps() -> None:
    """Of few states the shortest time counts, of many their mean; one odd stamp says little."""
    controller = Controller(make_tuning())
    now, periods = 0.0, []
    for elapsed in [0.0, 0.034, 0.002, *[0.002] * 20, 0.08, 0.002]:
        now += elapsed
        controller.update(Q, ZERO, now)
        periods.append(controller.accept.rate.period)
    assert periods[:2] == [0.0, 0.0]
    assert periods[2] == pytest.approx(0.002)
    assert max(periods) < 0.006
    assert periods[-1] < 0.004


def test_a_jump_is_refused_until_states_agree() -> None:
    """A spike is left; three states in a row that agree are held where they are."""
    states = StateLimits(velocities=np.full(6, 5.0))
    controller = Controller(make_tuning(states=states, on_fault=OnFault.LEAVE))
    controller.update(Q, ZERO, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
    controller.update(Q, ZERO, 0.01)
    with pytest.raises(StateRefused, match="joint 'joint_3': moved by 1 ") as refusal:
        controller.update(Q + np.eye(6)[2], ZERO, 0.02)
    assert refusal.value.fault is not None
    np.testing.assert_array_equal(controller.position, Q)
    for step in (3, 4):
        with pytest.raises(StateRefused, match='3 states in a row'):
            controller.update(Q, ZERO, 0.01 * step)
    command = controller.update(Q, ZERO, 0.05)
    assert command.fault.kind is FaultKind.JUMPED
    np.testing.assert_array_equal(command.desired.position, Q)
    assert controller.update(Q, ZERO, 0.06).fault is None


def test_a_clock_that_is_set_back_is_a_fault() -> None:
    """The motion ends, and the arm is held where the new clock's states agree it is."""
    controller = Controller(make_tuning(states=StateLimits(timeout=0.1), on_fault=OnFault.LEAVE))
    controller.update(Q, ZERO, 50.0)
    with pytest.raises(StateRefused, match=r'0\.02 s before the last one') as refusal:
        controller.update(Q, ZERO, 49.98)
    assert refusal.value.fault is None
    with pytest.raises(StateRefused, match='set back by 49 s') as refusal:
        controller.update(Q + 1.0, ZERO, 1.0)
    assert refusal.value.fault.kind is FaultKind.BACKWARDS
    command = controller.update(Q + 1.0, ZERO, 1.01)
    np.testing.assert_array_equal(command.desired.position, Q + 1.0)


def test_a_stamp_that_stands_still_is_a_fault() -> None:
    """A stamp repeated for longer than the timeout ends the motion, until it advances."""
    controller = Controller(make_tuning(states=StateLimits(timeout=0.1), on_fault=OnFault.LEAVE))
    controller.update(Q, ZERO, 1.0, 0.0)
    controller.update(Q, ZERO, 1.0, 0.09)
    with pytest.raises(StateRefused, match=r'the same for 0\.11 s') as refusal:
        controller.update(Q, ZERO, 1.0, 0.11)
    assert refusal.value.fault.kind is FaultKind.FROZEN
    for arrival in (0.12, 0.5):
        with pytest.raises(StateRefused, match='2 states in a row'):
            controller.update(Q, ZERO, 1.0, arrival)
    assert controller.update(Q, ZERO, 1.01, 0.6).fault is not None
    assert controller.update(Q, ZERO, 1.02, 0.7).fault is None


def test_a_continuous_joint_may_turn_over() -> None:
    """A reading that goes from pi to -pi is no jump where the joint has no stops."""
    joints = [Joint('wheel', JointType.CONTINUOUS), Joint('arm', JointType.REVOLUTE)]
    guard = StateGuard(joints, StateLimits(velocities=np.full(2, 1.0)))
    guard.check(np.array([3.14, 0.0]), None, 0.0, 0.0)
    guard.check(np.array([-3.14, 0.0]), None, 0.01, 0.0)
    with pytest.raises(StateRefused, match=r"joint 'arm': moved by 6\.28"):
        guard.check(np.array([-3.14, 6.28]), None, 0.02, 0.0)


def test_a_joint_without_a_speed_limit_never_jumps() -> None:
    """Where one joint has a limit and another none, the same stamp twice is no jump."""
    joints = [Joint('a', JointType.REVOLUTE), Joint('b', JointType.REVOLUTE)]
    guard = StateGuard(joints, StateLimits(velocities=np.array([1.0, np.inf])))
    guard.check(np.zeros(2), None, 0.0, 0.0)
    guard.check(np.array([0.0, 3.0]), None, 0.0, 0.0)


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


def test_an_arm_that_falls_is_caught() -> None:
    """Faster than the limit, but as the velocities say: no jump; against them it is one."""
    joints = [Joint('a', JointType.REVOLUTE)]
    fast = np.array([10.0])
    guard = StateGuard(joints, StateLimits(velocities=np.array([1.0])))
    guard.check(np.zeros(1), fast, 0.0, 0.0)
    guard.check(np.array([0.1]), fast, 0.01, 0.0)
    with pytest.raises(StateRefused, match=r"'a': moved by -0\.1 in"):
        guard.check(np.zeros(1), fast, 0.02, 0.0)
    with pytest.raises(StateRefused, match='3 states in a row'):
        guard.check(np.array([0.1]), fast, 0.03, 0.0)
    assert guard.check(np.array([0.2]), fast, 0.04, 0.0).kind is FaultKind.JUMPED


@pytest.mark.parametrize('source', list(VelocitySource))
def test_an_arm_that_falls_is_caught_by_any_source_of_the_velocity(source: VelocitySource) -> None:
    """The velocities of the joint states, which may not be used, still say that it is no jump."""
    states, velocity = StateLimits(velocities=np.full(6, 4.0)), VelocitySettings(source=source)
    controller = Controller(make_tuning(states=states, velocity=velocity))
    fast = np.full(6, 8.0)
    for step in range(10):
        controller.update(Q + 0.01 * step * fast, fast, 0.01 * step)
    assert controller.fault is None
    with pytest.raises(StateRefused, match='moved by'):
        controller.update(Q, fast, 0.1)


@pytest.mark.parametrize('pause', [4.0, 60.0])
def test_a_simulation_that_is_paused_has_no_frozen_stamp(pause: float) -> None:
    """Nothing came meanwhile, whenever that was: the stamps go on where they were."""
    guard = StateGuard([Joint('a', JointType.REVOLUTE)], StateLimits(timeout=0.1))
    now = arrival = 0.0
    for count in range(1, 120):
        for _ in range(count):
            now, arrival = now + 0.002, arrival + 0.002
            guard.check(np.zeros(1), None, now, arrival)
        arrival += pause
    assert guard.fault is None


def test_a_stamp_that_trembles_is_frozen_all_the_same() -> None:
    """Nanoseconds of advance in a timeout are no clock, neither before nor after the fault."""
    joints = [Joint('a', JointType.REVOLUTE)]
    guard = StateGuard(joints, StateLimits(timeout=0.1))
    stamps = 1.0 + 1e-9 * np.random.default_rng(0).uniform(0.0, 256.0, 400).cumsum()
    refused = 0
    for index, stamp in enumerate(stamps):
        try:
            guard.check(np.zeros(1), None, float(stamp), 0.002 * index)
        except StateRefused:
            refused += 1
    assert guard.fault.kind is FaultKind.FROZEN
    assert refused >= 340
    guard.check(np.zeros(1), None, 1.9, 0.9)
    assert guard.fault is None


def states_of_a_motion(early: int | None, by: float = 0.0):
    """Return positions, stamps and arrivals of an arm at 3 rad/s, every 2 ms; one stamp early."""
    for step in range(40):
        stamp = 0.002 * step + (by if step == early else 0.0)
        yield np.full(1, 3.0 * 0.002 * step), stamp, 7.0 + 0.002 * step


@pytest.mark.parametrize('by', [0.003, 0.02, 0.09, 0.15, 0.9, 5.0, 1e5])
def test_a_stamp_ahead_of_its_time_costs_no_other_state(by: float) -> None:
    """The state after one that is stamped too late is believed, and all that come after it."""
    limits = StateLimits(timeout=0.1, velocities=np.full(1, 6.0))
    guard = StateGuard([Joint('a', JointType.REVOLUTE)], limits)
    ahead, faults = [], []
    for step, (position, stamp, arrival) in enumerate(states_of_a_motion(20, by)):
        fault = guard.check(position, None, stamp, arrival)
        faults += [] if fault is None else [(step, fault.kind)]
        ahead += [(step, pytest.approx(guard.ahead))] if guard.ahead else []
        assert guard.last.time == stamp
    assert ahead == [(21, pytest.approx(by - 0.002))]
    assert faults == ([] if by < 0.1 else [(20, FaultKind.GAP)])


def test_a_state_that_comes_late_stays_refused() -> None:
    """Two messages that change places: the one that is behind the other is not believed."""
    guard = StateGuard([Joint('a', JointType.REVOLUTE)], StateLimits(timeout=0.1))
    stamps = [0.0, 0.002, 0.004, 0.008, 0.006, 0.010, 0.012, 0.030, 0.014, 0.032]
    arrivals = [0.0, 0.002, 0.004, 0.0081, 0.0082, 0.0101, 0.012, 0.03, 0.0301, 0.032]
    refused = []
    for stamp, arrival in zip(stamps, arrivals, strict=True):
        try:
            guard.check(np.zeros(1), None, stamp, arrival)
        except StateRefused:
            refused.append(stamp)
    assert refused == [0.006, 0.014]


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
