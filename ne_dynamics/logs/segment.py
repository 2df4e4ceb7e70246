"""Position, velocity, acceleration and effort of a log, low-passed without delay.

Everything goes through one filter: the gain of a Butterworth filter run forwards and backwards,
applied to the spectrum, so that it has no phase.
Velocity and acceleration are central differences of the positions. The result is thinned to about
the rate that the cut-off leaves, so that the errors of successive samples are nearly independent
of one another.

What a model says of the motion has to be filtered like the measured effort: steps of friction
lose their edges, products of velocities their upper half. For that a :class:`Segment` holds the
motion at a higher rate, low-passed at `motion_band` times the cut-off; :meth:`Segment.filtered`
is what to do with any column of efforts that follows from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class Segment:
    """A piece of a log without gaps, at an even rate that shows the steps of friction.

    Attributes
    ----------
    position, velocity, acceleration : array, shape (D, n)
        [rad or m] and their time derivatives, low-passed at `motion_band` times the cut-off
        frequency.
    direction : array, shape (D, n)
        Sign of the velocity, between -1 and 1 where noise hides it. 0 for a still joint.
    rate, cutoff_frequency : float
        [Hz]
    kept : int array, shape (K,)
        Samples of the segment that are samples of the :class:`Signals`.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    direction: FloatArray
    rate: float
    cutoff_frequency: float
    kept: NDArray[np.intp]

    def filtered(self, values: FloatArray) -> FloatArray:
        """Return columns over the segment, shape (D, m), filtered like the efforts.

        Where samples are kept, shape (K, m).
        """
        return low_pass(values, self.rate, self.cutoff_frequency, self.kept)

    def windows(self, longest: int) -> Iterator[tuple[Segment, NDArray[np.intp], slice]]:
        """Yield segments of about `longest` samples, what they keep, and their part of the whole.

        They overlap by what the filter sees, so that the filtered columns are those of the whole.
        """
        if self.position.shape[0] <= longest:
            yield self, np.arange(self.kept.size), slice(None)
            return
        margin = math.ceil(FILTER.window_margin * self.rate / self.cutoff_frequency)
        longest = _fit_window(longest, margin + _find_margin(self.rate, self.cutoff_frequency))
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
                part,
            )


@dataclass(frozen=True, eq=False)
class MotionCriteria:
    """What counts as motion in a log.

    Attributes
    ----------
    moves : bool array, shape (n,)
        Joints that move.
    standing : array, shape (n,)
        Velocity up to which a joint may stand [rad/s or m/s].
    direction_width : array, shape (n,)
        Velocity from which the direction is known [rad/s or m/s].
    saturated : array, shape (n,)
        Part of the samples in which the effort is at its limit.
    acceleration_noise : array, shape (n,)
        Standard deviation of the noise that remains in accelerations [rad/s^2 or m/s^2].
    repeated : int
        Samples left out because they repeat the sample before.
    """

    moves: NDArray[np.bool_]
    standing: FloatArray
    direction_width: FloatArray
    saturated: FloatArray
    acceleration_noise: FloatArray
    repeated: int


@dataclass(frozen=True, eq=False)
class Signals(MotionCriteria):
    """Filtered samples of all joints, the M that are far enough from gaps, and what moves in them.

    Attributes
    ----------
    times : array, shape (M,)
        [s]
    position, velocity, acceleration : array, shape (M, n)
        [rad or m] and their time derivatives.
    effort : array, shape (M, n)
        [N m or N]
    direction : array, shape (M, n)
        Filtered sign of the velocity, the factor of Coulomb friction; 0 for a joint at rest.
    usable : bool array, shape (M, n)
        Samples in which the joint moves and its effort is not saturated.
    measured_velocity : array, shape (M, n), or None
        The log's velocity, filtered [rad/s or m/s].
    rate : float
        Sampling rate of the log [Hz].
    cutoff_frequency : float
        [Hz]
    segments : tuple of Segment
        The same motion at a higher rate, by segments without gaps; the samples they keep, one
        after another, are the M samples.
    """

    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    direction: FloatArray
    usable: NDArray[np.bool_]
    measured_velocity: FloatArray | None
    rate: float
    cutoff_frequency: float
    segments: tuple[Segment, ...]


def low_pass(
    values: FloatArray,
    rate: float,
    cutoff_frequency: float,
    kept: NDArray[np.intp] | None = None,
) -> FloatArray:
    """Return the columns of an evenly sampled table without what is above the cut-off.

    Gain ``1 / (1 + (f / cutoff)^(2 order))``, no phase. At its ends the table, shape (N, m), is
    continued by point reflection. Rate and cut-off are in [Hz]. Only rows that are kept, shape
    (K,), are returned; default: all.
    """
    samples, columns = values.shape
    margin = min(samples - 1, _find_margin(rate, cutoff_frequency))
    if margin < 1:
        return values.copy() if kept is None else values[kept]
    end = margin + samples
    total = end + margin
    length = 1 << (total - 1).bit_length()
    # A transform is fastest where its numbers are side by side.
    padded = np.zeros((columns, length))
    padded[:, margin:end] = values.T
    before, inside, after = padded[:, :margin], padded[:, margin:end], padded[:, end:total]
    np.subtract(2.0 * inside[:, :1], inside[:, margin:0:-1], out=before)
    np.subtract(2.0 * inside[:, -1:], inside[:, -2 : -margin - 2 : -1], out=after)
    # Without its trend the periodic continuation has no step.
    first, last = padded[:, :1].copy(), padded[:, total - 1 : total].copy()
    trend = first + np.linspace(0.0, 1.0, total) * (last - first)
    padded[:, :total] -= trend
    frequency = np.fft.rfftfreq(length, 1.0 / rate)
    gain = 1.0 / (1.0 + (frequency / cutoff_frequency) ** (2 * FILTER.filter_order))
    spectrum = np.fft.rfft(padded)
    spectrum *= gain
    smooth = np.fft.irfft(spectrum, length)
    chosen = slice(margin, end) if kept is None else margin + kept
    return np.ascontiguousarray((smooth[:, chosen] + trend[:, chosen]).T)


def _find_margin(rate: float, cutoff_frequency: float) -> int:
    """Return by how many samples a table is continued at either end."""
    return math.ceil(4.0 * rate / cutoff_frequency)


def _fit_window(longest: int, margin: int) -> int:
    """Return a length that fills the transform that the filter takes for `longest` or less."""
    length = 1 << (longest.bit_length() - 1)
    while length - 2 * margin < longest // 2:
        length *= 2
    return min(longest, length - 2 * margin)


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
