"""What becomes of waypoints before they are followed: placed in time, checked, and timed.

All of it is a function of what is known at one moment. A planner is that knowledge: a value that
may go to another process, which plans there while states are answered here. The plan counts for
the moment at which it was made; what becomes of it later:
:class:`ne_dynamics.control.stages.desired.FollowedMotion`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.desired.feasibility_checker import FeasibilityChecker, Pause, go_on
from ne_dynamics.control.desired.motion_request import MotionRequest
from ne_dynamics.control.desired.path_efforts import PathEfforts
from ne_dynamics.control.desired.position_stream import ENDINGS, PositionStream, returned
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.desired.time_scaling import PathTime, plan_pace
from ne_dynamics.dynamics.compensation import Base, Compensation
from ne_dynamics.errors import NeDynamicsError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import LimitViolation, WhenInfeasible
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.replacement import begin_of, replace_motion
from ne_dynamics.motion.stopping import stop
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.time_scaling.time_optimal import TimeOptimal, is_corner
from ne_dynamics.motion.waypoints import DesiredState, Waypoints


class TakesTimeError(NeDynamicsError):
    """What is to be planned takes longer than there is time."""


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
        Motions are brought to rest by them, too.
    when_infeasible : WhenInfeasible
    interpolation : Interpolation
        Of positions alone.
    longest_interval : float
        Points of a stream are no farther from each other [s].
    number : int
        Others have another one.
    """

    compensation: Compensation
    limits: DemandLimits
    when_infeasible: WhenInfeasible
    interpolation: Interpolation
    longest_interval: float
    number: int = field(default_factory=count().__next__)

    @property
    def slows_down(self) -> bool:
        """Whether motions are slowed down rather than refused, and have a way for it."""
        return self.when_infeasible is WhenInfeasible.SLOW_DOWN and self.interpolation.has_way

    def path_efforts(self, here: Circumstances) -> PathEfforts:
        """Return the efforts along a path, under circumstances."""
        return PathEfforts(self.compensation, here.resting_base, here.wrench, here.position)

    def make_checker(self, here: Circumstances, pause: Pause = go_on) -> FeasibilityChecker:
        """Return what checks motions, under circumstances."""
        return FeasibilityChecker(
            self.limits,
            self.path_efforts(here),
            self.when_infeasible,
            # Without streams too messages come one after the other.
            max(self.longest_interval, DESIRED.longest_interval),
            pause,
        )

    def stop(self, state: DesiredState, here: Circumstances, time: float | None = None) -> Motion:
        """Return the stop of a motion, for what the model carries and feels at present."""
        compute = partial(self.compensation.effort_or_infinite, wrench=here.wrench, base=here.base)
        now = here.now if time is None else time
        return stop(state, self.limits, compute, now=now)

    def place(
        self, request: MotionRequest, running: Motion, here: Circumstances, stream: PositionStream
    ) -> Motion:
        """Return the motion through waypoints in the place of another one.

        Waypoints that end moving are followed by a stop; those of a stream that goes on, by a
        stop and the way back to the last one.

        Raises
        ------
        TrajectoryError
            When they are of the past, or beyond all numbers.
        """
        streamed = stream.extended(request, here.now)
        waypoints = request.waypoints if streamed is None else streamed
        motion = replace_motion(
            running,
            waypoints,
            now=here.now,
            start_time=request.start_time,
            interpolation=request.interpolation,
            goes_on=streamed is not None,
        )
        if waypoints.velocities[-1].any():
            motion = motion.joined(self.stop(motion.last_moment, here, motion.end_time))
        if streamed is not None:
            motion = returned(motion, request.waypoints, self.limits)
        return motion


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
        As it was placed; None before the first state.
    origin : float
        Time from which the times of the waypoints count there [s].
    begin_time : float
        When it takes the place of what was followed [s].
    begin : DesiredState or None
        From which it goes then.
    efforts : PathEfforts or None
        By which its pace was planned; None where that was not looked at.
    pace : TimeOptimal or None
        How fast it may be followed; None where it may go as it was sent.
    settings : int
        Number of those by which it was made.
    is_announced : bool
        Whether its start is one that was announced here: where it takes over later, it counts
        from then on.
    """

    request: MotionRequest
    is_for_now: bool
    exceeded: tuple[LimitViolation, ...] = ()
    motion: Motion | None = None
    origin: float = 0.0
    begin_time: float = 0.0
    begin: DesiredState | None = None
    efforts: PathEfforts | None = None
    pace: TimeOptimal | None = None
    settings: int = -1
    is_announced: bool = False

    @property
    def duration(self) -> float | None:
        """How long it will take; None where it goes as it was sent [s]."""
        return None if self.pace is None else float(self.pace.passed[-1])

    @property
    def has_corner(self) -> bool:
        """Whether the motion turns where it takes the place of what was followed."""
        if self.motion is None or self.begin is None:
            return False
        return bool(is_corner(self.motion.sample(self.begin_time).velocity, self.begin.velocity))

    def placed_at(self, origin: float, time: float, state: DesiredState) -> Motion | None:
        """Return the motion where it is the one that was planned, if need be later.

        The times of the waypoints count from `origin`; at `time` it takes over from `state` [s].
        """
        if self.motion is None or self.begin is None:
            return None
        later = origin - self.origin
        is_then = abs(time - self.begin_time - later) < MOTION.shortest_segment
        if not (is_then and all(map(np.array_equal, self.begin, state))):
            return None
        return self.motion.shifted(later)


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
    has_time : bool
        Whether a pace may be planned.
    pause : callable
        Called between parts of the work, for who cannot wait until its end.
    lead : float
        How much later than now what is for now takes over, where the arm moves: by then the plan
        is there [s].
    """

    settings: PlanningSettings
    here: Circumstances
    running: Motion | None
    stream: PositionStream
    path_time: PathTime
    has_time: bool = True
    pause: Pause = go_on
    lead: float = 0.0

    def start_of(self, start_time: float | None) -> float | None:
        """Return from when waypoints count [s]; None: from the state at which they take over.

        `start_time`: as they were sent.
        """
        now, clock = self.here.time, self.path_time.clock
        if start_time is not None or self.running is None or now is None or not self.lead:
            return start_time
        state = self.running.sample(now if clock is None else clock.ahead(now)[0])
        is_moving = bool(state.velocity.any() or state.acceleration.any())
        return now + self.lead if is_moving else None

    def plan(
        self, waypoints: Waypoints, start_time: float | None = None, *, is_partial: bool = False
    ) -> MotionPlan:
        """Return what becomes of waypoints.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count, as they were sent [s]; when None, that of
            :meth:`start_of`.
        is_partial : bool
            Whether joints were left out: they go on by that time, however late it has become.

        Raises
        ------
        TakesTimeError
            When there is none for what is to be done.
        InfeasibleMotionError
            When they are not to be followed.
        TrajectoryError
            When positions that are missing cannot be integrated.
        """
        settings, is_for_now = self.settings, start_time is None
        start = self.start_of(start_time)
        sent = self.stream.paced(
            MotionRequest(waypoints, start, settings.interpolation), self.here.time
        )
        if self.running is None or self.here.time is None:
            request, checker = sent.integrated(None, None), settings.make_checker(self.here)
            return MotionPlan(sent, is_for_now, checker.decide(checker.check_waypoints(request)))
        is_announced = is_for_now and start is not None and not is_partial
        return self._plan_along(sent, self.running, is_for_now, is_announced)

    def _plan_along(
        self, sent: MotionRequest, followed: Motion, is_for_now: bool, is_announced: bool
    ) -> MotionPlan:
        """Return what becomes of waypoints while a motion is followed."""
        settings = self.settings
        here, request, running = on_path(self.path_time, self.here, sent, followed)
        request = request.integrated(running, here.time)
        checker = settings.make_checker(here, self.pause)
        now, begin = here.now, running.sample(here.now)
        self.pause()
        try:
            request = self._going_on(checker, request, running, here)
            motion = settings.place(request, running, here, self.stream)
        except TrajectoryError:
            # Of the past, as the next state will find, too.
            return MotionPlan(sent, is_for_now)
        self.pause()
        exceeded = checker.decide(checker.check_motion(motion, request, begin, now))
        self.pause()
        # Straight lines have corners, at which no motor can do what they ask for.
        is_slowed = settings.slows_down and bool(
            exceeded
            or request.interpolation is Interpolation.LINEAR
            or checker.check_ends(motion, request, begin, now)
        )
        origin = request.origin(now)
        pace = self._plan_pace(motion, running, checker.efforts, origin) if is_slowed else None
        return MotionPlan(
            replace(sent, ending=request.ending),
            is_for_now,
            exceeded,
            motion,
            origin,
            begin_time := begin_of(sent.waypoints, request.start_time, now),
            running.sample(begin_time),
            checker.efforts if settings.slows_down else None,
            pace,
            settings.number,
            is_announced=is_announced,
        )

    def _going_on(
        self,
        checker: FeasibilityChecker,
        request: MotionRequest,
        running: Motion,
        here: Circumstances,
    ) -> MotionRequest:
        """Return a request of a stream with as fast an end as the arm can be stopped from."""
        for ending in ENDINGS if self.stream.goes_on(request, here.now) else ():
            chosen = replace(request, ending=ending)
            motion = self.settings.place(chosen, running, here, self.stream)
            if checker.allows_end(motion, request, here.now):
                return chosen
        return request

    def _plan_pace(
        self, motion: Motion, running: Motion, efforts: PathEfforts, origin: float
    ) -> TimeOptimal | None:
        """Return how fast what is to be followed may be gone.

        None for a single point that is due already: it has no way, the arm is to stand there.

        Raises
        ------
        TakesTimeError
            When there is none for it.
        """
        if len(motion.knots) < 2:
            return None
        if not self.has_time:
            raise TakesTimeError('a pace is to be planned')
        start, clock = motion.start_time, self.path_time.clock
        after, before = motion.sample(start).velocity, running.sample(start).velocity
        return plan_pace(
            motion,
            efforts,
            self.settings.limits,
            begin=start,
            origin=origin,
            speed=1.0 if clock is None else clock.speed,
            fastest=max(1.0, self.path_time.target),
            has_corner=bool(is_corner(after, before)),
        )


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
