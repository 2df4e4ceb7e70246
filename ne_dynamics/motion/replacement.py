"""A motion that takes the place of another one, at once or when its time has come.

What is followed is followed until the stamp of the new motion, and from the state of that moment
the way leads to the new one's first point. That is the rule of joint_trajectory_controller from
6.8 on, and was that of ROS 1; in between the old motion was forgotten when the new message came.
"""

from __future__ import annotations

from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import Waypoints


def begin_of(waypoints: Waypoints, start_time: float | None, now: float) -> float:
    """Return when waypoints take the place of what is followed, if they are placed now [s]."""
    if start_time is None or waypoints.times[-1] <= 0.0:
        return now
    return max(start_time, now)


def replace_motion(
    running: Motion,
    waypoints: Waypoints,
    *,
    now: float,
    start_time: float | None,
    interpolation: Interpolation,
    goes_on: bool = False,
) -> Motion:
    """Return the motion that is followed once waypoints have been accepted.

    Parameters
    ----------
    running : Motion
        What is followed; without a motion, what is held.
    waypoints : Waypoints
    now : float
        [s]
    start_time : float or None
        Time from which the waypoints' times count [s]; None: `now`. Until then `running` is
        followed. Where a first point is due at that very moment, and `running` is elsewhere by
        then, the way leads to the next point; to one that is alone it leads from `now` on.
    interpolation : Interpolation
        Of positions alone.
    goes_on : bool
        As for :meth:`Motion.through`.

    Raises
    ------
    TrajectoryError
        See :meth:`Motion.through` and :meth:`Motion.waiting_after`.
    """
    begin = begin_of(waypoints, start_time, now)
    motion = Motion.through(
        waypoints,
        now=begin,
        start_state=running.sample(begin),
        start_time=start_time,
        interpolation=interpolation,
        jumps=start_time is None or start_time <= now,
        goes_on=goes_on,
    )
    return motion.waiting_after(running, now) if begin > now else motion
