"""What limits a motion along its path, whatever its timing: lines in a plane.

A path q(s) is a motion in the time s that its sender gave it. Followed at the speed u = ds/dt,
its joints have the velocities q' u and the accelerations q'' u^2 + q' a, where a = du/dt. The
inverse dynamics is affine in the accelerations and quadratic in the velocities (Hollerbach 1984),
so that every limit of an effort or of an acceleration is a line in the plane of x = u^2 and a:

    slope_a a + slope_x x <= bound.

Friction is no such line: it is taken between two speeds near to the one that comes out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.segments import Segments, sample_segments
from ne_dynamics.motion.stopping import Efforts

LARGEST_WAY = 0.05
"""Change of all joints together over an interval [rad or m], where that allows."""

LEAST_INTERVALS, MOST_INTERVALS = 2, 128
"""Into which a segment is divided."""

NEGLIGIBLE = 1e-9
"""A slope that is smaller limits no acceleration along the path."""

SPARE_EFFORT = 0.01
"""Part of a limit that is left to move with where holding takes nearly all of it."""

LARGEST_SQUARE = 1e12
"""Of the speed, where nothing limits it."""

SLOW = 0.05
"""Speed at which an effort counts as that of a motion that nearly stands."""

CROSSINGS = 40
"""Steps in which two sets of lines are found to cross; each leaves one line, few are taken."""


class PathIntervals(NamedTuple):
    """Stretches of a path, and the motion at both ends of each.

    Attributes
    ----------
    begins, durations : array, shape (N,)
        In the time of the path [s].
    position, velocity, acceleration : array, shape (2, N, n)
        The path and its derivatives at the begin and at the end of each.
    """

    begins: FloatArray
    durations: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    @classmethod
    def of(cls, segments: Segments) -> PathIntervals:
        """Return segments divided as finely as they move."""
        parts = divide(segments)
        return cls(parts.begins, parts.durations, *sample_segments(parts, 1))


def divide(segments: Segments) -> Segments:
    """Return the parts of segments, as small as they are to be."""
    # No way is longer than its terms together.
    with np.errstate(over='ignore', invalid='ignore'):
        ways = np.abs(segments.scaled[1:]).sum(axis=(0, 2))
    wanted = np.ceil(np.nan_to_num(ways / LARGEST_WAY))
    return divide_into(segments, np.clip(wanted, LEAST_INTERVALS, MOST_INTERVALS).astype(np.intp))


def divide_into(segments: Segments, counts: IndexArray) -> Segments:
    """Return the parts of segments, each divided evenly.

    Parameters
    ----------
    segments : Segments
    counts : array, shape (s,), dtype int
        Into how many parts.
    """
    which = np.repeat(np.arange(counts.size), counts)
    index = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
    width = 1.0 / counts[which]
    return segments.parts(which, index * width, (index + 1.0) * width)


class PathLimits(NamedTuple):
    """The lines of each interval, those of both its ends.

    Attributes
    ----------
    change, square, bound : array, shape (N, r)
        ``change a + square x <= bound`` for the a of the interval and the x of its begin.
    caps : array, shape (2, N)
        Largest x at both ends.
    is_rough : bool
        Whether somewhere friction is far below what was taken for near to what comes out.
    """

    change: FloatArray
    square: FloatArray
    bound: FloatArray
    caps: FloatArray
    is_rough: bool = False

    @classmethod
    def of(
        cls,
        path: PathIntervals,
        compute_efforts: Efforts,
        limits: DemandLimits,
        *,
        share: float,
        fastest: float,
        near: FloatArray | None = None,
        allowed: FloatArray | None = None,
    ) -> PathLimits:
        """Return what limits a path.

        Parameters
        ----------
        path : PathIntervals
        compute_efforts : callable
        limits : DemandLimits
        share : float
            Part of the effort limits that the motion may take.
        fastest : float
            Largest speed.
        near : array, shape (2, N), optional
            The x at both ends near to which friction counts; from rest to `fastest` when None.
        allowed : array, shape (N,), optional
            Part of all limits that the motion may take in each interval; all of them when None.
        """
        part = np.ones((1, 1)) if allowed is None else allowed[:, np.newaxis]
        (change, square, bound), is_rough = _lines(
            path, compute_efforts, limits, share, fastest, near, part
        )
        step = 2.0 * path.durations[:, np.newaxis]
        # At the end of an interval x is the one of its begin and what its a has added.
        changes = np.concatenate((change[0], change[1] + step * square[1]), axis=1)
        with np.errstate(divide='ignore'):
            speeds = (part * limits.velocity / np.abs(path.velocity)).min(axis=2)
        caps = np.minimum(np.minimum(speeds, fastest) ** 2, LARGEST_SQUARE)
        return cls(
            changes,
            np.concatenate((square[0], square[1]), axis=1),
            np.concatenate((bound[0], bound[1]), axis=1),
            caps,
            is_rough,
        )

    def bands(self) -> Bands:
        """Return the same by what they say of a: from below, from above, or nothing."""
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            offset, slope = self.bound / self.change, -self.square / self.change
            alone = np.where(self.square > NEGLIGIBLE, self.bound / self.square, np.inf)
        lower, upper = self.change < -NEGLIGIBLE, self.change > NEGLIGIBLE
        cap = np.where(lower | upper, np.inf, alone).min(axis=1, initial=np.inf)
        return Bands(
            np.where(lower, offset, -np.inf),
            np.where(lower, slope, 0.0),
            np.where(upper, offset, np.inf),
            np.where(upper, slope, 0.0),
            np.maximum(np.minimum(self.caps[0], cap), 0.0),
        )


class Bands(NamedTuple):
    """Between which accelerations along the path an interval may be passed, by x at its begin.

    Attributes
    ----------
    low, low_slope, high, high_slope : array, shape (N, r)
        ``low + low_slope x <= a <= high + high_slope x`` for each r.
    cap : array, shape (N,)
        Largest x.
    """

    low: FloatArray
    low_slope: FloatArray
    high: FloatArray
    high_slope: FloatArray
    cap: FloatArray

    def largest_squares(self) -> FloatArray:
        """Return the largest x for which the band is not empty, shape (N,).

        How much the lower lines are above the upper ones is convex in x: Newton's method from
        the right comes down to the crossing without passing it.
        """
        x = self.cap.copy()
        if not self.low.shape[1]:
            return x
        rows = np.arange(x.size)
        for _ in range(CROSSINGS):
            low = self.low + self.low_slope * x[:, np.newaxis]
            high = self.high + self.high_slope * x[:, np.newaxis]
            at_low, at_high = low.argmax(axis=1), high.argmin(axis=1)
            gap = low[rows, at_low] - high[rows, at_high]
            is_empty = gap > 1e-9 * (1.0 + np.abs(high[rows, at_high]))
            if not is_empty.any():
                break
            steepness = self.low_slope[rows, at_low] - self.high_slope[rows, at_high]
            with np.errstate(divide='ignore', invalid='ignore'):
                nearer = np.where(steepness > 0.0, x - gap / steepness, 0.0)
            x = np.where(is_empty, np.maximum(nearer, 0.0), x)
        return x


def _lines(
    path: PathIntervals,
    compute_efforts: Efforts,
    limits: DemandLimits,
    share: float,
    fastest: float,
    near: FloatArray | None,
    part: FloatArray,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], bool]:
    """Return the lines of both ends by their own x, each of shape (2, N, r); whether roughly."""
    is_rough = False
    velocity, acceleration = path.velocity, path.acceleration
    changes, squares, bounds = [], [], []
    motors = np.flatnonzero(np.isfinite(limits.effort))
    if motors.size:
        (inertial, slope, static), is_rough = _effort_lines(
            path, compute_efforts, limits.effort, fastest, near
        )
        allowed = np.maximum(
            share * part * limits.effort,
            np.minimum(np.abs(static) + SPARE_EFFORT * limits.effort, limits.effort),
        )
        for sign in (1.0, -1.0):
            changes.append(sign * inertial[..., motors])
            squares.append(sign * slope[..., motors])
            bounds.append((allowed - sign * static)[..., motors])
    # Where a joint goes back it is the deceleration that limits what is positive.
    goes_back = velocity < 0.0
    for sign in (1.0, -1.0):
        speeds_up = goes_back if sign < 0.0 else ~goes_back
        bound = np.where(speeds_up, limits.acceleration, limits.deceleration)
        limited = np.flatnonzero(np.isfinite(bound).any(axis=(0, 1)))
        changes.append(sign * velocity[..., limited])
        squares.append(sign * acceleration[..., limited])
        bounds.append(np.minimum(part * bound[..., limited], 1e12))
    lines = (np.concatenate(changes, 2), np.concatenate(squares, 2), np.concatenate(bounds, 2))
    return lines, is_rough


def _effort_lines(
    path: PathIntervals,
    compute_efforts: Efforts,
    limits: FloatArray,
    fastest: float,
    near: FloatArray | None,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], bool]:
    """Return what an effort is of a, of x, and at rest, each of shape (2, N, n); if roughly."""
    shape = path.position.shape
    slowly = (SLOW * min(fastest, 1.0)) ** 2
    if near is None:
        low = np.full(shape[:2], slowly)
        high = np.full(shape[:2], min(fastest, 1.0) ** 2)
    else:
        low, high = 0.81 * near, 1.21 * near + 1e-6
    low, high = low[..., np.newaxis], high[..., np.newaxis]

    def compute(square: FloatArray, change: float) -> FloatArray:
        motion = (
            path.position,
            path.velocity * np.sqrt(square),
            path.acceleration * square + change * path.velocity,
        )
        flat = (np.ascontiguousarray(each).reshape(-1, shape[-1]) for each in motion)
        return compute_efforts(*flat).reshape(shape)

    slow, fast = compute(low, 0.0), compute(high, 0.0)
    inertial = compute(high, 1.0) - fast
    slope = (fast - slow) / (high - low)
    static = slow - slope * low
    # Friction that grows less than the square of the speed: the chord near to a speed that is far
    # too high says that the arm could not even stand. Then it is the one from nearly there.
    wrong = np.abs(static) > limits
    is_rough = near is not None and bool(wrong.any())
    if is_rough:
        low = np.minimum(slowly, 0.5 * high)
        slow = compute(low, 0.0)
        slope = np.where(wrong, (fast - slow) / (high - low), slope)
        static = np.where(wrong, slow - slope * low, static)
    return (inertial, slope, static), is_rough
