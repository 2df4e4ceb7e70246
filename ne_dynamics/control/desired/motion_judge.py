"""Whether an arm can do what a trajectory asks for, judged before it moves.

Two parts make a motion. Its waypoints say what happens between them, whenever it begins. How it
begins, from the state of the moment, and how it is brought to rest where its last point moves, is
known when it is laid into time: few segments, judged once more where that state is another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.check import check_motion, find_unholdable
from ne_dynamics.motion.integrated_points import integrated
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import (
    InfeasibleMotionError,
    LimitViolation,
    Quantity,
    WhenInfeasible,
    rank,
)
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.replacement import replace_motion
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.waypoints import SHORTEST_SEGMENT, DesiredState, Waypoints

LEAST_SEGMENTS = 3
"""Of so many segments of a spline or more the last is but its end, and not much of the motion."""

REACH = 10
"""So many segments of a spline feel where it begins: another velocity there changes the 10th by a
part in a million."""


class Ending(NamedTuple):
    """How a motion goes on behind the last point of a stream.

    Attributes
    ----------
    share : float
        Part of the velocity and acceleration that the points say with which it is passed.
    steady : bool
        Whether the acceleration stays; else it fades.
    """

    share: float
    steady: bool


@dataclass(frozen=True, eq=False)
class MotionRequest:
    """Waypoints that wait to be laid into time.

    Attributes
    ----------
    waypoints : Waypoints
    start_time : float or None
        Time from which theirs count [s]; when they are laid when None.
    interpolation : Interpolation
        What is between points that carry positions alone.
    judged_from : DesiredState or None
        State in which the motion that was judged begins.
    ending : Ending or None
        How the motion goes on behind the last waypoint of a stream; None: it comes to rest there.
    """

    waypoints: Waypoints
    start_time: float | None = None
    interpolation: Interpolation = Interpolation.LINEAR
    judged_from: DesiredState | None = None
    ending: Ending | None = None

    @property
    def is_spline(self) -> bool:
        """Whether the motion between the waypoints depends on where it begins."""
        return self.interpolation is Interpolation.SPLINES and not any(self.waypoints.orders)

    @property
    def is_as_it_was_sent(self) -> bool:
        """Whether but the way to the first waypoint says where the motion begins."""
        return (
            self.interpolation.has_way
            and not self.is_spline
            and self.ending is None
            and self.waypoints.carried is None
        )

    def origin(self, now: float) -> float:
        """Return the time from which those of the waypoints count, if it is laid now [s]."""
        return now if self.start_time is None else self.start_time

    def integrated(self, running: Motion, now: float) -> MotionRequest:
        """Return the request with positions in all waypoints, in the place of another motion.

        Raises
        ------
        TrajectoryError
            As :func:`~ne_dynamics.motion.integrated_points.integrated`.
        """
        origin = self.origin(now)
        begin = max(origin, now)
        waypoints = integrated(self.waypoints, running.sample(begin), begin - origin)
        return replace(self, waypoints=waypoints)

    def is_judged_from(self, state: DesiredState) -> bool:
        """Return whether the motion from this state on is the one that was judged."""
        judged = self.judged_from
        if judged is None or self.start_time is not None:
            return False
        return all(np.array_equal(*pair) for pair in zip(judged, state, strict=True))

    def lay(
        self,
        running: Motion,
        now: float,
        stop: Callable[[DesiredState, float], Motion],
        *,
        goes_on: bool = False,
    ) -> Motion:
        """Return the motion in the place of another one.

        Parameters
        ----------
        running : Motion
            What is followed at `now`.
        now : float
            [s]
        stop : callable
            Returns the stop of a motion from a state at a time, for waypoints that end moving.
        goes_on : bool
            Whether the waypoints are those of a stream, with the states in which they end.

        Raises
        ------
        TrajectoryError
            As :func:`~ne_dynamics.motion.replacement.replace_motion`.
        """
        trajectory = replace_motion(
            running,
            self.waypoints,
            now=now,
            start_time=self.start_time,
            interpolation=self.interpolation,
            goes_on=goes_on,
        )
        if self.waypoints.velocities[-1].any():
            end = stop(trajectory.last_moment, trajectory.end_time)
            trajectory = trajectory.joined(end)
        return trajectory


class PathEfforts:
    """Efforts along a path that is to be gone, by the model and what it feels now.

    A force at the wrist is taken for one that stays: its direction in the axes of the base, and
    where it acts in those of the tip, as a weight that is held has both. How far along the force
    that is one reading does not tell: the point nearest to the tip is taken.

    Parameters
    ----------
    compensation : Compensation
    base : Base, optional
        How the base stands.
    wrench : array, shape (6,), optional
        As :meth:`~ne_dynamics.dynamics.compensation.Compensation.effort` takes it.
    position : array, shape (n,), optional
        Where it was felt [rad or m].
    """

    def __init__(
        self,
        compensation: Compensation,
        base: Base | None = None,
        wrench: FloatArray | None = None,
        position: FloatArray | None = None,
    ) -> None:
        self._compensation = compensation
        self._base = base
        self._wrench = wrench
        self._force: FloatArray | None = None
        if wrench is None or position is None:
            return
        force, moment = wrench[:3], wrench[3:]
        square = float(force @ force)
        if square > 0.0:
            self._force = compensation.dynamics.forward_kinematics(position)[:3, :3] @ force
            self._arm = np.cross(force, moment) / square
            self._pitch = float(moment @ force) / square

    def moving(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Return the efforts of states, all of shape (N, n) [N m or N]; infinite for too much."""
        compensation = self._compensation
        if not compensation.terms.inertia:
            qdd = np.zeros_like(qdd)
        try:
            wrench = self._wrench_at(q)
        except InputError:
            # Where the positions are beyond all numbers so are the efforts.
            return np.full(q.shape, np.inf)
        return compensation.effort_or_infinite(q, qd, qdd, wrench, self._base)

    def holding(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Return the same without what the wrist feels: it may let go."""
        return self._compensation.effort_or_infinite(q, qd, qdd, None, self._base)

    def _wrench_at(self, q: FloatArray) -> FloatArray | None:
        if self._force is None:
            return self._wrench
        rotation = self._compensation.dynamics.forward_kinematics(q)[:, :3, :3]
        force = self._force @ rotation
        return np.concatenate((force, np.cross(self._arm, force) + self._pitch * force), axis=1)


@dataclass(frozen=True, eq=False)
class MotionJudge:
    """What counts when a motion is judged.

    Attributes
    ----------
    limits : DemandLimits
    compute_efforts : callable
        Efforts along a motion, with all that is known of what the arm carries and feels.
    compute_holding : callable
        Those at rest with what it carries alone: who pushes now may let go.
    when_infeasible : WhenInfeasible
        What becomes of a motion that leaves limits of velocity, acceleration or effort.
    longest_interval : float
        Points of a spline that are no farther apart than this may be those of a stream, whose
        end nobody gets to [s].
    """

    limits: DemandLimits
    compute_efforts: Efforts
    compute_holding: Efforts
    when_infeasible: WhenInfeasible
    longest_interval: float

    def decide(self, found: list[LimitViolation]) -> tuple[LimitViolation, ...]:
        """Return what a motion exceeds and is followed all the same, the worst first.

        Raises
        ------
        InfeasibleMotionError
            When it is not to be followed.
        """
        ranked = rank(found)
        if not all(self.when_infeasible.allows(violation.quantity) for violation in ranked):
            raise InfeasibleMotionError(ranked)
        return tuple(ranked)

    def survey_waypoints(
        self, waypoints: Waypoints, *, since: float = 0.0
    ) -> list[LimitViolation]:
        """Return what the motion between waypoints exceeds, and the pose in which it ends.

        Parameters
        ----------
        waypoints : Waypoints
        since : float
            Segments that end before are of the past [s].

        Returns
        -------
        list of LimitViolation
            Times are from the waypoints' start.
        """
        times = np.array(waypoints.times)
        found = find_unholdable(
            waypoints.positions[-1:], times[-1:], self.compute_holding, self.limits
        )
        first = int(np.searchsorted(times, since))
        if first < len(times) - 1:
            motion = Motion.between(waypoints)
            found += self._check(motion.segments(slice(first, None)))
        return found

    def survey_poses(self, waypoints: Waypoints) -> list[LimitViolation]:
        """Return poses that cannot be held, where nothing is between the waypoints."""
        return find_unholdable(
            waypoints.positions, np.array(waypoints.times), self.compute_holding, self.limits
        )

    def survey_trajectory(self, trajectory: Motion, origin: float) -> list[LimitViolation]:
        """Return what a spline exceeds, and the pose in which it ends.

        Parameters
        ----------
        trajectory : Motion
        origin : float
            Time from which what is found counts [s].
        """
        end = trajectory.end_time - origin
        final = trajectory.final.position[np.newaxis]
        found = find_unholdable(final, np.array([end]), self.compute_holding, self.limits)
        count = len(trajectory.knots) - 1
        judged = count - self._spares_end(trajectory.knots)
        if judged:
            found += self._check(trajectory.segments(slice(judged), origin))
        return found + self._judge_rest(trajectory, range(judged, count), origin)

    def judge_ends(
        self,
        trajectory: Motion,
        request: MotionRequest,
        state: DesiredState,
        now: float,
        *,
        is_told: bool = True,
    ) -> list[LimitViolation]:
        """Return what a motion exceeds before its first waypoint and after its last one.

        Of a spline the first :data:`REACH` segments count as well: they feel where it begins.

        Parameters
        ----------
        trajectory : Motion
            Of the request, laid at `now`.
        request : MotionRequest
        state : DesiredState
            From which it goes.
        now : float
            [s]
        is_told : bool
            Whether anybody is told of what is followed all the same; else it is not looked for
            segment by segment, and what begins beyond the limits is among it.
        """
        found: list[LimitViolation] = []
        is_settled = None if is_told else self.when_infeasible.allows
        if request.interpolation is Interpolation.NONE:
            # Jumps are what was asked for.
            return found
        origin = request.origin(now)
        step = trajectory.sample(now).position - state.position
        for joint in np.flatnonzero(np.abs(step) > self.limits.step):
            limit = float(np.copysign(self.limits.step[joint], step[joint]))
            excess = LimitViolation(
                Quantity.STEP,
                self.limits.joints[joint],
                int(joint),
                now - origin,
                float(step[joint]),
                limit,
            )
            found.append(excess)
        knots = trajectory.knots
        last = bisect_left(knots, origin + request.waypoints.times[-1])
        before, judged = 1, last
        if request.is_spline:
            before, judged = REACH, last - self._spares_end(knots[: last + 1])
        for some in (range(min(before, judged)), range(last, len(knots) - 1)):
            found += self._judge_some(trajectory, some, origin, is_settled)
        if before > judged:
            found += self._judge_rest(trajectory, range(judged, last), origin, is_settled)
        return found

    def allows_end(self, trajectory: Motion, request: MotionRequest, now: float) -> bool:
        """Return whether nothing is exceeded from the last segment between the waypoints on."""
        origin = request.origin(now)
        last = bisect_left(trajectory.knots, origin + request.waypoints.times[-1])
        some = range(max(last - 1, 0), len(trajectory.knots) - 1)
        return not self._judge_some(trajectory, some, origin)

    def _spares_end(self, knots: FloatArray) -> bool:
        """Return whether the last segment of a spline is but the end of a message."""
        is_end = len(knots) > LEAST_SEGMENTS
        return is_end and knots[-1] - knots[-2] <= self.longest_interval + SHORTEST_SEGMENT

    def _judge_rest(
        self,
        trajectory: Motion,
        some: range,
        origin: float,
        is_settled: Callable[[Quantity], bool] | None = None,
    ) -> list[LimitViolation]:
        """Return what is not optional of what the end of a spline exceeds.

        To come to rest there is what no sender has asked for, and who streams never gets there.
        """
        if self.when_infeasible is WhenInfeasible.SLOW_DOWN:
            # But all of it can be slowed down.
            return self._judge_some(trajectory, some, origin, is_settled)
        found = self._judge_some(trajectory, some, origin, lambda quantity: quantity.is_optional)
        return [violation for violation in found if not violation.quantity.is_optional]

    def _judge_some(
        self,
        trajectory: Motion,
        some: range,
        origin: float,
        is_settled: Callable[[Quantity], bool] | None = None,
    ) -> list[LimitViolation]:
        """Return what some segments exceed: all at once, as they seldom do, or each by itself.

        Not each where nothing but what `is_settled` is exceeded: that costs milliseconds.
        """
        if not some:
            return []
        found = self._check(trajectory.segments(slice(some.start, some.stop), origin))
        if not found or (is_settled and all(is_settled(one.quantity) for one in found)):
            return found
        each = (trajectory.segments(slice(index, index + 1), origin) for index in some)
        return [excess for one in each for excess in self._judge_segment(one)]

    def _judge_segment(self, segment: Segments) -> list[LimitViolation]:
        """Return what one segment exceeds, which may begin beyond the limits."""
        found = self._check(segment)
        if not found:
            return found
        (duration,) = segment.durations
        position, way, half = segment.scaled[:3, 0]
        begin = DesiredState(position, way / duration, 2.0 * half / duration**2)
        effort = self.compute_efforts(*(values[np.newaxis] for values in begin))[0]
        limits = self.limits.widened_to(begin, np.where(np.isfinite(effort), effort, 0.0))
        if limits.are(self.limits):
            return found
        return self._check(segment, limits)

    def _check(
        self, segments: Segments, limits: DemandLimits | None = None
    ) -> list[LimitViolation]:
        return check_motion(
            segments,
            self.limits if limits is None else limits,
            self.compute_efforts,
            self.compute_holding,
        )
