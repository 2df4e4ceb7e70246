"""A command of another nature takes over without a step, and the feedback is not touched."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.control.tuning import LastCommand, Tuning
from ne_dynamics.dynamics.compensation import Terms
from ne_dynamics.model.rigid_body import Inertia

LOAD = ROBOT.payload_parameters(Inertia(3.0, (0.0, 0.0, 0.05), np.zeros((3, 3))), 'tcp')
PERIOD = 0.002
STEEPEST = 2.45 / COMMAND.transition_time
"""Largest slope of an offset of 1 [1/s]: END / e / transition time."""


def state(now: float):
    """Return position and velocity of an arm that is moved about."""
    phase = np.arange(6.0) + 9.0 * now
    return Q + 0.05 * np.sin(phase), 0.45 * np.cos(phase)


def raw(chosen: Tuning, now: float, desired, wrench=None):
    """Return the effort of a law alone."""
    position, velocity = state(now)
    return chosen.law.effort(position, velocity, desired, wrench)


CHANGES = {
    'mode': (make_tuning(), make_tuning(Mode.FEEDFORWARD_PD, kp=90.0, kv=6.0)),
    'to gravity': (make_tuning(), make_tuning(Mode.GRAVITY_COMPENSATION)),
    'feedforward': (make_tuning(Mode.FEEDFORWARD), make_tuning()),
    'gains': (make_tuning(), make_tuning(kp=900.0, kv=60.0)),
    'terms': (make_tuning(), make_tuning(terms=Terms(gravity=False))),
    'load': (make_tuning(), make_tuning(payload=LOAD)),
}


@pytest.mark.parametrize('name', CHANGES)
def test_another_tuning_makes_no_step(name: str) -> None:
    """Where the tuning changes the command differs from the one before by what the old law says
    of the two states; then the offset that makes it so decays, never faster than it can.
    """
    before, after = CHANGES[name]
    controller = Controller(before)
    for step in range(50):
        command = controller.update(*state(PERIOD * step), PERIOD * step)
    controller.adopt(after)
    now = PERIOD * 50
    next_command = controller.update(*state(now), now)
    own = raw(before, now, command.desired) - raw(before, now - PERIOD, command.desired)
    np.testing.assert_allclose(next_command.effort - command.effort, own, atol=1e-9)
    offset = first = next_command.effort - raw(after, now, next_command.desired)
    assert np.abs(first).max() > 2.0
    largest = STEEPEST * PERIOD * np.abs(first).max()
    for step in range(51, 51 + round(3 * COMMAND.transition_time / PERIOD)):
        now = PERIOD * step
        command = controller.update(*state(now), now)
        left = command.effort - raw(after, now, command.desired)
        assert np.abs(left - offset).max() <= largest
        assert (np.abs(left) <= np.abs(offset) + 1e-9).all()
        if step == 50 + round(COMMAND.transition_time / PERIOD):
            np.testing.assert_allclose(left, 0.01 * first, atol=1e-9)
        offset = left
    np.testing.assert_allclose(left, 0.0, atol=1e-9)


@pytest.mark.parametrize('measured', [None, ZERO, np.full(6, np.nan), np.full(6, 1e4)])
def test_an_effort_that_says_nothing_is_no_beginning(measured) -> None:
    """None, zero of all motors, no number, or more than motors can: gravity counts at once."""
    controller = Controller(make_tuning())
    command = controller.update(Q, ZERO, 0.0, measured_effort=measured)
    np.testing.assert_allclose(command.effort, DYNAMICS.gravity_torque(Q), atol=1e-9)


@pytest.mark.parametrize('last', [LastCommand.GRAVITY, LastCommand.ZERO])
def test_the_last_command_is_a_ramp_in_time(last: LastCommand) -> None:
    """From the last command to what is asked for over the transition time, at most 0.5 s."""
    for transition_time in (0.1, 1.0):
        controller = Controller(make_tuning(transition_time=transition_time))
        controller.update(Q, ZERO, 0.0)
        before = controller.update(Q, np.full(6, -2.0), PERIOD).effort
        target = DYNAMICS.gravity_torque(Q) if last is LastCommand.GRAVITY else ZERO
        ramp_commands = np.array(list(controller.machine.last_commands(last)))
        duration = min(transition_time, 0.5)
        assert len(ramp_commands) == round(duration / 0.002)
        assert controller.machine.is_left
        np.testing.assert_array_equal(ramp_commands[-1], target)
        steps = np.diff([before, *ramp_commands], axis=0)
        largest = 1.5 * np.abs(target - before) * 0.002 / duration
        assert (np.abs(steps) <= largest + 1e-9).all()


def test_lower_limits_count_at_once() -> None:
    """A limit that is lowered holds for the next command, whatever came before."""
    controller = Controller(make_tuning())
    controller.update(Q, ZERO, 0.0, measured_effort=DYNAMICS.gravity_torque(Q) + 10.0)
    controller.adopt(make_tuning(effort_limits=np.full(6, 10.0)))
    assert np.abs(controller.update(Q, ZERO, PERIOD).effort).max() <= 10.0


def test_many_changes_keep_no_offset_up() -> None:
    """Two tunings in turn, every 4 ms for ever: the command stays between what the two ask for,
    the feedback goes on, and the offset is as small as the difference of the two.
    """
    one, other = make_tuning(), make_tuning(payload=LOAD)
    controller = Controller(one)
    measured = DYNAMICS.gravity_torque(Q) + 0.15 * LIMITS
    command = controller.update(Q, ZERO, 0.0, measured_effort=measured)
    np.testing.assert_allclose(command.effort, measured)
    for step in range(1, 600):
        now = PERIOD * step
        if step % 2:
            controller.adopt((one, other)[step // 2 % 2])
        command = controller.update(*state(now), now)
    efforts = [raw(each, now, command.desired) for each in (one, other)]
    band = np.abs(efforts[0] - efforts[1])
    assert band.max() > 5.0
    assert (command.effort >= np.min(efforts, axis=0) - 0.6 * band - 0.1).all()
    assert (command.effort <= np.max(efforts, axis=0) + 0.6 * band + 0.1).all()


def test_a_command_that_is_refused_does_not_end_the_transition() -> None:
    """The next state that can be answered goes on from the last command all the same."""
    controller = Controller(make_tuning())
    last = controller.update(Q, ZERO, 0.0).effort
    controller.adopt(make_tuning(payload=LOAD))
    with np.errstate(all='ignore'), pytest.raises(ValueError, match='finite'):
        controller.update(Q, np.full(6, 1e200), PERIOD)
    np.testing.assert_allclose(controller.update(Q, ZERO, 2 * PERIOD).effort, last, atol=1e-9)
