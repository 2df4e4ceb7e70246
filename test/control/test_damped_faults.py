"""What answers joint states while a fault latches, with `on_fault: damp`."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from motion_loop import node_controller, shipped_arm

from ne_dynamics import Dynamics, Robot
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.motion.waypoints import TrajectoryPoint, Waypoints

Q = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])
ZERO = np.zeros(6)
STEP = 0.01
"""Time between two states [s]."""


@pytest.fixture(scope='module')
def robot() -> Robot:
    """Return the shipped arm."""
    return shipped_arm()


@pytest.fixture(scope='module')
def dynamics(robot) -> Dynamics:
    """Return its dynamics."""
    return Dynamics(robot, backend='python')


def not_followed(robot: Robot, **changes: object) -> tuple[Controller, float]:
    """Return a controller whose arm is kept from its way, after the fault, and the time."""
    changes = {'following_error.frozen': (0.0,), 'following_error.position': (0.2,), **changes}
    changes.setdefault('state_effort', 'ignore')
    controller = node_controller(robot, **changes)
    controller.update(Q, ZERO, 0.0, 0.0)
    goal = TrajectoryPoint(1.0, Q + 0.5)
    controller.motion.follow(Waypoints.from_points(robot.joints, robot.joint_names, [goal]))
    for index in range(1, 500):
        now = STEP * index
        with contextlib.suppress(StateRefused):
            controller.update(Q, ZERO, now, now)
        if controller.fault is not None:
            break
    assert controller.fault is not None
    assert controller.fault.kind is FaultKind.FOLLOWING
    if controller.is_damped:
        controller.damp()
    return controller, now


def test_in_motion_it_is_the_inverse_dynamics_of_slowing_down(robot, dynamics) -> None:
    """An arm that coasts is given tau = ID(q, qd, -10 qd), by the velocities of its positions."""
    controller, now = not_followed(robot)
    rate = np.array([0.3, -0.2, 0.4, 0.1, -0.5, 0.6])
    for index in range(1, 501):
        later = STEP * index
        command = controller.update(Q + rate * later, ZERO, now + later, now + later)
    rigid = dynamics.without_friction()
    expected = rigid.inverse_dynamics(Q + rate * later, rate, -10.0 * rate)
    np.testing.assert_allclose(command.effort, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('advance', [0.0, -5.0])
def test_a_clock_that_stands_or_is_set_back_is_no_silence(robot, advance) -> None:
    """States whose stamps do not advance are answered by when they come."""
    controller, now = not_followed(robot)
    for index in range(1, 20):
        command = controller.update(Q, ZERO, now + advance, now + STEP * index)
        assert np.isfinite(command.effort).all()


def test_a_jump_is_taken_out(robot, dynamics) -> None:
    """A position that jumps and stays there makes no motion, nor another pose."""
    controller, now = not_followed(robot)
    jumped = Q + 0.4 * np.eye(6)[1]
    for index in range(1, 301):
        command = controller.update(jumped, ZERO, now + STEP * index, now + STEP * index)
    np.testing.assert_allclose(command.effort, dynamics.gravity_torque(Q), atol=1e-6)


def test_it_goes_on_until_states_agree_after_the_fault_was_cleared(robot) -> None:
    """There is no state without an answer between a fault and the arm that is held again."""
    controller, now = not_followed(robot)
    controller.update(Q, ZERO, now + STEP, now + STEP)
    controller.accept.guard.clear()
    commands = [controller.update(Q, ZERO, now + STEP * k, now + STEP * k) for k in range(2, 6)]
    assert commands[-1].fault is None
    assert not controller.is_damped
    assert [command.fault is not None for command in commands].count(True) == 1
    np.testing.assert_array_equal(commands[-1].desired.position, Q)


def test_the_last_command_is_for_where_the_arm_is_believed(robot, dynamics) -> None:
    """Deactivated while it is damped, the arm is left with gravity's effort for that pose."""
    controller, now = not_followed(robot)
    for index in range(1, 100):
        controller.update(Q, ZERO, now + STEP * index, now + STEP * index)
    *_, last = controller.machine.last_commands(LastCommand.GRAVITY)
    np.testing.assert_allclose(last, dynamics.gravity_torque(Q), atol=1e-6)


def test_a_load_that_is_set_makes_no_step(robot) -> None:
    """Parameters may change while the arm is damped: the command goes on from the last one."""
    controller, now = not_followed(robot)
    for index in range(1, 200):
        before = controller.update(Q, ZERO, now + STEP * index, now + STEP * index)
    law = controller.tuning.hold_law
    heavier = type(law)(law.dynamics, law.mode, payload=np.array([3.0, *np.zeros(9)]))
    controller.adopt(replace(controller.tuning, hold_law=heavier))
    after = controller.update(Q, ZERO, now + 2.0, now + 2.0)
    assert np.abs(after.effort - before.effort).max() < 0.5


@pytest.mark.parametrize('disbelieved', [(), (1,)])
def test_a_command_from_a_measurement_that_is_not_believed_is_not_led_over(
    robot, dynamics, disbelieved
) -> None:
    """The damping begins at the last command, unless a measurement has led to it that is wrong."""
    changes = {'following_error.frozen': (0.0,), 'following_error.position': (0.5,)}
    controller = node_controller(robot, state_effort='ignore', **changes)
    for index in range(100):
        now = STEP * index
        command = controller.update(Q, ZERO, now, now)
    goal = TrajectoryPoint(1.0, Q + 0.5)
    controller.motion.follow(Waypoints.from_points(robot.joints, robot.joint_names, [goal]))
    for index in range(100, 130):
        now = STEP * index
        command = controller.update(Q, ZERO, now, now)
    away = np.abs(command.effort - dynamics.gravity_torque(Q))
    assert away.max() > 10.0
    fault = Fault(FaultKind.FROZEN_POSITION, 'for the test', True, disbelieved)
    controller.accept.guard.trip(fault)
    first = controller.damp().effort
    if disbelieved:
        np.testing.assert_allclose(first, dynamics.gravity_torque(controller.position), atol=3.0)
    else:
        np.testing.assert_allclose(first, command.effort, atol=0.05 * away.max())


def test_commands_of_a_silence_count_for_the_rate(robot) -> None:
    """After a silence the first damped answer follows a command younger than the last state."""
    rate = 4000.0
    controller, now = not_followed(robot, effort_rate_limit=(rate,))
    place = Q
    for index in range(1, 20):
        place = place + 0.02 * STEP * index
        controller.update(place, ZERO, now + STEP * index, now + STEP * index)
    now += 0.2 + 19 * STEP
    *_, last = controller.machine.last_commands(LastCommand.GRAVITY)
    answer = controller.update(place + 0.6, ZERO, now + STEP, now + STEP)
    assert np.abs(answer.effort - last).max() <= rate * COMMAND.ramp_period * (1.0 + 1e-9)


def test_a_stamp_that_leaps_is_no_time_in_which_the_command_may_change(robot, dynamics) -> None:
    """A simulation that is set forward: what fades goes on to fade, within the rate limit."""
    rate = 4000.0
    controller, now = not_followed(robot, effort_rate_limit=(rate,))
    last = controller.limits.last
    assert np.abs(last - dynamics.gravity_torque(Q)).max() > 2.0 * rate * STEP
    for index, leap in enumerate((0.0, 0.0, 10.0, 10.0), 1):
        later = controller.update(Q, ZERO, now + leap + STEP * index, now + STEP * index).effort
        assert np.abs(later - last).max() <= rate * STEP
        last = later


@pytest.mark.parametrize('jumps', ['every other state', 'at random'])
def test_a_joint_that_no_longer_jumps_is_damped_again(robot, dynamics, jumps) -> None:
    """An encoder that flickered for half a second, and is good again: what pushes is damped."""
    step, rng = 0.002, np.random.default_rng(1)
    controller = node_controller(robot, state_effort='ignore', on_fault='damp')
    q, qd, effort = Q.copy(), np.zeros(6), dynamics.gravity_torque(Q)
    fastest = 0.0
    for index in range(2000):
        now = step * index
        shown = q.copy()
        if 200 <= index < 450:
            is_off = index % 2 == 0 if jumps == 'every other state' else rng.random() < 0.3
            shown[1] += 0.05 * is_off
        with contextlib.suppress(StateRefused):
            effort = controller.update(shown, qd, now, now).effort
        # A tenth of what carries the joint, as of a model that is wrong.
        push = np.array([0.0, 4.0 if index > 700 else 0.0, 0.0, 0.0, 0.0, 0.0])
        qdd = dynamics.forward_dynamics(q, qd, effort + push)
        qd = qd + step * qdd
        q = q + step * qd
        fastest = max(fastest, float(np.abs(qd).max()))
    # The fault latches where the states were believed again in between.
    assert controller.is_damped is (jumps == 'at random')
    if controller.is_damped:
        assert controller.damping.believed.all()
    assert fastest < 1.0


def _publish_in_turns(robot, dynamics, away: float, drops: bool, states: int) -> float:
    """Return the fastest joint [rad/s] while another says one pose in every other state."""
    step, rng = 0.001, np.random.default_rng(2)
    controller = node_controller(robot, state_effort='ignore', on_fault='damp')
    q, qd, effort = Q.copy(), np.zeros(6), dynamics.gravity_torque(Q)
    other = Q + away * np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    fastest = 0.0
    for index in range(states):
        now = step * index
        is_other = index >= 200 and index % 2 == 0
        if not (drops and rng.random() < 0.01):
            shown, speed = (other, np.zeros(6)) if is_other else (q, qd)
            with contextlib.suppress(StateRefused):
                effort = controller.update(shown, speed, now, now).effort
        qd = qd + step * dynamics.forward_dynamics(q, qd, effort)
        q = q + step * qd
        fastest = max(fastest, float(np.abs(qd).max()))
    return fastest


@pytest.mark.parametrize('away', [0.02, 0.05, 0.2])
@pytest.mark.parametrize('drops', [False, True])
def test_two_publishers_in_turns_do_not_throw_the_arm(robot, dynamics, away, drops) -> None:
    """Of two that say other positions in turns none is right for sure: both brake the arm."""
    assert _publish_in_turns(robot, dynamics, away, drops, states=1500) < 1.5


@pytest.mark.parametrize(
    ('away', 'drops', 'bound'),
    [
        (0.01, False, 1.0),
        (0.02, False, 1.0),
        (0.2, False, 1.0),
        (0.01, True, 1.0),
        (0.02, True, 1.0),
        # States agree now and then: the far pose may be the one that is believed first.
        (0.2, True, 2.5),
    ],
)
def test_a_publisher_that_never_moves_takes_nothing_from_the_damping(
    robot, dynamics, away, drops, bound
) -> None:
    """Another one says one pose for ever: the arm is braked by who tells of motion."""
    assert _publish_in_turns(robot, dynamics, away, drops, states=4000) < bound


@pytest.mark.parametrize('rate', [125.0, 500.0])
@pytest.mark.parametrize(
    'away', [[0.3, 0.01, 0.019, 0.025, 0.1, 0.03], [0.019, 0.019, 0.019, 0.019, 0.019, 0.3]]
)
def test_a_publisher_that_is_near_at_some_joints_shakes_none(robot, dynamics, away, rate) -> None:
    """Of two in turns all positions are told apart, those too that alone would be no jump."""
    step = 0.5 / rate
    controller = node_controller(robot, state_effort='ignore', on_fault='damp')
    q, qd, effort = Q.copy(), np.zeros(6), dynamics.gravity_torque(Q)
    fastest = largest_step = 0.0
    for index in range(round(2.0 / step)):
        now, before, is_other = step * index, effort, index % 2 == 1
        # At first one publisher alone.
        if now > 0.2 or not is_other:
            with contextlib.suppress(StateRefused):
                effort = controller.update(q + is_other * np.array(away), qd, now, now).effort
        steps = np.abs(effort - before) / robot.limits('effort_limit')
        largest_step = max(largest_step, float(steps.max()))
        qd = qd + step * dynamics.forward_dynamics(q, qd, effort)
        q = q + step * qd
        fastest = max(fastest, float(np.abs(qd).max()))
    assert controller.is_damped
    assert fastest < 0.05
    assert largest_step < 0.02


@pytest.mark.parametrize('jumps', ['every other state', 'at random', 'in bursts'])
def test_a_joint_that_goes_on_jumping_is_braked(robot, dynamics, jumps) -> None:
    """What jumps between two places moves by as much in each: that is damped."""
    step, rng = 0.002, np.random.default_rng(1)
    controller = node_controller(robot, state_effort='ignore', on_fault='damp')
    q, qd, effort = Q.copy(), np.zeros(6), dynamics.gravity_torque(Q)
    fastest = 0.0
    for index in range(2000):
        now = step * index
        shown = q.copy()
        if index >= 200:
            is_off = {
                'every other state': index % 2 == 0,
                'at random': rng.random() < 0.3,
                'in bursts': index // 5 % 2 == 0,
            }[jumps]
            shown[1] += 0.05 * is_off
        with contextlib.suppress(StateRefused):
            effort = controller.update(shown, qd, now, now).effort
        push = np.array([0.0, 4.0 if index > 700 else 0.0, 0.0, 0.0, 0.0, 0.0])
        qd = qd + step * dynamics.forward_dynamics(q, qd, effort + push)
        q = q + step * qd
        fastest = max(fastest, float(np.abs(qd).max()))
    assert controller.is_damped
    assert fastest < 1.0
