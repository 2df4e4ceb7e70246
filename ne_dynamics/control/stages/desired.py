"""Third stage: where the arm should be.

What is followed never jumps by itself: another motion begins in the desired state of its moment,
and what is ended is brought to rest along its way (:mod:`ne_dynamics.motion.stopping`). Where the
arm is asked for the same by the time a plan takes over, the motion is the one that was planned,
only later; where not, its ends are checked once more.
"""

from __future__ import annotations

from dataclasses import replace

from ne_dynamics.control.desired.followed_motion import FollowedMotion, measured_state
from ne_dynamics.control.desired.motion_planner import Circumstances, MotionPlan, on_path
from ne_dynamics.control.desired.motion_request import MotionRequest
from ne_dynamics.control.desired.thresholds import DESIRED
from ne_dynamics.control.laws import Mode
from ne_dynamics.control.tick import Tick
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.replacement import begin_of
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import resting_state


class Desired:
    """Follows motions from state to state.

    Parameters
    ----------
    motion : FollowedMotion
    """

    def __init__(self, motion: FollowedMotion) -> None:
        self._motion = motion

    def step(self, tick: Tick) -> None:
        """Set `desired`, `desired_before`, `goes_elsewhere`, `refused`, `place` and `path`."""
        now, motion, before = tick.now, self._motion, tick.changed_from
        scaling = motion.time_scaling
        # Else the state changes nothing: a motion goes as it was sent, and nothing waits.
        is_busy = motion.trajectory is None or bool(motion.plans) or not scaling.is_absent
        if motion.goes_elsewhere:
            tick.goes_elsewhere, motion.goes_elsewhere = True, False
        is_led = before is not None and before.law.mode.follows is not tick.law.mode.follows
        if is_led or motion.plans:
            tick.desired_before = motion.desired_at(tick.position, now)
        if tick.law.mode is Mode.GRAVITY_COMPENSATION:
            # The arm is led by hand: wherever it is left is what another mode will hold.
            tick.goes_elsewhere |= motion.trajectory is not None
            motion.restart()
            tick.desired, tick.place = resting_state(tick.position), now
            return
        if is_busy:
            base = tick.base
            resting = None if base is None else base.at_rest
            here = Circumstances(now, tick.position, tick.velocity, tick.wrench, base, resting)
            tick.refused = self._advance(here)
        tick.desired = motion.desired_at(tick.position, now)
        tick.place = scaling.place_at(now)
        if motion.trajectory is None:
            return
        if tick.desired_before is not None:
            tick.may_step = motion.trajectory.has_steps
        if scaling.is_needed and scaling.clock is not None:
            tick.path = motion.trajectory.sample(tick.place)
            tick.desired = scaling.clock.moved(tick.path)

    def _advance(self, here: Circumstances) -> TrajectoryError | None:
        """Go on to a state; let what waits take the place of what is followed from there on.

        Why waypoints that waited are not followed is returned.
        """
        motion, refused = self._motion, None
        running = motion.trajectory
        if running is None:
            running = motion.settings.stop(measured_state(here), here)
        motion.trajectory = running = motion.time_scaling.advance(running, here.now)
        while motion.plans:
            try:
                running = self._take_over(motion.plans.popleft(), running, here)
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
        followed = self._motion
        path_time, settings = followed.time_scaling.path_time, followed.settings
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
        followed.trajectory = motion
        followed.stream.remember(request, now)
        if followed.time_scaling.clock is not None:
            pace, later = plan.pace, request.origin(now) - plan.origin
            followed.time_scaling.take(
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
        settings, now, exceeds = self._motion.settings, here.now, False
        checker = settings.make_checker(here)
        if request.waypoints.carried is not None:
            request = request.integrated(running, now)
            exceeds = bool(checker.decide(checker.check_waypoints(request)))
        motion = settings.place(request, running, here, self._motion.stream)
        begin = running.sample(now)
        exceeds |= bool(checker.decide(checker.check_ends(motion, request, begin, now)))
        return request, motion, exceeds
