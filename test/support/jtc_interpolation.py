"""What a joint trajectory controller makes of points: written from its rules, not from our code.

Rules of ros2_controllers, joint_trajectory_controller 4.42: between two points the motion is the
polynomial of lowest degree that has what both carry (positions; velocities; accelerations), the
effort is a straight line, and a point without effort counts as zero. After the last point, that
one. Times are whole nanoseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder

NANO = 1_000_000_000


class Interpolated(NamedTuple):
    """Samples, arrays of shape (k, n)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray


def derivative_row(power_count: int, derivative: int, u: float) -> np.ndarray:
    """Return the derivative of all powers at u, shape (power_count,)."""
    return np.array(
        [
            0.0
            if k < derivative
            else factorial(k) / factorial(k - derivative) * u ** (k - derivative)
            for k in range(power_count)
        ]
    )


class JointTrajectoryController:
    """Interpolates points with the fields of a JointTrajectoryPoint.

    Parameters
    ----------
    points : sequence
        With `time_from_start` in seconds, `positions`, `velocities`, `accelerations`, `effort`.
    """

    def __init__(self, points) -> None:
        self.times = [round(point.time_from_start * NANO) for point in points]
        self.fields = [
            [
                np.asarray(field, dtype=float)
                for field in (point.positions, point.velocities, point.accelerations)
            ]
            for point in points
        ]
        n = self.fields[0][0].size
        self.efforts = [
            np.asarray(point.effort, dtype=float) if len(point.effort) else np.zeros(n)
            for point in points
        ]
        self._solved: dict[int, np.ndarray] = {}

    def polynomial(self, i: int) -> np.ndarray:
        """Return the coefficients of segment i over [0, 1] and its derivatives, (3, powers, n)."""
        if i not in self._solved:
            begin, end = self.fields[i], self.fields[i + 1]
            degree = (
                1
                + max(
                    k
                    for k in range(3)
                    if all(len(a) and len(b) for a, b in zip(begin[: k + 1], end, strict=False))
                )
                * 2
            )
            duration = (self.times[i + 1] - self.times[i]) / NANO
            rows, values = [], []
            for k in range((degree + 1) // 2):
                for u, given in ((0.0, begin[k]), (1.0, end[k])):
                    rows.append(derivative_row(degree + 1, k, u))
                    shift = begin[0] if k == 0 else 0.0
                    values.append((given - shift) * duration**k)
            solution = np.linalg.solve(np.array(rows), np.array(values))
            solution[0] += begin[0]
            self._solved[i] = np.zeros((3, *solution.shape))
            for k in range(min(3, degree + 1)):
                self._solved[i][k, : degree + 1 - k] = polyder(solution, k) / duration**k
        return self._solved[i]

    def sample(self, nanoseconds: int):
        """Return position, velocity, acceleration and effort at a time."""
        i = bisect_right(self.times, nanoseconds) - 1
        if i < 0:
            raise ValueError('before the first point')
        return self._sample_segment(i, nanoseconds)

    def samples(self, nanoseconds) -> Interpolated:
        """Return the samples at many times."""
        asked = np.asarray(nanoseconds, dtype=np.int64)
        segments = np.searchsorted(self.times, asked, side='right') - 1
        if (segments < 0).any():
            raise ValueError('before the first point')
        result = Interpolated(*np.empty((4, asked.size, self.fields[0][0].size)))
        order = np.argsort(segments, kind='stable')
        bounds = np.flatnonzero(np.diff(segments[order])) + 1
        for rows in np.split(order, bounds) if asked.size else ():
            states = self._sample_segment(int(segments[rows[0]]), asked[rows])
            for column, state in zip(result, states, strict=True):
                column[rows] = state
        return result

    def _sample_segment(self, i: int, nanoseconds):
        """Return what there is at a time, or at some, of a segment, or from the last point on."""
        if i == len(self.times) - 1:
            zeros = np.zeros_like(self.fields[i][0])
            held = [field if field.size else zeros for field in self.fields[i]]
            return (*held, self.efforts[i])
        coefficients = self.polynomial(i)
        u = (nanoseconds - self.times[i]) / (self.times[i + 1] - self.times[i])
        states = np.power.outer(u, np.arange(coefficients.shape[1])) @ coefficients
        along = np.asarray(u)[..., np.newaxis]
        return (*states, (1.0 - along) * self.efforts[i] + along * self.efforts[i + 1])

    def dense_times(self, per_interval: int) -> np.ndarray:
        """Return times inside the intervals between points, none of them a point."""
        times = np.array(self.times)
        fractions = (np.arange(per_interval) + 0.5) / per_interval
        dense = times[:-1, None] + (np.diff(times)[:, None] * fractions).astype(np.int64)
        dense = dense.ravel()
        return dense[~np.isin(dense, times)]
