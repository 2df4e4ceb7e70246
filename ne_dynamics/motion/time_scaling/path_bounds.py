"""What limits a motion along its path, whatever its timing: lines in a plane.

A path q(s) of the parameter s, followed at the speed u = ds/dt, gives the joints the velocities
q' u and the accelerations q'' u^2 + q' a, where a = du/dt. The inverse dynamics is affine in the
accelerations and quadratic in the velocities (Hollerbach 1984), so that every limit of an effort
or of an acceleration is a line in the plane of x = u^2 and a:

    slope_a a + slope_x x <= bound.

Friction is no such line: it is taken between two speeds near to the one that comes out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.path import PathIntervals

_Lines = list[tuple[FloatArray, ...]]
"""Slopes of a and of x, and bounds, at both ends by their own x, of shape (2, N, r)."""


class PathBounds(NamedTuple):
    """Between which accelerations along the path an interval may be passed, by x at its begin.

    Attributes
    ----------
    low, low_slope, high, high_slope : array, shape (N, r)
        ``low + low_slope x <= a <= high + high_slope x`` for each r.
    caps : array, shape (2, N)
        Largest x at both ends.
    is_rough : bool
        Whether somewhere friction is far below what was taken for near to what comes out.
    """

    low: FloatArray
    low_slope: FloatArray
    high: FloatArray
    high_slope: FloatArray
    caps: FloatArray
    is_rough: bool


def bound_path(
    path: PathIntervals,
    compute_efforts: Efforts,
    limits: DemandLimits,
    *,
    share: float,
    fastest: float,
    near: FloatArray | None = None,
    allowed: FloatArray | None = None,
) -> PathBounds:
    """Return what limits a path.

    Parameters are those of
    :func:`~ne_dynamics.motion.time_scaling.time_optimal.find_time_optimal`, and `near`: array,
    shape (2, N), the x at both ends near to which friction counts; from rest to `fastest` when
    None.
    """
    part = np.ones((1, 1)) if allowed is None else allowed[:, np.newaxis]
    lines, is_rough = _bound_accelerations(path, limits, part), False
    if np.isfinite(limits.effort).any():
        efforts, is_rough = _bound_efforts(
            path, compute_efforts, limits.effort, share * part, fastest, near
        )
        lines = efforts + lines
    change, square, bound = _join_lines(lines, path.durations)
    negligible = 1e-9
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        offset, slope = bound / change, -square / change
        alone = np.where(square > negligible, bound / square, np.inf)
        speeds = (part * limits.velocity / np.abs(path.velocity)).min(axis=2)
    # Finite, where nothing limits the speed.
    caps = np.minimum(np.minimum(speeds, fastest) ** 2, 1e12)
    lower, upper = change < -negligible, change > negligible
    alone = np.where(lower | upper, np.inf, alone).min(axis=1, initial=np.inf)
    caps[0] = np.maximum(np.minimum(caps[0], alone), 0.0)
    bounds = PathBounds(
        np.where(lower, offset, -np.inf),
        np.where(lower, slope, 0.0),
        np.where(upper, offset, np.inf),
        np.where(upper, slope, 0.0),
        caps,
        is_rough,
    )
    caps[0] = _find_largest_squares(bounds)
    return bounds


def _join_lines(lines: _Lines, durations: FloatArray) -> Iterator[FloatArray]:
    """Return slopes and bounds of both ends, by a and x at the begin, shape (N, r) each."""
    change, square, bound = (np.concatenate(rows, axis=2) for rows in zip(*lines, strict=True))
    # At the end of an interval x is the one of its begin and what its a has added.
    change[1] += 2.0 * durations[:, np.newaxis] * square[1]
    return (np.concatenate(rows, axis=1) for rows in (change, square, bound))


def _bound_accelerations(path: PathIntervals, limits: DemandLimits, part: FloatArray) -> _Lines:
    """Return the lines of accelerations."""
    # Where a joint goes back it is the deceleration that limits what is positive.
    goes_back = path.velocity < 0.0
    lines: _Lines = []
    for sign in (1.0, -1.0):
        speeds_up = goes_back if sign < 0.0 else ~goes_back
        bound = np.where(speeds_up, limits.acceleration, limits.deceleration)
        limited = np.flatnonzero(np.isfinite(bound).any(axis=(0, 1)))
        slopes = (sign * each[..., limited] for each in (path.velocity, path.acceleration))
        lines.append((*slopes, np.minimum(part * bound[..., limited], 1e12)))
    return lines


def _bound_efforts(
    path: PathIntervals,
    compute_efforts: Efforts,
    limits: FloatArray,
    part: FloatArray,
    fastest: float,
    near: FloatArray | None,
) -> tuple[_Lines, bool]:
    """Return the lines of efforts, and whether they are rough."""
    shape = path.position.shape
    slowly = (TIME_SCALING.nearly_standing_speed * min(fastest, 1.0)) ** 2
    low, high = np.full((2, *shape[:2], 1), [[[[slowly]]], [[[min(fastest, 1.0) ** 2]]]])
    if near is not None:
        low, high = (0.81 * near)[..., np.newaxis], (1.21 * near + 1e-6)[..., np.newaxis]
    compute = partial(_find_efforts, path, compute_efforts)
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
    spared = np.minimum(np.abs(static) + TIME_SCALING.spare_effort * limits, limits)
    allowed = np.maximum(part * limits, spared)
    motors = np.flatnonzero(np.isfinite(limits))
    signed = (inertial, slope, allowed - static), (-inertial, -slope, allowed + static)
    return [tuple(each[..., motors] for each in rows) for rows in signed], is_rough


def _find_efforts(
    path: PathIntervals, compute_efforts: Efforts, square: FloatArray, change: float
) -> FloatArray:
    """Return the efforts at x = `square` and a = `change`."""
    shape = path.position.shape
    motion = (
        path.position,
        path.velocity * np.sqrt(square),
        path.acceleration * square + change * path.velocity,
    )
    flat = (np.ascontiguousarray(each).reshape(-1, shape[-1]) for each in motion)
    efforts: FloatArray = compute_efforts(*flat).reshape(shape)
    return efforts


def _find_largest_squares(bounds: PathBounds) -> FloatArray:
    """Return the largest x for which accelerations are left, shape (N,).

    How much the lower lines are above the upper ones is convex in x: Newton's method from the
    right comes down to the crossing without passing it.
    """
    low_rows, low_slopes, high_rows, high_slopes, caps, _ = bounds
    x: FloatArray = caps[0]
    if not low_rows.shape[1]:
        return x
    rows = np.arange(x.size)
    # Each step leaves a line; few are taken.
    for _ in range(40):
        low = low_rows + low_slopes * x[:, np.newaxis]
        high = high_rows + high_slopes * x[:, np.newaxis]
        at_low, at_high = low.argmax(axis=1), high.argmin(axis=1)
        gap = low[rows, at_low] - high[rows, at_high]
        is_empty = gap > 1e-9 * (1.0 + np.abs(high[rows, at_high]))
        if not is_empty.any():
            break
        steepness = low_slopes[rows, at_low] - high_slopes[rows, at_high]
        with np.errstate(divide='ignore', invalid='ignore'):
            nearer = np.where(steepness > 0.0, x - gap / steepness, 0.0)
        x = np.where(is_empty, np.maximum(nearer, 0.0), x)
    return x
