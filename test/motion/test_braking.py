"""The stop of an arm whose states have stopped: what it is made of, and when there is none."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import DYNAMICS, ROBOT

from ne_dynamics.dynamics.compensation import Compensation, Terms
from ne_dynamics.errors import InputError
from ne_dynamics.motion.braking import AnsweredStates, plan_brake, predict
from ne_dynamics.motion.joint_limits import DemandLimits

LIMITS = DemandLimits.of(ROBOT.joints, ROBOT.limits('effort_limit'))
COMPENSATION = Compensation(DYNAMICS, Terms(), None, 0.001)
compute_efforts = COMPENSATION.effort
PERIOD = 0.002
Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
SPEED = np.array([0.8, -0.5, 0.6, 1.0, -0.7, 0.9])


def steady_motion(unknown=0.0, speed=SPEED, count=30):
    """Return states of a motion of constant acceleration, and what was commanded."""
    acceleration = np.array([1.0, 0.5, -2.0, 1.0, 0.0, -1.0]) if speed.any() else np.zeros(6)
    states = AnsweredStates()
    for index in range(count):
        time = PERIOD * (index + 1 - count)
        position = Q + speed * time + acceleration * time**2 / 2.0
        velocity = speed + acceleration * time
        effort = compute_efforts(position, velocity, acceleration, velocity) + unknown
        states.append(100.0 + time, position, velocity, effort)
    return states


def plan(states, silent_for=0.1):
    """Plan a brake with the arm's limits."""
    return plan_brake(states, compute_efforts, LIMITS, silent_for=silent_for, period=PERIOD)


@pytest.mark.parametrize('seed', range(8))
def test_the_prediction_is_the_simulation(seed: int) -> None:
    """Under a constant effort the model of an arm with damping goes where MuJoCo's arm goes."""
    mujoco_model = pytest.importorskip(
        'ne_dynamics.simulation.mujoco_model', reason='MuJoCo is not installed'
    )
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.0, 2.0, 6)
    effort = DYNAMICS.inverse_dynamics(q, np.zeros(6), rng.uniform(-3.0, 3.0, 6))
    found = predict(q, np.zeros(6), effort, compute_efforts, 0.1)
    arm = mujoco_model.MujocoArm(ROBOT, period=0.0005, integrator='implicitfast')
    arm.reset(q)
    for _ in range(200):
        before = arm.velocity.copy()
        arm.step(effort)
    assert np.abs(arm.velocity).max() > 0.1
    np.testing.assert_allclose(found.position, arm.position, atol=2e-3)
    np.testing.assert_allclose(found.velocity, arm.velocity, atol=0.02)
    np.testing.assert_allclose(found.acceleration, (arm.velocity - before) / 0.0005, atol=1.0)


def test_the_first_effort_goes_on_from_the_last_and_the_end_is_ahead() -> None:
    """The brake begins with the effort that the motors keep; the arm ends farther on its way."""
    unknown = np.array([5.0, -8.0, 3.0, 1.0, 0.5, -0.2])
    states = steady_motion(unknown)
    brake = plan(states)
    assert brake is not None
    assert len(brake.efforts) * PERIOD <= 0.25 + PERIOD
    step = np.abs(brake.efforts[0] - states.last.effort)
    # The first is a period on its way: of a stop that takes a tenth of a second, say.
    assert (step <= 0.1 * LIMITS.effort).all()
    way = brake.end - Q
    shortest, longest = 0.05, 0.1 + 0.25
    assert (way * np.sign(SPEED) > shortest * np.abs(SPEED)).all()
    assert (np.abs(way) < longest * (np.abs(SPEED) + 0.3)).all()


def test_an_arm_that_should_be_four_times_as_fast_as_usual_is_not_known() -> None:
    """What carries on for no time at all is the motion that was seen."""
    for factor, is_known in ((2.5, True), (4.0, False)):
        speed = np.zeros(6)
        speed[5] = factor * LIMITS.usual[5]
        brake = plan(steady_motion(speed=speed), 0.0)
        assert (brake is not None) == is_known


def test_a_brake_takes_a_quarter_of_a_second_at_the_most() -> None:
    slow = replace(LIMITS, stop_deceleration=np.full(6, 0.5))
    states = steady_motion()
    brake = plan_brake(states, compute_efforts, slow, silent_for=0.1, period=PERIOD)
    assert len(brake.efforts) * PERIOD == pytest.approx(0.25)


def test_there_is_nothing_to_brake() -> None:
    assert plan(steady_motion(speed=np.zeros(6))) is None
    assert plan(AnsweredStates()) is None
    assert plan(steady_motion(count=2)) is None
    states = steady_motion()
    assert plan(states, 0.5) is not None
    assert plan(states, 0.51) is None
    assert plan(states, -0.01) is None
    assert plan(states, np.nan) is None
    states.clear()
    assert plan(states) is None


@pytest.mark.parametrize(
    ('field', 'value'), [(2, 50.0), (2, 1e200), (3, 1e5), (3, 1e300)], ids=str
)
def test_a_prediction_that_cannot_be_is_none(field: int, value: float) -> None:
    """Speeds beyond any of the arm's, or efforts that would bring them about, brake nothing."""
    last = steady_motion().last
    states = AnsweredStates()
    for index in range(5):
        row = [last.time + PERIOD * index, *(np.array(each) for each in last[1:])]
        if index == 4 or field != 3:
            row[field] = np.full(6, value)
        states.append(*row)
    with suppress(InputError):
        assert plan(states) is None
