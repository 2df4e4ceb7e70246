"""How far an arm is from its path, whenever it is there: distances in joint space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion import DesiredState


class SampledPath:
    """A path, as points that straight lines join.

    Parameters
    ----------
    times : array, shape (m,)
        Of the path's points, ascending [s].
    points : array, shape (m, n)
        [rad or m]
    """

    def __init__(self, times: FloatArray, points: FloatArray) -> None:
        self.times = times
        self.points = points

    @classmethod
    def of(
        cls, sample: Callable[[float], DesiredState], begin: float, end: float, step: float = 1e-3
    ) -> SampledPath:
        """Return the path of a motion between two times [s], sampled every `step` [s]."""
        count = max(2, round((end - begin) / step) + 1)
        times = np.linspace(begin, end, count)
        return cls(times, np.array([sample(time).position for time in times.tolist()]))

    def distances(self, positions: FloatArray) -> FloatArray:
        """Return the Euclidean distance of each position from the path [rad or m], shape (N,).

        Positions have the shape (N, n) [rad or m].
        """
        squares = (self.points**2).sum(axis=1)
        index = np.empty(len(positions), np.intp)
        at_once = 256  # their distances from all points are in memory together
        for first in range(0, len(positions), at_once):
            some = slice(first, first + at_once)
            index[some] = (squares - 2.0 * positions[some] @ self.points.T).argmin(axis=1)
        return self._refine(positions, index)[1]

    def places(self, positions: FloatArray) -> FloatArray:
        """Return when the path is at each of the positions of a motion along it [s], shape (N,).

        Positions, shape (N, n) [rad or m], begin at its begin. Each is looked for from the one
        before on, so that a path that crosses itself is passed in its order.
        """
        # No farther from one position to the next than the path goes in 50 ms.
        reach = max(2, round(0.05 / (self.times[1] - self.times[0])))
        index, found = 0, np.empty(len(positions), np.intp)
        for row, position in enumerate(positions):
            ahead = self.points[index : index + reach] - position
            index += int((ahead**2).sum(axis=1).argmin())
            found[row] = index
        return self._refine(positions, found)[0]

    def _refine(
        self, positions: FloatArray, index: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return times and distances on the lines at both sides of the nearest points."""
        times, distances = [], []
        for first in (np.maximum(index - 1, 0), np.minimum(index, len(self.times) - 2)):
            begin, way = self.points[first], self.points[first + 1] - self.points[first]
            length = (way**2).sum(axis=1)
            share = ((positions - begin) * way).sum(axis=1) / np.where(length > 0.0, length, 1.0)
            share = np.clip(share, 0.0, 1.0)
            away = positions - begin - share[:, np.newaxis] * way
            distances.append(np.sqrt((away**2).sum(axis=1)))
            times.append(self.times[first] + share * (self.times[first + 1] - self.times[first]))
        is_before = distances[0] < distances[1]
        return np.where(is_before, *times), np.where(is_before, *distances)
