"""What a joint trajectory controller makes of points: written from its rules, not from our code.

Rules of ros2_controllers, joint_trajectory_controller 4.42: between two points the motion is the
polynomial of lowest degree that has what both carry (positions; velocities; accelerations), the
effort is a straight line, and a point without effort counts as zero. After the last point, that
one. Times are whole nanoseconds.
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np

NANO = 1_000_000_000
ENDS = np.array([0.0, 1.0])


class Interpolated(NamedTuple):
    """Samples, arrays of shape (k, n)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray


def derivative_rows(power_count: int, derivative: int, u: np.ndarray) -> np.ndarray:
    """Return the derivative of all powers at each u, shape (u.size, power_count)."""
    rows = np.zeros((u.size, power_count))
    for k in range(derivative, power_count):
        rows[:, k] = factorial(k) / factorial(k - derivative) * u ** (k - derivative)
    return rows


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
        """Return the coefficients of segment i over [0, 1], shape (powers, n)."""
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
                rows.append(derivative_rows(degree + 1, k, ENDS))
                shift = begin[0] if k == 0 else 0.0
                values.extend((given - shift) * duration**k for given in (begin[k], end[k]))
            solution = np.linalg.solve(np.concatenate(rows), np.array(values))
            solution[0] += begin[0]
            self._solved[i] = solution
        return self._solved[i]

    def sample(self, nanoseconds: int):
        """Return position, velocity, acceleration and effort at a time."""
        return tuple(column[0] for column in self.samples([nanoseconds]))

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

    def _sample_segment(self, i: int, nanoseconds: np.ndarray):
        """Return what there is at times within a segment, or from the last point on."""
        if i == len(self.times) - 1:
            return (*(field if field.size else 0.0 for field in self.fields[i]), self.efforts[i])
        coefficients = self.polynomial(i)
        whole = self.times[i + 1] - self.times[i]
        u = (nanoseconds - self.times[i]) / whole
        state = [
            derivative_rows(len(coefficients), k, u) @ coefficients / (whole / NANO) ** k
            for k in range(3)
        ]
        along = u[:, np.newaxis]
        return (*state, (1.0 - along) * self.efforts[i] + along * self.efforts[i + 1])

    def dense_times(self, per_interval: int) -> np.ndarray:
        """Return times inside the intervals between points, none of them a point."""
        times = np.array(self.times)
        fractions = (np.arange(per_interval) + 0.5) / per_interval
        dense = times[:-1, None] + (np.diff(times)[:, None] * fractions).astype(np.int64)
        dense = dense.ravel()
        return dense[~np.isin(dense, times)]
