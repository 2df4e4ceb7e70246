"""When states came: rate, jitter, gaps, bursts, repetitions, and the clock of their stamps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.driver.recording import DriverRecording
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class Timing:
    """When states came.

    Attributes
    ----------
    states : int
        As they came.
    duration : float
        From the first stamp to the last [s].
    period, rate : float
        Usual time between stamps [s], and how many come a second over all; NaN where too few do.
    jitter : float
        Standard deviation of the time between stamps, gaps apart [s].
    gaps : int
    longest_gap : float
        [s]; 0 where there is none.
    bursts : float
        Part of the states that came right after the one before.
    standing : int
        Stamps that did not advance.
    repeated : float
        Part of the states of the moving arm that repeat the one before.
    sensor_rate : float
        How often positions are new [Hz].
    latency, latency_jitter : float
        From stamp to reception, on the median, and its standard deviation [s]; NaN without
        receptions.
    drift : float
        Of the reception's clock against that of the stamps, as a part; NaN where it is not told.
    """

    states: int
    duration: float
    period: float = math.nan
    rate: float = math.nan
    jitter: float = math.nan
    gaps: int = 0
    longest_gap: float = 0.0
    bursts: float = 0.0
    standing: int = 0
    repeated: float = 0.0
    sensor_rate: float = math.nan
    latency: float = math.nan
    latency_jitter: float = math.nan
    drift: float = math.nan

    @property
    def has_other_clock(self) -> bool:
        """Whether stamps are of another clock than the receptions."""
        return math.isfinite(self.latency) and abs(self.latency) > STATES.clock_difference

    def lines(self) -> list[str]:
        """Return what is to be said, a line each."""
        if not math.isfinite(self.period):
            return [f'{self.states} states: too few to tell a rate; record 10 s or more']
        lines = [
            f'{self.states} states in {self.duration:.4g} s: {self.rate:.4g} Hz, '
            f'{1e3 * self.period:.4g} ms apart, jitter of the stamps {1e3 * self.jitter:.3g} ms'
        ]
        if self.gaps:
            lines.append(
                f'{self.gaps} gaps of more than {STATES.gap_periods:g} periods, the longest '
                f'{1e3 * self.longest_gap:.4g} ms'
            )
        if self.bursts > 0.0:
            lines.append(f'{self.bursts:.1%} of the states came in bursts')
        if self.standing:
            lines.append(f'{self.standing} stamps did not advance')
        if self.repeated > 0.0:
            lines.append(
                f'{self.repeated:.1%} of the states of the moving arm repeat the one before: '
                f'positions are new at about {self.sensor_rate:.4g} Hz'
            )
        if self.has_other_clock:
            lines.append(
                f'stamps are of another clock than the receptions, {self.latency:.6g} s apart'
            )
        elif math.isfinite(self.latency):
            lines.append(
                f'from stamp to reception {1e3 * self.latency:.3g} ms, jitter '
                f'{1e3 * self.latency_jitter:.3g} ms'
            )
        if math.isfinite(self.drift) and abs(self.drift) > 1e-4:
            lines.append(f'the clock of the receptions runs {1e6 * self.drift:.0f} ppm faster')
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the figures; what is no number is None."""
        return {
            key: finite_or_none(value) if isinstance(value, float) else value
            for key, value in vars(self).items()
        }


def describe_timing(recording: DriverRecording, repeated: int, moving: int) -> Timing:
    """Return when the states of a recording came.

    Parameters
    ----------
    recording : DriverRecording
    repeated, moving : int
        How many of its states repeat the one before while the arm moves, and in how many it does.
    """
    finite = np.isfinite(recording.stamps)
    stamps = recording.stamps[finite]
    timing = time_stamps(stamps, repeated / moving if moving else 0.0)
    if recording.received is None or not math.isfinite(timing.period):
        return timing
    return _with_reception(timing, stamps, recording.received[finite])


def time_stamps(stamps: FloatArray, repeated: float = 0.0, fewest: int = 3) -> Timing:
    """Return when states came, by their stamps alone.

    Parameters
    ----------
    stamps : array, shape (N,)
        Finite, in the order in which they came [s].
    repeated : float
        Part of the states of the moving arm that repeat the one before.
    fewest : int
        Times between states, at least, for a rate.
    """
    steps = np.diff(stamps)
    forward = steps[steps > 0.0]
    duration = float(np.ptp(stamps)) if stamps.size else 0.0
    standing = int((steps <= 0.0).sum())
    if forward.size < fewest:
        return Timing(stamps.size, duration, standing=standing)
    period = float(np.median(forward))
    is_gap = forward > STATES.gap_periods * period
    rate = forward.size / float(forward.sum())
    return Timing(
        states=stamps.size,
        duration=duration,
        period=period,
        rate=rate,
        jitter=float(forward[~is_gap].std()),
        gaps=int(is_gap.sum()),
        longest_gap=float(forward[is_gap].max(initial=0.0)),
        bursts=float((forward < STATES.burst_share * period).mean()),
        standing=standing,
        repeated=repeated,
        sensor_rate=rate * (1.0 - repeated),
    )


def _with_reception(timing: Timing, stamps: FloatArray, received: FloatArray) -> Timing:
    known = np.isfinite(received)
    late = received[known] - stamps[known]
    if late.size < 3:
        return timing
    latency = float(np.median(late))
    drift, jitter = math.nan, float(late.std())
    if timing.duration >= STATES.drift_time:
        since = stamps[known] - stamps[known].mean()
        # The quickest deliveries of each tenth say how the clocks run; slow ones say nothing.
        tenths = np.array_split(np.arange(late.size), 10)
        quickest = np.array([part[int(np.argmin(late[part]))] for part in tenths if part.size])
        if quickest.size >= 3:
            drift = float(np.polyfit(since[quickest], late[quickest], 1)[0])
            jitter = float((late - drift * since).std())
    return replace(timing, latency=latency, latency_jitter=jitter, drift=drift)
