"""Paths in short intervals: divided by the way, and by how far they turn.

A path is known by a parameter. The time that its sender gave it serves where nobody is to be
faster than sent. For the fastest motion it is the length of the path: of a path in the time of its
sender, which begins and ends slowly, the fastest motion has no finite speed at its ends.

A path that is slow where it turns, as cubics are that pass a point slowly or backwards, turns
within a small part of its time and of its length. There the limits of all intervals around count
for a motion that hardly moves. So there is a point where such a path is slowest, and intervals
become smaller towards it until none turns far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.segments import (
    Segments,
    bound_ways,
    differentiate,
    evaluate,
    sample_segments,
)
from ne_dynamics.motion.thresholds import TIME_SCALING

RESTING = 1e-9
"""Part of the largest speed in an interval below which a path rests."""

CORNER_WAY = 1e-6
"""What turns within so little is a corner [rad or m]."""

TURN_SAMPLES = 4
"""Parts of an interval in which it is looked at how far it turns."""


class PathIntervals(NamedTuple):
    """Stretches of a path, and the motion at both ends of each, by the parameter.

    Attributes
    ----------
    begins, durations : array, shape (N,)
        In the parameter of the path [s, or rad or m].
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
        """Return segments by the time of their sender, divided as finely as they move."""
        return cls.in_time(divide(segments))

    @classmethod
    def in_time(cls, parts: Segments) -> PathIntervals:
        """Return the parts of a path by the time of its sender."""
        return cls(parts.begins, parts.durations, *sample_segments(parts, 1))

    @classmethod
    def by_length(cls, parts: Segments) -> PathIntervals:
        """Return the parts of a path by its length, where all of it moves."""
        lengths = compute_lengths(parts)
        share = np.full(lengths.size, TIME_SCALING.inside_share)
        inside = parts.parts(np.arange(lengths.size), share, 1.0 - share)
        exact, inner = (sample_segments(each, 1) for each in (parts, inside))
        sizes = [np.linalg.norm(each[1], axis=2, keepdims=True) for each in (exact, inner)]
        directions = [
            each[1] / np.where(size > 0.0, size, np.inf)
            for each, size in zip((exact, inner), sizes, strict=True)
        ]
        # Where it rests, or turns nearly at rest, it has the direction in which it goes on.
        turns = np.linalg.norm(directions[0] - directions[1], axis=2, keepdims=True)
        largest = sizes[0].max(axis=0)
        rests = (sizes[0] <= RESTING * largest) | (
            (sizes[0] <= 0.1 * largest) & (turns > TIME_SCALING.largest_turn)
        )
        tangent = np.where(rests, directions[1], directions[0])
        curve = np.where(rests, inner[2], exact[2])
        size = np.where(rests, sizes[1], sizes[0])
        along = (tangent * curve).sum(axis=2, keepdims=True)
        begins = np.concatenate(([0.0], np.cumsum(lengths)[:-1]))
        return cls(begins, lengths, exact[0], tangent, (curve - tangent * along) / size**2)


def divide(segments: Segments) -> Segments:
    """Return the parts of segments along which all joints together go no farther than usual."""
    wanted = np.ceil(np.nan_to_num(bound_ways(segments) / TIME_SCALING.largest_way))
    return divide_into(segments, np.clip(wanted, 2, 128).astype(np.intp))


def divide_into(segments: Segments, counts: IndexArray) -> Segments:
    """Return the parts of segments, each divided evenly into so many, shape (s,)."""
    which, index = np.nonzero(np.arange(counts.max(initial=1)) < counts[:, np.newaxis])
    width = 1.0 / counts[which]
    return segments.parts(which, index * width, (index + 1.0) * width)


def divide_by_way(segments: Segments) -> Segments:
    """Return the parts of segments as their ways ask for, which are measured; a rest is one."""
    ways = np.abs(np.diff(sample_segments(segments, 16)[0], axis=0)).sum(axis=(0, 2))
    finest = min(TIME_SCALING.largest_way, ways.sum() / TIME_SCALING.parts_in_all)
    with np.errstate(invalid='ignore'):
        # Between two corners there is a point that moves.
        wanted = np.clip(np.ceil(ways / finest), 2, 4096)
    return divide_into(segments, np.where(ways > 0.0, wanted, 1).astype(np.intp))


def compute_lengths(parts: Segments) -> FloatArray:
    """Return the lengths of parts, shape (s,) [rad or m].

    Simpson's rule is exact for all but the sixth part of what they bend.
    """
    speeds = np.linalg.norm(sample_segments(parts, 2)[1], axis=2)
    lengths: FloatArray = (speeds[0] + 4.0 * speeds[1] + speeds[2]) / 6.0 * parts.durations
    return lengths


def divide_turns(parts: Segments) -> Segments:
    """Return the parts of a path that move, none of which turns far."""
    lengths = compute_lengths(parts)
    parts = parts.choose(np.flatnonzero(lengths > 1e-12 * lengths.sum()))
    parts = _divide_where_slowest(parts)
    for _ in range(30):
        turns, way = _measure_turns(parts)
        too_far = (turns > TIME_SCALING.largest_turn) & (way > CORNER_WAY)
        if not too_far.any():
            break
        parts = divide_into(parts, np.where(too_far, 2, 1))
    return parts


def _measure_turns(parts: Segments) -> tuple[FloatArray, FloatArray]:
    """Return how far parts turn [rad], and how long they are [rad or m], shape (s,)."""
    position, velocity, _ = sample_segments(parts, TURN_SAMPLES)
    size = np.linalg.norm(velocity, axis=2, keepdims=True)
    # What rests has no direction.
    moves = size > RESTING * size.max(axis=0)
    direction = velocity / np.where(moves, size, np.inf)
    counts = (moves[1:] & moves[:-1])[..., 0]
    turns = np.where(counts, np.linalg.norm(np.diff(direction, axis=0), axis=2), 0.0)
    ways = np.linalg.norm(np.diff(position, axis=0), axis=2)
    return turns.sum(axis=0), ways.sum(axis=0)


def _divide_where_slowest(parts: Segments) -> Segments:
    """Return parts that are divided where the path is slowest inside of them: there it turns."""
    rates = differentiate(parts.scaled)
    squares = np.zeros((9, parts.durations.size))
    for power, rate in enumerate(rates):
        squares[power : power + 5] += (rate * rates).sum(axis=2)
    slopes = differentiate(squares)
    shares = np.linspace(0.0, 1.0, TURN_SAMPLES + 1)
    changes = evaluate(slopes[..., np.newaxis], shares)
    least = RESTING * np.abs(squares).sum(axis=0)[:, np.newaxis]
    turns = (changes[:, :-1] < -least) & (changes[:, 1:] > least)
    which = np.flatnonzero(turns.any(axis=1))
    low = shares[turns[which].argmax(axis=1)]
    high = low + 1.0 / TURN_SAMPLES
    for _ in range(50):
        middle = 0.5 * (low + high)
        is_low = evaluate(slopes[:, which], middle) < 0.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    halves = [parts.parts(which, *ends) for ends in ((0.0 * low, low), (low, 1.0 + 0.0 * low))]
    # Where that is next to an end, the path turns at this end.
    is_inside = np.min([compute_lengths(half) for half in halves], axis=0) > CORNER_WAY
    which, share = which[is_inside], low[is_inside]
    all_parts = np.insert(np.arange(parts.durations.size), which, which)
    first = which + np.arange(which.size)
    begin, end = np.zeros(all_parts.size), np.ones(all_parts.size)
    end[first] = begin[first + 1] = share
    return parts.parts(all_parts, begin, end)
