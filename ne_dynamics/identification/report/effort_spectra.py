"""Spectra of a log's motion and efforts, and the noise of the efforts that the low-pass leaves.

The noise is not read off the spectrum: steps of friction reach up to the highest frequencies of a
log. They are few among the samples, though, and the median of third differences does not see them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.identification.fit import MEDIAN_TO_DEVIATION
from ne_dynamics.logs import Log
from ne_dynamics.logs.cutoff import choose_bands, compute_spectrum
from ne_dynamics.logs.filtered_piece import split_at_gaps
from ne_dynamics.logs.source_clock import as_measured
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class EffortSpectra:
    """What a log holds at which frequency: of its longest piece without a gap.

    Attributes
    ----------
    frequency : array, shape (B,)
        [Hz]
    velocity, effort : array, shape (B, n)
        Amplitude densities [rad/s or m/s, and N m or N, per square root of Hz].
    effort_noise : array, shape (n,)
        The same of the noise of the effort, taken as white; NaN where it is not known: of an
        effort that repeats itself from sample to sample, or a log without a spectrum.
    noise_floor : array, shape (n,)
        Standard deviation of that noise after the low-pass [N m or N]; NaN alike. A driver that
        has filtered the effort makes it too small.
    """

    frequency: FloatArray
    velocity: FloatArray
    effort: FloatArray
    effort_noise: FloatArray
    noise_floor: FloatArray


def compute_effort_spectra(log: Log, cutoff_frequency: float) -> EffortSpectra:
    """Return the spectra of a log, with the cut-off frequency of the low-pass [Hz].

    Without bands when no piece of the log is long enough.
    """
    n = len(log.joint_names)
    log = as_measured(log)
    step = float(np.median(np.diff(log.times)))
    piece = max(split_at_gaps(log, step), key=len)
    stamps = log.times[piece]
    even = np.arange(stamps[0], stamps[-1], step)
    if even.size < FILTER.spectrum_samples:
        empty = np.zeros((0, n))
        unknown = np.full(n, math.nan)
        return EffortSpectra(np.zeros(0), empty, empty, unknown, unknown)
    rate = 1.0 / step
    position, effort = (
        np.array([np.interp(even, stamps, column) for column in table[piece].T]).T
        for table in (log.position, log.effort)
    )
    # Of a one-sided density, whose integral over the frequencies is the mean square.
    unit = 2.0 * step / float((np.hanning(even.size) ** 2).sum())
    frequency, moved = compute_spectrum(position, rate)
    _, applied = compute_spectrum(effort, rate)
    white = _compute_white_noise(log.effort[piece])
    gain = 1.0 / (1.0 + (frequency / cutoff_frequency) ** (2 * FILTER.filter_order))
    passed = 2.0 * float(np.square(gain).sum()) / even.size
    turned = moved * np.square(2.0 * math.pi * frequency)[:, np.newaxis]
    band = choose_bands(frequency, 60)
    used = np.unique(band)
    density = [
        np.sqrt(unit * np.array([power[band == index].mean(axis=0) for index in used]))
        for power in (turned, applied)
    ]
    return EffortSpectra(
        np.array([frequency[band == index].mean() for index in used]),
        density[0],
        density[1],
        white * math.sqrt(2.0 * step),
        white * math.sqrt(passed),
    )


def _compute_white_noise(effort: FloatArray) -> FloatArray:
    """Return the standard deviation of the noise of each column, shape (n,); NaN for none."""
    order = 3
    size = math.sqrt(math.comb(2 * order, order))
    median = np.median(np.abs(np.diff(effort, order, axis=0)), axis=0)
    return np.where(median > 0.0, MEDIAN_TO_DEVIATION / size * median, math.nan)
