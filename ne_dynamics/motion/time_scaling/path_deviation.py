"""How far a motion is from the path that it is to go along, whenever it is where."""

from __future__ import annotations

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.segments import Segments, derivative_rows, sample_segments

SAMPLES = 8
"""Points of each segment that are looked at, between its ends."""

FIRST_GUESSES = 16
"""Intervals of a part of the path, at whose ends the nearest point is looked for at first."""

PROJECTIONS = 4
"""Steps of the method of Gauss and Newton from there."""

AT_ONCE = 2048
"""Segments that are looked at in one step: each takes a thousand numbers a joint."""


def measure_deviation(segments: Segments, parts: Segments) -> FloatArray:
    """Return the largest distance of a joint from a path, in each segment.

    Parameters
    ----------
    segments : Segments
        The motion.
    parts : Segments
        The parts of the path that they go along, one each.

    Returns
    -------
    array, shape (s,)
        [rad or m]
    """
    largest = np.zeros(segments.durations.size)
    for begin in range(0, segments.durations.size, AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        # In the middle of as many parts of each segment.
        points = sample_segments(segments.choose(some), 2 * SAMPLES)[0, 1::2]
        largest[some] = _find_distances(points, parts.scaled[:, some]).max(axis=0)
    return largest


def _find_distances(points: FloatArray, scaled: FloatArray) -> FloatArray:
    """Return how far points are from polynomials, shape (m, k) for points of shape (m, k, n)."""
    shares = np.linspace(0.0, 1.0, FIRST_GUESSES + 1)
    way = np.tensordot(shares[:, np.newaxis] ** np.arange(6.0), scaled, axes=1)
    apart = ((points[:, np.newaxis] - way) ** 2).sum(axis=3)
    share = shares[apart.argmin(axis=1)]
    best = apart.min(axis=1)
    found: FloatArray = np.abs(points - _evaluate(scaled, share)).max(axis=2)
    rates = derivative_rows(np.eye(5)) @ scaled.reshape(6, -1)
    rates = rates.reshape(5, *scaled.shape[1:])
    for _ in range(PROJECTIONS):
        tangent = _evaluate(rates, share)
        size = (tangent**2).sum(axis=2)
        step = ((points - _evaluate(scaled, share)) * tangent).sum(axis=2)
        share = np.clip(share + step / np.where(size > 0.0, size, np.inf), 0.0, 1.0)
        apart = points - _evaluate(scaled, share)
        square = (apart**2).sum(axis=2)
        found = np.where(square < best, np.abs(apart).max(axis=2), found)
        best = np.minimum(best, square)
    return found


def _evaluate(polynomials: FloatArray, shares: FloatArray) -> FloatArray:
    """Return polynomials of shape (d, k, n) at shares of shape (m, k), shape (m, k, n)."""
    value: FloatArray = np.zeros((*shares.shape, polynomials.shape[2]))
    for row in polynomials[::-1]:
        value = value * shares[..., np.newaxis] + row
    return np.asarray(value)
