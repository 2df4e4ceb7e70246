"""The motion through waypoints as its segments, sampled at many times at once.

Times are whole nanoseconds, which is what messages carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.segment_bounds import Segments
from ne_dynamics.motion.trajectory import (
    DesiredState,
    Waypoints,
    nearest_turns,
    segment_coefficients,
)

SHORTEST = 1e-6
"""Nothing is resolved that is shorter than this [s]."""

NANO = 1_000_000_000
SHORTEST_NS = round(SHORTEST * NANO)

IntArray = NDArray[np.int64]

# Coefficients of powers 0 to 4 on [0, 1] to Bernstein coefficients of degree 4.
_TO_BERNSTEIN = np.array(
    (
        (1.0, 0.0, 0.0, 0.0, 0.0),
        (1.0, 1 / 4, 0.0, 0.0, 0.0),
        (1.0, 1 / 2, 1 / 6, 0.0, 0.0),
        (1.0, 3 / 4, 1 / 2, 1 / 4, 0.0),
        (1.0, 1.0, 1.0, 1.0, 1.0),
    )
)


@dataclass(frozen=True, eq=False)
class SplineMotion:
    """Segments in nanoseconds, in the order of the robot's joints.

    Attributes
    ----------
    knots : array, shape (s + 1,), dtype int
        [ns]
    state : DesiredState
        At the knots, shape (s + 1, n).
    knot_orders : array, shape (s + 1,), dtype int
        Derivatives that the knots carry.
    coefficients : array, shape (s, 6, n)
    orders : array, shape (s,), dtype int
        Derivatives that determine the segments.
    """

    knots: IntArray
    state: DesiredState
    knot_orders: NDArray[np.intp]
    coefficients: FloatArray
    orders: NDArray[np.intp]

    @classmethod
    def through(cls, waypoints: Waypoints, start: DesiredState | None = None) -> SplineMotion:
        """Return the motion through waypoints, from a start if there is one and it is needed.

        Parameters
        ----------
        waypoints : Waypoints
        start : DesiredState, optional
            State at time 0, for waypoints that begin later; its joints in their order.

        Raises
        ------
        TrajectoryError
            When two points are less than a nanosecond apart.
        """
        knots = np.rint(np.array(waypoints.times) * NANO).astype(np.int64)
        state = DesiredState(waypoints.positions, waypoints.velocities, waypoints.accelerations)
        orders = np.array(waypoints.orders, dtype=np.intp)
        if start is not None and knots[0] > 0:
            turns = nearest_turns(start.position, state.position[0], waypoints.continuous)
            begin = DesiredState(start.position - turns, start.velocity, start.acceleration)
            state = DesiredState(*(np.vstack(rows) for rows in zip(begin, state, strict=True)))
            knots = np.insert(knots, 0, 0)
            orders = np.insert(orders, 0, 2)
        steps = np.diff(knots)
        if (steps <= 0).any():
            index = int(np.argmax(steps <= 0)) + 1
            raise TrajectoryError(
                f'point {index}: time_from_start: expected at least 1 ns more than the point '
                f'before, got {knots[index]} ns'
            )
        segment_orders = np.minimum(orders[:-1], orders[1:])
        begin = DesiredState(*(rows[:-1] for rows in state))
        end = DesiredState(*(rows[1:] for rows in state))
        with np.errstate(all='ignore'):  # what overflows is found in the efforts, and named
            coefficients = segment_coefficients(segment_orders, steps / NANO, begin, end)
        return cls(knots, state, orders, coefficients, segment_orders)

    def segments(self, some: slice = slice(None)) -> Segments:
        """Return some of the segments, with times in seconds; what overflows is not finite."""
        begins = self.knots[:-1][some]
        durations = (self.knots[1:][some] - begins) / NANO
        powers = durations ** np.arange(6.0)[:, np.newaxis]
        with np.errstate(over='ignore', invalid='ignore'):
            scaled = self.coefficients[some].swapaxes(0, 1) * powers[..., np.newaxis]
        return Segments(begins / NANO, durations, scaled)

    def sample(self, segments: NDArray[np.intp], times: IntArray) -> DesiredState:
        """Return the states at times of segments.

        Parameters
        ----------
        segments : array, shape (k,), dtype int
        times : array, shape (k, r), dtype int
            [ns]

        Returns
        -------
        DesiredState
            Arrays of shape (k, r, n).
        """
        t = (times - self.knots[segments][:, np.newaxis])[..., np.newaxis] / NANO
        rows = self.coefficients[segments][:, np.newaxis]
        states = []
        for _ in range(3):
            value = rows[..., -1, :]
            for power in range(rows.shape[-2] - 2, -1, -1):
                value = value * t + rows[..., power, :]
            states.append(value)
            rows = rows[..., 1:, :] * np.arange(1.0, rows.shape[-2])[:, np.newaxis]
        return DesiredState(*states)

    def reversals(self, segment: int, joints: NDArray[np.intp]) -> IntArray:
        """Return the times inside a segment at which the velocity of a joint changes sign [ns].

        Parameters
        ----------
        segment : int
        joints : array, shape (k,), dtype int
            Indices of those that count.

        Returns
        -------
        array, shape (m,), dtype int
            Increasing. Those closer than :data:`SHORTEST` to one another, or to the ends, are
            left out.
        """
        begin, end = int(self.knots[segment]), int(self.knots[segment + 1])
        duration = (end - begin) / NANO
        powers = np.arange(1.0, 6.0)[:, np.newaxis]
        rates = powers * self.coefficients[segment, 1:, joints].T * duration ** (powers - 1.0)
        bernstein = _TO_BERNSTEIN @ rates
        changing = (bernstein < 0.0).any(axis=0) & (bernstein > 0.0).any(axis=0)
        found: list[int] = []
        for column in np.flatnonzero(changing):
            roots = np.roots(rates[::-1, column])
            real = roots.real[np.abs(roots.imag) < 1e-6]
            found += [begin + round(u * (end - begin)) for u in real if 0.0 < u < 1.0]
        kept: list[int] = []
        for time in sorted(found):
            if min(time - (kept[-1] if kept else begin), end - time) > SHORTEST_NS:
                kept.append(time)
        return np.array(kept, dtype=np.int64)


def slices(count: int, size: int) -> Iterator[slice]:
    """Yield slices of at most so many rows, which together are all."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
