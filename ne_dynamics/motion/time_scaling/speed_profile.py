"""How fast a path may be followed, so that all of the rest can be followed within the limits.

With x = u^2 as the unknown (:mod:`ne_dynamics.motion.time_scaling.path_limits`) that is found by
one pass from the end to the begin, each step an intersection of lines: the speeds from which the
end can be reached are intervals (Pham and Pham 2018). An arm that may stand anywhere on its path
may go arbitrarily slowly, so that the intervals begin at rest, and their upper ends are all there
is to know. A pass forward from a speed at the begin then takes as much of it as the limits allow.

What is needed on the way is the upper ends alone: whoever is slower, for whatever reason, is still
within. So the motion can be stopped, slowed down and let go again without another plan.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.time_scaling.path_limits import Bands, PathIntervals, PathLimits

SLOWEST = 0.01
"""Speed that a motion has on its path at the least, where it does not stop: corners are passed
with it. Where the limits allow less than the speed that was sent, it is this part of theirs."""

LEAST_ALLOWED = 1e-6
"""Square of a speed; limits that allow less are left rather than that a path has no end."""

CORNER = 1e-3
"""A change of a velocity from segment to segment [rad/s or m/s], and as a part of it, from which
on there is a corner."""

PASSES, MOST_PASSES = 2, 6
"""Passes, each after the first with friction near the speeds of the one before; the most where
those were far too high."""


class SpeedProfile:
    """Largest speeds along a path.

    Parameters
    ----------
    times : array, shape (N + 1,)
        Points of the path, in its time [s], ascending.
    squares : array, shape (N + 1,)
        Squares of the speeds there; linear in between.
    """

    def __init__(self, times: FloatArray, squares: FloatArray) -> None:
        self.times = times
        self.squares = squares
        self._times: list[float] = times.tolist()
        self._squares: list[float] = squares.tolist()

    def speed_at(self, time: float) -> float:
        """Return the largest speed at a point; infinite where nothing is known."""
        times = self._times
        if not times[0] <= time < times[-1]:
            return float('inf')
        index = bisect_right(times, time) - 1
        begin, end = times[index], times[index + 1]
        low, high = self._squares[index : index + 2]
        square = low + (high - low) * (time - begin) / (end - begin)
        return float(square**0.5)

    def shifted(self, duration: float) -> SpeedProfile:
        """Return the same for a path whose time begins later by so much [s]."""
        return SpeedProfile(self.times + duration, self.squares)

    def until(self, time: float) -> SpeedProfile | None:
        """Return the part before a point; None where that is nothing."""
        count = int(np.searchsorted(self.times, time))
        return None if count < 2 else SpeedProfile(self.times[:count], self.squares[:count])

    def after(self, other: SpeedProfile | None) -> SpeedProfile:
        """Return this one, and before its begin another one."""
        if other is None:
            return self
        before = other.times < self.times[0]
        return SpeedProfile(
            np.concatenate((other.times[before], self.times)),
            np.concatenate((other.squares[before], self.squares)),
        )


class PathPlan:
    """The lines of a path, and what follows from them.

    Parameters
    ----------
    path : PathIntervals
        All of the path, in its order.
    compute_efforts : callable
    limits : DemandLimits
    share : float
        Part of the effort limits that the motion may take.
    fastest : float
        Largest speed; 1 is that of the path's own time.
    slowest : float
        Speed at corners, or this part of what the limits allow.
    allowed : array, shape (N,), optional
        Part of all limits that the motion may take in each interval; all of them when None.

    Attributes
    ----------
    times : array, shape (N + 1,)
        Ends of the intervals, in the time of the path [s].
    corners : array, shape (k,), dtype int
        Indices of those in which the path has a corner, as soon as they are found.
    """

    def __init__(
        self,
        path: PathIntervals,
        compute_efforts: Efforts,
        limits: DemandLimits,
        *,
        share: float = 1.0,
        fastest: float = 1.0,
        slowest: float = SLOWEST,
        allowed: FloatArray | None = None,
    ) -> None:
        self._path = path
        self._compute = compute_efforts
        self._limits = limits
        self._share = share
        self._fastest = fastest
        self._slowest = slowest
        self._allowed = allowed
        self._near: FloatArray | None = None
        self._is_rough = False
        self.corners: IndexArray = np.zeros(0, dtype=np.intp)
        self.times = np.append(path.begins, path.begins[-1] + path.durations[-1])

    def find(self, begin: float = 1.0, end: float = np.inf) -> tuple[SpeedProfile, FloatArray]:
        """Return the profile, and the squares of the speeds of the fastest motion.

        Parameters
        ----------
        begin, end : float
            Largest speeds at both ends of the path.

        Returns
        -------
        profile : SpeedProfile
        taken : array, shape (N + 1,)
            Of the fastest motion, at the ends of the intervals.
        """
        count = self.times.size
        squares = taken = np.zeros(count)
        for index in range(MOST_PASSES):
            bands = self._bands()
            squares = self._backward(bands, end)
            taken = self._forward(bands, squares, begin)
            if index >= PASSES - 1 and not self._is_rough:
                break
            near = np.maximum(taken, self._floors)
            self._near = np.stack((near[:-1], near[1:]))
        return SpeedProfile(self.times, squares), taken

    def _bands(self) -> Bands:
        """Return between which accelerations each interval may be passed."""
        limits = PathLimits.of(
            self._path,
            self._compute,
            self._limits,
            share=self._share,
            fastest=self._fastest,
            near=self._near,
            allowed=self._allowed,
        )
        self._is_rough = limits.is_rough
        bands = limits.bands()
        bands = bands._replace(cap=bands.largest_squares())
        caps = np.append(bands.cap, np.inf)
        caps[1:] = np.minimum(caps[1:], limits.caps[1])
        self._floors = self._slowest**2 * np.clip(caps, LEAST_ALLOWED, 1.0)
        self.corners = _find_corners(self._path)
        caps[self.corners] = 0.0
        self._caps = np.maximum(caps, self._floors)
        return bands

    def _backward(self, bands: Bands, end: float) -> FloatArray:
        """Return the largest squares from which the end can be reached, shape (N + 1,)."""
        squares: FloatArray = self._caps.copy()
        floors = self._floors
        square = squares[-1] = max(min(float(squares[-1]), end**2), floors[-1])
        steps = 2.0 * self._path.durations[:, np.newaxis]
        # x + step (low + slope x) <= next x, for each line from below.
        weight = 1.0 + steps * bands.low_slope
        counts = np.isfinite(bands.low) & (weight > 0.0)
        spent = np.where(counts, steps * np.where(counts, bands.low, 0.0), -np.inf)
        inverse = 1.0 / np.where(counts, weight, 1.0)
        for index in range(len(steps) - 1, -1, -1):
            reachable = ((square - spent[index]) * inverse[index]).min(initial=np.inf)
            square = max(min(float(squares[index]), float(reachable)), float(floors[index]))
            squares[index] = square
        return squares

    def _forward(self, bands: Bands, squares: FloatArray, begin: float) -> FloatArray:
        """Return the squares of the fastest motion below others, shape (N + 1,)."""
        taken, floors = squares.copy(), self._floors
        square = taken[0] = min(squares[0], max(begin**2, floors[0]))
        for index, step in enumerate((2.0 * self._path.durations).tolist()):
            change = (bands.high[index] + bands.high_slope[index] * square).min(initial=np.inf)
            square = min(squares[index + 1], square + step * change)
            square = taken[index + 1] = max(square, floors[index + 1])
        return taken

    def when(self, taken: FloatArray) -> FloatArray:
        """Return when each point of the path is passed, from its begin on, shape (N + 1,) [s]."""
        speeds = np.sqrt(taken)
        passed = 2.0 * self._path.durations / (speeds[:-1] + speeds[1:])
        return np.concatenate(([0.0], np.cumsum(passed)))


def _find_corners(path: PathIntervals) -> IndexArray:
    """Return the points, but for the ends, in which the path has a corner."""
    corners: IndexArray = np.flatnonzero(is_corner(path.velocity[0, 1:], path.velocity[1, :-1]))
    return corners + 1


def is_corner(after: FloatArray, before: FloatArray | float) -> NDArray[np.bool_]:
    """Return whether a path turns between two velocities, shape (..., n) to (...,)."""
    size = np.maximum(np.abs(before), np.abs(after))
    return np.asarray((np.abs(after - before) > CORNER * (1.0 + size)).any(axis=-1))
