"""The same path in other times, for controllers that follow a trajectory as it is written.

What the node does while it goes (:mod:`ne_dynamics.control.desired.time_scaling`) is done here
beforehand: the speed profile of a path (:mod:`ne_dynamics.motion.time_scaling.time_optimal`)
becomes points with later times.

Between two points a controller has a polynomial of its own. So there are points at all ends of the
intervals by which the profile was found, each on the path, with the velocity that the motion has
there, and with its acceleration where that has no step: the segment before and after a step is
cubic, all others are quintic. What comes of it is measured, along the path and at the limits, in
each interval on its own side of the steps. An interval in which it is not good enough becomes two
cubic ones; where that does not help, the limits of that interval are taken for smaller.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import Base, Compensation, Terms
from ne_dynamics.errors import ParameterError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.check import check_motion, find_unholdable, find_unpassable
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError, rank
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import Segments, sample_segments
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.path import (
    PathIntervals,
    divide,
    divide_by_way,
    divide_into,
    divide_turns,
)
from ne_dynamics.motion.time_scaling.path_deviation import measure_deviation
from ne_dynamics.motion.time_scaling.time_optimal import find_time_optimal
from ne_dynamics.motion.waypoints import NANO, DesiredState, Waypoints

AS_SENT = 1.0 - 1e-9
"""A speed that is less by so much is that of the sender."""


@dataclass(frozen=True, eq=False)
class Retimed:
    """A trajectory along the same path with other times.

    Attributes
    ----------
    waypoints : Waypoints
        In the order of the robot's joints.
    before, after : float
        Duration of the given and of the new trajectory [s].
    stops : int
        Corners of the path, between its ends, at which the motion stops.
    deviation : float
        Largest deviation from the path that was found [rad or m].
    """

    waypoints: Waypoints
    before: float
    after: float
    stops: int = 0
    deviation: float = 0.0

    @property
    def remarks(self) -> list[str]:
        """Remarks on what was done and may not be intended, one sentence each."""
        if not self.stops:
            return []
        corners = 'corners' if self.stops > 1 else 'corner'
        return [
            f'{self.stops} {corners} of the path, where the velocity would jump: the motion comes '
            'to rest there'
        ]


def retime(
    dynamics: Dynamics,
    waypoints: Waypoints,
    *,
    limits: DemandLimits | None = None,
    effort_share: float | None = None,
    is_fastest: bool = False,
    payload: FloatArray | None = None,
    base_motion: FloatArray | None = None,
    start: DesiredState | None = None,
) -> Retimed:
    """Return a trajectory along the same path that keeps the limits, as fast as they allow.

    Parameters
    ----------
    dynamics : Dynamics
        :class:`ne_dynamics.Dynamics` of the arm with everything that it carries.
    waypoints : Waypoints
    limits : DemandLimits, optional
        Default: those of the robot's joints.
    effort_share : float, optional
        Part of the effort limits that the motion may use, above 0 and at most 1; default:
        `retiming_effort_share`.
    is_fastest : bool
        False: the motion is slowed only. True: it may also be faster than given; it then begins
        and ends at rest and does not wait in between. For a motion from rest to rest, the result
        is never slower than with False.
    payload : array, shape (10,), optional
        As in :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    base_motion : array, shape (9,), optional
        Constant tilt of the base, as in :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    start : DesiredState, optional
        State at time 0 for waypoints that begin later; see
        :func:`~ne_dynamics.motion.annotated.annotation.annotate`.

    Returns
    -------
    Retimed
        The waypoints are unchanged if they keep all limits as they are.

    Raises
    ------
    InfeasibleMotionError
        When no speed helps: a position is beyond its limits, or the motors cannot hold the arm
        in a pose or move it slowly there.
    TrajectoryError
        When the motion overflows, begins too fast for the rest of the path, or no times are
        found.
    ParameterError
        When `effort_share` is out of range.
    """
    if effort_share is None:
        effort_share = TIME_SCALING.retiming_effort_share
    if not 0.0 < effort_share <= 1.0:
        raise ParameterError(f'effort_share: expected > 0 and <= 1, got {effort_share:g}')
    joints = dynamics.robot.joints
    limits = limits or DemandLimits.of(joints, dynamics.robot.limits('effort_limit'))
    compensation = Compensation(dynamics, Terms(), payload)
    base = None if base_motion is None else Base(base_motion, base_motion)
    compute_efforts = partial(compensation.effort_or_infinite, base=base)
    timed = waypoints.in_nanoseconds(start)
    if len(timed.times) == 1:
        return Retimed(waypoints, waypoints.times[-1], waypoints.times[-1])
    segments = Motion.between(timed).segments()
    _refuse(segments, compute_efforts, limits)

    work = partial(_Retiming, waypoints, timed, segments, compute_efforts, limits, effort_share)
    found = work(is_fastest).run()
    if is_fastest and not timed.velocities[[0, -1]].any():
        # Within the tolerance of the limits, the other points may be faster.
        with suppress(TrajectoryError):
            found = min(found, work(False).run(), key=lambda each: each.after)
    return found


def _refuse(segments: Segments, compute_efforts: Efforts, limits: DemandLimits) -> None:
    """Refuse what no speed makes possible."""
    finite = np.isfinite(segments.scaled).all(axis=(0, 2))
    if not finite.all():
        time = segments.begins[int(np.argmin(finite))]
        raise TrajectoryError(
            f'points: the motion from {time:.9g} s on is not finite: expected one that an arm '
            'can make'
        )
    found = [
        excess for excess in check_motion(segments, limits) if not excess.quantity.is_optional
    ]
    parts = divide(segments)
    position, velocity, _ = sample_segments(parts, 1)[:, 0]
    found += find_unholdable(position, parts.begins, compute_efforts, limits)
    if not found:
        found = find_unpassable(position, velocity, parts.begins, compute_efforts, limits)
    if found:
        raise InfeasibleMotionError(rank(found))


def _lay(
    path: PathIntervals,
    parts: Segments,
    speeds: FloatArray,
    stops: NDArray[np.bool_],
    is_cubic: NDArray[np.bool_],
    sent: Waypoints,
) -> Waypoints:
    """Return the points of a motion along a path, at times of whole nanoseconds.

    Of the N parts of the path, `parts` are in the time of its sender, whose waypoints are `sent`:
    the motion begins when they do. `speeds` at the ends of the parts, and `stops`, where it comes
    to rest, have shape (N + 1,); `is_cubic`, between which ends there is to be a cubic, (N,).
    """
    _, lengths, position, tangent, _ = path
    both = speeds[:-1] + speeds[1:]
    # What does not move waits as long as its sender does.
    goes = parts.scaled[1:].any(axis=(0, 2)) & (both > 0.0)
    durations = np.where(goes, 2.0 * lengths / np.where(goes, both, 1.0), parts.durations)
    before, after = _find_accelerations(path, speeds, goes)
    has_step = _find_steps(before, after, stops, is_cubic)
    directions = np.concatenate((tangent[0], tangent[1, -1:]))
    places = np.concatenate((position[0], position[1, -1:]))
    velocity = directions * speeds[:, np.newaxis]
    # Who rests does not move by what rounding leaves.
    velocity[np.abs(velocity) <= 1e-12 * np.abs(velocity).max(axis=0)] = 0.0
    exact = np.concatenate(([0.0], np.cumsum(durations)))
    times = np.rint(exact * NANO) / NANO
    # Half a nanosecond is much in a short part: the point goes on by as much.
    places += velocity * (times - exact)[:, np.newaxis]
    acceleration = np.where(has_step[:, np.newaxis], 0.0, 0.5 * (before + after))
    for rows in (places, velocity, acceleration):
        rows.setflags(write=False)
    orders = tuple(np.where(has_step, 1, 2).tolist())
    times = tuple((sent.times[0] + times).tolist())
    return Waypoints(times, places, velocity, acceleration, orders, sent.continuous)


def _find_accelerations(
    path: PathIntervals, speeds: FloatArray, goes: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Return the accelerations before and after each end of a part, shape (N + 1, n) each."""
    _, lengths, _, tangent, bend = path
    squares = speeds**2
    changes = np.where(goes, np.diff(squares) / (2.0 * lengths), 0.0)[:, np.newaxis]
    after, before = np.zeros((2, speeds.size, tangent.shape[2]))
    after[:-1] = bend[0] * squares[:-1, np.newaxis] + tangent[0] * changes
    before[1:] = bend[1] * squares[1:, np.newaxis] + tangent[1] * changes
    after[-1], before[0] = before[-1], after[0]
    return before, after


def _find_steps(
    before: FloatArray, after: FloatArray, stops: NDArray[np.bool_], is_cubic: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return where the acceleration has a step, shape (N + 1,)."""
    largest = np.maximum(np.abs(after), np.abs(before)).max(axis=0)
    share = TIME_SCALING.acceleration_step_share
    has_step: NDArray[np.bool_] = stops | (np.abs(after - before) > share * largest).any(axis=1)
    has_step[:-1] |= is_cubic
    has_step[1:] |= is_cubic
    # What is to stay where it ends does not accelerate there.
    has_step[-1] = True
    return has_step


@dataclass(frozen=True, eq=False)
class _Retiming:
    """The work on one path; see :func:`retime`."""

    given: Waypoints
    sent: Waypoints
    segments: Segments
    compute_efforts: Efforts
    limits: DemandLimits
    share: float
    is_fastest: bool

    def run(self) -> Retimed:
        """Return what comes of it; what was given where all may be as it was sent."""
        before = self.sent.times[-1]
        parts = divide_by_way(self.segments)
        if self.is_fastest:
            parts = divide_turns(parts)
        if not parts.durations.size:
            return Retimed(self.given, before, before)
        failures = np.zeros(parts.durations.size, dtype=np.intp)
        allowed = np.ones(failures.size)
        for _ in range(15):
            path = (PathIntervals.by_length if self.is_fastest else PathIntervals.in_time)(parts)
            speeds, stops = self._plan(path, allowed)
            if not self.is_fastest and not stops.any() and (speeds >= AS_SENT).all():
                return Retimed(self.given, before, before)
            points = _lay(path, parts, speeds, stops, failures > 0, self.sent)
            segments = Motion.between(points).segments()
            deviation = measure_deviation(segments, parts)
            excess = self._measure_excess(segments)
            is_away, is_beyond = (
                deviation > TIME_SCALING.path_tolerance,
                excess > 1.0 + TIME_SCALING.limit_tolerance,
            )
            if not (is_away | is_beyond).any():
                stopping = int(stops[1:-1].sum())
                return Retimed(points, before, points.times[-1], stopping, float(deviation.max()))
            # A step of friction inside of a part stays one in the half of it.
            is_lowered = is_beyond & (failures >= 2)
            allowed[is_lowered] /= excess[is_lowered]
            failures[is_beyond] += 1
            counts = np.where(is_away | (is_beyond & ~is_lowered), 2, 1)
            parts = divide_into(parts, counts)
            failures, allowed = np.repeat(failures, counts), np.repeat(allowed, counts)
        raise TrajectoryError(
            f'points: no times were found: the motion between the points is {deviation.max():.2g} '
            f'from the path and {excess.max():.4g} times its limits, however near they are'
        )

    def _plan(
        self, path: PathIntervals, allowed: FloatArray
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the speeds at all points, and where the motion comes to rest."""
        # Points without velocities begin and end a motion at rest.
        orders = self.sent.orders
        begins, ends = (
            not self.is_fastest and min(some) > 0 for some in (orders[:2], orders[-2:])
        )
        found = find_time_optimal(
            path,
            self.compute_efforts,
            self.limits,
            share=self.share,
            fastest=np.inf if self.is_fastest else 1.0,
            slowest=1e-4,  # it passes where the motion comes to rest
            allowed=allowed,
            begin=float(begins),
            end=float(ends),
        )
        stops = np.zeros(found.squares.size, dtype=bool)
        stops[found.corners] = True
        stops[0], stops[-1] = not begins, not ends
        speeds = np.where(stops, 0.0, np.sqrt(found.squares))
        if begins and path.velocity[0, 0].any() and speeds[0] < AS_SENT:
            raise TrajectoryError(
                'point 0: velocities: too fast for the rest of the path to be followed within '
                f'the limits: expected {speeds[0]:.3g} of it at most, or rest'
            )
        return speeds, stops

    def _measure_excess(self, segments: Segments) -> FloatArray:
        """Return the largest part of a limit that each segment takes, shape (s,)."""
        limits = self.limits
        # Accelerations have steps where segments meet, friction where a joint turns or starts.
        beside = np.full(segments.durations.size, 1e-3)
        inside = segments.parts(np.arange(beside.size), beside, 1.0 - beside)
        states = sample_segments(inside, 16)
        q, qd, qdd = states.reshape(3, -1, states.shape[-1])
        goes_back = qd < 0.0
        with np.errstate(all='ignore'):
            up = np.where(goes_back, -qdd, qdd)
            efforts = self.compute_efforts(q, qd, qdd)
            slowly = self.compute_efforts(q, TIME_SCALING.slowest_speed * qd, np.zeros_like(q))
            # As where it was planned: what holding takes is there, and a little to move with.
            spared = np.abs(slowly) + TIME_SCALING.spare_effort * limits.effort
            allowed = np.maximum(self.share * limits.effort, spared)
            parts = (
                np.abs(qd) / limits.velocity,
                up / limits.acceleration,
                -up / limits.deceleration,
                np.abs(efforts) / np.minimum(allowed, limits.effort),
            )
        found = np.nan_to_num(parts, nan=0.0).max(axis=(0, 2))
        return np.asarray(found.reshape(-1, beside.size).max(axis=0))
