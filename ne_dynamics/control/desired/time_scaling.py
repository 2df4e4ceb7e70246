"""At what pace a motion is followed: as it was sent, or slower along the same path.

A motion has a pace of its own while it is scaled, while it is brought to rest, and where it is to
be slowed down rather than refused (`trajectory.when_infeasible`). Then, at every state, the
acceleration along the path is chosen within the limits that are left beside all the law wants for;
see :mod:`ne_dynamics.control.desired.path_parameter`. What is planned of the rest of the path is
planned anew, beside the states, when the model that it was planned with does not hold any more.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.control.desired.path_efforts import PathEfforts
from ne_dynamics.control.desired.path_parameter import Band, PathParameter
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.check import find_unholdable, find_unpassable
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import MOTION, TIME_SCALING
from ne_dynamics.motion.time_scaling.path import PathIntervals
from ne_dynamics.motion.time_scaling.time_optimal import (
    TimeOptimal,
    TimeOptimalProfile,
    find_time_optimal,
    is_corner,
)
from ne_dynamics.motion.waypoints import DesiredState

_FEEDING_FORWARD = (Mode.FEEDFORWARD, Mode.FEEDFORWARD_PD)


Submit = Callable[..., Future[Any]]
"""What does work beside the states: :meth:`concurrent.futures.Executor.submit`."""


def submit_here(function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
    """Do the work at once, for who has the time."""
    future: Future[Any] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as error:
        future.set_exception(error)
    return future


class PathTime(NamedTuple):
    """How the time of a path passes.

    Attributes
    ----------
    clock : PathParameter or None
        None where motions go as they were sent, and always did.
    target : float
        Speed that is asked for: 1 for that of the sender.
    """

    clock: PathParameter | None
    target: float

    def start_of(self, start_time: float | None, time: float) -> float | None:
        """Return a start by the caller's time as one by that of the path, at a time [s].

        What lies ahead is as far ahead on the path as it is at the speed that is asked for, as
        joint_trajectory_controller has it; at a speed above 1, as far as that has come about.
        """
        if start_time is None or self.clock is None:
            return start_time
        wait = start_time - time
        rate = min(self.target, max(self.clock.speed, 1.0)) if wait > 0.0 else 1.0
        return self.clock.ahead(time)[0] + wait * rate


def plan_pace(
    trajectory: Motion,
    efforts: PathEfforts,
    limits: DemandLimits,
    begin: float,
    origin: float,
    speed: float,
    fastest: float,
    has_corner: bool = False,
) -> TimeOptimal:
    """Return how fast a path may be followed.

    Parameters
    ----------
    trajectory : Motion
    efforts : PathEfforts
    limits : DemandLimits
    begin : float
        Place from which on it is planned [s].
    origin : float
        From which the times count of what is refused [s].
    speed : float
        At the begin.
    fastest : float
        Largest speed.
    has_corner : bool
        Whether the motion turns at the begin, from what is followed until then.

    Raises
    ------
    InfeasibleMotionError
        When there is a pose that the motors cannot hold, or not leave slowly.
    """
    path = _find_path(trajectory, begin)
    _refuse_impassable(path, path.begins - origin, efforts, limits)
    # Behind the last segment the arm stands.
    found = find_time_optimal(
        path,
        efforts.moving,
        limits,
        share=DESIRED.planned_share,
        fastest=fastest,
        begin=TIME_SCALING.slowest_speed if has_corner else max(speed, TIME_SCALING.slowest_speed),
        end=TIME_SCALING.slowest_speed if is_corner(path.velocity[1, -1], 0.0) else np.inf,
    )
    if not has_corner:
        return found
    squares = np.concatenate(([TIME_SCALING.slowest_speed**2], found.profile.squares[1:]))
    return found._replace(profile=TimeOptimalProfile(found.profile.times, squares))


def _find_path(trajectory: Motion, begin: float) -> PathIntervals:
    """Return a motion from the segment on in which a place is [s]."""
    count = len(trajectory.knots) - 1
    first = int(np.searchsorted(trajectory.knots, begin, side='right')) - 1
    return PathIntervals.of(trajectory.segments(slice(min(max(first, 0), count - 1), count)))


def _refuse_impassable(
    path: PathIntervals, times: FloatArray, efforts: PathEfforts, limits: DemandLimits
) -> None:
    """Refuse a path with a pose that the motors cannot hold, or not leave slowly."""
    position = path.position[0]
    beyond = find_unholdable(position, times, efforts.holding, limits) or find_unpassable(
        position, path.velocity[0], times, efforts.moving, limits
    )
    if beyond:
        raise InfeasibleMotionError(beyond)


class TimeScaling:
    """Keeps the pace of what is followed, once it is configured.

    Parameters
    ----------
    submit : Submit
        Plans anew, beside the states.

    Attributes
    ----------
    clock : PathParameter or None
        None where motions go as they were sent, and always did.
    target : float
        Speed that is asked for: 1 for that of the sender.
    slows_down : bool
        Whether motions are slowed down rather than refused.
    """

    slows_down: bool
    _limits: DemandLimits
    _stopping_by: DemandLimits
    """Those with which the present stop has begun."""

    def __init__(self, submit: Submit) -> None:
        self.clock: PathParameter | None = None
        self.target = 1.0
        self._submit = submit
        self._efforts: PathEfforts | None = None
        self._planning: Future[TimeOptimal] | None = None
        self._is_outdated = False
        self._looked_at = self._not_before = -np.inf

    def configure(self, limits: DemandLimits, *, slows_down: bool) -> None:
        """Let other limits count from the next state on."""
        self._limits, self.slows_down = limits, slows_down
        if not slows_down:
            self.target = min(self.target, 1.0)
        self._is_outdated = True

    @property
    def is_absent(self) -> bool:
        """Whether motions go as they were sent, and nothing asks for anything else."""
        return self.clock is None and self.target == 1.0 and not self.slows_down

    @property
    def is_needed(self) -> bool:
        """Whether the pace is to be chosen at this state."""
        return self.clock is not None and (self.slows_down or not self.clock.is_idle)

    def scale(self, target: float) -> None:
        """Ask for another speed; one above 1 is planned for before it is gone to."""
        self._is_outdated |= max(target, 1.0) != max(self.target, 1.0)
        self.target = target

    def forget(self) -> None:
        """Forget the path; the speed that is asked for stays."""
        self.clock = self._planning = self._efforts = None

    # ---- times

    def place_at(self, time: float) -> float:
        """Return the time of the path at a time of the caller [s]."""
        return time if self.clock is None else self.clock.ahead(time)[0]

    @property
    def path_time(self) -> PathTime:
        """How the time of what is followed passes."""
        return PathTime(self.clock, self.target)

    def state_at(self, trajectory: Motion, time: float) -> DesiredState:
        """Return the desired motion at a time of the caller [s]."""
        clock = self.clock
        if clock is None:
            return trajectory.sample(time)
        place, speed = clock.ahead(time)
        position, velocity, acceleration = trajectory.sample(place)
        change = clock.change
        return DesiredState(
            position, velocity * speed, acceleration * (speed * speed) + velocity * change
        )

    def advance(self, trajectory: Motion, time: float) -> Motion:
        """Go on to a state; return the trajectory, or what is held where it has come to rest."""
        if self.is_absent:
            return trajectory
        clock = self.clock
        if clock is None:
            clock = self.clock = PathParameter(time, time)
            if not trajectory.sample(time).velocity.any():
                clock.speed = min(self.target, 1.0)
        clock.advance(time)
        clock.target = self.target
        if clock.has_stopped:
            # The next motion begins anew, by the time of the caller, if need be with a new clock.
            self.forget()
            held = Motion.hold(trajectory.sample(clock.place).position, now=time)
            return self.advance(held, time)
        return trajectory

    # ---- motions

    def stop(self, trajectory: Motion, time: float, efforts: Efforts) -> bool:
        """Give a motion up; return whether it comes to rest along its path, if it moves.

        `time` is that of the last state [s]; by `efforts` of the model it begins to brake there.
        """
        place, speed = (time, 1.0) if self.clock is None else self.clock.ahead(time)
        path = trajectory.sample(place)
        if speed == 0.0 or not (path.velocity.any() or path.acceleration.any()):
            return False
        if not np.isfinite(path).all():
            return False
        clock = self.clock = self.clock or PathParameter(time, time)
        if not clock.is_stopping:
            self._stopping_by = self._limits
        self._planning, clock.is_stopping = None, True
        band = Band()
        desired = clock.moved(path)
        accelerations = np.stack((desired.acceleration, desired.acceleration + path.velocity))
        still, moved = efforts(
            np.stack([desired.position] * 2), np.stack([desired.velocity] * 2), accelerations
        )
        if np.isfinite(still).all() and np.isfinite(moved).all():
            band = self._band(clock, path.velocity, desired, moved - still, still)
        clock.stop(band)
        return True

    def take(
        self,
        profile: TimeOptimalProfile | None,
        efforts: PathEfforts,
        start: float,
        before: FloatArray,
        after: FloatArray,
        *,
        has_begun: bool,
        is_outdated: bool,
    ) -> None:
        """Follow another path; at a corner as fast as what was followed goes along it.

        Parameters
        ----------
        profile : TimeOptimalProfile or None
            None where all of it may go as it was sent, as far as is known.
        efforts : PathEfforts
            By which that is known.
        start : float
            Place from which on it is followed [s].
        before, after : array, shape (n,)
            The derivatives of both paths at the present place.
        has_begun : bool
            Whether it is one that is slowed down, and is followed at once.
        is_outdated : bool
            Whether it is to be planned anew.
        """
        clock = self.clock
        if clock is None:
            return
        if has_begun and is_corner(after, before):
            share = float(before @ after) / max(float(after @ after), 1e-9)
            clock.speed, clock.change = clock.speed * min(max(share, 0.0), 1.0), 0.0
        earlier = None if clock.profile is None else clock.profile.until(start)
        clock.go_on()
        clock.profile = earlier if profile is None else profile.after(earlier)
        if profile is None and not (before.any() or after.any()):
            # At rest any speed of the clock is the same to the arm, and nobody knows yet whether
            # a path that was not planned may be gone faster.
            clock.speed = min(clock.speed, 1.0)
        self._planning, self._efforts = None, efforts
        self._is_outdated = is_outdated or self.target > 1.0

    # ---- at each state

    def choose(self, tick: Tick) -> None:
        """Choose the acceleration along the path, so that the effort keeps its limits.

        It changes `desired` and `wanted`, where the pace is to be chosen.
        """
        path, clock, desired, law = tick.path, self.clock, tick.desired, tick.law
        if path is None or clock is None:
            return
        tangent = path.velocity
        where = desired.position if law.mode in _FEEDING_FORWARD else tick.position
        inertial = law.compensation.inertial_effort(where, tangent, tick.wrench)
        effort = tick.wanted if tick.offset is None else tick.wanted + tick.offset
        change = clock.choose(self._band(clock, tangent, desired, inertial, effort), tick.elapsed)
        tick.desired = desired._replace(acceleration=desired.acceleration + change * tangent)
        tick.wanted = tick.wanted + change * inertial

    def _band(
        self,
        clock: PathParameter,
        tangent: FloatArray,
        desired: DesiredState,
        inertial: FloatArray,
        effort: FloatArray,
    ) -> Band:
        limits = DESIRED.measured_share * self._limits.effort
        if clock.is_stopping:
            # What is asked for already is left no faster than the motion swings.
            present = np.abs(effort + clock.change * inertial)
            sought = np.maximum(MOTION.stop_effort_share * self._limits.effort, present)
            limits = np.minimum(sought, limits)
        band = Band.of(inertial, -limits - effort, limits - effort)
        if band.is_empty:
            band = self._give_way(band, inertial, effort)
        if clock.is_stopping:
            most = self._stopping_by.decelerations_from(desired.velocity)
        elif self.slows_down:
            most = np.minimum(self._limits.acceleration, self._limits.deceleration)
        else:
            return band
        felt = desired.acceleration
        both = band.within(Band.of(tangent, -most - felt, most - felt))
        return band if both.is_empty else both

    def _give_way(self, band: Band, inertial: FloatArray, effort: FloatArray) -> Band:
        """Return the deceleration where no acceleration keeps the limits.

        Less speed is the one thing that helps then, but not at the cost of other motors.
        """
        limits = self._limits.effort
        most = np.maximum(
            DESIRED.measured_share * limits, np.abs(effort) + DESIRED.excess_share * limits
        )
        spared = Band.of(inertial, -most - effort, most - effort)
        change = min(0.0, max(0.5 * (band.low + band.high), spared.low))
        return Band(change, change)

    # ---- between the states

    def reconsider(
        self, trajectory: Motion | None, make_efforts: Callable[[], PathEfforts]
    ) -> None:
        """Have planned anew what is to be, and take what was.

        `make_efforts` returns those of the model as it is now, and of what it feels.
        """
        clock = self.clock
        if clock is None or trajectory is None or not self.slows_down or clock.is_stopping:
            return
        if not trajectory.start_time <= clock.place < trajectory.end_time:
            return
        if self._planning is None:
            if 0.0 <= self._not_before - clock.time <= DESIRED.retry_time:
                return
            if (
                not self._is_outdated
                and 0.0 <= clock.time - self._looked_at < DESIRED.check_period
            ):
                return
            self._looked_at = clock.time
            efforts = make_efforts()
            if not self._has_changed(trajectory, efforts, clock):
                return
            self._efforts, self._is_outdated = efforts, False
            self._planning = self._submit_plan(trajectory, efforts, clock)
        if not self._planning.done():
            return
        planning, self._planning = self._planning, None
        try:
            clock.profile = planning.result().profile
        except InfeasibleMotionError:
            # It goes on as far as it can: the motion slows, and waits for what it waits for.
            return
        except (Exception, CancelledError):
            # Who was to plan is gone; somebody else may be there soon.
            self._is_outdated, self._not_before = True, clock.time + DESIRED.retry_time

    def _submit_plan(
        self, trajectory: Motion, efforts: PathEfforts, clock: PathParameter
    ) -> Future[TimeOptimal]:
        return self._submit(
            plan_pace,
            trajectory.part(clock.place, np.inf),
            efforts,
            self._limits,
            clock.place,
            0.0,
            max(clock.speed, TIME_SCALING.slowest_speed),
            max(1.0, self.target),
        )

    def _has_changed(self, trajectory: Motion, efforts: PathEfforts, clock: PathParameter) -> bool:
        """Return whether what was planned was planned with another model."""
        if self._is_outdated or self._efforts is None:
            return True
        position = trajectory.sample(clock.place).position[np.newaxis]
        still = np.zeros_like(position)
        present, planned = (
            each.moving(position, still, still) for each in (efforts, self._efforts)
        )
        return bool(
            (np.abs(present - planned) > DESIRED.changed_share * self._limits.effort).any()
        )
