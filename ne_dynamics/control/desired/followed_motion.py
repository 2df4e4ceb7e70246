"""The motion that an arm follows, and what waits to take its place.

What is followed never jumps by itself: another motion begins in the desired state of its moment,
and what is ended is brought to rest along its way (:mod:`ne_dynamics.motion.stopping`). Waypoints
are planned as soon as they are known (:mod:`ne_dynamics.control.desired.motion_planner`). Where
the arm is asked for the same by the time they take over, the motion is the one that was planned,
only later; where not, its ends are checked once more.
"""

from __future__ import annotations

from collections import deque
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
from ne_dynamics.control.desired.position_stream import PositionStream
from ne_dynamics.control.desired.time_scaling import Submit, TimeScaling
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import LimitViolation, WhenInfeasible
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.replacement import begin_of
from ne_dynamics.motion.stopping import StopLimits
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState, resting_state


class FollowedMotion:
    """The motion of one arm.

    Parameters
    ----------
    tuning : Tuning
    submit : Submit
        Does work beside the states.

    Attributes
    ----------
    trajectory : Motion or None
        What is followed, in the time of its path; None before the first state, and where the arm
        is led by hand.
    time_scaling : TimeScaling
        Says what that time is.
    settings : PlanningSettings
        What counts for what is planned now; another object when it has changed.
    """

    def __init__(self, tuning: Tuning, submit: Submit) -> None:
        self.trajectory: Motion | None = None
        self._plans: deque[MotionPlan] = deque(maxlen=MOTION.most_waiting_motions)
        self._stream = PositionStream(tuning.longest_interval)
        self.time_scaling = TimeScaling(submit)
        self.configure(tuning)

    def configure(self, tuning: Tuning) -> None:
        """Let another tuning count for what is decided from now on."""
        joints, limits = tuning.law.joints, tuning.effort_limits
        self.settings = settings = PlanningSettings(
            tuning.hold_law.compensation,
            DemandLimits.of(joints, limits),
            StopLimits.of(joints, limits, tuning.decelerations),
            tuning.when_infeasible,
            tuning.interpolation_method,
            tuning.longest_interval,
        )
        self.time_scaling.configure(
            settings.limits,
            settings.stop_limits,
            slows_down=settings.when_infeasible is WhenInfeasible.SLOW_DOWN,
        )
        self._stream.longest_interval = tuning.longest_interval

    def forget(self) -> None:
        """Follow nothing: where the next state finds the arm is what is held."""
        self.trajectory = None
        self._plans.clear()
        self._stream.forget()
        self.time_scaling.forget()

    def desired_at(self, position: FloatArray, now: float) -> DesiredState:
        """Return where the arm should be at a time, or a position where nothing is followed."""
        trajectory = self.trajectory
        if trajectory is None:
            return resting_state(position)
        return self.time_scaling.state_at(trajectory, now)

    @property
    def is_idle(self) -> bool:
        """Whether a state changes nothing: a motion goes as it was sent, and nothing waits."""
        return (
            self.trajectory is not None and not self.has_requests and self.time_scaling.is_absent
        )

    @property
    def has_requests(self) -> bool:
        """Whether waypoints wait for the next state."""
        return bool(self._plans)

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
            self.trajectory = self.settings.stop(_measured_state(here), here)
        self.trajectory = self.time_scaling.advance(self.trajectory, here.now)
        refused = None
        while self._plans:
            refused = self._take_over(self._plans.popleft(), self.trajectory, here) or refused
        return refused

    def _take_over(
        self, plan: MotionPlan, running: Motion, here: Circumstances
    ) -> TrajectoryError | None:
        """Let a plan take the place of what is followed; return why it cannot."""
        here, request, running = on_path(self.time_scaling.path_time, here, plan.request, running)
        now, checker = here.now, self.settings.make_checker(here)
        if plan.is_announced and request.origin(now) < now:
            request = replace(request, start_time=None)
        begin = running.sample(now)
        begin_time = begin_of(request.waypoints, request.start_time, now)
        exceeded: tuple[LimitViolation, ...] = ()
        placed = plan.placed_at(request.origin(now), begin_time, running.sample(begin_time))
        try:
            if placed is not None:
                motion = placed.waiting_after(running, now) if begin_time > now else placed
            else:
                if request.waypoints.carried is not None:
                    request = request.integrated(running, now)
                    exceeded = checker.decide(checker.check_waypoints(request))
                motion = self.settings.place(request, running, here, self._stream)
                exceeded += checker.decide(checker.check_ends(motion, request, begin, now))
        except TrajectoryError as error:
            return error
        self.trajectory = motion
        self._stream.remember(request, now)
        if self.time_scaling.clock is None:
            return None
        profile, is_outdated = None, bool(exceeded) or plan.settings != self.settings.number
        if plan.pace is not None:
            is_outdated |= placed is None
            profile = plan.pace.profile.shifted(request.origin(now) - plan.origin)
        self.time_scaling.take(
            profile,
            plan.efforts or self.settings.path_efforts(here),
            motion.start_time,
            begin.velocity,
            motion.sample(now).velocity,
            has_begun=self.settings.slows_down and motion.start_time <= now,
            is_outdated=is_outdated,
        )
        return None

    def reconsider(self, here: Circumstances) -> None:
        """Have planned anew what is to be."""
        self.time_scaling.reconsider(self.trajectory, lambda: self.settings.path_efforts(here))

    def planner(self, here: Circumstances, until: float | None) -> MotionPlanner:
        """Return what plans motions for what is followed now.

        Parameters
        ----------
        here : Circumstances
        until : float or None
            Until when it may depend on what is followed [s]; None for no longer than now.
        """
        running, path_time = self.trajectory, self.time_scaling.path_time
        if running is not None and here.time is not None:
            place = self.time_scaling.place_at(here.time)
            end = until if until == inf else path_time.start_of(until, here.time)
            # A stream is for a little later than now, and so is what is planned beside.
            reach = max(1.0, self.settings.longest_interval)
            running = running.part(place, reach + (place if end is None else max(place, end)))
        return MotionPlanner(self.settings, here, running, self._stream, path_time)

    def follow(self, plan: MotionPlan, here: Circumstances) -> None:
        """Follow a plan from the next state on, or from its time on."""
        if plan.is_for_now:
            self._plans.clear()
            self._stream.hear(plan.request, here.time)
        self._plans.append(plan)

    def hold(self, here: Circumstances, *, where_found: bool) -> None:
        """Stop the desired motion, or the measured one; forget what waits.

        As :meth:`ne_dynamics.control.controller.Controller.hold`, under these circumstances.
        """
        self._plans.clear()
        self._stream.forget()
        if self.trajectory is None or here.time is None:
            return
        is_found = where_found and here.position is not None
        if not is_found and not self.trajectory.has_steps:
            moving = self.settings.path_efforts(here).moving
            if self.time_scaling.stop(self.trajectory, here.time, moving):
                self.trajectory = self.trajectory.given_up()
                return
        state = (
            _measured_state(here)
            if is_found
            else self.time_scaling.state_at(self.trajectory, here.time)
        )
        self.time_scaling.forget()
        self.trajectory = self.settings.stop(state, here)


def _measured_state(here: Circumstances) -> DesiredState:
    if here.position is None:
        raise RuntimeError('no state has come')
    zero = np.zeros_like(here.position)
    return DesiredState(here.position, zero if here.velocity is None else here.velocity, zero)
