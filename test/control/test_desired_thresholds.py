"""The thresholds of streams and paces: just within nothing happens, just beyond it does."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from motion_loop import node_controller
from tuned_arm import LIMITS, ROBOT, ZERO, Q, make_waypoints

from ne_dynamics.control.desired.motion_request import MotionRequest
from ne_dynamics.control.desired.path_parameter import Band, PathParameter
from ne_dynamics.control.desired.position_stream import (
    ENDINGS,
    PositionStream,
    SentPoints,
    StreamRate,
    going_on,
    returned,
)
from ne_dynamics.control.desired.time_scaling import TimeScaling
from ne_dynamics.control.tick import Tick
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimalProfile
from ne_dynamics.motion.waypoints import TrajectoryPoint

DEMAND = DemandLimits.of(ROBOT.joints, LIMITS)


def clock_of(speed: float = 1.0, target: float = 1.0, change: float = 0.0) -> PathParameter:
    """Return the clock of a motion."""
    clock = PathParameter(0.0, 0.0)
    clock.speed, clock.target, clock.change = speed, target, change
    return clock


def is_moving(speed: float) -> bool:
    """Return whether a motion that is given up moves yet."""
    clock = clock_of(speed)
    clock.is_stopping = True
    return not clock.has_stopped


def speeds_up_no_more(time: float) -> bool:
    """Return whether a motion has ended to speed up, without a state for so long."""
    clock = clock_of(speed=0.0, target=10.0, change=1.0)
    return clock.ahead(time)[1] == clock.ahead(10.0)[1]


def pace_is_lost(late: float, periods: float = 1.0) -> bool:
    """Return whether a message that is late by a part of the period is none of a pace."""
    return StreamRate(0.0, 1.0, is_told=True).after(periods + late) is None


def request(time: float = 0.03, count: int = 1) -> MotionRequest:
    """Return points of positions alone."""
    points = [TrajectoryPoint(time * k, Q, (), ()) for k in range(1, count + 1)]
    ending = ENDINGS[0]
    return MotionRequest(make_waypoints(*points), None, Interpolation.SPLINES, ending)


def stream_of(*times: float) -> PositionStream:
    """Return a stream of single points that were sent."""
    stream = PositionStream(0.1)
    for time in times:
        stream.remember(replace(request(), start_time=time), time)
    return stream


def is_another_motion(gap: float) -> bool:
    """Return whether points that are so many intervals apart are of two motions."""
    dense = [0.03 * k for k in range(6)]
    sent = replace(request(0.03, 8), start_time=0.15 + 0.03 * gap)
    return not stream_of(*dense).goes_on(sent, sent.start_time)


def scaling_of(submit=None):
    """Return a pace that is slowed down, and its motion."""
    scaling = TimeScaling(submit or (lambda *_: Future()))
    scaling.configure(DEMAND, slows_down=True)
    way = Motion.rest_to_rest(Q, Q + 0.1, 100.0, now=0.0)
    scaling.advance(way, 0.0)
    return scaling, way


class Efforts:
    """Efforts that are the same everywhere."""

    def __init__(self, share: float = 0.0) -> None:
        self._effort = share * LIMITS

    def moving(self, q, qd, qdd):
        """Return them."""
        return self._effort[np.newaxis]


def is_planned_anew(share: float) -> bool:
    """Return whether a holding effort that changes by a share has a path planned anew."""
    asked = []
    scaling, way = scaling_of(lambda *arguments: asked.append(arguments) or Future())
    moved = way.sample(0.0).velocity
    none = {'has_begun': False, 'is_outdated': False}
    scaling.take(None, Efforts(), 0.0, moved, moved, **none)
    scaling.reconsider(way, lambda: Efforts(share))
    return len(asked) == 1


@pytest.mark.parametrize(
    ('value', 'happens'),
    [
        pytest.param(0.001, is_moving, id='standing_speed'),
        pytest.param(0.1, speeds_up_no_more, id='longest_time_step'),
        pytest.param(0.25, pace_is_lost, id='regular_share'),
        pytest.param(20.5, lambda periods: pace_is_lost(0.0, round(periods)), id='most_periods'),
        pytest.param(6.5, is_another_motion, id='longest_gap'),
        pytest.param(0.02, is_planned_anew, id='changed_share'),
    ],
)
def test_it_happens_beyond_the_threshold_and_not_before(value: float, happens) -> None:
    """3 % below nothing is said or done, 3 % above it is."""
    assert not happens(0.97 * value)
    assert happens(1.03 * value)


@pytest.mark.parametrize(('is_stopping', 'rate'), [(False, 5.0), (True, 50.0)])
def test_a_speed_changes_at_a_rate_that_is_reached_in_25_ms(is_stopping, rate) -> None:
    """Scaled to nothing, and given up."""
    clock = clock_of(speed=100.0, target=0.0)
    clock.is_stopping = is_stopping
    changes = [clock.choose(Band(), 0.001) for _ in range(60)]
    assert changes[-1] == -rate
    assert changes.index(-rate) == pytest.approx(25, abs=1)


def test_a_profile_is_kept_to_over_10_ms_and_exceeded_for_a_motor_by_3_percent() -> None:
    """Where the motor needs the motion to speed up it may, up to there."""
    clock = clock_of(speed=1.2, target=2.0)
    clock.profile = TimeOptimalProfile(np.array([-1.0, 1.0]), np.ones(2))
    assert clock.choose(Band(-90.0, 90.0), 0.002) == pytest.approx(-0.2 / 0.01)
    clock = clock_of(speed=1.0, target=2.0)
    clock.profile = TimeOptimalProfile(np.array([-1.0, 1.0]), np.ones(2))
    assert clock.choose(Band(50.0, 90.0), 0.002) == pytest.approx(0.03 / 0.01)


def test_a_pace_is_told_by_three_messages_and_then_by_a_line_through_two_hundred() -> None:
    """A period that the points say counts as a hundred."""
    pace = StreamRate(0.0, 1.0, is_told=False)
    for count in range(1, 5):
        assert (pace.start_of(float(count)) is not None) == (count >= 3)
        pace = pace.after(float(count))
    for told, known in ((True, 101), (False, 1)):
        found = StreamRate(0.0, 1.0, told).after(1.1)
        assert found.period - 1.0 == pytest.approx(6.0 * 0.1 / ((known + 1) * (known + 2)))
    found = StreamRate(0.0, 1.0, True, count=500).after(1.1)
    assert found.period - 1.0 == pytest.approx(6.0 * 0.1 / (201 * 202))


def test_a_stream_has_two_points_before_and_its_end_follows_three() -> None:
    """Those before them do not count."""
    assert not stream_of(0.0).goes_on(request(), 0.03)
    assert stream_of(0.0, 0.03).goes_on(request(), 0.06)
    rng = np.random.default_rng(0)
    positions = rng.uniform(-0.01, 0.01, (6, 6))
    waypoints = request().waypoints
    ends = []
    for changed in (None, 2, 3):
        moved = positions.copy()
        if changed is not None:
            moved[changed] += 0.01
        past = SentPoints(0.03 * np.arange(-5, 1), Q + moved)
        ends.append(going_on(waypoints, past, 0.0, 0.03, ENDINGS[0]).velocities[-1])
    np.testing.assert_array_equal(ends[0], ends[1])
    assert not np.allclose(ends[0], ends[2])


def test_a_stream_goes_on_for_as_long_as_messages_took_a_quarter_more_and_0_15_s_at_most() -> None:
    """Times are those of the points behind the last one."""

    def end_of(*starts: float) -> float:
        sent = request(0.01, 1)
        stream = PositionStream(0.1)
        for start in starts[:-1]:
            stream.remember(replace(sent, start_time=start), start)
        last = replace(sent, start_time=starts[-1])
        return stream.extended(last, starts[-1]).times[-1] - 0.01

    assert end_of(0.0, 0.02, 0.04) == pytest.approx(2.0 * 0.02 - 0.01 + 0.005)
    assert end_of(0.0, 0.02, 0.05) == pytest.approx(2.0 * 1.25 * 0.02 - 0.01 + 0.005)
    assert end_of(0.0, 0.09, 0.18) == pytest.approx(0.15)


@pytest.mark.parametrize('way', [0.001, 1.0])
def test_the_way_back_takes_half_of_what_is_usual(way: float) -> None:
    """And a tenth of a second at the least."""
    there = Motion.hold(Q, now=0.0)
    one = np.eye(6)[0]
    found = returned(
        there, make_waypoints(TrajectoryPoint(1.0, Q + way * one, ZERO, ZERO)), DEMAND
    )
    speed = 1.875 * way / (0.5 * DEMAND.usual[0])
    rate = 10.0 / np.sqrt(3.0) * way / (0.5 * DEMAND.decelerations_from(ZERO)[0])
    expected = max(0.1, speed, float(np.sqrt(rate)))
    assert found.end_time - there.end_time == pytest.approx(expected)


def test_a_model_is_looked_at_twenty_times_a_second() -> None:
    """Of a motion that is slowed down, to see whether it has changed."""
    scaling, way = scaling_of()
    moved = way.sample(0.0).velocity
    scaling.take(None, Efforts(), 0.0, moved, moved, has_begun=False, is_outdated=False)
    looks = []
    for step in range(1, 1000):
        scaling.advance(way, 0.001 * step)
        scaling.reconsider(way, lambda: looks.append(None) or Efforts())
    assert len(looks) == 20


def test_a_plan_that_failed_is_asked_for_again_after_a_second() -> None:
    """Whoever was to make it may be there by then."""
    asked = []

    def fail(*_) -> Future:
        asked.append(None)
        future: Future = Future()
        future.set_exception(OSError('nobody is there'))
        return future

    scaling, way = scaling_of(fail)
    for step in range(1, 2500):
        scaling.advance(way, 0.001 * step)
        scaling.reconsider(way, Efforts)
    assert len(asked) == 3


def test_an_exceeding_motor_may_go_a_twentieth_farther() -> None:
    """No acceleration keeps the limits: the motion slows down as far as the other motor bears."""
    scaling, way = scaling_of()
    scaling.configure(replace(DEMAND, effort=np.full(6, 10.0)), slows_down=True)
    inertial = np.array([1.0, -0.2, 0.0, 0.0, 0.0, 0.0])
    law = SimpleNamespace(
        mode=None, compensation=SimpleNamespace(inertial_effort=lambda *_: inertial)
    )
    tick = Tick(None, law, Q, ZERO, 0.002)
    tick.path = tick.desired = way.sample(50.0)._replace(acceleration=ZERO)
    tick.wanted = np.array([30.0, 11.0, 0.0, 0.0, 0.0, 0.0])
    scaling.choose(tick)
    assert scaling.clock.change == pytest.approx(-0.05 * 10.0 / 0.2)


@pytest.mark.parametrize(
    ('count', 'interval', 'is_spared'),
    [(2, 0.05, False), (3, 0.05, True), (3, 0.097, True), (3, 0.103, False)],
)
def test_the_end_of_a_message_of_a_stream_is_not_checked_as_a_motion(
    count, interval, is_spared
) -> None:
    """Of three segments or more, the last of which takes a tenth of a second at the most."""
    controller = node_controller(ROBOT, **{'trajectory.stream_interval': 0.0})
    controller.update(Q, ZERO, 0.0)
    sent = replace(request(interval, count), ending=None, start_time=0.0)
    planner = controller.motion.planner()
    settings, here = planner.settings, planner.here
    motion = settings.place(sent, planner.running, here, planner.stream)
    checked, last, _ = settings.make_checker(here)._find_parts(motion, sent, 0.0)
    assert last - checked == is_spared
