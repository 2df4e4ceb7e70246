"""Third stage: where the arm should be, by what is followed and what is asked for between states.

Waypoints are planned as soon as they are known
(:mod:`ne_dynamics.control.desired.motion_planner`), and wait for the next state, at which they
take the place of what is followed. That never jumps by itself: another motion begins in the
desired state of its moment, and what is ended is brought to rest along its way
(:mod:`ne_dynamics.motion.stopping`). Where the arm is asked for the same by the time a plan takes
over, the motion is the one that was planned, only later; where not, its ends are checked once
more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from ne_dynamics.control.desired.motion_planner import (
    Circumstances,
    MotionPlan,
    MotionPlanner,
    PlanningSettings,
    on_path,
)
from ne_dynamics.control.desired.motion_request import MotionRequest
from ne_dynamics.control.desired.position_stream import PositionStream
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.desired.time_scaling import Submit, TimeScaling
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import WhenInfeasible
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.replacement import begin_of
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState, Waypoints, resting_state


class FollowedMotion:
    """The motion that is followed from state to state, its pace, and the plans that wait.

    Parameters
    ----------
    tuning : Tuning
    submit : Submit
        Plans beside the states what is followed anew.
    present : callable
        Returns the circumstances of the last state.
    end_floating : callable
        Called when another motion ends it.

    Attributes
    ----------
    trajectory : Motion or None
        What is followed, in the time of its path; None before the first state, and where the arm
        is led by hand.
    time_scaling : TimeScaling
        Says what that time is.
    settings : PlanningSettings
        What counts for what is planned now; another object when it has changed.
    plans : deque of MotionPlan
        They wait for the next state.
    stream : PositionStream
        What was sent before.
    goes_elsewhere : bool
        Whether the motion is stopped where the arm was found, not where it should be.
    """

    def __init__(
        self,
        tuning: Tuning,
        submit: Submit,
        present: Callable[[], Circumstances],
        end_floating: Callable[[], None],
    ) -> None:
        self.trajectory: Motion | None = None
        self.time_scaling = TimeScaling(submit)
        self.plans: deque[MotionPlan] = deque(maxlen=MOTION.most_waiting_motions)
        self.stream = PositionStream(tuning.longest_interval)
        self._present = present
        self._end_floating = end_floating
        self.goes_elsewhere = False
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning for what is decided from now on."""
        joints, limits = tuning.law.joints, tuning.effort_limits
        self.settings = settings = PlanningSettings(
            tuning.hold_law.compensation,
            DemandLimits.of(joints, limits, tuning.decelerations),
            tuning.when_infeasible,
            tuning.interpolation_method,
            tuning.longest_interval,
        )
        self.time_scaling.configure(
            settings.limits,
            slows_down=settings.when_infeasible is WhenInfeasible.SLOW_DOWN,
        )
        self.stream.longest_interval = tuning.longest_interval

    def restart(self) -> None:
        """Follow nothing: the arm is held where the next state finds it."""
        self.trajectory = None
        self.plans.clear()
        self.stream.forget()
        self.time_scaling.forget()

    def reset(self) -> None:
        """Follow nothing, and forget where the arm was."""
        self.restart()
        self.goes_elsewhere = False

    def review(self) -> None:
        """Have planned anew what is slowed down, where the model has changed."""
        if self.time_scaling.slows_down:
            here = self._present()
            self.time_scaling.reconsider(self.trajectory, lambda: self.settings.path_efforts(here))

    # ---- at each state

    def step(self, tick: Tick) -> None:
        """Set `desired`, `desired_before`, `goes_elsewhere`, `refused`, `place` and `path`."""
        now, scaling, before = tick.now, self.time_scaling, tick.changed_from
        # Else the state changes nothing: a motion goes as it was sent, and nothing waits.
        is_busy = self.trajectory is None or bool(self.plans) or not scaling.is_absent
        if self.goes_elsewhere:
            tick.goes_elsewhere, self.goes_elsewhere = True, False
        is_led = before is not None and before.law.mode.follows is not tick.law.mode.follows
        if is_led or self.plans:
            tick.desired_before = self.desired_at(tick.position, now)
        if tick.law.mode is Mode.GRAVITY_COMPENSATION:
            # The arm is led by hand: wherever it is left is what another mode will hold.
            tick.goes_elsewhere |= self.trajectory is not None
            self.restart()
            tick.desired, tick.place = resting_state(tick.position), now
            return
        if is_busy:
            base = tick.base
            resting = None if base is None else base.at_rest
            here = Circumstances(now, tick.position, tick.velocity, tick.wrench, base, resting)
            tick.refused = self._advance(here)
        tick.desired = self.desired_at(tick.position, now)
        tick.place = scaling.place_at(now)
        if self.trajectory is None:
            return
        if tick.desired_before is not None:
            tick.may_step = self.trajectory.has_steps
        if scaling.is_needed and scaling.clock is not None:
            tick.path = self.trajectory.sample(tick.place)
            tick.desired = scaling.clock.moved(tick.path)

    def _advance(self, here: Circumstances) -> TrajectoryError | None:
        """Go on to a state; let what waits take the place of what is followed from there on.

        Why waypoints that waited are not followed is returned.
        """
        running, refused = self.trajectory, None
        if running is None:
            running = self.settings.stop(measured_state(here), here)
        self.trajectory = running = self.time_scaling.advance(running, here.now)
        while self.plans:
            try:
                running = self._take_over(self.plans.popleft(), running, here)
            except TrajectoryError as error:
                refused = error
        return refused

    def _take_over(self, plan: MotionPlan, running: Motion, here: Circumstances) -> Motion:
        """Return what is followed after a plan has taken the place of what was followed.

        Raises
        ------
        TrajectoryError
            When it cannot; nothing is changed then.
        """
        path_time, settings = self.time_scaling.path_time, self.settings
        here, request, before = on_path(path_time, here, plan.request, running)
        now = here.now
        late = max(now - request.origin(now), 0.0) if plan.is_announced else 0.0
        if late > (0.0 if plan.has_corner else DESIRED.latest_begin):
            request, late = replace(request, start_time=None), 0.0
        begin_time = begin_of(request.waypoints, request.start_time, now - late)
        placed = plan.placed_at(request.origin(now), begin_time, before.sample(begin_time))
        is_outdated = plan.settings != settings.number
        if placed is not None:
            waits = begin_time - now > MOTION.shortest_segment
            motion = placed.waiting_after(before, now) if waits else placed
        else:
            request, motion, exceeds = self._place_anew(request, before, here)
            is_outdated |= exceeds or plan.pace is not None
        self.trajectory = motion
        self.stream.remember(request, now)
        if self.time_scaling.clock is not None:
            pace, later = plan.pace, request.origin(now) - plan.origin
            self.time_scaling.take(
                None if pace is None else pace.profile.shifted(later),
                plan.efforts or settings.path_efforts(here),
                motion.start_time,
                before.sample(now).velocity,
                motion.sample(now).velocity,
                has_begun=settings.slows_down and motion.start_time <= now,
                is_outdated=is_outdated,
            )
        return motion

    def _place_anew(
        self, request: MotionRequest, running: Motion, here: Circumstances
    ) -> tuple[MotionRequest, Motion, bool]:
        """Place what was planned for another moment; return whether it exceeds a limit now."""
        settings, now, exceeds = self.settings, here.now, False
        checker = settings.make_checker(here)
        if request.waypoints.carried is not None:
            request = request.integrated(running, now)
            exceeds = bool(checker.decide(checker.check_waypoints(request)))
        motion = settings.place(request, running, here, self.stream)
        begin = running.sample(now)
        exceeds |= bool(checker.decide(checker.check_ends(motion, request, begin, now)))
        return request, motion, exceeds

    # ---- what is followed

    def desired_at(self, position: FloatArray, now: float) -> DesiredState:
        """Return where the arm should be at a time, or a position where nothing is followed."""
        if self.trajectory is None:
            return resting_state(position)
        return self.time_scaling.state_at(self.trajectory, now)

    def present_state(self) -> DesiredState | None:
        """Return where the arm should be, or where it is when nothing is followed.

        None before the first state.
        """
        here = self._present()
        if here.position is None or here.time is None:
            return None
        return self.desired_at(here.position, here.time)

    def state_at(self, time: float) -> tuple[float, DesiredState]:
        """Return when a time [s] is on the path, and where the motion is then, as things stand.

        Raises
        ------
        RuntimeError
            When no motion is followed.
        """
        if self.trajectory is None:
            raise RuntimeError('no motion is followed')
        scaling = self.time_scaling
        return scaling.place_at(time), scaling.state_at(self.trajectory, time)

    # ---- what is to be followed

    def planner(self, until: float | None = None) -> MotionPlanner:
        """Return what plans motions for the arm as it is now: to be used, or copied, at once.

        `until`: when they begin; for ever where joints that are left out go on as they do [s].
        """
        here, running, path_time = self._present(), self.trajectory, self.time_scaling.path_time
        if running is not None and here.time is not None:
            place = self.time_scaling.place_at(here.time)
            end = until if until == inf else path_time.start_of(until, here.time)
            # A stream is for a little later than now, and so is what is planned beside.
            reach = max(1.0, self.settings.longest_interval)
            running = running.part(place, reach + (place if end is None else max(place, end)))
        return MotionPlanner(self.settings, here, running, self.stream, path_time)

    def follow(self, waypoints: Waypoints, start_time: float | None = None) -> MotionPlan:
        """Plan a motion at once, and follow it from the next state on.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count [s]; that of the next state when None.

        Raises
        ------
        InfeasibleMotionError
            When the motion is not to be followed: nothing changes then.
        """
        plan = self.planner(start_time).plan(waypoints, start_time)
        self.follow_plan(plan)
        return plan

    def follow_plan(self, plan: MotionPlan) -> None:
        """Follow what was planned from the next state on, instead of what is followed now."""
        if plan.is_for_now:
            self.plans.clear()
            self.stream.hear(plan.request, self._present().time)
        self.plans.append(plan)
        self._end_floating()

    def hold(self, *, where_found: bool = False) -> None:
        """Stop the desired motion: along its path, as soon as the limits allow.

        `where_found`: stop the measured motion instead: an arm that is kept from where it should
        be no longer pushes.
        """
        self._end_floating()
        self.goes_elsewhere |= where_found
        self.plans.clear()
        self.stream.forget()
        here, running = self._present(), self.trajectory
        if running is None or here.time is None:
            return
        if where_found and here.position is not None:
            state = measured_state(here)
        else:
            moving = self.settings.path_efforts(here).moving
            if not running.has_steps and self.time_scaling.stop(running, here.time, moving):
                self.trajectory = running.given_up()
                return
            state = self.time_scaling.state_at(running, here.time)
        self.time_scaling.forget()
        self.trajectory = self.settings.stop(state, here)

    # ---- its speed

    @property
    def speed(self) -> float:
        """Speed at which the motion is followed on its path: 1 as it was sent."""
        clock = self.time_scaling.clock
        return 1.0 if clock is None else clock.speed

    def scale_speed(self, factor: float) -> None:
        """Follow this motion, and all that come, at another speed along the same path.

        With the factor 1 as they were sent; with 0 not at all, until another factor comes.

        Raises
        ------
        InputError
            When it is not finite or negative, or more than 1 where motions are not slowed down:
            nobody has looked whether the arm can do that.
        """
        most = np.inf if self.time_scaling.slows_down else 1.0
        if not (np.isfinite(factor) and 0.0 <= factor <= most):
            to = 'a finite number' if most > 1.0 else '1 (more with when_infeasible slow_down)'
            raise InputError(f'factor: expected from 0 to {to}, got {factor:g}', field='factor')
        self.time_scaling.scale(factor)

    def place_of(self, start_time: float | None) -> float | None:
        """Return a start by the clock of the states as one on the path that is followed [s].

        None is one with the state to come.
        """
        now = self._present().time
        if now is None:
            return start_time
        return self.time_scaling.path_time.start_of(start_time, now)


def measured_state(here: Circumstances) -> DesiredState:
    """Return the measured position and velocity [rad or m, rad/s or m/s], and no acceleration.

    Raises
    ------
    RuntimeError
        Before the first state.
    """
    if here.position is None:
        raise RuntimeError('no state has come')
    zero = np.zeros_like(here.position)
    return DesiredState(here.position, zero if here.velocity is None else here.velocity, zero)
