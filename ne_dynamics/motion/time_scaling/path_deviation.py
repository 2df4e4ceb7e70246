"""How far a motion is from the path that it is to go along, whenever it is where."""

from __future__ import annotations

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.segments import Segments, differentiate, evaluate, sample_segments


def measure_deviation(segments: Segments, parts: Segments) -> FloatArray:
    """Return the largest distance of a joint from a path, in each segment, shape (s,) [rad or m].

    The motion's `segments` go along the `parts` of the path, one each.
    """
    largest = np.zeros(segments.durations.size)
    # Each segment takes a thousand numbers a joint.
    batch, looked_at = 2048, 8
    for begin in range(0, segments.durations.size, batch):
        some = slice(begin, begin + batch)
        # In the middle of as many parts of each segment.
        points = sample_segments(segments.choose(some), 2 * looked_at)[0, 1::2]
        largest[some] = _find_distances(points, parts.choose(some)).max(axis=(0, 2))
    return largest


def _find_distances(points: FloatArray, parts: Segments) -> FloatArray:
    """Return how far points are from parts, shape (m, k, 1) for points of shape (m, k, n)."""
    guesses = 16
    way, rates = sample_segments(parts, guesses)[0], differentiate(parts.scaled)
    share = ((points[:, np.newaxis] - way) ** 2).sum(axis=3).argmin(axis=1) / guesses
    share, found, best = share[..., np.newaxis], np.zeros(()), np.full((), np.inf)
    # The guess, and steps of the method of Gauss and Newton from there.
    for _ in range(5):
        apart, tangent = points - evaluate(parts.scaled, share), evaluate(rates, share)
        square, size, step = (
            each.sum(axis=2, keepdims=True) for each in (apart**2, tangent**2, apart * tangent)
        )
        found = np.where(square < best, np.abs(apart).max(axis=2, keepdims=True), found)
        best = np.minimum(best, square)
        share = np.clip(share + step / np.where(size > 0.0, size, np.inf), 0.0, 1.0)
    return found
