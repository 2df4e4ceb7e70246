"""How fast a path may be followed: beyond no limit, always at one, whatever the limits are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import ROBOT
from timed_paths import TimedPath

from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.time_scaling.path import PathIntervals
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimalProfile, find_time_optimal

SHARES = (np.arange(4) + 0.5) / 4
"""Where an interval is looked at."""


NONE = np.full(6, np.inf)
UNLIMITED = replace(
    DemandLimits.of(ROBOT.joints, NONE), velocity=NONE, acceleration=NONE, deceleration=NONE
)
"""No limits but those of positions."""


def loads_along(timed, limits, taken):
    """Return what a plan takes of the limits inside of intervals, shape (samples, N)."""
    path = timed.path
    changes = np.diff(taken) / (2.0 * path.durations)
    largest = []
    for share in SHARES:
        places = path.begins + share * path.durations
        rows = [timed.trajectory.sample(place) for place in places]
        q, way, curve = (np.array(each) for each in zip(*rows, strict=True))
        square = (taken[:-1] + share * np.diff(taken))[:, np.newaxis]
        velocity = way * np.sqrt(square)
        acceleration = curve * square + way * changes[:, np.newaxis]
        parts = (
            timed.efforts.moving(q, velocity, acceleration) / limits.effort,
            velocity / limits.velocity,
            acceleration / limits.acceleration,
        )
        largest.append(np.abs(np.concatenate(parts, axis=1)).max(axis=1))
    return np.array(largest)


@pytest.mark.kept(2)
@pytest.mark.parametrize('kind', ['plain', 'stribeck', 'load', 'accelerations'])
def test_no_limit_is_left_and_one_is_always_met(kind) -> None:
    """By dense inverse dynamics, 3 % beyond where friction turns; slower only at a limit."""
    robot, rng = ROBOT, np.random.default_rng(8)
    models = {
        'stribeck': FrictionModel(
            static_friction=9.0, stribeck_velocity=0.1, smoothing_velocity=0.02
        ),
        'load': FrictionModel(load_coefficient=0.1, smoothing_velocity=0.02),
    }
    if kind in models:
        joints = [
            replace(joint, coulomb_friction=5.0, friction=models[kind]) for joint in robot.joints
        ]
        robot = replace(robot, joints=tuple(joints))
    for _ in range(3):
        timed = TimedPath(robot, rng)
        limits = timed.limits(rng)
        if kind == 'accelerations':
            largest = np.abs(timed.path.acceleration).max(axis=(0, 1))
            limits = replace(limits, acceleration=0.6 * largest, deceleration=0.6 * largest)
        _, profile, taken = timed.plan(limits)
        loads = loads_along(timed, limits, taken)
        assert loads.max() < (1.005 if kind in ('plain', 'accelerations') else 1.03)
        # Faster than sent is not asked for, and how it begins and ends is given.
        is_slower = np.minimum(taken[:-1], taken[1:]) < 0.98
        inner = slice(2, -2)
        # What counts at both ends may be met at either, within an interval's change.
        near = np.maximum(loads[:, :-1].max(axis=0), loads[:, 1:].max(axis=0))
        assert is_slower.sum() > 20
        assert np.quantile(near[inner][is_slower[:-1][inner]], 0.02) > 0.9
        assert (taken <= profile.squares + 1e-12).all()


def test_velocities_may_be_all_that_is_limited() -> None:
    """Without limits of efforts and accelerations the fastest joint is at its limit."""
    timed = TimedPath(ROBOT, np.random.default_rng(1))
    largest = np.abs(timed.path.velocity).max(axis=(0, 1))
    limits = replace(UNLIMITED, velocity=0.5 * largest)
    _, _, taken = timed.plan(limits)
    speeds = np.sqrt(taken[:-1, np.newaxis]) * np.abs(timed.path.velocity[0]) / limits.velocity
    assert speeds.max() == pytest.approx(1.0)
    slower = taken[:-1] < 0.99
    assert slower.any()
    np.testing.assert_allclose(speeds.max(axis=1)[slower], 1.0, rtol=1e-9)


@pytest.mark.parametrize('scale', [1e-3, 1e-2, 10.0])
def test_times_of_the_sender_do_not_matter_to_the_fastest_motion(scale) -> None:
    """The same path in another time takes as long, also where that asked for a thousandth."""
    durations = []
    for each in (1.0, scale):
        rng = np.random.default_rng(2)
        timed = TimedPath(ROBOT, rng, scale=each)
        effort = np.full(6, 400.0)
        limits = replace(UNLIMITED, effort=effort, velocity=np.full(6, 2.0))
        fastest = 30.0 * each
        found, _, _ = timed.plan(limits, fastest=fastest, begin=0.0, end=0.0)
        durations.append(found.passed[-1])
    assert durations[1] == pytest.approx(durations[0], rel=0.05)


def test_a_slide_of_millimetres_takes_what_constant_acceleration_takes() -> None:
    """In closed form: 2 sqrt(way / acceleration), for a joint that goes 1e-5 to 1e3 as far."""
    for way in (1e-5, 1e-3, 1.0, 1e3):
        scaled = np.zeros((6, 1, 1))
        scaled[1] = way
        path = PathIntervals.of(Segments(np.zeros(1), np.ones(1), scaled))
        hardest = np.array([2.0 * way])
        limits = replace(
            DemandLimits.of(ROBOT.joints[:1], NONE[:1]),
            velocity=NONE[:1],
            acceleration=hardest,
            deceleration=hardest,
        )
        found = find_time_optimal(
            path, lambda *motion: motion[2], limits, fastest=100.0, begin=0.0, end=0.0
        )
        assert found.passed[-1] == pytest.approx(2.0 * np.sqrt(0.5), rel=0.03)


@pytest.mark.parametrize(
    ('time', 'square'),
    [(0.9, np.inf), (1.0, 4.0), (1.5, 6.5), (2.0, 9.0), (3.0, 5.0), (4.0, np.inf)],
)
def test_squares_of_speeds_are_linear_between_points_and_unknown_beyond(time, square) -> None:
    profile = TimeOptimalProfile(np.array([1.0, 2.0, 4.0]), np.array([4.0, 9.0, 1.0]))
    assert profile.speed_at(time) == pytest.approx(np.sqrt(square))
