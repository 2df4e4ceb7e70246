"""Position, velocity, acceleration and effort of a log, low-passed without delay.

Everything goes through one filter: the gain of a Butterworth filter of order
:data:`FILTER_ORDER` run forwards and backwards, applied to the spectrum, so that it has no phase.
Efforts lose what is above the cut-off just as the positions do, of which velocity and
acceleration are central differences; the step of Coulomb friction is filtered like the effort.
The result is thinned to about the rate that the cut-off leaves, so that the errors of successive
samples are nearly independent of one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.identification.log import Log
from ne_dynamics.model.rigid_body import FloatArray

DEFAULT_CUTOFF = 10.0
"""Cut-off frequency when none is given [Hz]; a fifth of the log's rate when that is lower."""

LOWEST_RATE = 4.0
"""Samples in a period of the cut-off frequency, at least."""

FILTER_ORDER = 4
MARGIN = 2.0
"""What is left out at either end, in periods of the cut-off frequency."""

SAMPLES_PER_PERIOD = 2.5
"""Rate that is kept, in samples a period of the cut-off frequency."""

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
        [Hz]: five to ten times the highest frequency of the motion. Default:
        :data:`DEFAULT_CUTOFF`, or a fifth of the log's rate where that is less.

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
    cutoff = min(DEFAULT_CUTOFF, 0.2 * rate) if cutoff_frequency is None else cutoff_frequency
    if not 0.0 < cutoff <= rate / LOWEST_RATE * (1.0 + 1e-6):
        raise InputError(
            f'cut-off frequency [Hz]: expected more than 0 and at most {rate / LOWEST_RATE:.4g}, '
            f'a quarter of the rate of the log {log.source}, got {cutoff:g}'
        )
    limit = np.where(effort_limit > 0.0, effort_limit, np.inf)
    breaks = np.flatnonzero(np.diff(log.times) > LARGEST_GAP * step) + 1
    pieces = []
    trim = math.ceil(MARGIN * rate / cutoff)
    for chosen in np.split(np.arange(log.times.size), breaks):
        stamps = log.times[chosen]
        even = np.arange(stamps[0], stamps[-1] + 1e-3 * step, step)
        if even.size > 3 * trim:
            pieces.append(_Piece(log, chosen, even, rate, cutoff, limit))
    if not pieces:
        raise InputError(
            f'log {log.source}: expected a piece without gaps of more than '
            f'{3 * trim * step:.3g} s, got {log.duration:.3g} s in {breaks.size + 1} piece(s)'
        )
    return _joined(pieces, rate, cutoff, trim)


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

        def resampled(table: FloatArray) -> FloatArray:
            columns = [np.interp(even, stamps, column) for column in table[chosen].T]
            return np.ascontiguousarray(np.array(columns).T)

        raw = resampled(log.position)
        position = low_pass(raw, rate, cutoff)
        self.velocity, self.acceleration = derivatives(position, rate)
        inner = slice(2, -2)
        self.times = even[inner]
        self.position = position[inner]
        self.effort = low_pass(resampled(log.effort), rate, cutoff)[inner]
        self.residual = (raw - position)[inner]
        self.measured: FloatArray | None = None
        if log.velocity is not None and np.isfinite(log.velocity[chosen]).all():
            self.measured = low_pass(resampled(log.velocity), rate, cutoff)[inner]
        cut = np.abs(resampled(log.effort))[inner] >= SATURATION * limit
        self.cut = cut
        # The filter spreads a cut-off effort over a period to either side.
        reach = np.ones(2 * math.ceil(rate / cutoff) + 1)
        self.near_cut = np.array(
            [np.convolve(column, reach, mode='same') > 0.5 for column in cut.T.astype(float)]
        ).T


def _joined(pieces: list[_Piece], rate: float, cutoff: float, trim: int) -> Signals:
    # Noise above the cut-off, taken as white, tells how much of it is below.
    residual = np.concatenate([piece.residual for piece in pieces])
    white = residual.std(axis=0) / math.sqrt(max(1.0 - 2.0 * cutoff / rate, 0.5))
    velocity_noise = white * 2.0 * math.pi * math.sqrt(2.0 * cutoff**3 / (3.0 * rate))
    acceleration_noise = white * (2.0 * math.pi) ** 2 * math.sqrt(2.0 * cutoff**5 / (5.0 * rate))
    inner = slice(trim, -trim)
    largest = np.abs(np.concatenate([piece.velocity[inner] for piece in pieces])).max(axis=0)
    noise = NOISE_FACTOR * velocity_noise
    moves = largest > np.maximum(2.0 * noise, STILL)
    standing = np.maximum(noise, CREEPING * largest)
    kept = slice(trim, -trim, max(1, math.floor(rate / (SAMPLES_PER_PERIOD * cutoff))))
    tables: dict[str, list[FloatArray]] = {}
    for piece in pieces:
        sign = np.clip(piece.velocity / np.maximum(noise, 1e-6), -1.0, 1.0) * moves
        table = {
            'position': piece.position,
            'velocity': piece.velocity,
            'acceleration': piece.acceleration,
            'effort': piece.effort,
            'direction': low_pass(sign, rate, cutoff),
            'usable': moves & (np.abs(piece.velocity) > standing) & ~piece.near_cut,
            'times': piece.times[:, np.newaxis],
            'cut': piece.cut,
        }
        for key, values in table.items():
            tables.setdefault(key, []).append(values[kept])
    joined = {key: np.concatenate(parts) for key, parts in tables.items()}
    measured = [piece.measured[kept] for piece in pieces if piece.measured is not None]
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
    )
