"""The stop of a motion that is given up: without a step, along its way, within its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import DYNAMICS, ROBOT

from ne_dynamics.dynamics.compensation import Compensation, Terms
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import stop
from ne_dynamics.motion.waypoints import DesiredState

SEEDS = range(20)


LIMITS = DemandLimits.of(ROBOT.joints, ROBOT.limits('effort_limit'))
COMPENSATION = Compensation(DYNAMICS, Terms())


def compute(q, qd, qdd):
    """Return the efforts of a motion."""
    return COMPENSATION.effort(q, qd, qdd, qd)


def random_state(seed: int) -> DesiredState:
    """Return a motion that the arm can do."""
    rng = np.random.default_rng(seed)
    return DesiredState(
        rng.uniform(-1.5, 1.5, 6), rng.uniform(-2.5, 2.5, 6), rng.uniform(-4.0, 4.0, 6)
    )


def samples(trajectory, count: int = 201):
    """Return position, velocity and acceleration on the way, shapes (count, n)."""
    times = np.linspace(trajectory.start_time, trajectory.end_time, count)[:-1]
    return [np.array(rows) for rows in zip(*(trajectory.sample(t) for t in times), strict=True)]


@pytest.mark.parametrize('seed', SEEDS)
def test_it_begins_with_the_motion_and_ends_at_rest(seed: int) -> None:
    """Position, velocity and acceleration go on; nothing jumps at the end either."""
    state = random_state(seed)
    found = stop(state, LIMITS, compute, now=3.0)
    for one, other in zip(found.sample(3.0), state, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    end = found.last_moment
    np.testing.assert_allclose(end.position, found.final.position, atol=1e-12)
    np.testing.assert_allclose(end.velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(end.acceleration, 0.0, atol=1e-9)
    positions, velocities, accelerations = samples(found)
    step = (found.end_time - found.start_time) / 200.0
    np.testing.assert_allclose(np.diff(positions, axis=0), velocities[:-1] * step, atol=2e-3)
    np.testing.assert_allclose(np.diff(velocities, axis=0), accelerations[:-1] * step, atol=2e-2)


@pytest.mark.parametrize('seed', SEEDS)
def test_it_leads_along_the_motion(seed: int) -> None:
    """Without acceleration all joints stay on the straight line of the velocity."""
    state = random_state(seed)._replace(acceleration=np.zeros(6))
    positions, _, _ = samples(stop(state, LIMITS, compute, now=0.0))
    way = positions - state.position
    unit = state.velocity / np.linalg.norm(state.velocity)
    along = way @ unit
    np.testing.assert_allclose(way, along[:, np.newaxis] * unit, atol=1e-12)
    assert (np.diff(along) > 0.0).all()


@pytest.mark.parametrize('seed', SEEDS)
def test_it_leaves_the_feedback_a_share_of_the_motors(seed: int) -> None:
    """Where a stop within the limits exists the efforts of the model are within them."""
    limits = replace(
        LIMITS,
        effort=np.array([500.0, 500.0, 250.0, 80.0, 80.0, 80.0]),
        stop_deceleration=np.full(6, 1e3),  # the motors alone say how fast it stops
    )
    found = stop(random_state(seed), limits, compute, now=0.0)
    assert found.end_time < 3.9
    positions, velocities, accelerations = samples(found)
    late = slice(20, None)
    efforts = compute(positions[late], velocities[late], accelerations[late])
    assert (np.abs(efforts) <= 1.05 * 0.8 * limits.effort).all()


@pytest.mark.parametrize('seed', SEEDS)
def test_it_ends_before_a_position_limit(seed: int) -> None:
    """A limit that a stop in 50 ms does not pass is not passed, whatever the limits else."""
    state = random_state(seed)._replace(acceleration=np.zeros(6))
    shortest = np.abs(state.velocity) * 0.05 / 2.0
    room = 1.2 * shortest + 1e-3
    limits = replace(
        LIMITS,
        lower=state.position - room,
        upper=state.position + room,
        stop_deceleration=np.full(6, 1.0),
    )
    positions, _, _ = samples(stop(state, limits, compute, now=0.0))
    assert (np.abs(positions - state.position) <= room).all()


def test_rest_is_held_where_it_is() -> None:
    """At rest, and with the noise of a velocity, the position stays the same to the last bit."""
    position = random_state(2).position
    for speed in (0.0, 1e-3, 9e-3):
        state = DesiredState(position, np.full(6, speed), np.zeros(6))
        found = stop(state, LIMITS, compute, now=0.0)
        np.testing.assert_array_equal(found.sample(0.0).position, position)
        np.testing.assert_array_equal(found.final.position, position)
    slow = DesiredState(position, np.full(6, 1.5e-2), np.zeros(6))
    assert (stop(slow, LIMITS, compute, now=0.0).final.position > position).all()


def test_a_joint_usually_stops_from_its_velocity_limit_in_a_tenth_of_a_second() -> None:
    limits = replace(LIMITS, stop_deceleration=np.full(6, np.inf))
    usual = 10.0 * ROBOT.limits('velocity_limit')
    np.testing.assert_allclose(limits.decelerations_from(np.zeros(6)), usual)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_efforts_that_are_no_numbers_stop_all_the_same(bad: float) -> None:
    """Even when the model has nothing to say there is a stop, of finite numbers."""
    state = random_state(3)
    found = stop(state, LIMITS, lambda q, qd, qdd: np.full(q.shape, bad), now=0.0)
    assert np.isfinite(samples(found)).all()
    assert not found.final.velocity.any()
