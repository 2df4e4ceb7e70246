"""What the thresholds of motions come to: sizes of searches, divided paths, points, stops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retimed_paths import (
    CUBICS,
    DYNAMICS,
    END,
    LINES,
    MEAN,
    REST,
    ROBOT,
    START,
    VIA,
    segments_of,
    waypoints_of,
)

from ne_dynamics.dynamics.compensation import Compensation, Terms
from ne_dynamics.motion.annotated.annotation import annotate
from ne_dynamics.motion.braking import AnsweredStates, plan_brake
from ne_dynamics.motion.effort_check import check_efforts
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.time_scaling.path import (
    PathIntervals,
    divide,
    divide_by_way,
    divide_turns,
)
from ne_dynamics.motion.time_scaling.retiming import retime
from ne_dynamics.motion.time_scaling.time_optimal import find_time_optimal, is_corner

COMPENSATION = Compensation(DYNAMICS, Terms(), None, 0.001)
LIMITS = DemandLimits.of(ROBOT.joints, ROBOT.limits('effort_limit'))
HOLDING = np.abs(DYNAMICS.gravity_torque(np.array([START, VIA, END]))).max(axis=0)
BARELY = replace(LIMITS, effort=1.02 * HOLDING + 1.0)
"""Motors that hold the arm with little to move it."""


BACK = waypoints_of((0.0, START, REST), (0.4, VIA, -0.05 * MEAN), (0.9, END, REST))


def straight(way: float, count: int = 1) -> Segments:
    """Return segments of a second, each going a way of all joints together at even speed."""
    scaled = np.zeros((6, count, 6))
    scaled[1] = way / 6.0
    return Segments(np.arange(float(count)), np.ones(count), scaled)


def waves(frequency: float):
    """Return efforts that go up and down along the way."""
    return lambda q, qd, qdd: 9.0 * np.sin(frequency * q)


@pytest.mark.parametrize(
    ('segments', 'frequency', 'motors', 'count'),
    [
        pytest.param(straight(1.0), 0.0, 9.5, 17, id='largest_turn'),
        pytest.param(straight(1.0), 90.0, 8.95, 127, id='effort_resolution'),
        pytest.param(straight(6.0), 1e6, 9.5, 1221, id='most_refined'),
        pytest.param(straight(6.0, 40), 1e6, 9.5, 9726, id='most_of_each'),
    ],
)
def test_a_check_of_efforts_computes_so_many_states(segments, frequency, motors, count) -> None:
    """First as the way asks for, then where a limit is in doubt, and not without end."""
    computed = []

    def counted(q, qd, qdd):
        computed.append(len(q))
        return waves(frequency)(q, qd, qdd)

    check_efforts(segments, counted, replace(LIMITS, effort=np.full(6, motors)))
    assert sum(computed) == count


def test_how_much_slower_is_told_by_a_hundredth_of_the_speed() -> None:
    """Of an effort that grows with the speed a hundredth is taken for what always stays."""
    found = check_efforts(
        straight(1.0), lambda q, qd, qdd: 60.0 * qd, replace(LIMITS, effort=np.full(6, 9.0))
    )
    assert found[0].slower == pytest.approx(np.sqrt((10.0 - 0.1) / (9.0 - 0.1)))


def test_paths_are_divided_by_their_way_and_turns() -> None:
    """Steps of 0.05 rad of all joints, 150 of a short path, more where it turns far."""
    near = waypoints_of((0.0, START, REST), (0.4, START + 0.02, REST))
    assert len(divide(segments_of(near)).durations) == 13
    assert len(divide_by_way(segments_of(near)).durations) == 150
    assert len(divide_by_way(segments_of(CUBICS)).durations) == 151
    assert len(divide_turns(divide_by_way(segments_of(BACK))).durations) == 206


def test_what_turns_by_a_thousandth_is_a_corner() -> None:
    """At rest by 0.001 rad/s, of large velocities by that part more; there a path is passed at a
    hundredth of the speed.
    """
    for speed in (0.0, 5.0):
        change = np.array([0.0011, 0.0009]) * (1.0 + speed)
        assert is_corner(speed + change[:, np.newaxis], speed).tolist() == [True, False]
    path = PathIntervals.of(segments_of(LINES))
    found = find_time_optimal(path, COMPENSATION.effort_or_infinite, LIMITS)
    assert found.squares[found.corners].tolist() == pytest.approx([(0.01 * 0.7) ** 2])


@pytest.mark.parametrize(
    ('limits', 'is_fastest', 'seconds', 'cubic'),
    [
        pytest.param(LIMITS, False, 1.111505, 19, id='acceleration_step_share'),
        pytest.param(LIMITS, True, 0.876643, 20, id='inside_share'),
        pytest.param(BARELY, False, 4.856489, 12, id='spare_effort, nearly_standing_speed'),
    ],
)
def test_new_times_of_a_path(limits, is_fastest, seconds, cubic) -> None:
    """How long it takes with strong motors and with weak ones; points beside steps are cubic."""
    found = retime(DYNAMICS, CUBICS, limits=limits, is_fastest=is_fastest)
    assert found.after == pytest.approx(seconds, abs=2e-5)
    assert found.waypoints.orders.count(1) == cubic
    assert found.deviation < 1e-4


def test_points_of_an_annotated_motion() -> None:
    """Steps are ramped in 0.1 ms; whatever the tolerance, samples are half a radian apart."""
    found = annotate(DYNAMICS, ROBOT.joint_names, CUBICS, effort_tolerance=0.5)
    assert (len(found), found.steps) == (20, 2)
    assert np.diff(found.nanoseconds).min() == 100_000
    far = START + np.array([5.0, 0.0, 0.0, 5.0, 0.0, 5.0])
    long_way = waypoints_of((0.0, START, REST), (9.0, far, REST))
    found = annotate(DYNAMICS, ROBOT.joint_names, long_way, effort_tolerance=1e9)
    assert len(found) == 5


def answer(states: AnsweredStates, times, velocity, unknown=0.0) -> None:
    """Append states of an even motion and their commands."""
    for time in times:
        position = START + velocity * time
        effort = COMPENSATION.effort(
            *(each[np.newaxis] for each in (position, velocity, REST, velocity))
        )
        states.append(time, position, velocity, effort[0] + unknown)


def test_the_last_states_tell_what_the_model_does_not_know() -> None:
    """Of 64 states at most, three at least, those of the last 50 ms."""
    velocity = np.full(6, 0.3)
    states = AnsweredStates()
    answer(states, 0.002 * np.arange(3), velocity)
    assert states.last is not None
    answer(states, 0.002 * np.arange(3, 20), velocity, unknown=50.0)
    answer(states, 0.04 + 0.002 * np.arange(26), velocity, unknown=5.0)
    np.testing.assert_allclose(states.observe_motion(COMPENSATION.effort)[1], 5.0, atol=1e-6)
    answer(states, 0.1 + 0.002 * np.arange(60), velocity)
    assert len(states) == 64


def test_a_stop_that_efforts_are_too_slow_for_is_gentler() -> None:
    """A quarter of the deceleration takes four times the time, where a stop may take that."""
    states = AnsweredStates()
    answer(states, 0.002 * np.arange(30), np.full(6, 0.3))
    quick = replace(LIMITS, stop_deceleration=np.full(6, 20.0))
    lengths = []
    for rate in (np.inf, 4000.0):
        brake = plan_brake(
            states,
            COMPENSATION.effort,
            quick,
            silent_for=0.01,
            period=0.002,
            rates=np.full(6, rate),
        )
        lengths.append(len(brake.efforts))
    assert lengths == [11, 51]
