"""What answers joint states while a fault latches, with `on_fault: damp`."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import COMPILED, DYNAMICS, ROBOT, ZERO, Q, follow

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.guards.state_guard import Fault, FaultKind, StateRefused
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import LastCommand
from ne_dynamics.motion.waypoints import TrajectoryPoint

STEP = 0.01
"""Time between two states [s]."""


def not_followed(**changes: object) -> tuple[Controller, float]:
    """Return a controller whose arm is kept from its way, after the fault, and the time."""
    changes = {'following_error.frozen': (0.0,), 'following_error.position': (0.2,), **changes}
    changes.setdefault('state_effort', 'ignore')
    controller = node_controller(ROBOT, **changes)
    controller.update(Q, ZERO, 0.0, 0.0)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
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


def test_in_motion_it_is_the_inverse_dynamics_of_slowing_down() -> None:
    """An arm that coasts is given tau = ID(q, qd, -10 qd), by the velocities of its positions."""
    controller, now = not_followed()
    rate = np.array([0.3, -0.2, 0.4, 0.1, -0.5, 0.6])
    for index in range(1, 501):
        later = STEP * index
        command = controller.update(Q + rate * later, ZERO, now + later, now + later)
    rigid = DYNAMICS.without_friction()
    expected = rigid.inverse_dynamics(Q + rate * later, rate, -10.0 * rate)
    np.testing.assert_allclose(command.effort, expected, rtol=1e-6, atol=1e-6)


def test_it_goes_on_until_states_agree_after_the_fault_was_cleared() -> None:
    """There is no state without an answer between a fault and the arm that is held again."""
    controller, now = not_followed()
    controller.update(Q, ZERO, now + STEP, now + STEP)
    controller.accept.guard.clear()
    commands = [controller.update(Q, ZERO, now + STEP * k, now + STEP * k) for k in range(2, 6)]
    assert commands[-1].fault is None
    assert not controller.is_damped
    assert [command.fault is not None for command in commands].count(True) == 1
    np.testing.assert_array_equal(commands[-1].desired.position, Q)


@pytest.mark.parametrize('disbelieved', [(), (1,)])
def test_a_command_from_a_measurement_that_is_not_believed_is_not_led_over(disbelieved) -> None:
    """The damping begins at the last command, unless a measurement has led to it that is wrong."""
    changes = {'following_error.frozen': (0.0,), 'following_error.position': (0.5,)}
    controller = node_controller(ROBOT, state_effort='ignore', **changes)
    for index in range(100):
        now = STEP * index
        command = controller.update(Q, ZERO, now, now)
    follow(controller, TrajectoryPoint(1.0, Q + 0.5))
    for index in range(100, 130):
        now = STEP * index
        command = controller.update(Q, ZERO, now, now)
    away = np.abs(command.effort - DYNAMICS.gravity_torque(Q))
    assert away.max() > 10.0
    fault = Fault(FaultKind.FROZEN_POSITION, 'for the test', True, disbelieved)
    controller.accept.guard.trip(fault)
    first = controller.damp().effort
    if disbelieved:
        np.testing.assert_allclose(first, DYNAMICS.gravity_torque(controller.position), atol=3.0)
    else:
        np.testing.assert_allclose(first, command.effort, atol=0.05 * away.max())


def test_commands_of_a_silence_count_for_the_rate() -> None:
    """After a silence the first damped answer follows a command younger than the last state."""
    rate = 4000.0
    controller, now = not_followed(effort_rate_limit=(rate,))
    place = Q
    for index in range(1, 20):
        place = place + 0.02 * STEP * index
        controller.update(place, ZERO, now + STEP * index, now + STEP * index)
    now += 0.2 + 19 * STEP
    *_, last = controller.machine.last_commands(LastCommand.GRAVITY)
    answer = controller.update(place + 0.6, ZERO, now + STEP, now + STEP)
    assert np.abs(answer.effort - last).max() <= rate * COMMAND.ramp_period * (1.0 + 1e-9)


def test_a_stamp_that_leaps_is_no_time_in_which_the_command_may_change() -> None:
    """A simulation that is set forward: what fades goes on to fade, within the rate limit."""
    rate = 4000.0
    controller, now = not_followed(effort_rate_limit=(rate,))
    last = controller.limits.last
    assert np.abs(last - DYNAMICS.gravity_torque(Q)).max() > 2.0 * rate * STEP
    for index, leap in enumerate((0.0, 0.0, 10.0, 10.0), 1):
        later = controller.update(Q, ZERO, now + leap + STEP * index, now + STEP * index).effort
        assert np.abs(later - last).max() <= rate * STEP
        last = later


def let_go_on(show, states: int, step: float, push: float = 0.0):
    """Answer the states that are told of an arm, and move it by its model.

    Parameters
    ----------
    show : callable
        Takes number of the state, position and velocity; returns those that are told, or None.
    states : int
    step : float
        Time between two of them [s].
    push : float
        At the second joint, from the 700th state on [N m].

    Returns
    -------
    controller : Controller
    fastest : float
        Largest speed of a joint [rad/s].
    """
    controller = node_controller(ROBOT, state_effort='ignore', on_fault='damp')
    q, qd, effort = Q.copy(), np.zeros(6), DYNAMICS.gravity_torque(Q)
    fastest = 0.0
    for index in range(states):
        told = show(index, q, qd)
        if told is not None:
            with contextlib.suppress(StateRefused):
                effort = controller.update(*told, step * index, step * index).effort
        acting = effort + (push if index > 700 else 0.0) * np.eye(6)[1]
        qd = qd + step * COMPILED.forward_dynamics(q, qd, acting)
        q = q + step * qd
        fastest = max(fastest, float(np.abs(qd).max()))
    return controller, fastest


@pytest.mark.kept(4)
@pytest.mark.parametrize(
    ('away', 'drops', 'states', 'bound'),
    [
        *[(away, drops, 1500, 1.5) for away in (0.02, 0.05, 0.2) for drops in (False, True)],
        # For ever: the arm is braked by who tells of motion.
        *[(away, False, 4000, 1.0) for away in (0.01, 0.02, 0.2)],
        *[(away, True, 4000, 1.0) for away in (0.01, 0.02)],
        # States agree now and then: the far pose may be the one that is believed first.
        (0.2, True, 4000, 2.5),
    ],
)
def test_two_publishers_in_turns_do_not_throw_the_arm(away, drops, states, bound) -> None:
    """Of two that say other positions in turns none is right for sure: both brake the arm."""
    rng = np.random.default_rng(2)
    other = Q + away * np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])

    def in_turns(index, q, qd):
        if drops and rng.random() < 0.01:
            return None
        return (other, ZERO) if index >= 200 and index % 2 == 0 else (q, qd)

    assert let_go_on(in_turns, states, 0.001)[1] < bound
