"""Where a path is divided: nowhere it turns far between two points, and nothing is left out."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.motion.joined_states import scaled_coefficients
from ne_dynamics.motion.segments import Segments, sample_segments
from ne_dynamics.motion.thresholds import TIME_SCALING
from ne_dynamics.motion.time_scaling.path import divide_by_way, divide_turns
from ne_dynamics.motion.waypoints import DesiredState


def cubics(positions, velocities) -> Segments:
    """Return cubics through points that are half a second apart."""
    count = len(positions) - 1
    rest = np.zeros_like(positions)
    begin = DesiredState(positions[:-1], velocities[:-1], rest[:-1])
    end = DesiredState(positions[1:], velocities[1:], rest[1:])
    durations = np.full(count, 0.5)
    scaled = scaled_coefficients(np.ones(count, dtype=int), durations, begin, end)
    return Segments(0.5 * np.arange(count), durations, scaled)


@pytest.mark.parametrize('slow', [1.0, 0.1, 1e-2, 1e-3, 1e-5])
def test_no_part_turns_far(slow) -> None:
    """By dense samples, but for what is shorter than a micrometre; all parts are the path."""
    rng = np.random.default_rng(3)
    positions = np.cumsum(rng.uniform(-0.8, 0.8, (6, 3)), axis=0)
    velocities = slow * rng.uniform(-2.0, 2.0, (6, 3))
    velocities[[0, -1]] = 0.0
    segments = cubics(positions, velocities)
    parts = divide_turns(divide_by_way(segments))
    assert parts.durations.size < 700
    np.testing.assert_allclose(
        parts.begins, np.cumsum(parts.durations) - parts.durations, atol=1e-9
    )
    assert parts.durations.sum() == pytest.approx(segments.durations.sum())
    q, way, _ = sample_segments(parts, 40)
    np.testing.assert_allclose(q[-1, :-1], q[0, 1:], atol=1e-12)
    # Without the ends, at which the path may rest.
    direction = way[1:-1] / np.linalg.norm(way[1:-1], axis=2, keepdims=True)
    turns = np.linalg.norm(np.diff(direction, axis=0), axis=2).sum(axis=0)
    ways = np.linalg.norm(np.diff(q, axis=0), axis=2).sum(axis=0)
    assert turns[ways > TIME_SCALING.corner_way].max() <= 1.05 * TIME_SCALING.largest_turn


def test_a_path_that_goes_back_on_a_line_is_divided_where_it_turns() -> None:
    """Inside of a segment, to rounding: the speed is zero at an end of two parts."""
    direction = np.array([0.3, -0.8, 0.5])
    segments = cubics(np.outer((0.0, 1.0, 0.7), direction), np.outer((0.0, 3.0, 0.0), direction))
    speeds = np.linalg.norm(sample_segments(divide_turns(divide_by_way(segments)), 1)[1], axis=2)
    rests = np.flatnonzero(speeds[0] < 1e-9)
    assert rests.size == 2
    assert rests[0] == 0
    assert speeds[1, rests[1] - 1] < 1e-9
