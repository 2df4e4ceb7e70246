"""Waypoints placed in time, beginning with the present desired state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.integrated_points import first_left
from ne_dynamics.motion.position_spline import Interpolation, passes_over_first, spline_derivatives
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState, Waypoints, nearest_turns


class PlacedWaypoints(NamedTuple):
    """What a motion passes.

    Attributes
    ----------
    knots : array, shape (s + 1,)
        [s]
    orders : sequence of int, length s + 1
        Derivatives that the states carry.
    states : array, shape (3, s + 1, n)
        Position, velocity and acceleration.
    has_way : bool
        Whether the first of them is the start.
    """

    knots: FloatArray
    orders: Sequence[int]
    states: FloatArray
    has_way: bool


def place_waypoints(
    waypoints: Waypoints,
    now: float,
    start_state: DesiredState,
    start_time: float | None,
    interpolation: Interpolation,
    *,
    jumps: bool,
    goes_on: bool,
) -> PlacedWaypoints:
    """Return what is still to come of waypoints, with the start before it.

    Parameters and errors are those of :meth:`ne_dynamics.motion.motion.Motion.through`.
    """
    origin = now if start_time is None else start_time
    times = origin + np.array(waypoints.times)
    first = first_left(times, now)
    is_spline = interpolation is Interpolation.SPLINES and not any(waypoints.orders[first:])
    if is_spline or (not jumps and interpolation is not Interpolation.NONE):
        is_streamed = is_spline and bool(
            start_state.velocity.any() or start_state.acceleration.any()
        )
        first += passes_over_first(times[first:], now, is_moving=is_streamed)
    states = np.stack([values[first:] for values in waypoints.states])
    states[0] += nearest_turns(
        start_state.position, waypoints.positions[first], waypoints.continuous
    )
    orders: Sequence[int] = waypoints.orders[first:]
    knots = times[first:]
    has_way = bool(knots[0] > now)
    if has_way:
        states = np.insert(states, 0, start_state, axis=1)
        orders, knots = (2, *orders), np.insert(knots, 0, now)
    _require_apart(knots, origin)
    if is_spline and has_way:
        _set_spline(knots, states, goes_on=goes_on)
        orders = (2,) * len(orders)
    return PlacedWaypoints(knots, orders, states, has_way)


def _require_apart(knots: FloatArray, origin: float) -> None:
    """Raise where rounding has eaten what was between two knots [s]."""
    is_short = np.diff(knots) < MOTION.shortest_segment
    if is_short.any():
        index = int(np.argmax(is_short))
        raise TrajectoryError(
            f'time_from_start: expected {MOTION.shortest_segment:g} s between two points at the '
            f'least, got {knots[index + 1] - knots[index]:.3g} s after '
            f'{knots[index] - origin:.9g} s',
            field='points',
        )


def _set_spline(times: FloatArray, states: FloatArray, *, goes_on: bool) -> None:
    """Give positions the derivatives of a spline, and leave the ends as they are.

    The end is the last of the states, shape (3, s + 1, n), at rest; of a motion that goes on, the
    last but one.
    """
    if goes_on:
        times, states = times[:-1], states[:, :-1]
    if times.size < 3:
        return
    position, velocity, _ = states
    with np.errstate(over='ignore', invalid='ignore'):
        found = spline_derivatives(times, position, velocity[0], velocity[-1] if goes_on else None)
    states[1:, 1:-1] = np.stack(found)[:, 1:-1]
