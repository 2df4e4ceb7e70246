"""Pieces of a motion, and between which values they run: bounds, and exact extremes.

A polynomial lies between the least and the largest of its Bernstein coefficients, and so do its
derivatives: one matrix product bounds position, velocity and acceleration of thousands of
segments, by the coefficients of each half, which are closer than those of the whole. Where such a
bound is not enough the extremes themselves are found, at the ends and where the next derivative is
zero. Its zeros are bracketed by those of the derivative after it, and so on up to the fourth,
which is a straight line: between two brackets a derivative is monotone, and bisection, then
Newton's method within the bracket, find its zero, or that there is none.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.model.rigid_body import FloatArray, IndexArray

DEGREE = 5


class Segments(NamedTuple):
    """Segments of a motion, each a polynomial for every joint.

    Attributes
    ----------
    begins : array, shape (s,)
        Start times [s].
    durations : array, shape (s,)
        Positive [s].
    scaled : array, shape (6, s, n)
        Position [rad or m] as ascending powers of the elapsed part of the duration.
    """

    begins: FloatArray
    durations: FloatArray
    scaled: FloatArray

    def choose(self, which: IndexArray | slice) -> Segments:
        """Return some of the segments."""
        return Segments(self.begins[which], self.durations[which], self.scaled[:, which])

    def parts(self, which: IndexArray, low: FloatArray, high: FloatArray) -> Segments:
        """Return parts of segments as segments of their own.

        They are between the shares `low` and `high` of the durations, shape (k,).
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


def evaluate(polynomials: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the values of polynomials by Horner's scheme.

    `polynomials`, shape (d, ...), are coefficients of ascending powers, two at the least;
    `shares` broadcast with the shape behind d, to that of the result.
    """
    value: FloatArray = polynomials[-1]
    for row in polynomials[-2::-1]:
        value = value * shares + row
    return value


def differentiate(polynomials: FloatArray) -> FloatArray:
    """Return the derivatives of polynomials, shape (d, ...) to (d - 1, ...)."""
    derived: FloatArray = (polynomials[1:].T * np.arange(1.0, len(polynomials))).T
    return derived


def _differentiate_up_to(order: int, polynomials: FloatArray) -> list[FloatArray]:
    """Return polynomials and their derivatives up to an order."""
    derivatives = [polynomials]
    for _ in range(order):
        derivatives.append(differentiate(derivatives[-1]))
    return derivatives


def _to_bernstein(degree: int) -> FloatArray:
    """Return the matrix from coefficients of powers on [0, 1] to Bernstein coefficients."""
    powers = range(degree + 1)
    return np.array(
        [[comb(row, power) / comb(degree, power) for power in powers] for row in powers]
    )


_DERIVATIVES = _differentiate_up_to(2, np.eye(DEGREE + 1))
"""From coefficients to those of position, velocity and acceleration."""


def _half(degree: int, *, is_second: bool) -> FloatArray:
    """Return the matrix from coefficients of powers to those of a half, on [0, 1] again."""
    powers = range(degree + 1)
    shifted = np.array([[comb(power, row) for power in powers] for row in powers])
    origin = shifted if is_second else np.eye(degree + 1)
    half: FloatArray = origin * 0.5 ** np.arange(degree + 1)
    return half


_CONTROLS = np.concatenate(
    [
        _to_bernstein(DEGREE - order) @ _half(DEGREE - order, is_second=is_second) @ rates
        for order, rates in enumerate(_DERIVATIVES)
        for is_second in (False, True)
    ]
)
_PARTS = (slice(0, 12), slice(12, 22), slice(22, 30))


def bound_segments(segments: Segments) -> tuple[FloatArray, FloatArray]:
    """Bound position, velocity and acceleration of every segment and joint.

    Returns
    -------
    lower, upper : array, shape (3, s, n)
        No narrower than the motion [rad or m], [rad/s or m/s], [rad/s^2 or m/s^2].
    """
    _, durations, scaled = segments
    controls = _CONTROLS @ scaled.reshape(DEGREE + 1, -1)
    controls = controls.reshape(len(_CONTROLS), *scaled.shape[1:])
    lower, upper = np.empty((2, 3, *scaled.shape[1:]))
    for order, part in enumerate(_PARTS):
        controls[part].min(axis=0, out=lower[order])
        controls[part].max(axis=0, out=upper[order])
    sizes = (durations ** np.arange(1.0, 3.0)[:, np.newaxis])[..., np.newaxis]
    lower[1:] /= sizes
    upper[1:] /= sizes
    return lower, upper


def find_candidates(scaled: FloatArray) -> list[FloatArray]:
    """Return where k polynomials and their derivatives may have their extremes.

    Parameters
    ----------
    scaled : array, shape (6, k)
        Coefficients of ascending powers of the share of the duration.

    Returns
    -------
    list of array, shape (k, 6), (k, 5) and (k, 4)
        Of position, velocity and acceleration: shares of the duration, ascending, the ends among
        them. The inner ones are where the next derivative may change its sign.
    """
    *derivatives, (offset, slope) = _differentiate_up_to(4, scaled)
    with np.errstate(divide='ignore', invalid='ignore'):
        zero = np.nan_to_num(-offset / slope, nan=0.0, posinf=1.0, neginf=0.0)
    found = _with_ends(np.clip(zero, 0.0, 1.0)[:, np.newaxis])
    candidates = []
    for polynomials in derivatives[:0:-1]:
        zeros, has_zero = find_zeros(polynomials, found)
        found = _with_ends(np.where(has_zero, zeros, found[:, 1:]))
        candidates.append(found)
    return candidates[::-1]


def _with_ends(inner: FloatArray) -> FloatArray:
    end = np.zeros((len(inner), 1))
    return np.concatenate((end, inner, end + 1.0), axis=1)


def find_zeros(
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

    def find_values(shares: FloatArray) -> FloatArray:
        return evaluate(polynomials[..., np.newaxis], shares)

    low, high = brackets[:, :-1], brackets[:, 1:]
    is_negative = find_values(low) < 0.0
    has_zero = (find_values(high) < 0.0) != is_negative
    # To a thousandth of a bracket; then to its square, and so on. Where that is slow, it is flat.
    for _ in range(10):
        middle = 0.5 * (low + high)
        is_low = (find_values(middle) < 0.0) == is_negative
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    slopes = differentiate(polynomials)[..., np.newaxis]
    zero = 0.5 * (low + high)
    with np.errstate(divide='ignore', invalid='ignore'):
        for _ in range(3):
            step = find_values(zero) / evaluate(slopes, zero)
            zero = np.minimum(np.maximum(np.where(np.isnan(step), zero, zero - step), low), high)
    return zero, has_zero


def bound_ways(segments: Segments) -> FloatArray:
    """Return how far all joints together go in each segment, at most [rad or m]."""
    with np.errstate(over='ignore', invalid='ignore'):
        ways: FloatArray = np.abs(segments.scaled[1:]).sum(axis=0)
        return ways @ np.ones(ways.shape[1])


@lru_cache(maxsize=32)
def _sampling(count: int) -> FloatArray:
    """Return the matrix from coefficients to values and two derivatives at count + 1 shares."""
    shares = np.linspace(0.0, 1.0, count + 1)[:, np.newaxis]
    powers = shares ** np.arange(DEGREE + 1.0)
    matrix = np.concatenate([powers[:, : len(rates)] @ rates for rates in _DERIVATIVES])
    matrix.setflags(write=False)
    return matrix


def sample_segments(segments: Segments, count: int) -> FloatArray:
    """Return states at even distances on every segment, both ends among them.

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


def find_roots(segments: Segments, order: int) -> list[FloatArray]:
    """Return when each joint changes the sign of a derivative, inside of segments [s].

    As :meth:`ne_dynamics.motion.motion.Motion.roots`.
    """
    low, high = (each[order] for each in bound_segments(segments))
    which, joints = np.nonzero((low < 0.0) & (high > 0.0))
    polynomials = segments.scaled[:, which, joints]
    candidates = find_candidates(polynomials)[order]
    for _ in range(order):
        polynomials = differentiate(polynomials)
    shares, changes_sign = find_zeros(polynomials, candidates)
    rows, columns = np.nonzero(changes_sign & (shares > 0.0) & (shares < 1.0))
    some = which[rows]
    times = segments.begins[some] + shares[rows, columns] * segments.durations[some]
    return [np.sort(times[joints[rows] == joint]) for joint in range(low.shape[1])]
