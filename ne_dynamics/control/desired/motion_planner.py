"""What becomes of waypoints before they are followed: laid into time, judged, and timed.

All of it is a function of what is known at one moment. A planner is that knowledge: a value that
may go to another process, which plans there while states are answered here. The plan counts for
the moment at which it was made; where the arm is asked for something else by the time it takes
over, its begin is laid and judged once more; see
:class:`ne_dynamics.control.desired.followed_motion.FollowedMotion`.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.desired.motion_judge import MotionJudge, MotionRequest, PathEfforts
from ne_dynamics.control.desired.position_stream import (
    ENDINGS,
    LONGEST_INTERVAL,
    PositionStream,
    returned,
)
from ne_dynamics.control.desired.time_scaling import PacePlan, PathTime, plan_pace
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import LimitViolation, WhenInfeasible
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.stopping import StopLimits, stop
from ne_dynamics.motion.time_scaling.time_optimal import is_corner
from ne_dynamics.motion.waypoints import SHORTEST_SEGMENT, DesiredState, Waypoints, nearest_turns


class Circumstances(NamedTuple):
    """What is known of an arm when its motion is decided.

    Attributes
    ----------
    time : float or None
        Of the last state [s]; None before the first.
    position, velocity : array, shape (n,), or None
        [rad or m, rad/s or m/s]
    wrench : array, shape (6,), or None
        Felt at the wrist.
    base : Base or None
        How the base stands and moves.
    resting_base : Base or None
        How it stands: what moves now is no guide to later.
    """

    time: float | None = None
    position: FloatArray | None = None
    velocity: FloatArray | None = None
    wrench: FloatArray | None = None
    base: Base | None = None
    resting_base: Base | None = None

    @property
    def now(self) -> float:
        """The time, where a state has come [s]."""
        if self.time is None:
            raise RuntimeError('no state has come')
        return self.time


@dataclass(frozen=True, eq=False)
class PlanningSettings:
    """What counts for motions until it is changed.

    Attributes
    ----------
    compensation : Compensation
        By which efforts along a motion are computed.
    limits : DemandLimits
    stop_limits : StopLimits
        With what motions are brought to rest.
    when_infeasible : WhenInfeasible
    interpolation : Interpolation
        Of positions alone.
    longest_interval : float
        Points of a stream are no farther from each other [s].
    """

    compensation: Compensation
    limits: DemandLimits
    stop_limits: StopLimits
    when_infeasible: WhenInfeasible
    interpolation: Interpolation
    longest_interval: float

    @property
    def slows_down(self) -> bool:
        """Whether motions are slowed down rather than refused, and have a way for it."""
        return self.when_infeasible is WhenInfeasible.SLOW_DOWN and self.interpolation.has_way

    def path_efforts(self, here: Circumstances) -> PathEfforts:
        """Return the efforts along a path, under circumstances."""
        return PathEfforts(self.compensation, here.resting_base, here.wrench, here.position)

    def make_judge(self, here: Circumstances) -> MotionJudge:
        """Return what judges motions, under circumstances."""
        efforts = self.path_efforts(here)
        return MotionJudge(
            self.limits,
            efforts.moving,
            efforts.holding,
            self.when_infeasible,
            # Without streams too messages come one after the other.
            max(self.longest_interval, LONGEST_INTERVAL),
        )

    def stop(self, state: DesiredState, here: Circumstances, time: float | None = None) -> Motion:
        """Return the stop of a motion, for what the model carries and feels at present."""

        def compute_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            return self.compensation.effort_or_infinite(q, qd, qdd, here.wrench, here.base)

        now = here.now if time is None else time
        return stop(state, self.stop_limits, compute_efforts, now=now)

    def lay(
        self,
        request: MotionRequest,
        running: Motion,
        here: Circumstances,
        stream: PositionStream,
    ) -> Motion:
        """Return the motion through waypoints in the place of another one; see `lay` of them.

        Raises
        ------
        TrajectoryError
            When they are of the past, or beyond all numbers.
        """

        def stop_later(state: DesiredState, time: float) -> Motion:
            return self.stop(state, here, time)

        streamed = stream.extended(request, here.now)
        if streamed is None:
            return request.lay(running, here.now, stop_later)
        trajectory = streamed.lay(running, here.now, stop_later, goes_on=True)
        return returned(trajectory, request.waypoints, self.stop_limits)


@dataclass(frozen=True, eq=False)
class MotionPlan:
    """Waypoints that may be followed.

    Attributes
    ----------
    request : MotionRequest
        Its `start_time` is by the clock of the states.
    is_for_now : bool
        Whether it was sent without a time: then it takes the place of all that waits.
    exceeded : tuple of LimitViolation
        What they exceed and are followed all the same, the worst first.
    motion : Motion or None
        As it was laid; None before the first state.
    origin : float
        Time from which the times of the waypoints count there [s].
    pace : PlannedPace or None
        How fast it may be followed; None where that was not looked at.
    """

    request: MotionRequest
    is_for_now: bool
    exceeded: tuple[LimitViolation, ...] = ()
    motion: Motion | None = None
    origin: float = 0.0
    pace: PlannedPace | None = None

    @property
    def duration(self) -> float | None:
        """How long it will take; None where it goes as it was sent [s]."""
        plan = None if self.pace is None else self.pace.plan
        return None if plan is None else plan.duration

    def begun_from(self, request: MotionRequest, running: Motion, now: float) -> Motion | None:
        """Return the motion for another begin, where no more of it depends on that.

        Parameters
        ----------
        request : MotionRequest
            That of the plan, by the time of the path.
        running : Motion
            What is followed at `now`.
        now : float
            [s]

        Returns
        -------
        Motion or None
            None where all of it is to be laid once more.
        """
        motion, waypoints = self.motion, request.waypoints
        if motion is None or not request.is_as_it_was_sent:
            return None
        origin, begin = request.origin(now), now
        if request.start_time is not None and request.start_time > now:
            # A first point that is due at the start is passed over.
            if waypoints.times[0] == 0.0:
                return None
            begin = request.start_time
        motion = motion.shifted(origin - self.origin)
        first = bisect_left(waypoints.times, begin - origin)
        if first == len(waypoints.times):
            return None
        due = origin + waypoints.times[first]
        if 0.0 < due - begin < SHORTEST_SEGMENT or due < begin:
            return None
        state, position = running.sample(begin), waypoints.positions[first]
        index = int(np.abs(motion.knots - due).argmin())
        if abs(motion.knots[index] - due) > SHORTEST_SEGMENT:
            return None
        there = motion.sample(float(motion.knots[index])).position
        turns = nearest_turns(state.position, position, waypoints.continuous)
        if not np.array_equal(position + turns, there):
            return None
        begun = motion.begun_from(state, begin, index, waypoints.orders[first])
        return begun.waiting_after(running, now) if begin > now else begun


class PlannedPace(NamedTuple):
    """How fast waypoints may be followed.

    Attributes
    ----------
    begin : DesiredState
        From which it was planned.
    origin : float
        Place from which the times of the waypoints count there [s].
    efforts : PathEfforts
        By which it was planned.
    plan : PacePlan or None
        None where it may go as it was sent.
    """

    begin: DesiredState
    origin: float
    efforts: PathEfforts
    plan: PacePlan | None


@dataclass(frozen=True, eq=False)
class MotionPlanner:
    """All that a plan depends on but the waypoints.

    Attributes
    ----------
    settings : PlanningSettings
    here : Circumstances
    running : Motion or None
        What is followed, in the time of its path; None before the first state.
    stream : PositionStream
        What was sent before; not changed by a plan.
    path_time : PathTime
        How it is followed.
    """

    settings: PlanningSettings
    here: Circumstances
    running: Motion | None
    stream: PositionStream
    path_time: PathTime

    def plan(self, waypoints: Waypoints, start_time: float | None = None) -> MotionPlan:
        """Return what becomes of waypoints.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count [s]; that of the state at which they take over when None.

        Raises
        ------
        InfeasibleMotionError
            When they are not to be followed.
        TrajectoryError
            When positions that are missing cannot be integrated.
        """
        settings, is_for_now = self.settings, start_time is None
        sent = self.stream.paced(
            MotionRequest(waypoints, start_time, settings.interpolation), self.here.time
        )
        if self.running is None or self.here.time is None:
            request = _integrated(sent, None, None)
            judge = settings.make_judge(self.here)
            return MotionPlan(sent, is_for_now, judge.decide(self._survey(judge, request, None)))
        here, request, running = on_path(self.path_time, self.here, sent, self.running)
        request = _integrated(request, running, here.time)
        judge, now = settings.make_judge(here), here.now
        begin = running.sample(now)
        try:
            request = self._going_on(judge, request, running, here)
            trajectory = settings.lay(request, running, here, self.stream)
        except TrajectoryError:
            # Of the past, as the next state will find, too.
            if request.is_spline or settings.slows_down:
                return MotionPlan(sent, is_for_now)
            return MotionPlan(sent, is_for_now, judge.decide(self._survey(judge, request, now)))
        exceeded = judge.decide(self._survey(judge, request, now, trajectory))
        pace = None
        if settings.slows_down:
            pace = self._plan_pace(request, trajectory, running, here, has_excess=bool(exceeded))
        exceeded += judge.decide(judge.judge_ends(trajectory, request, begin, now))
        # Positions that are integrated follow from the state in which it takes over.
        judged_from = begin if waypoints.carried is None else None
        sent = replace(sent, ending=request.ending, judged_from=judged_from)
        return MotionPlan(sent, is_for_now, exceeded, trajectory, request.origin(now), pace)

    def _survey(
        self,
        judge: MotionJudge,
        request: MotionRequest,
        now: float | None,
        trajectory: Motion | None = None,
    ) -> list[LimitViolation]:
        """Return what the motion between the waypoints exceeds."""
        if request.interpolation is Interpolation.NONE:
            return judge.survey_poses(request.waypoints)
        if trajectory is not None and now is not None and request.is_spline:
            return judge.survey_trajectory(trajectory, request.origin(now))
        start = request.start_time
        since = 0.0 if start is None or now is None else now - start
        return judge.survey_waypoints(request.waypoints, since=since)

    def _going_on(
        self, judge: MotionJudge, request: MotionRequest, running: Motion, here: Circumstances
    ) -> MotionRequest:
        """Return a request of a stream with as fast an end as the arm can be stopped from."""
        for ending in ENDINGS if self.stream.goes_on(request, here.now) else ():
            chosen = replace(request, ending=ending)
            trajectory = self.settings.lay(chosen, running, here, self.stream)
            if judge.allows_end(trajectory, request, here.now):
                return chosen
        return request

    def _plan_pace(
        self,
        request: MotionRequest,
        trajectory: Motion,
        running: Motion,
        here: Circumstances,
        *,
        has_excess: bool,
    ) -> PlannedPace:
        """Plan the pace of what is to be followed, where it cannot go as it was sent."""
        now, judge = here.now, self.settings.make_judge(here)
        begin = running.sample(now)
        # Straight lines have corners, at which no motor can do what they ask for.
        has_excess = has_excess or request.interpolation is Interpolation.LINEAR
        if not has_excess:
            found = judge.judge_ends(trajectory, request, begin, now, is_told=False)
            has_excess = bool(judge.decide(found))
        origin, efforts, plan = request.origin(now), self.settings.path_efforts(here), None
        # A single point that is due already has no way: the arm is to stand there.
        if has_excess and len(trajectory.knots) > 1:
            start = trajectory.start_time
            after, before = trajectory.sample(start).velocity, running.sample(start).velocity
            plan = plan_pace(
                trajectory,
                efforts,
                self.settings.limits,
                begin=start,
                origin=origin,
                speed=1.0 if self.path_time.clock is None else self.path_time.clock.speed,
                fastest=max(1.0, self.path_time.target),
                has_corner=bool(is_corner(after, before)),
            )
        return PlannedPace(begin, origin, efforts, plan)


def on_path(
    path_time: PathTime, here: Circumstances, request: MotionRequest, running: Motion
) -> tuple[Circumstances, MotionRequest, Motion]:
    """Return the same in the time of the path, and the motion from whose state to go on."""
    now = here.time
    if path_time.clock is None or now is None:
        return here, request, running
    place, speed = path_time.clock.ahead(now)
    if speed == 0.0:
        # How fast it would go on is of the past.
        running = Motion.hold(running.sample(place).position, now=place)
    start_time = path_time.start_of(request.start_time, now)
    return here._replace(time=place), replace(request, start_time=start_time), running


def _integrated(
    request: MotionRequest, running: Motion | None, now: float | None
) -> MotionRequest:
    """Return a request with positions; see :meth:`MotionRequest.integrated`."""
    if request.waypoints.carried is None:
        return request
    if not request.interpolation.has_way:
        raise TrajectoryError(
            "points: expected positions in all of them with interpolation_method 'none', "
            'got points without',
            field='points',
        )
    if running is None or now is None:
        raise TrajectoryError(
            'points: expected positions before the first joint state, got points without: '
            'there is nothing to integrate from',
            field='points',
        )
    return request.integrated(running, now)
