"""How commands go over from one to the next, and how a loop is checked: by the numbers."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.observer import MomentumObserver
from ne_dynamics.control.slew import needed_slew, refuse_slow_rates


def standing(**changes) -> Controller:
    """Return a controller of an arm at rest."""
    controller = Controller(make_tuning(**changes))
    controller.update(Q, ZERO, 0.0)
    return controller


@pytest.mark.parametrize(('elapsed', 'learns'), [(0.099, True), (0.101, False)])
def test_states_that_are_far_apart_teach_the_observer_nothing(elapsed, learns) -> None:
    """The residuals stay."""
    observer, law = MomentumObserver(10.0, 10.0), standing().tuning.law
    for now in (0.0, 0.01, 0.01 + elapsed):
        before = observer.residuals
        observer.update(law, Q, ZERO, ZERO, ZERO, now)
    assert (observer.residuals is not before) == learns


def law_of(kp: float, kv: float) -> ControlLaw:
    """Return a law with the same gains for all joints."""
    gains = Gains.from_values(kp, kv, 6)
    return ControlLaw(DYNAMICS, Mode.COMPUTED_TORQUE, gains)


def test_the_rate_that_is_needed() -> None:
    """Half the effort limit by the crossover frequency, of 12 rad/s at the least."""
    np.testing.assert_allclose(needed_slew(law_of(1.0, 1.0), LIMITS), 0.5 * 12.0 * LIMITS)
    crossover = sqrt(0.5 * (20.0**2 + np.hypot(20.0**2, 200.0)))
    np.testing.assert_allclose(needed_slew(law_of(100.0, 20.0), LIMITS), 0.5 * crossover * LIMITS)


def test_the_push_that_a_slow_rate_must_bear() -> None:
    """A fifth of the effort limit, for 0.2 s."""
    rates = np.full(6, 1e-3 * LIMITS.max())
    (text,) = refuse_slow_rates(law_of(400.0, 4.0), LIMITS, rates, ROBOT.joint_names)
    joint = next(k for k, name in enumerate(ROBOT.joint_names) if f'{name!r}' in text)
    assert f'after a push of {0.2 * LIMITS[joint]:.4g} N m or N for 0.2 s' in text


@pytest.mark.parametrize(('period', 'is_checked'), [(1.45, False), (1.55, True)])
def test_a_loop_is_checked_again_where_states_come_half_as_often_again(
    monkeypatch, period, is_checked
) -> None:
    """Up to then what was found counts."""
    controller = node_controller(ROBOT)
    rate, checks = controller.accept.rate, []
    monkeypatch.setattr(controller.check, 'check_activation', lambda: checks.append(None) or ())
    controller.update(Q, ZERO, 0.0)
    for _ in range(20):
        rate.learn(0.01)
    controller.check.find_unstable_loop()
    assert len(checks) == 1
    monkeypatch.setattr(type(rate), 'period', 0.01 * period)
    controller.check.find_unstable_loop()
    assert len(checks) == 1 + is_checked


DRIVES = {
    'command.interfaces': ('position', 'velocity', 'effort'),
    'mode': 'feedforward',
    'state_effort': 'ignore',
}


@pytest.mark.parametrize(('periods', 'goes_on'), [(3.9, False), (4.1, True)])
def test_drives_continue_from_the_last_command_after_four_periods(periods, goes_on) -> None:
    """Before that the desired motion is where it is by then."""
    controller, now = node_controller(ROBOT, **DRIVES), 0.0
    for _ in range(30):
        now += 0.01
        controller.update(Q, ZERO, now, now)
    controller.limits.setpoint = controller.limits.setpoint._replace(position=Q + 0.01)
    now += 0.01 * periods
    found = controller.update(Q, ZERO, now, now)
    assert (np.abs(found.desired.position - Q).max() > 1e-6) == goes_on


@pytest.mark.parametrize(('share', 'is_sent'), [(0.97, True), (1.03, False)])
def test_drives_are_led_to_where_an_arm_gets_in_50_ms(share, is_sent) -> None:
    """After a fault; where it is farther away they are set there at once."""
    controller, now = node_controller(ROBOT, **DRIVES, on_fault='leave'), 0.0
    for _ in range(30):
        now += 0.01
        controller.update(Q, ZERO, now, now)
    far = Q + share * 0.05 * ROBOT.limits('velocity_limit')[0] * np.eye(6)[0]
    now += 1.0
    found = controller.update(far, ZERO, now, now)
    assert found.fault is not None
    assert (np.abs(found.desired.position - Q).max() < 1e-6) == is_sent
