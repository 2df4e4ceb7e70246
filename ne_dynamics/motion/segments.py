"""Pieces of a motion, and between which values they run: bounds, and exact extremes.

A polynomial lies between the least and the largest of its Bernstein coefficients, and so do its
derivatives: one matrix product bounds position, velocity and acceleration of thousands of
segments. Where such a bound is not enough the extremes themselves are found, at the ends and
where the next derivative is zero. Its zeros are bracketed by those of the derivative after it, and
so on up to the fourth, which is a straight line: between two brackets a derivative is monotone,
and bisection, then Newton's method within the bracket, find its zero, or that there is none.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray, IndexArray

DEGREE = 5

BISECTIONS, NEWTON_STEPS = 10, 3
"""A thousandth, then its square, and so on. Where zeros lie so near to each other that Newton's
method is slow, the curve is flat, and its value there the same."""


class Segments(NamedTuple):
    """Pieces of a motion, each a polynomial for every joint.

    Attributes
    ----------
    begins : array, shape (s,)
        Times at which they begin [s].
    durations : array, shape (s,)
        Positive [s].
    scaled : array, shape (6, s, n)
        Coefficients of ascending powers of the share of the duration that has passed
        [rad or m].
    """

    begins: FloatArray
    durations: FloatArray
    scaled: FloatArray

    def choose(self, which: IndexArray | slice) -> Segments:
        """Return some of the segments."""
        return Segments(self.begins[which], self.durations[which], self.scaled[:, which])

    def parts(self, which: IndexArray, low: FloatArray, high: FloatArray) -> Segments:
        """Return parts of segments as segments of their own.

        Parameters
        ----------
        which : array, shape (k,), dtype int
        low, high : array, shape (k,)
            Shares of the durations between which they are.
        """
        width, durations = high - low, self.durations[which]
        whole = self.scaled[:, which]
        scaled = np.empty_like(whole)
        for power in range(DEGREE + 1):
            # The binomial theorem for (low + width x) ** above.
            row = whole[DEGREE] * comb(DEGREE, power)
            for above in range(DEGREE - 1, power - 1, -1):
                row = row * low[:, np.newaxis] + comb(above, power) * whole[above]
            scaled[power] = row * (width**power)[:, np.newaxis]
        return Segments(self.begins[which] + low * durations, width * durations, scaled)


class Bounds(NamedTuple):
    """Least and largest values, no narrower than the motion.

    Attributes
    ----------
    lower, upper : array, shape (3, s, n)
        Of position [rad or m], velocity [rad/s or m/s] and acceleration [rad/s^2 or m/s^2].
    """

    lower: FloatArray
    upper: FloatArray


def derivative_rows(rows: FloatArray) -> FloatArray:
    """Return what a row for the coefficients of a derivative is for those of the polynomial.

    Parameters
    ----------
    rows : array, shape (r, k)
        Each gives a number when it is multiplied with k coefficients.

    Returns
    -------
    array, shape (r, k + 1)
    """
    powers = np.arange(1.0, rows.shape[1] + 1.0)
    return np.concatenate((np.zeros((len(rows), 1)), rows * powers), axis=1)


def _to_bernstein(degree: int) -> FloatArray:
    """Return the matrix from coefficients of powers on [0, 1] to Bernstein coefficients."""
    return np.array(
        [
            [comb(row, power) / comb(degree, power) for power in range(degree + 1)]
            for row in range(degree + 1)
        ]
    )


_CONTROLS = np.concatenate(
    (
        _to_bernstein(DEGREE),
        derivative_rows(_to_bernstein(DEGREE - 1)),
        derivative_rows(derivative_rows(_to_bernstein(DEGREE - 2))),
    )
)
_PARTS = (slice(0, 6), slice(6, 11), slice(11, 15))


def bound_segments(segments: Segments) -> Bounds:
    """Bound position, velocity and acceleration of every segment and joint."""
    _, durations, scaled = segments
    controls = _CONTROLS @ scaled.reshape(DEGREE + 1, -1)
    controls = controls.reshape(len(_CONTROLS), *scaled.shape[1:])
    shape = (3, *scaled.shape[1:])
    lower, upper = np.empty(shape), np.empty(shape)
    for order, part in enumerate(_PARTS):
        lower[order] = controls[part].min(axis=0)
        upper[order] = controls[part].max(axis=0)
    sizes = durations ** np.arange(1.0, 3.0)[:, np.newaxis]
    lower[1:] /= sizes[..., np.newaxis]
    upper[1:] /= sizes[..., np.newaxis]
    return Bounds(lower, upper)


class Candidates(NamedTuple):
    """Where polynomials may have their extremes, as shares of the duration, ascending.

    Attributes
    ----------
    position, velocity, acceleration : array, shape (k, 6), (k, 5) or (k, 4)
        The ends among them. The inner ones of `position` are where the velocity may change sign.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


def find_candidates(scaled: FloatArray) -> Candidates:
    """Return where k polynomials may have their extremes.

    Parameters
    ----------
    scaled : array, shape (6, k)
        Coefficients of ascending powers of the share of the duration.
    """
    derivatives = _derivatives(scaled)
    brackets = _bracket_zeros(derivatives, 1)
    return Candidates(brackets[1], brackets[2], brackets[3])


def find_roots(scaled: FloatArray, order: int) -> FloatArray:
    """Return where a derivative of k polynomials changes its sign inside of the segment.

    Parameters
    ----------
    scaled : array, shape (6, k)
    order : int
        0 to 3: of the derivative.

    Returns
    -------
    array, shape (k, 5 - order)
        As shares of the duration; what is not there is NaN.
    """
    derivatives = _derivatives(scaled)
    brackets = _bracket_zeros(derivatives, order + 1)[order + 1]
    zeros, has_zero = _find_zeros(derivatives[order], brackets)
    is_inside = has_zero & (zeros > 0.0) & (zeros < 1.0)
    return np.where(is_inside, zeros, np.nan)


def bound_exactly(segments: Segments) -> Bounds:
    """Return the least and the largest values of every segment and joint."""
    _, durations, scaled = segments
    shape = (3, *scaled.shape[1:])
    flat = scaled.reshape(DEGREE + 1, -1)
    values = [
        evaluate(polynomials, shares)
        for polynomials, shares in zip(_derivatives(flat), find_candidates(flat), strict=False)
    ]
    sizes = durations ** np.arange(3.0)[:, np.newaxis]
    lower, upper = (
        np.stack([find(value, axis=1) for value in values]).reshape(shape) / sizes[..., np.newaxis]
        for find in (np.min, np.max)
    )
    return Bounds(lower, upper)


def _derivatives(scaled: FloatArray) -> list[FloatArray]:
    """Return polynomials and their derivatives up to the fourth, shapes (6 - order, k)."""
    derivatives = [scaled]
    for _ in range(4):
        before = derivatives[-1]
        derivatives.append(before[1:] * np.arange(1.0, len(before))[:, np.newaxis])
    return derivatives


def _bracket_zeros(derivatives: list[FloatArray], least: int) -> dict[int, FloatArray]:
    """Return points between which the derivative before is monotone, for each order from a least.

    Shapes (k, 7 - order), the ends among them.
    """
    slope, offset = derivatives[4][1], derivatives[4][0]
    with np.errstate(divide='ignore', invalid='ignore'):
        zero = np.nan_to_num(-offset / slope, nan=0.0, posinf=1.0, neginf=0.0)
    found = {4: _with_ends(np.clip(zero, 0.0, 1.0)[:, np.newaxis])}
    for order in range(3, least - 1, -1):
        zeros, has_zero = _find_zeros(derivatives[order], found[order + 1])
        found[order] = _with_ends(np.where(has_zero, zeros, found[order + 1][:, 1:]))
    return found


def _with_ends(inner: FloatArray) -> FloatArray:
    end = np.zeros((len(inner), 1))
    return np.concatenate((end, inner, end + 1.0), axis=1)


def _find_zeros(
    polynomials: FloatArray, brackets: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return a zero in each bracket, and whether the signs at its ends differ so that it is one.

    Parameters
    ----------
    polynomials : array, shape (d, k)
    brackets : array, shape (k, m + 1)

    Returns
    -------
    zeros, has_zero : array, shape (k, m)
    """
    low, high = brackets[:, :-1], brackets[:, 1:]
    is_negative = evaluate(polynomials, low) < 0.0
    has_zero = (evaluate(polynomials, high) < 0.0) != is_negative
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        is_low = (evaluate(polynomials, middle) < 0.0) == is_negative
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    slopes = polynomials[1:] * np.arange(1.0, len(polynomials))[:, np.newaxis]
    zero = 0.5 * (low + high)
    with np.errstate(divide='ignore', invalid='ignore'):
        for _ in range(NEWTON_STEPS):
            step = evaluate(polynomials, zero) / evaluate(slopes, zero)
            zero = np.minimum(np.maximum(np.where(np.isnan(step), zero, zero - step), low), high)
    return zero, has_zero


def evaluate(polynomials: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the values of k polynomials, each at m points, shape (k, m).

    Parameters
    ----------
    polynomials : array, shape (d, k)
    shares : array, shape (k, m)
    """
    value = np.broadcast_to(polynomials[-1][:, np.newaxis], shares.shape)
    for row in polynomials[-2::-1]:
        value = value * shares + row[:, np.newaxis]
    return value


@lru_cache(maxsize=32)
def _sampling(count: int) -> FloatArray:
    """Return the matrix from coefficients to values and two derivatives at count + 1 shares."""
    shares = np.linspace(0.0, 1.0, count + 1)[:, np.newaxis]
    rows = [shares ** np.arange(DEGREE + 1.0 - order) for order in range(3)]
    matrix = np.concatenate(
        (rows[0], derivative_rows(rows[1]), derivative_rows(derivative_rows(rows[2])))
    )
    matrix.setflags(write=False)
    return matrix


def sample_segments(segments: Segments, count: int) -> FloatArray:
    """Return states at even distances on every segment, both ends among them.

    Parameters
    ----------
    segments : Segments
    count : int
        Intervals.

    Returns
    -------
    array, shape (3, count + 1, s, n)
        Positions [rad or m], velocities [rad/s or m/s], accelerations [rad/s^2 or m/s^2].
    """
    _, durations, scaled = segments
    states = _sampling(count) @ scaled.reshape(DEGREE + 1, -1)
    states = states.reshape(3, count + 1, *scaled.shape[1:])
    states[1] /= durations[:, np.newaxis]
    states[2] /= durations[:, np.newaxis] ** 2
    return states
