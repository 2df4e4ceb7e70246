"""Whether a motion between waypoints keeps the limits of positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.check import check_motion
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import DesiredState, Waypoints


def check_positions(
    joints: Sequence[Joint], waypoints: Waypoints, *, start: DesiredState | None = None
) -> None:
    """Raise an error if the motion between waypoints leaves the position limits.

    Parameters
    ----------
    joints : sequence of n Joint
        The robot's joints.
    waypoints : Waypoints
    start : DesiredState, optional
        As in :func:`~ne_dynamics.motion.annotated.annotation.annotate`. If it is beyond a limit,
        the motion may be as far beyond.

    Raises
    ------
    InfeasibleMotionError
        With joint, time, position and limit of the worst violation.
    TrajectoryError
        When two points are less than a nanosecond apart.
    """
    waypoints = waypoints.in_nanoseconds(start)
    unlimited = np.full(len(joints), np.inf)
    limits = DemandLimits.of(joints, unlimited)
    limits = replace(limits, velocity=unlimited, acceleration=unlimited, deceleration=unlimited)
    if start is not None:
        first = DesiredState(*(rows[0] for rows in waypoints.states))
        limits = limits.widened_to(first, np.zeros(len(joints)))
    segments = Motion.between(waypoints).segments()
    # What is not finite is refused for its efforts.
    finite = np.flatnonzero(np.isfinite(segments.scaled).all(axis=(0, 2)))
    found = check_motion(segments.choose(finite), limits)
    if found:
        raise InfeasibleMotionError(found)
