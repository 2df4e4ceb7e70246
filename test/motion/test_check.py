"""What a motion asks for, against dense sampling of random splines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.check import check_kinematics, check_motion
from ne_dynamics.motion.joined_states import scaled_coefficients
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import LimitViolation, Quantity, describe, rank
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import (
    Segments,
)
from ne_dynamics.motion.waypoints import DesiredState

JOINTS = (
    Joint('a', lower=-1.0, upper=1.0, velocity_limit=2.0),
    Joint('b', type=JointType.CONTINUOUS, velocity_limit=2.0, acceleration_limit=3.0),
    Joint('c', type=JointType.PRISMATIC, lower=-0.5, upper=0.5, deceleration_limit=4.0),
)
NONE = np.full(3, np.inf)
ROUNDING = 1e-9


def random_segments(seed: int, count: int = 60) -> Segments:
    """Return segments of all orders, durations from a millisecond to seconds."""
    rng = np.random.default_rng(seed)
    durations = 10.0 ** rng.uniform(-3.0, 0.7, count)
    states = [
        DesiredState(
            rng.uniform(-1.0, 1.0, (count, 3)),
            rng.uniform(-3.0, 3.0, (count, 3)),
            rng.uniform(-9.0, 9.0, (count, 3)),
        )
        for _ in range(2)
    ]
    orders = rng.integers(0, 3, count)
    begins = np.concatenate(([0.0], np.cumsum(durations)[:-1]))
    return Segments(begins, durations, scaled_coefficients(orders, durations, *states))


def dense(segments: Segments, count: int = 4000) -> np.ndarray:
    """Return positions, velocities and accelerations, shape (3, count, s, n), by NumPy."""
    share = np.linspace(0.0, 1.0, count)
    duration = segments.durations[:, np.newaxis]
    series = segments.scaled
    states = []
    for order in range(3):
        values = np.moveaxis(np.polynomial.polynomial.polyval(share, series), -1, 0)
        states.append(values / duration**order)
        series = np.polynomial.polynomial.polyder(series)
    return np.array(states)


def limits(**fields: np.ndarray) -> DemandLimits:
    """Return the limits of the joints, some of them others."""
    return replace(DemandLimits.of(JOINTS, NONE), **fields)


def excesses(
    segments: Segments, allowed: DemandLimits
) -> dict[tuple[Quantity, int], LimitViolation]:
    """Return all that is found, the worst of each joint and quantity."""
    found = rank(check_kinematics(segments, allowed))
    return {(each.quantity, each.column): each for each in found}


@pytest.mark.kept(8)
@pytest.mark.parametrize('seed', range(20))
def test_the_extremes_are_those_of_dense_samples(seed: int) -> None:
    """Of what is exceeded the worst value is that of the spline, at the time that is named."""
    segments = random_segments(seed)
    tiny = np.full(3, 1e-6)
    allowed = limits(lower=-tiny, upper=tiny, velocity=tiny, acceleration=tiny, deceleration=tiny)
    found = excesses(segments, allowed)
    position, velocity, acceleration = dense(segments)
    speeds_up = acceleration * velocity > 0.0
    brakes = acceleration * velocity < 0.0
    worst = {
        Quantity.POSITION: np.abs(position),
        Quantity.VELOCITY: np.abs(velocity),
        Quantity.ACCELERATION: np.abs(np.where(speeds_up, acceleration, 0.0)),
        Quantity.DECELERATION: np.abs(np.where(brakes, acceleration, 0.0)),
    }
    for quantity, values in worst.items():
        for joint in range(3):
            excess = found[quantity, joint]
            largest = values[..., joint].max()
            assert abs(excess.value) >= largest * (1.0 - ROUNDING), quantity
            # Between the samples it is no farther than they are apart.
            assert abs(excess.value) <= largest * 1.01 + 1e-9, quantity
            index = int(np.searchsorted(segments.begins, excess.time, side='right')) - 1
            share = (excess.time - segments.begins[index]) / segments.durations[index]
            assert 0.0 <= share <= 1.0 + ROUNDING


def test_the_message_names_joint_time_value_and_limit() -> None:
    """What may not be in any case comes first, then what is worst; units are the joint's. Three
    quantities are named.
    """
    slide = LimitViolation(Quantity.VELOCITY, JOINTS[2], 2, 0.25, -3.0, -1.0)
    turn = LimitViolation(Quantity.POSITION, JOINTS[0], 0, 1.5, -1.25, -1.0)
    push = LimitViolation(Quantity.EFFORT, JOINTS[1], 1, 2.0, 30.0, 10.0)
    more = [push._replace(joint=JOINTS[0], column=0, value=11.0)]
    more.append(push._replace(quantity=Quantity.ACCELERATION, value=10.5))
    text = describe(rank([slide, push, turn, *more]))
    assert text == (
        "points: joint 'a': position of -1.25 rad at 1.5 s, expected at least -1 rad; "
        "joint 'c': velocity of 3 m/s at 0.25 s, expected at most 1 m/s; "
        "joint 'b': effort of 30 N m at 2 s, expected at most 10 N m; and 2 more"
    )


def test_a_motion_may_begin_beyond_a_limit_and_go_no_farther() -> None:
    """From a state beyond the limits they are what that state has."""
    state = DesiredState(np.array((1.2, 0.0, 0.0)), np.array((0.0, 3.0, 0.0)), np.zeros(3))
    wide = DemandLimits.of(JOINTS, np.full(3, 5.0)).widened_to(state, np.array((0.0, 0.0, -7.0)))
    np.testing.assert_array_equal(wide.upper, (1.2, np.inf, 0.5))
    np.testing.assert_array_equal(wide.velocity, (2.0, 3.0, np.inf))
    np.testing.assert_array_equal(wide.effort, (5.0, 5.0, 7.0))


# ---- all of it


def slowed(motion: Motion, factor: float) -> Motion:
    """Return a motion on the same path that takes longer by a factor."""
    coefficients = motion.coefficients / factor ** np.arange(6.0)[:, np.newaxis]
    return Motion(factor * motion.knots, coefficients, motion.initial, motion.final)


def pendulum(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return efforts of joints with a weight, and with an inertia that depends on the others."""
    other = np.roll(q, 1, axis=1)
    return 2.0 * np.sin(q) + (1.5 + np.cos(other)) * qdd - 0.5 * np.sin(other) * qd**2


def fast_way() -> Motion:
    """Return a motion from rest to rest that all limits are too small for."""
    return Motion.rest_to_rest(np.zeros(3), [1.2, 2.0, -0.4], 0.6, now=5.0)


def test_where_a_motion_stands_the_arm_must_be_held() -> None:
    """A rest is a pose; a motion on its way through it is none."""
    resting = Motion.rest_to_rest([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0)
    found = check_motion(resting, limits(effort=np.full(3, 1.5)), None, pendulum)
    assert [(each.quantity, each.column) for each in found] == [(Quantity.HOLDING, 0)]
    assert found[0].slower == np.inf
    moving = Motion.rest_to_rest([1.0, 0.0, 0.0], [1.0, 0.4, 0.0], 1.0)
    assert not check_motion(moving, limits(effort=np.full(3, 1.5)), None, pendulum)


def test_slower_by_the_factor_it_keeps_the_limit_there() -> None:
    """At the same place: velocity by the factor, acceleration and effort by its square."""
    motion = fast_way()
    found = check_motion(motion, limits(effort=np.full(3, 3.0)), pendulum)
    seen = set()
    for each in found:
        if each.quantity is Quantity.POSITION:
            assert each.slower == np.inf
            continue
        seen.add(each.quantity)
        assert each.slower > 1.0
        other = slowed(motion, each.slower).sample(each.slower * each.time)
        values = {
            Quantity.VELOCITY: other.velocity,
            Quantity.EFFORT: pendulum(*(rows[np.newaxis] for rows in other))[0],
        }
        value = values.get(each.quantity, other.acceleration)[each.column]
        assert value == pytest.approx(each.limit, rel=2e-4)
    assert {Quantity.VELOCITY, Quantity.ACCELERATION, Quantity.EFFORT} <= seen
