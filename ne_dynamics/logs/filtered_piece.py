"""Filtered samples of a piece of a log, and what its statistics are, before it is judged.

What counts as motion is a question to all of a log: how fast each joint is at most, and how much
noise its positions have. So a log is filtered first, piece by piece; statistics of the pieces are
put together; and then :meth:`FilteredPiece.with_criteria` makes the signals of each piece.

A log that is read in one piece has its even times start where each of its segments starts. In a
log of several pieces they are those of the log's first stamp, so that pieces that overlap have
the same ones: a sample between them is filtered as in the whole log, and belongs to one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.log import Log
from ne_dynamics.logs.parts import Part
from ne_dynamics.logs.segment import MotionCriteria, Segment, Signals, derivatives, low_pass
from ne_dynamics.logs.source_clock import with_source_clock
from ne_dynamics.logs.stale_samples import without_repeated
from ne_dynamics.logs.sums import Sums
from ne_dynamics.logs.thresholds import FAULTS, FILTER
from ne_dynamics.model.rigid_body import FloatArray

INNER = slice(2, -2)
"""Samples that have derivatives."""

TABLES = ('position', 'velocity', 'acceleration', 'effort', 'near_cut', 'measured_velocity')


@dataclass(frozen=True)
class Grid:
    """At which even times a log is filtered, and how.

    Attributes
    ----------
    step : float
        [s]
    cutoff_frequency : float
        [Hz]
    origin : float or None
        One of the times [s]; None where each segment has its own, which starts with it.
    """

    step: float
    cutoff_frequency: float
    origin: float | None = None

    @property
    def rate(self) -> float:
        """Of the log [Hz]."""
        return 1.0 / self.step

    @property
    def trim(self) -> int:
        """Samples that are left out at either end of a segment."""
        return math.ceil(FILTER.end_margin * self.rate / self.cutoff_frequency)

    @property
    def thinning(self) -> tuple[int, int]:
        """Every how many-th sample is kept, and every how many-th the motion is asked at."""
        kept = max(
            1, math.floor(self.rate / (FILTER.kept_samples_per_period * self.cutoff_frequency))
        )
        dense = max(
            1, math.floor(self.rate / (FILTER.dense_samples_per_period * self.cutoff_frequency))
        )
        if self.origin is not None:
            # Of a long log a few samples more are kept, so that the motion is asked less often
            # where the two numbers have no common part.
            dense = max(1, dense // 2)
            return kept - kept % dense, dense
        return kept, max(part for part in range(1, dense + 1) if kept % part == 0)

    def choose_kept(self, count: int, first: int) -> NDArray[np.intp]:
        """Return which of `count` filtered samples are kept.

        They are the same whatever the part of a log, whose first sample has a number on the grid:
        as if it began at the origin.
        """
        kept = np.arange(count)[(self.trim - first) % self.thinning[0] :: self.thinning[0]]
        return kept[(kept >= self.trim) & (kept < count - self.trim)]

    def compute_times(self, stamps: FloatArray) -> tuple[FloatArray, int]:
        """Return the even times within stamps, and the number of the first one."""
        if self.origin is None:
            return np.arange(stamps[0], stamps[-1] + 1e-3 * self.step, self.step), 0
        first = math.ceil((stamps[0] - self.origin) / self.step - 1e-6)
        last = math.floor((stamps[-1] - self.origin) / self.step + 1e-3)
        return self.origin + self.step * np.arange(first, last + 1), first


@dataclass(frozen=True, eq=False)
class MotionStatistics(Sums):
    """Sums over samples of a log at its full rate; those of pieces add up.

    Attributes
    ----------
    count : int
        Samples.
    noise_sum, noise_squares : array, shape (n,)
        Of what is above the cut-off in the positions [rad or m].
    cut : array, shape (n,)
        Samples whose effort is at its limit.
    largest, kept_largest : array, shape (n,)
        Velocity, of all samples and of the filtered ones that are kept [rad/s or m/s].
    kept, repeated : int
        Filtered samples, and recorded ones that repeat the one before.
    has_effort : bool array, shape (n,)
        Whether any filtered effort is not 0.
    """

    LARGEST = ('largest', 'kept_largest', 'has_effort')

    count: int
    noise_sum: FloatArray
    noise_squares: FloatArray
    cut: FloatArray
    largest: FloatArray
    kept_largest: FloatArray
    kept: int
    repeated: int
    has_effort: NDArray[np.bool_]


def find_motion_criteria(
    statistics: MotionStatistics, grid: Grid, largest: FloatArray | None = None
) -> MotionCriteria:
    """Return what counts as motion in a log, by the statistics of all of it.

    The largest velocities, shape (n,), are those of the joints in all logs, when there are others
    [rad/s or m/s].
    """
    rate, cutoff = grid.rate, grid.cutoff_frequency
    count = max(statistics.count, 1)
    mean = statistics.noise_sum / count
    deviation = np.sqrt(np.maximum(statistics.noise_squares / count - mean**2, 0.0))
    # Noise above the cut-off, taken as white, tells how much of it is below.
    white = deviation / math.sqrt(max(1.0 - 2.0 * cutoff / rate, 0.5))

    def compute_noise(limit: float) -> tuple[FloatArray, FloatArray]:
        return (
            white * 2.0 * math.pi * math.sqrt(2.0 * limit**3 / (3.0 * rate)),
            white * (2.0 * math.pi) ** 2 * math.sqrt(2.0 * limit**5 / (5.0 * rate)),
        )

    velocity_noise, acceleration_noise = compute_noise(cutoff)
    wide_noise, _ = compute_noise(
        min(FILTER.motion_band * cutoff, rate / FILTER.samples_per_period)
    )
    noise = FILTER.velocity_deviations * velocity_noise
    return MotionCriteria(
        moves=statistics.largest > np.maximum(2.0 * noise, FILTER.still_velocity),
        standing=np.maximum(
            noise, FILTER.standing_share * (statistics.largest if largest is None else largest)
        ),
        direction_width=np.maximum(FILTER.velocity_deviations * wide_noise, 1e-6),
        saturated=statistics.cut / count,
        acceleration_noise=acceleration_noise,
        repeated=statistics.repeated,
    )


@dataclass(frozen=True, eq=False)
class FilteredPiece:
    """A piece of a log, filtered.

    Attributes
    ----------
    times : array, shape (M,)
        Of the samples that are kept [s].
    tables : mapping of str to array, shape (M, n)
        As in :class:`~ne_dynamics.logs.segment.Signals`, and `near_cut`: where the
        effort is at its limit less than a period away. `measured_velocity` where there is one.
    segments : tuple of Segment
        Their directions are velocities yet.
    grid : Grid
    statistics : MotionStatistics
    """

    times: FloatArray
    tables: dict[str, Any]
    segments: tuple[Segment, ...]
    grid: Grid
    statistics: MotionStatistics

    @classmethod
    def empty(cls, n: int, grid: Grid) -> FilteredPiece:
        """Return a piece without samples, of n joints."""
        tables: dict[str, Any] = {name: np.zeros((0, n)) for name in TABLES}
        tables['near_cut'] = np.zeros((0, n), dtype=bool)
        zeros = np.zeros(n)
        statistics = MotionStatistics(
            0, zeros, zeros, zeros, zeros, zeros, 0, 0, np.zeros(n, dtype=bool)
        )
        return cls(np.zeros(0), tables, (), grid, statistics)

    @classmethod
    def join(cls, parts: list[FilteredPiece]) -> FilteredPiece:
        """Return one piece of several, at least one; with velocities where all have them."""
        with_samples = [part for part in parts if part.times.size] or parts[:1]
        names = [name for name in TABLES if all(name in part.tables for part in parts)]
        return cls(
            np.concatenate([part.times for part in with_samples]),
            {name: np.concatenate([part.tables[name] for part in with_samples]) for name in names},
            tuple(item for part in with_samples for item in part.segments),
            parts[0].grid,
            MotionStatistics.merge(part.statistics for part in parts),
        )

    def with_criteria(self, criteria: MotionCriteria) -> Signals:
        """Return the signals of the piece, by what was found in all of the log."""
        segments = tuple(
            replace(
                segment,
                direction=np.clip(segment.direction / criteria.direction_width, -1.0, 1.0)
                * criteria.moves,
            )
            for segment in self.segments
        )
        tables = {'measured_velocity': None, **self.tables}
        moving = np.abs(tables['velocity']) > criteria.standing
        usable = criteria.moves & moving & ~tables.pop('near_cut')
        direction = np.zeros_like(tables['velocity'])
        if segments:
            direction = np.concatenate(
                [segment.filtered(segment.direction) for segment in segments]
            )
        return Signals(
            **vars(criteria),
            **tables,
            times=self.times,
            direction=direction,
            usable=usable,
            rate=self.grid.rate,
            cutoff_frequency=self.grid.cutoff_frequency,
            segments=segments,
        )


def split_at_gaps(log: Log, step: float) -> list[NDArray[np.intp]]:
    """Return the samples of each part of a log without gaps, by the step of its times [s]."""
    breaks = np.flatnonzero(np.diff(log.times) > FAULTS.largest_gap * step) + 1
    return np.split(np.arange(log.times.size), breaks)


def filter_piece(
    part: Part, effort_limit: FloatArray, grid: Grid, measured: Log | None = None
) -> FilteredPiece:
    """Return the filtered samples of a part of a log.

    Effort limits, shape (n,), are infinite, or not greater than 0, where there is none [N m or N].
    `measured` is the log without repetitions, at the times of measurement, where that is known
    already.
    """
    given = part.log
    fresh = without_repeated(given) if measured is None else measured
    log = with_source_clock(fresh, given) if measured is None else measured
    limit = np.where(effort_limit > 0.0, effort_limit, np.inf)
    found = [FilteredPiece.empty(log.position.shape[1], grid)]
    found += [
        _filter_segment(part, whole, even, first, grid, limit)
        for whole, even, first in _generate_segments(log, grid)
    ]
    joined = FilteredPiece.join([item for item in found if item.statistics.count] or found[:1])
    repeated = int(part.find_own(given).sum() - part.find_own(fresh).sum())
    return replace(joined, statistics=replace(joined.statistics, repeated=repeated))


def filter_effort(log: Log, grid: Grid) -> FloatArray:
    """Return the efforts of a log alone, filtered as by :func:`filter_piece`, shape (M, n).

    It is without repetitions, at the times of measurement, with a piece that is long enough.
    """
    return np.concatenate(
        [
            low_pass(
                _interpolate(part.times, part.effort, even),
                grid.rate,
                grid.cutoff_frequency,
                INNER.start + grid.choose_kept(even.size - 2 * INNER.start, first),
            )
            for part, even, first in _generate_segments(log, grid)
        ]
    )


def _generate_segments(log: Log, grid: Grid) -> Iterator[tuple[Log, FloatArray, int]]:
    """Yield parts without gaps that are long enough, their even times, the first's number."""
    for chosen in split_at_gaps(log, grid.step):
        even, first = grid.compute_times(log.times[chosen])
        if even.size > 3 * grid.trim and chosen.size > 1:
            yield log.at(slice(chosen[0], chosen[-1] + 1)), even, first


def _interpolate(stamps: FloatArray, table: FloatArray, even: FloatArray) -> FloatArray:
    columns = [np.interp(even, stamps, column) for column in table.T]
    return np.ascontiguousarray(np.array(columns).T)


def resample(stamps: FloatArray, table: FloatArray, even: FloatArray) -> FloatArray:
    """Return a table at other times, by cubics with the slopes of its central differences."""
    index = np.clip(np.searchsorted(stamps, even, side='right') - 1, 0, stamps.size - 2)
    span = stamps[index + 1] - stamps[index]
    part = ((even - stamps[index]) / span)[:, np.newaxis]
    width = span[:, np.newaxis]
    slopes = np.gradient(table, stamps, axis=0)
    rest = 1.0 - part
    result: FloatArray = (
        rest**2 * (1.0 + 2.0 * part) * table[index]
        + part**2 * (1.0 + 2.0 * rest) * table[index + 1]
        + part * rest * width * (rest * slopes[index] - part * slopes[index + 1])
    )
    return result


def _filter_segment(
    part: Part, log: Log, even: FloatArray, first: int, grid: Grid, limit: FloatArray
) -> FilteredPiece:
    """Filter samples without gaps at the rate of their log, and keep those of a part of it.

    At even times [s], of which the first has a number on the grid; the limit is that of the
    efforts, shape (n,) [N m or N].
    """
    rate, cutoff = grid.rate, grid.cutoff_frequency
    raw = resample(log.times, log.position, even)
    position = low_pass(raw, rate, cutoff)
    velocity, acceleration = derivatives(position, rate)
    times, residual = even[INNER], (raw - position)[INNER]
    wide = low_pass(raw, rate, min(FILTER.motion_band * cutoff, rate / FILTER.samples_per_period))
    motion = (wide[INNER], *derivatives(wide, rate))
    full = _interpolate(log.times, log.effort, even)
    cut = np.abs(full)[INNER] >= FILTER.saturation * limit
    # The filter spreads a cut-off effort over a period to either side.
    near_cut = np.zeros(cut.shape, dtype=bool)
    if cut.any():
        reach = np.ones(2 * math.ceil(rate / cutoff) + 1)
        for joint, column in enumerate(cut.T.astype(float)):
            near_cut[:, joint] = np.convolve(column, reach, mode='same') > 0.5
    tables: dict[str, Any] = {
        'position': position[INNER],
        'velocity': velocity,
        'acceleration': acceleration,
        'effort': low_pass(full, rate, cutoff)[INNER],
        'near_cut': near_cut,
    }
    if log.velocity is not None and np.isfinite(log.velocity).all():
        measured = low_pass(_interpolate(log.times, log.velocity, even), rate, cutoff)
        tables['measured_velocity'] = measured[INNER]
    trim, (_, thin) = grid.trim, grid.thinning
    own = (times >= part.start) & (times < part.end)
    kept = grid.choose_kept(times.size, first)
    kept = kept[own[kept]]
    tables = {key: table[kept] for key, table in tables.items()}
    statistics = MotionStatistics(
        int(own.sum()),
        residual[own].sum(axis=0),
        (residual[own] ** 2).sum(axis=0),
        cut[own].sum(axis=0).astype(np.float64),
        np.abs(velocity[trim:-trim][own[trim:-trim]]).max(axis=0, initial=0.0),
        np.abs(tables['velocity']).max(axis=0, initial=0.0),
        kept.size,
        0,
        np.atleast_1d(tables['effort'].any(axis=0)),
    )
    offset = int(kept[0]) % thin if kept.size else 0
    place, speed, change = (np.ascontiguousarray(table[offset::thin]) for table in motion)
    segment = Segment(place, speed, change, speed, rate / thin, cutoff, (kept - offset) // thin)
    return FilteredPiece(times[kept], tables, (segment,), grid, statistics)
