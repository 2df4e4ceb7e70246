"""How fast a path may be followed, so that all of the rest can be followed within the limits.

With x = u^2 as the unknown (:mod:`ne_dynamics.motion.time_scaling.path_bounds`) that is found by
one pass from the end to the begin, each step an intersection of lines: the speeds from which the
end can be reached are intervals (Pham and Pham 2018). An arm that may stand anywhere on its path
may go arbitrarily slowly, so that the intervals begin at rest, and their upper ends are all there
is to know. A pass forward from a speed at the begin then takes as much of it as the limits allow.

What is needed on the way is the upper ends alone: whoever is slower, for whatever reason, is still
within. So the motion can be stopped, slowed down and let go again without another plan.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.path import PathIntervals
from ne_dynamics.motion.time_scaling.path_bounds import PathBounds, bound_path


class TimeOptimalProfile:
    """Largest speeds along a path.

    Parameters
    ----------
    times : array, shape (N + 1,)
        Points of the path, by its parameter, ascending.
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

    def shifted(self, duration: float) -> TimeOptimalProfile:
        """Return the same for a path whose time begins later by so much [s]."""
        return TimeOptimalProfile(self.times + duration, self.squares)

    def until(self, time: float) -> TimeOptimalProfile | None:
        """Return the part before a point; None where that is nothing."""
        count = int(np.searchsorted(self.times, time))
        return None if count < 2 else TimeOptimalProfile(self.times[:count], self.squares[:count])

    def after(self, other: TimeOptimalProfile | None) -> TimeOptimalProfile:
        """Return this one, and before its begin another one."""
        if other is None:
            return self
        before = other.times < self.times[0]
        return TimeOptimalProfile(
            np.concatenate((other.times[before], self.times)),
            np.concatenate((other.squares[before], self.squares)),
        )


class TimeOptimal(NamedTuple):
    """The fastest motion along a path.

    Attributes
    ----------
    profile : TimeOptimalProfile
        From which the rest of the path can be followed.
    squares : array, shape (N + 1,)
        Squares of the speeds of the fastest motion, at the ends of the intervals.
    passed : array, shape (N + 1,)
        When it passes them, from the begin on [s].
    corners : array, shape (k,), dtype int
        Indices of those in which the path has a corner.
    """

    profile: TimeOptimalProfile
    squares: FloatArray
    passed: FloatArray
    corners: IndexArray


def find_time_optimal(
    path: PathIntervals,
    compute_efforts: Efforts,
    limits: DemandLimits,
    *,
    share: float = 1.0,
    fastest: float = 1.0,
    slowest: float = TIME_SCALING.slowest_speed,
    allowed: FloatArray | None = None,
    begin: float = 1.0,
    end: float = np.inf,
) -> TimeOptimal:
    """Return the fastest motion along a path.

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
    begin, end : float
        Largest speeds at both ends of the path.
    """
    turns = is_corner(path.velocity[0, 1:], path.velocity[1, :-1])
    corners: IndexArray = np.flatnonzero(turns) + 1
    near: FloatArray | None = None
    for count in range(1, 7):
        bounds = bound_path(
            path, compute_efforts, limits, share=share, fastest=fastest, near=near, allowed=allowed
        )
        caps, floors = _bound_ends(bounds, corners, slowest, end)
        squares = _pass_backward(path, bounds, np.maximum(caps, floors), floors)
        taken = _pass_forward(path, bounds, squares, floors, begin)
        # Friction counts near the speeds of the pass before, which must not be far too high.
        if count > 1 and not bounds.is_rough:
            break
        moving = np.maximum(taken, floors)
        near = np.stack((moving[:-1], moving[1:]))
    speeds = np.sqrt(taken)
    durations = 2.0 * path.durations / (speeds[:-1] + speeds[1:])
    times = np.append(path.begins, path.begins[-1] + path.durations[-1])
    passed = np.concatenate(([0.0], np.cumsum(durations)))
    return TimeOptimal(TimeOptimalProfile(times, squares), taken, passed, corners)


def _bound_ends(
    bounds: PathBounds, corners: IndexArray, slowest: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Return the largest and the least squares of the speeds at the ends of intervals."""
    caps = np.append(bounds.caps[0], np.inf)
    caps[1:] = np.minimum(caps[1:], bounds.caps[1])
    floors = slowest**2 * np.clip(caps, 1e-6, 1.0)
    caps[corners] = 0.0
    caps[-1] = min(caps[-1], end**2)
    return caps, floors


def _pass_backward(
    path: PathIntervals, bounds: PathBounds, caps: FloatArray, floors: FloatArray
) -> FloatArray:
    """Return the largest squares from which the end can be reached, shape (N + 1,)."""
    steps = 2.0 * path.durations[:, np.newaxis]
    # x + step (low + slope x) <= next x, for each line from below.
    weight = 1.0 + steps * bounds.low_slope
    counts = np.isfinite(bounds.low) & (weight > 0.0)
    spent = np.where(counts, steps * np.where(counts, bounds.low, 0.0), -np.inf)
    inverse = 1.0 / np.where(counts, weight, 1.0)
    squares: list[float] = caps.tolist()
    least: list[float] = floors.tolist()
    square = squares[-1]
    for index in range(len(steps) - 1, -1, -1):
        reachable = ((square - spent[index]) * inverse[index]).min(initial=np.inf)
        square = squares[index] = max(min(squares[index], float(reachable)), least[index])
    return np.array(squares)


def _pass_forward(
    path: PathIntervals, bounds: PathBounds, squares: FloatArray, floors: FloatArray, begin: float
) -> FloatArray:
    """Return the squares of the fastest motion below others, shape (N + 1,)."""
    taken = squares.copy()
    square = taken[0] = min(squares[0], max(begin**2, floors[0]))
    for index, step in enumerate((2.0 * path.durations).tolist(), start=1):
        row = bounds.high[index - 1] + bounds.high_slope[index - 1] * square
        square = min(squares[index], square + step * row.min(initial=np.inf))
        square = taken[index] = max(square, floors[index])
    return taken


def is_corner(after: FloatArray, before: FloatArray | float) -> NDArray[np.bool_]:
    """Return whether a path turns between two velocities, shape (..., n) to (...,)."""
    size = np.maximum(np.abs(before), np.abs(after))
    return np.asarray(
        (np.abs(after - before) > TIME_SCALING.corner_velocity_change * (1.0 + size)).any(axis=-1)
    )
