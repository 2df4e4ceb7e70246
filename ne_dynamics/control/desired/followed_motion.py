"""The motion that an arm follows, what waits to take its place, and how that is judged before.

What is followed never jumps by itself: another motion begins in the desired state of its moment,
and what is ended is brought to rest along its way (:mod:`ne_dynamics.motion.stopping`). Waypoints
are surveyed in pieces as soon as they are known, and judged once more, at their ends, where they
take over; see :mod:`ne_dynamics.control.desired.motion_judge`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.desired.motion_judge import (
    Ending,
    MotionJudge,
    MotionRequest,
    PathEfforts,
    finish,
)
from ne_dynamics.control.desired.pacing import Pacer, Planned
from ne_dynamics.control.desired.position_stream import (
    ENDINGS,
    LONGEST_INTERVAL,
    PositionStream,
    returned,
)
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.dynamics.compensation import Base
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.motion_demand import DemandLimits, Excess
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.stopping import StopLimits, stop
from ne_dynamics.motion.time_scaling.speed_profile import is_corner
from ne_dynamics.motion.trajectory import (
    MOST_WAITING,
    DesiredState,
    Trajectory,
    Waypoints,
    resting_state,
)


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


class _PlannedWaypoints(NamedTuple):
    """The pace of waypoints, planned before they are followed.

    Attributes
    ----------
    waypoints : Waypoints
    begin : DesiredState
        From which it was planned.
    origin : float
        Place from which the times of the waypoints count there [s].
    efforts : PathEfforts
        By which it was planned.
    planned : Planned or None
        None where it may go as it was sent.
    """

    waypoints: Waypoints
    begin: DesiredState
    origin: float
    efforts: PathEfforts
    planned: Planned | None


class FollowedMotion:
    """The motion of one arm.

    Parameters
    ----------
    tuning : Tuning

    Attributes
    ----------
    trajectory : Trajectory or None
        What is followed, in the time of its path; None before the first state, and where the arm
        is led by hand.
    pacer : Pacer
        Says what that time is.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._zero = np.zeros(tuning.effort_limits.size)
        self.trajectory: Trajectory | None = None
        self._requests: deque[MotionRequest] = deque(maxlen=MOST_WAITING)
        self._planned: _PlannedWaypoints | None = None
        self._stream = PositionStream(tuning.longest_interval)
        self._surveyed: tuple[Waypoints, Ending | None] | None = None
        self.pacer = Pacer(tuning)
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Let another tuning count for what is decided from now on."""
        joints, limits = tuning.law.joints, tuning.effort_limits
        self._tuning = tuning
        self._demand_limits = DemandLimits.of(joints, limits)
        self.pacer.configure(tuning)
        self._stream.longest_interval = tuning.longest_interval

    @property
    def stop_limits(self) -> StopLimits:
        """With what motions are brought to rest."""
        tuning = self._tuning
        return StopLimits.of(tuning.law.joints, tuning.effort_limits, tuning.decelerations)

    def forget(self) -> None:
        """Follow nothing: where the next state finds the arm is what is held."""
        self.trajectory = self._planned = None
        self._requests.clear()
        self._stream.forget()
        self.pacer.forget()

    def desired_at(self, position: FloatArray, now: float) -> DesiredState:
        """Return where the arm should be at a time, or a position where nothing is followed."""
        trajectory = self.trajectory
        if trajectory is None:
            return resting_state(position)
        return self.pacer.state_at(trajectory, now)

    @property
    def is_idle(self) -> bool:
        """Whether a state changes nothing: a motion goes as it was sent, and nothing waits."""
        return self.trajectory is not None and not self.has_requests and self.pacer.is_absent

    @property
    def has_requests(self) -> bool:
        """Whether waypoints wait for the next state."""
        return bool(self._requests)

    def advance(self, here: Circumstances) -> TrajectoryError | None:
        """Go on to a state; let what waits take the place of what is followed from there on.

        Parameters
        ----------
        here : Circumstances
            With a state.

        Returns
        -------
        TrajectoryError or None
            Why waypoints that waited are not followed.
        """
        if self.trajectory is None:
            self.trajectory = self._stop(_measured_state(here, self._zero), here)
        self.trajectory = self.pacer.advance(self.trajectory, _time_of(here))
        refused = None
        while self._requests:
            refused = self._take_over(self._requests.popleft(), self.trajectory, here) or refused
        return refused

    def _take_over(
        self, request: MotionRequest, running: Trajectory, here: Circumstances
    ) -> TrajectoryError | None:
        """Let waypoints take the place of what is followed; return why they cannot."""
        here, request, running = self._on_path(here, request, running)
        now, judge = _time_of(here), self._make_judge(here)
        begin = running.sample(now)
        exceeded: tuple[Excess, ...] = ()
        try:
            if request.waypoints.carried is not None:
                request = request.integrated(running, now)
                exceeded = judge.decide(finish(_survey_all(judge, request.waypoints)))
            trajectory = self._lay(request, running, here)
            is_judged = request.is_judged_from(begin)
            if not is_judged:
                found = judge.judge_ends(trajectory, request, begin, now, is_told=False)
                exceeded += judge.decide(found)
        except TrajectoryError as error:
            return error
        self.trajectory = trajectory
        self._stream.remember(request, now)
        if self.pacer.clock is not None:
            self._keep_pace(trajectory, request, begin, here, is_outdated=bool(exceeded))
        return None

    def _keep_pace(
        self,
        trajectory: Trajectory,
        request: MotionRequest,
        begin: DesiredState,
        here: Circumstances,
        *,
        is_outdated: bool,
    ) -> None:
        """Let what has taken over be followed at the pace that was planned for it."""
        now, profile = _time_of(here), None
        plan, self._planned = self._planned, None
        if plan is not None and plan.waypoints is request.waypoints:
            efforts = plan.efforts
            if plan.planned is not None:
                is_outdated |= not all(map(np.array_equal, plan.begin, begin))
                profile = plan.planned.profile.shifted(request.origin(now) - plan.origin)
        else:
            efforts = self._path_efforts(here)
        after, start = trajectory.sample(now).velocity, trajectory.start_time
        if self._slows_down and start <= now:
            self.pacer.turn(begin.velocity, after)
        stands = not (begin.velocity.any() or after.any())
        self.pacer.take(profile, efforts, start, is_outdated=is_outdated, stands=stands)

    def _on_path(
        self, here: Circumstances, request: MotionRequest, running: Trajectory
    ) -> tuple[Circumstances, MotionRequest, Trajectory]:
        """Return the same in the time of the path, and the motion from whose state to go on."""
        clock, now = self.pacer.clock, here.time
        if clock is None or now is None:
            return here, request, running
        place, speed = clock.ahead(now)
        if speed == 0.0:
            # How fast it would go on is of the past.
            running = Trajectory.hold(running.sample(place).position, now=place)
        start_time = self.pacer.start_of(request.start_time, now)
        return here._replace(time=place), replace(request, start_time=start_time), running

    def _lay(self, request: MotionRequest, running: Trajectory, here: Circumstances) -> Trajectory:
        def stop_later(state: DesiredState, time: float) -> Trajectory:
            return self._stop(state, here, time)

        now = _time_of(here)
        streamed = self._stream.extended(request, now)
        if streamed is None:
            return request.lay(running, now, stop_later)
        trajectory = streamed.lay(running, now, stop_later, goes_on=True)
        return returned(trajectory, request.waypoints, self.stop_limits)

    def _going_on(
        self, request: MotionRequest, running: Trajectory, here: Circumstances
    ) -> MotionRequest:
        """Return a request of a stream with as fast an end as the arm can be stopped from."""
        now = _time_of(here)
        for ending in ENDINGS if self._stream.goes_on(request, now) else ():
            chosen = replace(request, ending=ending)
            trajectory = self._lay(chosen, running, here)
            if self._make_judge(here).allows_end(trajectory, request, now):
                return chosen
        return request

    def _stop(
        self, state: DesiredState, here: Circumstances, time: float | None = None
    ) -> Trajectory:
        """Return the stop of a motion, for what the model carries and feels at present."""
        compensation = self._tuning.hold_law.compensation

        def compute_efforts(q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
            return compensation.effort_or_infinite(q, qd, qdd, here.wrench, here.base)

        now = _time_of(here) if time is None else time
        return stop(state, self.stop_limits, compute_efforts, now=now)

    def survey(
        self, waypoints: Waypoints, start_time: float | None, here: Circumstances
    ) -> Generator[None, None, tuple[Excess, ...]]:
        """Judge the motion between waypoints in pieces, for :meth:`follow`.

        As :meth:`ne_dynamics.control.controller.Controller.survey`, under these circumstances.
        """
        request, running = self._request(waypoints, start_time, here), self.trajectory
        self._planned = None
        if running is not None:
            here, request, running = self._on_path(here, request, running)
        request = _integrated(request, running, here.time)
        judge, found = self._make_judge(here), list[Excess]()
        now, trajectory = here.time, None
        if running is not None and now is not None and (request.is_spline or self._slows_down):
            try:
                request = self._going_on(request, running, here)
                trajectory = self._lay(request, running, here)
            except TrajectoryError:
                # Of the past: the next state will find it so.
                return ()
            self._surveyed = waypoints, request.ending
            yield
        waypoints = request.waypoints
        if request.interpolation is Interpolation.NONE:
            yield from judge.survey_poses(waypoints, found)
        elif trajectory is None or now is None or not request.is_spline:
            start = request.start_time
            since = 0.0 if start is None or now is None else now - start
            yield from judge.survey_waypoints(waypoints, found, since=since)
        else:
            yield from judge.survey_trajectory(trajectory, request.origin(now), found)
        exceeded = judge.decide(found)
        if self._slows_down and trajectory is not None and running is not None:
            yield
            yield from self._plan(request, trajectory, running, here, has_excess=bool(exceeded))
        return exceeded

    @property
    def _slows_down(self) -> bool:
        return self.pacer.slows_down and self._tuning.interpolation_method.has_way

    def _plan(
        self,
        request: MotionRequest,
        trajectory: Trajectory,
        running: Trajectory,
        here: Circumstances,
        *,
        has_excess: bool,
    ) -> Generator[None, None, None]:
        """Plan the pace of what is to be followed, where it cannot go as it was sent."""
        now, judge = _time_of(here), self._make_judge(here)
        begin = running.sample(now)
        # Straight lines have corners, at which no motor can do what they ask for.
        has_excess = has_excess or request.interpolation is Interpolation.LINEAR
        if not has_excess:
            found = judge.judge_ends(trajectory, request, begin, now, is_told=False)
            has_excess = bool(judge.decide(found))
        origin, efforts, planned = request.origin(now), self._path_efforts(here), None
        # A single point that is due already has no way: the arm is to stand there.
        if has_excess and len(trajectory.knots) > 1:
            yield
            clock, start = self.pacer.clock, trajectory.start_time
            after, before = trajectory.sample(start).velocity, running.sample(start).velocity
            planned = yield from self.pacer.survey(
                trajectory,
                efforts,
                begin=start,
                origin=origin,
                speed=1.0 if clock is None else clock.speed,
                has_corner=bool(is_corner(after, before)),
            )
        self._planned = _PlannedWaypoints(request.waypoints, begin, origin, efforts, planned)

    @property
    def planned_duration(self) -> float | None:
        """How long what was surveyed last will take; None where it goes as it was sent [s]."""
        planned = None if self._planned is None else self._planned.planned
        return None if planned is None else planned.duration

    def reconsider(self, here: Circumstances) -> None:
        """Do a piece of what is to be planned anew, between two states."""
        self.pacer.reconsider(self.trajectory, lambda: self._path_efforts(here))

    def _path_efforts(self, here: Circumstances) -> PathEfforts:
        return PathEfforts(self._tuning.hold_law, here.resting_base, here.wrench, here.position)

    def _make_judge(self, here: Circumstances) -> MotionJudge:
        tuning = self._tuning
        efforts = self._path_efforts(here)
        return MotionJudge(
            self._demand_limits,
            efforts.moving,
            efforts.holding,
            tuning.when_infeasible,
            # Without streams too messages come one after the other.
            max(tuning.longest_interval, LONGEST_INTERVAL),
        )

    def follow(
        self,
        waypoints: Waypoints,
        start_time: float | None,
        here: Circumstances,
        *,
        is_surveyed: bool,
    ) -> tuple[Excess, ...]:
        """Follow waypoints from the next state on.

        As :meth:`ne_dynamics.control.controller.Controller.follow`, under these circumstances.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float or None
        here : Circumstances
        is_surveyed : bool

        Returns
        -------
        tuple of Excess

        Raises
        ------
        InfeasibleMotionError
            When the motion is not to be followed: nothing changes then.
        """
        exceeded: tuple[Excess, ...] = ()
        if not is_surveyed:
            exceeded = finish(self.survey(waypoints, start_time, here))
        request, running = self._request(waypoints, start_time, here), self.trajectory
        if running is not None and here.time is not None:
            there, laid, running = self._on_path(here, request, running)
            now, judge = _time_of(there), self._make_judge(there)
            begin = running.sample(now)
            try:
                laid = _integrated(laid, running, now)
                if is_surveyed and self._surveyed and self._surveyed[0] is waypoints:
                    laid = replace(laid, ending=self._surveyed[1])
                else:
                    laid = self._going_on(laid, running, there)
                trajectory = self._lay(laid, running, there)
            except TrajectoryError:
                # Of the past: the next state will find it so.
                pass
            else:
                found = judge.judge_ends(trajectory, laid, begin, now)
                exceeded += judge.decide(found)
                # Positions that are integrated follow from the state in which it takes over.
                is_known = waypoints.carried is None
                request = replace(
                    request, ending=laid.ending, judged_from=begin if is_known else None
                )
        if start_time is None:
            self._requests.clear()
            self._stream.hear(request, here.time)
        self._requests.append(request)
        return exceeded

    def _request(
        self, waypoints: Waypoints, start_time: float | None, here: Circumstances
    ) -> MotionRequest:
        request = MotionRequest(waypoints, start_time, self._tuning.interpolation_method)
        return self._stream.paced(request, here.time)

    def hold(self, here: Circumstances, *, where_found: bool) -> None:
        """Stop the desired motion, or the measured one; forget what waits.

        As :meth:`ne_dynamics.control.controller.Controller.hold`, under these circumstances.
        """
        self._requests.clear()
        self._stream.forget()
        if self.trajectory is None or here.time is None:
            return
        is_found = where_found and here.position is not None
        if not is_found and not self.trajectory.has_steps:
            moving = self._path_efforts(here).moving
            if self.pacer.stop(self.trajectory, here.time, moving):
                self.trajectory = self.trajectory.given_up()
                return
        state = (
            _measured_state(here, self._zero)
            if is_found
            else self.pacer.state_at(self.trajectory, here.time)
        )
        self.pacer.forget()
        self.trajectory = self._stop(state, here)


def _integrated(
    request: MotionRequest, running: Trajectory | None, now: float | None
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


def _survey_all(judge: MotionJudge, waypoints: Waypoints) -> Generator[None, None, list[Excess]]:
    """Find what the motion between waypoints exceeds."""
    found: list[Excess] = []
    yield from judge.survey_waypoints(waypoints, found)
    return found


def _time_of(here: Circumstances) -> float:
    if here.time is None:
        raise RuntimeError('no state has come')
    return here.time


def _measured_state(here: Circumstances, zero: FloatArray) -> DesiredState:
    if here.position is None:
        raise RuntimeError('no state has come')
    return DesiredState(here.position, zero if here.velocity is None else here.velocity, zero)
