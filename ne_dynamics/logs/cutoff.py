"""The cut-off frequency of a log, from the spectra of its positions and efforts.

The motion ends at the highest frequency at which the spectrum of a velocity is not small beside
its largest. Several times that frequency is kept, because efforts hold
products of velocities and the steps of Coulomb friction; but nothing is kept beyond the frequency
from which on the effort of no joint stands out of its own noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray


def choose_cutoff(position: FloatArray, effort: FloatArray, rate: float) -> float:
    """Return the cut-off frequency for evenly sampled positions and efforts [Hz].

    These have the shape (N, n) [rad or m, N m or N]. At most `highest_cutoff` and `cutoff_by_rate`
    of the rate [Hz], which it is where no joint moves.
    """
    largest = min(FILTER.highest_cutoff, FILTER.cutoff_by_rate * rate)
    frequency, motion = compute_spectrum(position, rate)
    highest = max((_find_end(frequency, power) for power in motion.T), default=0.0)
    if highest <= 0.0:
        return largest
    _, applied = compute_spectrum(effort, rate)
    audible = max(_find_silence(frequency, power) for power in applied.T)
    least, most = (multiple * highest for multiple in FILTER.cutoff_multiples)
    return min(max(min(most, audible), least), largest)


def compute_spectrum(values: FloatArray, rate: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies [Hz] without 0, and the power at each, by a Hann window.

    Of values of shape (N, n), evenly sampled at a rate [Hz]; shapes (N // 2,) and (N // 2, n). The
    power is the squared magnitude of the windowed transform.
    """
    samples = values.shape[0]
    level = values - values.mean(axis=0)
    power = np.abs(np.fft.rfft(level * np.hanning(samples)[:, np.newaxis], axis=0)) ** 2
    frequency = np.asarray(np.fft.rfftfreq(samples, 1.0 / rate)[1:], dtype=np.float64)
    return frequency, np.asarray(power[1:], dtype=np.float64)


def _compute_noise(frequency: FloatArray, power: FloatArray) -> float:
    """Return the power of the noise, which is taken as white."""
    high = power[frequency >= FILTER.noise_band * frequency[-1]]
    # Of a chi-squared distribution with two degrees of freedom the median is log 2 of the mean.
    return float(np.median(high)) / math.log(2.0)


def _find_end(frequency: FloatArray, power: FloatArray) -> float:
    """Return the highest frequency of a motion [Hz]; 0 where there is none."""
    noise = _compute_noise(frequency, power)
    found, largest = 0.0, 0.0
    bands = list(_bands(frequency, power))
    for middle, _, density in bands:
        if density > FILTER.signal_to_noise**2 * noise:
            largest = max(largest, density * middle**2)
    for middle, end, density in bands:
        if (
            density > FILTER.signal_to_noise * noise
            and density * middle**2 > FILTER.motion_density * largest > 0.0
        ):
            found = end
    return found


def _bands(frequency: FloatArray, power: FloatArray) -> Iterator[tuple[float, float, float]]:
    """Yield middle and upper end [Hz] and mean power of bands of equal ratio that hold lines."""
    band = choose_bands(frequency, FILTER.spectrum_bands)
    for index in np.unique(band):
        lines = frequency[band == index]
        yield float(lines.mean()), float(lines[-1]), float(power[band == index].mean())


def choose_bands(frequency: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the band that each frequency belongs to, of bands that grow by one factor."""
    edges = np.geomspace(frequency[0], frequency[-1] * (1.0 + 1e-9), count + 1)
    return np.clip(np.searchsorted(edges, frequency, side='right') - 1, 0, count - 1)


def _find_silence(frequency: FloatArray, power: FloatArray) -> float:
    """Return the frequency from which on an effort does not stand out of its noise [Hz]."""
    noise = _compute_noise(frequency, power)
    found = 0.0
    for _, end, density in _bands(frequency, power):
        if density < FILTER.signal_to_noise * noise:
            break
        found = end
    return found
