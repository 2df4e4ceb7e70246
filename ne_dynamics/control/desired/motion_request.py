"""Waypoints with all that says how they become a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion.integrated_points import integrated
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.waypoints import Waypoints


class StreamEnding(NamedTuple):
    """How a motion goes on behind the last point of a stream.

    Attributes
    ----------
    share : float
        Part of the velocity and acceleration that the points say with which it is passed.
    steady : bool
        Whether the acceleration stays; else it fades.
    """

    share: float
    steady: bool


@dataclass(frozen=True, eq=False)
class MotionRequest:
    """Waypoints that wait to be placed in time.

    Attributes
    ----------
    waypoints : Waypoints
    start_time : float or None
        Time from which theirs count [s]; when they are placed when None.
    interpolation : Interpolation
        What is between points that carry positions alone.
    ending : StreamEnding or None
        How the motion goes on behind the last waypoint of a stream; None: it comes to rest there.
    """

    waypoints: Waypoints
    start_time: float | None = None
    interpolation: Interpolation = Interpolation.LINEAR
    ending: StreamEnding | None = None

    @property
    def is_spline(self) -> bool:
        """Whether the motion between the waypoints depends on where it begins."""
        return self.interpolation is Interpolation.SPLINES and not any(self.waypoints.orders)

    def origin(self, now: float) -> float:
        """Return the time from which those of the waypoints count, if they are placed now [s]."""
        return now if self.start_time is None else self.start_time

    def integrated(self, running: Motion | None, now: float | None) -> MotionRequest:
        """Return the request with positions in all waypoints, in the place of another motion.

        Raises
        ------
        TrajectoryError
            When there is none to integrate from, or no way between the waypoints; see
            :func:`~ne_dynamics.motion.integrated_points.integrated`.
        """
        if self.waypoints.carried is None:
            return self
        if not self.interpolation.has_way:
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
        origin = self.origin(now)
        begin = max(origin, now)
        waypoints = integrated(self.waypoints, running.sample(begin), begin - origin)
        return replace(self, waypoints=waypoints)
