"""Third stage: where the arm should be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ne_dynamics.control.desired.followed_motion import FollowedMotion
from ne_dynamics.control.desired.motion_planner import (
    Circumstances,
    MotionPlan,
    MotionPlanner,
    PlanningSettings,
)
from ne_dynamics.control.desired.time_scaling import Submit
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.errors import InputError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import DesiredState, Waypoints, resting_state


class Desired:
    """Follows motions from state to state, and takes what is asked for between the states.

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
    followed : FollowedMotion
    """

    def __init__(
        self,
        tuning: Tuning,
        submit: Submit,
        present: Callable[[], Circumstances],
        end_floating: Callable[[], None],
    ) -> None:
        self.followed = FollowedMotion(tuning, submit)
        self._present = present
        self._end_floating = end_floating
        self._goes_elsewhere = False

    def configure(self, tuning: Tuning) -> None:
        """Use another tuning for what is decided from now on."""
        self.followed.configure(tuning)

    def restart(self) -> None:
        """Follow nothing: the arm is held where the next state finds it."""
        self.followed.forget()

    def reset(self) -> None:
        """Follow nothing, and forget where the arm was."""
        self.restart()
        self._goes_elsewhere = False

    def step(self, tick: Tick) -> None:
        """Set `desired`, `desired_before`, `goes_elsewhere`, `refused`, `place` and `path`."""
        followed, now = self.followed, tick.now
        is_idle = followed.is_idle
        if self._goes_elsewhere:
            tick.goes_elsewhere, self._goes_elsewhere = True, False
        before = tick.changed_from
        is_led = before is not None and before.law.mode.follows is not tick.law.mode.follows
        if is_led or (not is_idle and followed.has_requests):
            tick.desired_before = followed.desired_at(tick.position, now)
        if tick.law.mode is Mode.GRAVITY_COMPENSATION:
            # The arm is led by hand: wherever it is left is what another mode will hold.
            tick.goes_elsewhere |= followed.trajectory is not None
            followed.forget()
            tick.desired, tick.place = resting_state(tick.position), now
            return
        if not is_idle:
            base = tick.base
            resting = None if base is None else base.at_rest
            here = Circumstances(now, tick.position, tick.velocity, tick.wrench, base, resting)
            tick.refused = followed.advance(here)
        tick.desired = followed.desired_at(tick.position, now)
        scaling, trajectory = followed.time_scaling, followed.trajectory
        tick.place = scaling.place_at(now)
        if trajectory is None:
            return
        if tick.desired_before is not None:
            tick.may_step = trajectory.has_steps
        if scaling.is_needed and scaling.clock is not None:
            tick.path = trajectory.sample(tick.place)
            tick.desired = scaling.clock.moved(tick.path)

    def review(self) -> None:
        """Have planned anew what is slowed down, where the model has changed."""
        if self.followed.time_scaling.slows_down:
            self.followed.reconsider(self._present())

    # ---- what is followed

    @property
    def trajectory(self) -> Motion | None:
        """The motion that is followed; None before the first state and in gravity mode."""
        return self.followed.trajectory

    def present_state(self) -> DesiredState | None:
        """Return where the arm should be, or where it is when nothing is followed.

        None before the first state.
        """
        here = self._present()
        if here.position is None or here.time is None:
            return None
        return self.followed.desired_at(here.position, here.time)

    def state_at(self, time: float) -> tuple[float, DesiredState]:
        """Return where the motion is at a time, as things stand, and when that is on its path.

        Parameters
        ----------
        time : float
            [s]

        Raises
        ------
        RuntimeError
            When no motion is followed.
        """
        trajectory = self.followed.trajectory
        if trajectory is None:
            raise RuntimeError('no motion is followed')
        scaling = self.followed.time_scaling
        return scaling.place_at(time), scaling.state_at(trajectory, time)

    @property
    def settings(self) -> PlanningSettings:
        """What counts for what is planned now; another object when it has changed."""
        return self.followed.settings

    # ---- what is to be followed

    def planner(self, until: float | None = None) -> MotionPlanner:
        """Return what plans motions for the arm as it is now: to be used, or copied, at once.

        Parameters
        ----------
        until : float, optional
            When they begin; for ever where joints that are left out go on as they do [s].
        """
        return self.followed.planner(self._present(), until)

    def follow(self, waypoints: Waypoints, start_time: float | None = None) -> MotionPlan:
        """Plan a motion at once, and follow it from the next state on.

        Parameters
        ----------
        waypoints : Waypoints
        start_time : float, optional
            Time from which theirs count [s]; that of the next state when None.

        Returns
        -------
        MotionPlan

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
        self.followed.follow(plan, self._present())
        self._end_floating()

    def hold(self, *, where_found: bool = False) -> None:
        """Stop the desired motion: along its path, as soon as the limits allow.

        Parameters
        ----------
        where_found : bool
            Stop the measured motion instead: an arm that is kept from where it should be no
            longer pushes.
        """
        self._end_floating()
        self.followed.hold(self._present(), where_found=where_found)
        self._goes_elsewhere |= where_found

    # ---- its speed

    @property
    def speed(self) -> float:
        """Speed at which the motion is followed on its path: 1 as it was sent."""
        clock = self.followed.time_scaling.clock
        return 1.0 if clock is None else clock.speed

    @property
    def speed_scaling(self) -> float:
        """Speed that is asked for; see :meth:`scale_speed`."""
        return self.followed.time_scaling.target

    def scale_speed(self, factor: float) -> None:
        """Follow this motion, and all that come, at another speed along the same path.

        Parameters
        ----------
        factor : float
            1: as they were sent; 0: not at all, until another factor comes.

        Raises
        ------
        InputError
            When it is not finite or negative, or more than 1 where motions are not slowed down:
            nobody has looked whether the arm can do that.
        """
        most = np.inf if self.followed.time_scaling.slows_down else 1.0
        if not (np.isfinite(factor) and 0.0 <= factor <= most):
            to = 'a finite number' if most > 1.0 else '1 (more with when_infeasible slow_down)'
            raise InputError(f'factor: expected from 0 to {to}, got {factor:g}', field='factor')
        self.followed.time_scaling.scale(factor)

    def place_of(self, start_time: float | None) -> float | None:
        """Return a start by the clock of the states as one on the path that is followed [s].

        Parameters
        ----------
        start_time : float or None
            [s]; None for one with the state to come.
        """
        now = self._present().time
        if now is None:
            return start_time
        return self.followed.time_scaling.path_time.start_of(start_time, now)
