"""Streams of positions alone, in messages of a few points or of one, and how they go on.

A point says where the motion is, its neighbours how fast. The last point of a message has those
behind it alone, and of a short message most of these came with the messages before. So the points
that were sent are remembered: the cubic through the last four of them gives the velocity and the
acceleration with which the motion passes the last one, and for one interval more it goes on with
these. There the next message takes over. Where none comes the arm is brought to rest, and returns
to the last point.

Who streams without stamps means each message for now, and now is when it comes: with the delays of
the network in it. What comes at regular times is placed at regular times; see :class:`StreamRate`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.desired.motion_request import MotionRequest, StreamEnding
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import Waypoints, nearest_turns

ENDINGS = (
    StreamEnding(1.0, True),
    StreamEnding(1.0, False),
    StreamEnding(0.5, False),
    StreamEnding(0.25, False),
)
"""What is tried, one after the other; where all are too much the motion ends at rest."""


class SentPoints(NamedTuple):
    """Points that were sent.

    Attributes
    ----------
    times : array, shape (k,)
        By the clock of the joint states, increasing [s].
    positions : array, shape (k, n)
        [rad or m]
    """

    times: FloatArray
    positions: FloatArray


@dataclass(frozen=True)
class StreamRate:
    """When the messages of a stream come that bear no stamp: the line through their arrivals.

    Attributes
    ----------
    origin : float
        Time from which the points of the last one count, by the line [s].
    period : float
        Slope of the line: the time between two messages, or the part of it that points are apart
        [s].
    is_told : bool
        Whether the period is that of the points, not of two arrivals.
    count : int
        Messages after the first that came as the line has them.
    """

    origin: float
    period: float
    is_told: bool
    count: int = 0

    def start_of(self, now: float) -> float | None:
        """Return from when the points of a message that comes now count [s]; None: from now."""
        after = self.after(now)
        return None if after is None or after.count < DESIRED.regular_before else after.origin

    def after(self, now: float) -> StreamRate | None:
        """Return the pace with one more message, which comes now [s]; None: that is no pace."""
        periods = round((now - self.origin) / self.period)
        late = now - self.origin - periods * self.period
        if (
            not 1 <= periods <= DESIRED.most_periods
            or abs(late) > DESIRED.regular_share * self.period
        ):
            return None
        # The gains that fit a line to arrivals as they come; a period that is told counts as many.
        count = self.count + 1
        known = min(count + DESIRED.arrivals_of_points * self.is_told, DESIRED.most_arrivals)
        weight = (known + 1.0) * (known + 2.0)
        gain = max(1.0 / (count + 1.0), 2.0 * (2.0 * known + 1.0) / weight)
        return replace(
            self,
            origin=now - (1.0 - gain) * late,
            period=self.period + 6.0 / weight * late / periods,
            count=count,
        )


class PositionStream:
    """What is remembered of the messages that carried positions alone.

    Parameters
    ----------
    longest_interval : float
        Points of a stream are no farther from each other [s]; 0: nothing is a stream.
    """

    def __init__(self, longest_interval: float) -> None:
        self.longest_interval = longest_interval
        self._sent: SentPoints | None = None
        self._pace: StreamRate | None = None
        self._heard: float | None = None
        self._origin: float | None = None
        self._gap = np.inf

    def forget(self) -> None:
        """Let what comes next be no part of a stream."""
        self._sent = self._pace = self._heard = self._origin = None
        self._gap = np.inf

    def paced(self, request: MotionRequest, now: float | None) -> MotionRequest:
        """Return a request that comes now [s]; one without a stamp with the time by the pace."""
        if self._pace is None or now is None or not self._may_be_streamed(request):
            return request
        start = self._pace.start_of(now)
        return request if start is None else replace(request, start_time=start)

    def hear(self, request: MotionRequest, now: float | None) -> None:
        """Take notice of when a message without a stamp came [s]."""
        last, self._heard = self._heard, now
        self._pace = None if self._pace is None or now is None else self._pace.after(now)
        if self._pace is not None or now is None or not self._may_be_streamed(request):
            return
        interval = _interval(request.waypoints.times)
        gap = np.inf if last is None else now - last
        if (
            len(request.waypoints.times) > 1
            or abs(gap - interval) <= MOTION.first_point_share * interval
        ):
            self._pace = StreamRate(now, interval, is_told=True)
        elif 0.0 < gap <= self.longest_interval:
            # A single point that is due later than the next message comes.
            self._pace = StreamRate(now, gap, is_told=False)

    def remember(self, request: MotionRequest, now: float) -> None:
        """Take down the points of a request that is followed from now on [s]."""
        if not request.is_spline:
            self.forget()
            return
        origin = request.origin(now)
        sent = SentPoints(origin + np.array(request.waypoints.times), request.waypoints.positions)
        if self._sent is not None:
            past = self._past_of(self._sent, request, origin)
            sent = SentPoints(*(np.concatenate(pair) for pair in zip(past, sent, strict=True)))
        self._sent = sent
        self._gap = self._gap_to(origin)
        self._origin = origin

    def goes_on(self, request: MotionRequest, now: float) -> bool:
        """Return whether a request that is followed from now on [s] goes on from a stream."""
        return self._find_past(request, now) is not None

    def extended(self, request: MotionRequest, now: float) -> Waypoints | None:
        """Return waypoints with the states in which they go on; None: they end at rest.

        The `ending` of the request, placed at a time [s], says how. The last two carry velocities
        and accelerations. None, too, where it goes on from nothing that was sent.
        """
        past = None if request.ending is None else self._find_past(request, now)
        if past is None or request.ending is None:
            return None
        origin, waypoints = request.origin(now), request.waypoints
        # Until the message after one that is lost is due, and half an interval more.
        margin = 0.5 * self._interval_of(waypoints, origin)
        late = max(now - origin, 0.0)
        needed = max(2.0 * self._gap_to(origin) + late - waypoints.times[-1], 0.0)
        duration = min(needed + margin, DESIRED.longest_coast)
        return going_on(waypoints, past, origin, duration, request.ending)

    def _gap_to(self, origin: float) -> float:
        """Return the time between two messages, the last of which counts from an origin [s]."""
        if self._origin is None or origin <= self._origin:
            return self._gap
        return min(origin - self._origin, DESIRED.gap_growth * self._gap)

    def _may_be_streamed(self, request: MotionRequest) -> bool:
        """Return whether a request has points as a stream has them."""
        steps = np.diff(request.waypoints.times)
        return request.is_spline and bool(steps.max(initial=0.0) <= self.longest_interval)

    def _past_of(self, sent: SentPoints, request: MotionRequest, origin: float) -> SentPoints:
        """Return what was sent before the first point of a request, and not all but there."""
        first = origin + request.waypoints.times[0]
        some = sent.times <= first - MOTION.first_point_share * self._interval_of(
            request.waypoints, origin
        )
        return SentPoints(
            sent.times[some][-DESIRED.points_fitted :],
            sent.positions[some][-DESIRED.points_fitted :],
        )

    def _interval_of(self, waypoints: Waypoints, origin: float) -> float:
        """Return the time between points, or where there is one between it and the last [s]."""
        interval = _interval(waypoints.times)
        return interval if len(waypoints.times) > 1 else min(interval, self._gap_to(origin))

    def _find_past(self, request: MotionRequest, now: float) -> SentPoints | None:
        """Return the points before those of a request; None where it goes on from none."""
        if self._sent is None or not self._may_be_streamed(request):
            return None
        origin = request.origin(now)
        times = origin + np.array(request.waypoints.times)
        past = self._past_of(self._sent, request, origin)
        steps = np.diff(np.concatenate((past.times, times)))
        if not steps.size or np.median(steps) > self.longest_interval:
            return None
        # A message that was lost leaves a gap; what is before a longer one is another motion.
        gaps = np.flatnonzero(steps[: past.times.size] > DESIRED.longest_gap * np.median(steps))
        first = int(gaps[-1]) + 1 if gaps.size else 0
        past = SentPoints(past.times[first:], past.positions[first:])
        return past if past.times.size >= DESIRED.points_for_acceleration else None


def _interval(times: tuple[float, ...]) -> float:
    """Return the time between the points of a message, or to the only one [s]."""
    if len(times) == 1:
        return max(times[0], MOTION.shortest_segment)
    return float(np.median(np.diff(times)))


def going_on(
    waypoints: Waypoints, past: SentPoints, origin: float, duration: float, ending: StreamEnding
) -> Waypoints:
    """Return the points of a stream with the state in which the last one is passed, and one more.

    Parameters
    ----------
    waypoints : Waypoints
        With positions alone.
    past : SentPoints
        At least two that were sent before.
    origin : float
        Time from which the times of the waypoints count [s].
    duration : float
        For which the motion goes on [s].
    ending : StreamEnding

    Returns
    -------
    Waypoints
        The last two carry velocities and accelerations; all count as positions alone.
    """
    first = waypoints.positions[0]
    near = [row + nearest_turns(first, row, waypoints.continuous) for row in past.positions]
    times = np.concatenate((past.times - origin, waypoints.times))[-DESIRED.points_fitted - 1 :]
    positions = np.vstack((near, waypoints.positions))[-DESIRED.points_fitted - 1 :]
    velocity, acceleration = end_derivatives(times, positions)
    share, steady = ending
    velocity, acceleration = share * velocity, share * acceleration
    beyond = (
        positions[-1] + duration * velocity + duration**2 / (2 if steady else 3) * acceleration,
        velocity + duration / (1 if steady else 2) * acceleration,
        acceleration if steady else np.zeros_like(acceleration),
    )
    carried = (waypoints.positions, waypoints.velocities.copy(), waypoints.accelerations.copy())
    carried[1][-1], carried[2][-1] = velocity, acceleration
    arrays = [np.vstack(pair) for pair in zip(carried, beyond, strict=True)]
    end = waypoints.times[-1] + duration
    return waypoints.with_points((*waypoints.times, end), arrays, (*waypoints.orders, 0))


def end_derivatives(times: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return velocity and acceleration, at the last point, of the polynomial through k points.

    Times, shape (k,), increase, at least two [s]; positions have shape (k, n) [rad or m], the
    results (n,) [rad/s or m/s, rad/s^2 or m/s^2].
    """
    scale = times[-1] - times[0]
    shares = (times - times[-1]) / scale
    powers = shares[:, np.newaxis] ** np.arange(float(times.size))
    coefficients = np.linalg.solve(powers, positions)
    velocity = coefficients[1] / scale
    if times.size < 3:
        return velocity, np.zeros_like(velocity)
    return velocity, 2.0 * coefficients[2] / scale**2


def returned(trajectory: Motion, waypoints: Waypoints, limits: DemandLimits) -> Motion:
    """Return a motion that ends at rest with the way from there to the last waypoint behind it.

    The return takes a share of the limits.
    """
    begin, target = trajectory.final, waypoints.positions[-1]
    target = target + nearest_turns(begin.position, target, waypoints.continuous)
    way = np.abs(target - begin.position)
    speeds = DESIRED.return_share * limits.usual
    rates = DESIRED.return_share * limits.decelerations_from(np.zeros_like(way))
    # Peaks of the quintic from rest to rest in the time T: 15/8 way / T, 10/sqrt(3) way / T^2.
    duration = max(
        DESIRED.shortest_return,
        float((1.875 * way / speeds).max()),
        float(np.sqrt(10.0 / np.sqrt(3.0) * way / rates).max()),
    )
    way_back = Motion.rest_to_rest(begin.position, target, duration, now=trajectory.end_time)
    return trajectory.joined(way_back)
