"""Points without positions: integrated from the velocities or accelerations that they carry.

The rule is that of joint_trajectory_controller with `allow_integration_in_goal_trajectories`: from
point to point by the mean of the velocities at both, and these, where they are not given either,
by the mean of the accelerations. It begins with the desired state of the moment in which the
motion takes over. A point that says nothing of what is needed there counts as at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import REST_TOLERANCE, DesiredState, Waypoints


def integrated(waypoints: Waypoints, start: DesiredState, begin: float) -> Waypoints:
    """Return waypoints with positions.

    Parameters
    ----------
    waypoints : Waypoints
        Of which some points carry none.
    start : DesiredState
        From which the motion goes.
    begin : float
        When, in the time of the waypoints [s]; those that are due by then are left out.

    Raises
    ------
    TrajectoryError
        When the velocity at the end follows from accelerations, and is none of rest although it
        must be; when all points are of the past.
    """
    carried = waypoints.carried
    if carried is None:
        return waypoints
    first = first_left(waypoints.times, begin)
    if waypoints.times[first] - begin < MOTION.shortest_segment and not carried.has[0, first]:
        # Nothing to integrate over: where it is now is where it is then.
        first = min(first + 1, len(waypoints.times) - 1)
    times = waypoints.times[first:]
    arrays = np.array([values[first:] for values in waypoints.states])
    has = carried.has[:, first:].copy()
    _integrate(arrays, has, times, np.array(start), begin)
    last = arrays[1, -1]
    moving = np.flatnonzero(np.abs(last) > REST_TOLERANCE)
    if carried.must_rest and moving.size:
        raise TrajectoryError(
            f'last point: accelerations: joint {carried.joint_names[moving[0]]!r}: expected rest '
            f'at the end, got {last[moving[0]]:g} rad/s or m/s from their integral '
            '(set allow_nonzero_velocity_at_trajectory_end to accept it)',
            field='points',
        )
    last[np.abs(last) <= REST_TOLERANCE] = 0.0
    arrays.setflags(write=False)
    orders = tuple(np.where(has[1], np.where(has[2], 2, 1), 0).tolist())
    return replace(waypoints.with_points(times, arrays, orders), carried=None)


def first_left(times: Sequence[float] | FloatArray, now: float) -> int:
    """Return the index of the first of ascending times [s] that is not past.

    Raises
    ------
    TrajectoryError
        When all are past.
    """
    first = int(np.searchsorted(times, now))
    if first == len(times):
        raise TrajectoryError(
            f'header.stamp: the trajectory ended {now - times[-1]:.3g} s ago; '
            'expected an end in the future, or stamp 0 for now',
            field='header.stamp',
        )
    return first


def _integrate(
    arrays: FloatArray,
    has: NDArray[np.bool_],
    times: Sequence[float],
    start: FloatArray,
    begin: float,
) -> None:
    """Fill in positions and velocities that are missing, and note that they are there."""
    before, had, time = start, np.ones(3, dtype=bool), begin
    for index, due in enumerate(times):
        state, given, step = arrays[:, index], has[:, index], due - time
        if not given[0]:
            had[1] = True
            if not given[1]:
                had[2] = given[1] = True
                state[1] = before[1] + 0.5 * (before[2] + state[2]) * step
            given[0] = True
            state[0] = before[0] + 0.5 * (before[1] + state[1]) * step
        before, had, time = state, given, due
