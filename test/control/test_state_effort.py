"""Where a first command begins, by what the efforts of the joint states mean."""

from __future__ import annotations

import numpy as np
import pytest
from tuned_arm import DYNAMICS, LIMITS, ROBOT, ZERO, Q, make_tuning

from ne_dynamics.control.controller import Controller
from ne_dynamics.control.sensors.state_effort import StateEffort, find_beginning
from ne_dynamics.dynamics.compensation import Terms

GRAVITY = DYNAMICS.gravity_torque(Q)
TORQUE, WITHOUT, IGNORE = StateEffort


def first_command(reading, meaning=TORQUE, *, gravity=True, rates=()):
    """Return the answer to a first state."""
    terms = Terms(gravity=gravity)
    controller = Controller(make_tuning(state_effort=meaning, terms=terms, effort_rates=rates))
    return controller.update(Q, ZERO, 0.0, measured_effort=reading)


def beginning(reading, *, holding=GRAVITY, gravity=GRAVITY, commands_gravity=True, limits=LIMITS):
    """Return where a command begins, by what holds the arm and by its weight."""
    return find_beginning(
        reading,
        TORQUE,
        holding=holding,
        gravity=gravity,
        commands_gravity=commands_gravity,
        limits=limits,
        joint_names=ROBOT.joint_names,
    )


@pytest.mark.parametrize('gravity', [True, False], ids=['commanded', 'compensated'])
@pytest.mark.parametrize('meaning', [TORQUE, WITHOUT])
@pytest.mark.parametrize('rates', [(), (5000.0,)], ids=['no rate limit', 'rate limit'])
@pytest.mark.parametrize('size', [-1.0, 3.0, 100.0])
def test_a_reading_in_other_units_is_no_beginning(meaning, gravity, rates, size) -> None:
    """The wrong sign or another unit is said, and the command begins at the model's effort."""
    reading = size * GRAVITY if meaning is TORQUE else np.array([0, 0, 40.0 * size, 0, 0, 0])
    command = first_command(reading, meaning, gravity=gravity, rates=rates)
    np.testing.assert_allclose(command.effort, GRAVITY if gravity else ZERO, atol=1e-9)
    assert "joint 'joint_3'" in command.unused_effort
    assert f'state_effort: {meaning.value}' in command.unused_effort
    assert f'got {reading[2]:.3g}' in command.unused_effort
    assert 'begins at the effort of the model' in command.unused_effort


def test_what_the_motors_cannot_do_is_no_beginning() -> None:
    """Limits that were lowered below what the motors carry: beyond them nothing begins."""
    limits = np.abs(GRAVITY) + 1e-6
    found = beginning(GRAVITY * 1.01, limits=limits)
    assert found.effort is None
    assert 'beyond the effort limit' in found.refusal


@pytest.mark.parametrize('gravity', [0.0, 1e-15], ids=['none', 'rounding'])
def test_without_limits_and_gravity_any_number_is_a_beginning(gravity) -> None:
    """There is nothing to tell by; with limits there is, and huge numbers raise no warning."""
    weight, none = np.full(6, gravity), np.full(6, np.inf)
    for limits, reading in ((none, 1e300), (none, 3.0), (LIMITS, 1e300)):
        with np.errstate(all='raise'):
            found = beginning(np.full(6, reading), holding=weight, gravity=weight, limits=limits)
        assert (found.effort is None) == np.isfinite(limits).all()
