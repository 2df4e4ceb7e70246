"""Position, velocity, acceleration and effort of a log, low-passed without delay.

Everything goes through one filter: the gain of a Butterworth filter of order
:data:`FILTER_ORDER` run forwards and backwards, applied to the spectrum, so that it has no phase.
Velocity and acceleration are central differences of the positions. The result is thinned to about
the rate that the cut-off leaves, so that the errors of successive samples are nearly independent
of one another.

What a model says of the motion has to be filtered like the measured effort: steps of friction
lose their edges, products of velocities their upper half. For that a :class:`Stretch` holds the
motion at a higher rate, low-passed at :data:`MOTION_BAND` times the cut-off;
:meth:`Stretch.filtered` is what to do with any column of efforts that follows from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.identification.cutoff import HIGHEST, LARGEST_PART, choose_cutoff
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.stale_samples import without_repeated
from ne_dynamics.model.rigid_body import FloatArray

LOWEST_RATE = 4.0
"""Samples in a period of the cut-off frequency, at least."""

FILTER_ORDER = 4
WINDOW_MARGIN = 6.0
"""By how many periods of the cut-off frequency windows of a stretch overlap."""

MARGIN = 2.0
"""What is left out at either end, in periods of the cut-off frequency."""

SAMPLES_PER_PERIOD = 2.5
"""Rate that is kept, in samples a period of the cut-off frequency."""

MOTION_BAND = 2.0
"""Cut-off of the motion that a model is asked about, over that of the efforts."""

DENSE_SAMPLES_PER_PERIOD = 24.0
"""Rate at which a model is asked, in samples a period of the cut-off frequency, at least."""

SHORTEST_PIECE = 3.0 * MARGIN
"""Periods of the cut-off frequency that a piece without gaps has to be longer than."""

LEAST_PIECES = 2.0
"""Length of the longest piece over the shortest, at least, at the cut-off that is chosen."""

SHORTEST_SPECTRUM = 64
"""Samples below which no spectrum is looked at."""

LARGEST_GAP = 5.0
"""Steps of time up to this many median ones are bridged by interpolation."""

NOISE_FACTOR = 3.0
"""A velocity counts as motion when it is this many standard deviations off zero."""

CREEPING = 0.02
"""A velocity below this part of a joint's largest counts as standing: what sticks has no
Coulomb friction of known size."""

STILL = 1e-3
"""A joint that is never faster than this [rad/s or m/s] does not move."""

SATURATION = 0.995
"""Part of the effort limit from which an effort is taken to be cut off."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A piece of a log without gaps, at an even rate that shows the steps of friction.

    Attributes
    ----------
    position, velocity, acceleration : array, shape (D, n)
        [rad or m] and their time derivatives, low-passed at :data:`MOTION_BAND` times the cut-off
        frequency.
    direction : array, shape (D, n)
        Sign of the velocity, between -1 and 1 where noise hides it. 0 for a still joint.
    rate, cutoff_frequency : float
        [Hz]
    kept : int array, shape (K,)
        Samples of the stretch that are samples of the :class:`Signals`.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    direction: FloatArray
    rate: float
    cutoff_frequency: float
    kept: NDArray[np.intp]

    def filtered(self, values: FloatArray) -> FloatArray:
        """Return columns over the stretch, filtered like the efforts, where samples are kept.

        Parameters
        ----------
        values : array, shape (D, m)

        Returns
        -------
        array, shape (K, m)
        """
        return low_pass(values, self.rate, self.cutoff_frequency)[self.kept]

    def windows(self, longest: int) -> Iterator[tuple[Stretch, NDArray[np.intp]]]:
        """Yield stretches of about `longest` samples, each with which of the kept ones it holds.

        They overlap by what the filter sees, so that the filtered columns are those of the whole.
        """
        if self.position.shape[0] <= longest:
            yield self, np.arange(self.kept.size)
            return
        margin = math.ceil(WINDOW_MARGIN * self.rate / self.cutoff_frequency)
        for start in range(0, self.position.shape[0], longest):
            chosen = np.flatnonzero((self.kept >= start) & (self.kept < start + longest))
            if not chosen.size:
                continue
            first = max(start - margin, 0)
            part = slice(first, start + longest + margin)
            yield (
                replace(
                    self,
                    position=self.position[part],
                    velocity=self.velocity[part],
                    acceleration=self.acceleration[part],
                    direction=self.direction[part],
                    kept=self.kept[chosen] - first,
                ),
                chosen,
            )


@dataclass(frozen=True, eq=False)
class Signals:
    """Filtered samples of all joints; M samples that were far enough from gaps.

    Attributes
    ----------
    times : array, shape (M,)
        [s]
    position, velocity, acceleration : array, shape (M, n)
        [rad or m] and their time derivatives.
    effort : array, shape (M, n)
        [N m or N]
    direction : array, shape (M, n)
        Sign of the velocity, filtered: what multiplies Coulomb friction. 0 for a still joint.
    usable : bool array, shape (M, n)
        Where a joint moves and its effort is not cut off.
    measured_velocity : array, shape (M, n), or None
        The log's own velocity, filtered.
    moves : bool array, shape (n,)
    saturated : array, shape (n,)
        Part of the samples in which the effort is at its limit.
    acceleration_noise : array, shape (n,)
        Standard deviation that the noise of the positions leaves [rad/s^2 or m/s^2].
    rate : float
        Of the log [Hz].
    cutoff_frequency : float
        [Hz]
    stretches : tuple of Stretch
        The same motion at a higher rate; its kept samples, one after another, are the M samples.
    repeated : int
        Samples that were left out because they repeat the one before.
    """

    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    direction: FloatArray
    usable: NDArray[np.bool_]
    measured_velocity: FloatArray | None
    moves: NDArray[np.bool_]
    saturated: FloatArray
    acceleration_noise: FloatArray
    rate: float
    cutoff_frequency: float
    stretches: tuple[Stretch, ...]
    repeated: int


def low_pass(values: FloatArray, rate: float, cutoff_frequency: float) -> FloatArray:
    """Return the columns of an evenly sampled table without what is above the cut-off.

    Gain ``1 / (1 + (f / cutoff)^(2 order))``, no phase. At its ends the table is continued by
    point reflection.

    Parameters
    ----------
    values : array, shape (N, m)
    rate, cutoff_frequency : float
        [Hz]

    Returns
    -------
    array, shape (N, m)
    """
    samples = values.shape[0]
    margin = min(samples - 1, math.ceil(4.0 * rate / cutoff_frequency))
    if margin < 1:
        return values.copy()
    before = 2.0 * values[0] - values[margin:0:-1]
    after = 2.0 * values[-1] - values[-2 : -margin - 2 : -1]
    extended = np.concatenate([before, values, after])
    # Without its trend the periodic continuation has no step.
    ramp = np.linspace(0.0, 1.0, extended.shape[0])[:, np.newaxis]
    trend = extended[0] + ramp * (extended[-1] - extended[0])
    length = 1 << (extended.shape[0] - 1).bit_length()
    padded = np.zeros((length, values.shape[1]))
    padded[: extended.shape[0]] = extended - trend
    frequency = np.fft.rfftfreq(length, 1.0 / rate)
    gain = 1.0 / (1.0 + (frequency / cutoff_frequency) ** (2 * FILTER_ORDER))
    smooth = np.fft.irfft(gain[:, np.newaxis] * np.fft.rfft(padded, axis=0), length, axis=0)
    result: FloatArray = (smooth[: extended.shape[0]] + trend)[margin : margin + samples]
    return result


def derivatives(values: FloatArray, rate: float) -> tuple[FloatArray, FloatArray]:
    """Return first and second central differences over five points, shape (N - 4, m) each."""
    outer_before, before, here, after, outer_after = (
        values[index : values.shape[0] - 4 + index] for index in range(5)
    )
    first = rate / 12.0 * (outer_before - 8.0 * before + 8.0 * after - outer_after)
    second = (
        rate**2 / 12.0 * (-outer_before + 16.0 * before - 30.0 * here + 16.0 * after - outer_after)
    )
    return first, second


def filtered(log: Log, effort_limit: FloatArray, cutoff_frequency: float | None = None) -> Signals:
    """Return what a log says, filtered.

    Parameters
    ----------
    log : Log
    effort_limit : array, shape (n,)
        [N m or N]; infinite, or not greater than 0, where there is none.
    cutoff_frequency : float, optional
        [Hz]: about five times the highest frequency of the motion. Default: by the spectra of
        positions and efforts, :func:`~ne_dynamics.identification.cutoff.choose_cutoff`.

    Returns
    -------
    Signals

    Raises
    ------
    InputError
        When the cut-off is not above 0 or too high for the log's rate, or the log has no piece
        without a gap that is long enough for it.
    """
    step = float(np.median(np.diff(log.times)))
    rate = 1.0 / step
    given, log = log, without_repeated(log)
    breaks = np.flatnonzero(np.diff(log.times) > LARGEST_GAP * step) + 1
    grids = []
    for chosen in np.split(np.arange(log.times.size), breaks):
        stamps = log.times[chosen]
        grids.append((chosen, np.arange(stamps[0], stamps[-1] + 1e-3 * step, step)))
    if cutoff_frequency is None:
        cutoff = _choose_cutoff(log, *max(grids, key=lambda grid: grid[1].size), rate)
    else:
        cutoff = cutoff_frequency
    if not 0.0 < cutoff <= rate / LOWEST_RATE * (1.0 + 1e-6):
        raise InputError(
            f'cut-off frequency [Hz]: expected more than 0 and at most {rate / LOWEST_RATE:.4g}, '
            f'a quarter of the rate of the log {log.source}, got {cutoff:g}'
        )
    limit = np.where(effort_limit > 0.0, effort_limit, np.inf)
    trim = math.ceil(MARGIN * rate / cutoff)
    pieces = [
        _Piece(log, chosen, even, rate, cutoff, limit)
        for chosen, even in grids
        if even.size > 3 * trim
    ]
    if not pieces:
        raise InputError(
            f'log {log.source}: expected a piece without gaps of more than '
            f'{3 * trim * step:.3g} s, got {log.duration:.3g} s in {breaks.size + 1} piece(s)'
        )
    return _join(pieces, rate, cutoff, trim, given.times.size - log.times.size)


def _choose_cutoff(log: Log, chosen: NDArray[np.intp], even: FloatArray, rate: float) -> float:
    """Return the cut-off of the longest piece, and no less than what it is long enough for."""
    position, effort = (
        _resample(log.times[chosen], table[chosen], even) for table in (log.position, log.effort)
    )
    if even.size < SHORTEST_SPECTRUM:
        return min(HIGHEST, LARGEST_PART * rate)
    shortest = LEAST_PIECES * SHORTEST_PIECE * rate / even.size
    return min(max(choose_cutoff(position, effort, rate), shortest), LARGEST_PART * rate)


def _resample(stamps: FloatArray, table: FloatArray, even: FloatArray) -> FloatArray:
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


class _Piece:
    """One stretch of a log without gaps, filtered at the log's rate."""

    def __init__(
        self,
        log: Log,
        chosen: NDArray[np.intp],
        even: FloatArray,
        rate: float,
        cutoff: float,
        limit: FloatArray,
    ) -> None:
        stamps = log.times[chosen]

        def resample_linearly(table: FloatArray) -> FloatArray:
            columns = [np.interp(even, stamps, column) for column in table[chosen].T]
            return np.ascontiguousarray(np.array(columns).T)

        raw = _resample(stamps, log.position[chosen], even)
        position = low_pass(raw, rate, cutoff)
        self.velocity, self.acceleration = derivatives(position, rate)
        inner = slice(2, -2)
        self.times = even[inner]
        self.position = position[inner]
        wide = low_pass(raw, rate, min(MOTION_BAND * cutoff, rate / LOWEST_RATE))
        self.motion = (wide[inner], *derivatives(wide, rate))
        self.effort = low_pass(resample_linearly(log.effort), rate, cutoff)[inner]
        self.residual = (raw - position)[inner]
        self.measured: FloatArray | None = None
        if log.velocity is not None and np.isfinite(log.velocity[chosen]).all():
            self.measured = low_pass(resample_linearly(log.velocity), rate, cutoff)[inner]
        cut = np.abs(resample_linearly(log.effort))[inner] >= SATURATION * limit
        self.cut = cut
        # The filter spreads a cut-off effort over a period to either side.
        reach = np.ones(2 * math.ceil(rate / cutoff) + 1)
        self.near_cut = np.array(
            [np.convolve(column, reach, mode='same') > 0.5 for column in cut.T.astype(float)]
        ).T


def _join(pieces: list[_Piece], rate: float, cutoff: float, trim: int, repeated: int) -> Signals:
    # Noise above the cut-off, taken as white, tells how much of it is below.
    residual = np.concatenate([piece.residual for piece in pieces])
    white = residual.std(axis=0) / math.sqrt(max(1.0 - 2.0 * cutoff / rate, 0.5))

    def compute_noise(limit: float) -> tuple[FloatArray, FloatArray]:
        return (
            white * 2.0 * math.pi * math.sqrt(2.0 * limit**3 / (3.0 * rate)),
            white * (2.0 * math.pi) ** 2 * math.sqrt(2.0 * limit**5 / (5.0 * rate)),
        )

    velocity_noise, acceleration_noise = compute_noise(cutoff)
    wide_noise, _ = compute_noise(min(MOTION_BAND * cutoff, rate / LOWEST_RATE))
    inner = slice(trim, -trim)
    largest = np.abs(np.concatenate([piece.velocity[inner] for piece in pieces])).max(axis=0)
    noise = NOISE_FACTOR * velocity_noise
    moves = largest > np.maximum(2.0 * noise, STILL)
    standing = np.maximum(noise, CREEPING * largest)
    step = max(1, math.floor(rate / (SAMPLES_PER_PERIOD * cutoff)))
    thin = max(1, math.floor(rate / (DENSE_SAMPLES_PER_PERIOD * cutoff)))
    thin = max(part for part in range(1, thin + 1) if step % part == 0)
    tables: dict[str, list[FloatArray]] = {}
    stretches = []
    for piece in pieces:
        sign = np.clip(piece.motion[1] / np.maximum(NOISE_FACTOR * wide_noise, 1e-6), -1.0, 1.0)
        sign = sign * moves
        kept = np.arange(piece.times.size)[trim:-trim:step]
        offset = int(kept[0]) % thin
        position, velocity, acceleration = (part[offset::thin] for part in piece.motion)
        stretch = Stretch(
            position,
            velocity,
            acceleration,
            sign[offset::thin],
            rate / thin,
            cutoff,
            (kept - offset) // thin,
        )
        stretches.append(stretch)
        table = {
            'position': piece.position[kept],
            'velocity': piece.velocity[kept],
            'acceleration': piece.acceleration[kept],
            'effort': piece.effort[kept],
            'direction': stretch.filtered(stretch.direction),
            'usable': (moves & (np.abs(piece.velocity) > standing) & ~piece.near_cut)[kept],
            'times': piece.times[kept, np.newaxis],
        }
        for key, values in table.items():
            tables.setdefault(key, []).append(values)
    joined = {key: np.concatenate(parts) for key, parts in tables.items()}
    measured = [piece.measured[trim:-trim:step] for piece in pieces if piece.measured is not None]
    return Signals(
        times=joined['times'][:, 0],
        position=joined['position'],
        velocity=joined['velocity'],
        acceleration=joined['acceleration'],
        effort=joined['effort'],
        direction=joined['direction'],
        usable=joined['usable'].astype(bool),
        measured_velocity=np.concatenate(measured) if len(measured) == len(pieces) else None,
        moves=moves,
        saturated=np.concatenate([piece.cut for piece in pieces]).mean(axis=0),
        acceleration_noise=acceleration_noise,
        rate=rate,
        cutoff_frequency=cutoff,
        stretches=tuple(stretches),
        repeated=repeated,
    )
