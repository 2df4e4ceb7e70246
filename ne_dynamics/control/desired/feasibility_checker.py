"""Whether an arm can do what a trajectory asks for, checked before it moves.

Between its waypoints a motion must keep the limits. How it begins, from the state of the moment,
and how it is brought to rest where its last point moves, is nothing that a sender has asked for:
each segment there may begin beyond the limits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ne_dynamics.control.desired.motion_request import MotionRequest
from ne_dynamics.control.desired.path_efforts import PathEfforts
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.check import check_motion, find_unholdable
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import (
    InfeasibleMotionError,
    LimitViolation,
    Quantity,
    WhenInfeasible,
    rank,
)
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import Segments
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState, Waypoints

Pause = Callable[[], None]
"""Called between parts of longer work: it serves who cannot wait for the end."""


def go_on() -> None:
    """Make no pause: nobody waits."""


@dataclass(frozen=True, eq=False)
class FeasibilityChecker:
    """What counts when a motion is checked.

    Attributes
    ----------
    limits : DemandLimits
    efforts : PathEfforts
        With all that is known of what the arm carries and feels.
    when_infeasible : WhenInfeasible
        What becomes of a motion that leaves limits of velocity, acceleration or effort.
    longest_interval : float
        Points of a spline that are no farther apart than this may be those of a stream, whose
        end nobody gets to [s].
    pause : callable
        Called between two checks, for who cannot wait until all are done.
    """

    limits: DemandLimits
    efforts: PathEfforts
    when_infeasible: WhenInfeasible
    longest_interval: float
    pause: Pause = go_on

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

    def check_waypoints(self, request: MotionRequest) -> list[LimitViolation]:
        """Return what the motion between waypoints exceeds, and the pose in which it ends.

        Where there is no way between them: the poses that cannot be held.
        """
        waypoints, has_way = request.waypoints, request.interpolation.has_way
        found = self._check_poses(waypoints, slice(-1 if has_way else 0, None))
        return found + self._check(Motion.between(waypoints).segments()) if has_way else found

    def check_motion(
        self, motion: Motion, request: MotionRequest, begin: DesiredState, now: float
    ) -> list[LimitViolation]:
        """Return what a motion exceeds; times are from the waypoints' start.

        Parameters
        ----------
        motion : Motion
            Of the request, placed at `now`.
        request : MotionRequest
        begin : DesiredState
            What is asked for at `now` until then.
        now : float
            [s]
        """
        if not request.interpolation.has_way:
            return self.check_waypoints(request)
        origin = request.origin(now)
        checked, last, count = self._find_parts(motion, request, origin)
        # A first waypoint that is due at this moment is jumped to: there is no way to it.
        has_way = origin > now or now not in origin + np.array(request.waypoints.times)
        first = 1 if has_way and not request.is_spline else 0
        return [
            *self._check_step(motion, begin, now, origin),
            *self._check_poses(request.waypoints, slice(-1, None)),
            *self._check(motion.segments(slice(first, checked), origin)),
            *self._check_each(motion, range(first), origin),
            *self._check_each(motion, range(last, count), origin),
            *self._check_rest(motion, range(checked, last), origin),
        ]

    def check_ends(
        self, motion: Motion, request: MotionRequest, begin: DesiredState, now: float
    ) -> list[LimitViolation]:
        """Return what a motion exceeds before its first waypoint and after its last one.

        Of a spline the first ten segments count as well: they feel where it begins.
        What is followed all the same is not looked for segment by segment, and what begins
        beyond the limits is among it. Parameters are those of :meth:`check_motion`.
        """
        if not request.interpolation.has_way:
            # Jumps are what was asked for.
            return []
        origin, settled = request.origin(now), self.when_infeasible.allows
        checked, last, count = self._find_parts(motion, request, origin)
        # The tenth still feels the begin of a natural spline by a millionth: (2 - 3^0.5)^10.
        before = 10 if request.is_spline else 1
        found = [
            *self._check_step(motion, begin, now, origin),
            *self._check_each(motion, range(min(before, checked)), origin, settled),
            *self._check_each(motion, range(last, count), origin, settled),
        ]
        if before > checked:
            found += self._check_rest(motion, range(checked, last), origin, settled)
        return found

    def allows_end(self, motion: Motion, request: MotionRequest, now: float) -> bool:
        """Return whether nothing is exceeded from the last segment between the waypoints on."""
        origin = request.origin(now)
        _, last, count = self._find_parts(motion, request, origin)
        return not self._check_each(motion, range(max(last - 1, 0), count), origin)

    def _find_parts(
        self, motion: Motion, request: MotionRequest, origin: float
    ) -> tuple[int, int, int]:
        """Return at which segments the end of a spline, what follows it and nothing begin."""
        knots = motion.knots
        last = bisect_left(knots, origin + request.waypoints.times[-1])
        # The last segment of a message of a stream is but its end.
        is_spared = (
            request.is_spline
            and last >= DESIRED.spline_least_segments
            and knots[last] - knots[last - 1] <= self.longest_interval + MOTION.shortest_segment
        )
        return last - is_spared, last, len(knots) - 1

    def _check_step(
        self, motion: Motion, begin: DesiredState, now: float, origin: float
    ) -> list[LimitViolation]:
        step, limits = motion.sample(now).position - begin.position, self.limits
        most = MOTION.first_step_time * limits.usual
        return [
            LimitViolation.of(
                Quantity.STEP, limits.joints, joint, now - origin, step[joint], most[joint]
            )
            for joint in np.flatnonzero(np.abs(step) > most).tolist()
        ]

    def _check_poses(self, waypoints: Waypoints, some: slice) -> list[LimitViolation]:
        self.pause()
        times = np.array(waypoints.times)[some]
        return find_unholdable(waypoints.positions[some], times, self.efforts.holding, self.limits)

    def _check_rest(
        self,
        motion: Motion,
        some: range,
        origin: float,
        settled: Callable[[Quantity], bool] | None = None,
    ) -> list[LimitViolation]:
        """Return what is not optional of what the end of a spline exceeds.

        To come to rest there is what no sender has asked for, and who streams never gets there.
        """
        if self.when_infeasible is WhenInfeasible.SLOW_DOWN:
            # But all of it can be slowed down.
            return self._check_each(motion, some, origin, settled)
        found = self._check_each(motion, some, origin, lambda quantity: quantity.is_optional)
        return [violation for violation in found if not violation.quantity.is_optional]

    def _check_each(
        self,
        motion: Motion,
        some: range,
        origin: float,
        settled: Callable[[Quantity], bool] | None = None,
    ) -> list[LimitViolation]:
        """Return what some segments exceed, each of which may begin beyond the limits.

        They are checked all at once first, and not each where nothing but what is `settled` is
        exceeded: that costs milliseconds.
        """
        found = self._check(motion.segments(slice(some.start, some.stop), origin))
        if not found or (settled and all(settled(one.quantity) for one in found)):
            return found
        each = (motion.segments(slice(index, index + 1), origin) for index in some)
        return [violation for one in each for violation in self._check_from_begin(one)]

    def _check_from_begin(self, segment: Segments) -> list[LimitViolation]:
        """Return what one segment exceeds of limits that are widened to its begin."""
        (duration,) = segment.durations
        position, way, half = segment.scaled[:3, 0]
        begin = DesiredState(position, way / duration, 2.0 * half / duration**2)
        effort = self.efforts.moving(*(values[np.newaxis] for values in begin))[0]
        limits = self.limits.widened_to(begin, np.where(np.isfinite(effort), effort, 0.0))
        return self._check(segment, limits)

    def _check(
        self, segments: Segments, limits: DemandLimits | None = None
    ) -> list[LimitViolation]:
        if not segments.durations.size:
            return []
        self.pause()
        return check_motion(
            segments, limits or self.limits, self._compute_efforts, self.efforts.holding
        )

    def _compute_efforts(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        self.pause()
        return self.efforts.moving(q, qd, qdd)
