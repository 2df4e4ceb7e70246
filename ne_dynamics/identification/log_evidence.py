"""How well each reading of a log goes together with the equations of motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.effort_fit import (
    EffortFit,
    Explained,
    Motion,
    count_independent,
)
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.identification.log import Log
from ne_dynamics.identification.log_reading import LogReading
from ne_dynamics.identification.signals import filtered
from ne_dynamics.model.rigid_body import FloatArray

SAMPLES = 600
"""Filtered samples that are looked at, at most: about."""

CUTOFF_FACTOR = 4.0
CUTOFF_RANGE = (2.0, 10.0)
"""Cut-off frequency: this many times the highest frequency of the motion, within these [Hz]."""

MOTION_POWER = 0.98
"""Part of the power of the velocities that is below the highest frequency of the motion."""

SAMPLES_PER_CUTOFF = 5.0
"""Rate of a log at least, in samples a period of the cut-off frequency."""

DELAYS = np.arange(-40, 101, 5) * 1e-3
"""For which efforts are filtered [s]; between them they are interpolated."""

VELOCITY_COUNT = 10.0
"""Weight of a velocity that the log holds, in independent values."""

SMALLEST_MISMATCH = 0.05
"""Part of a velocity by which it may differ from the derivative of the position."""


class LogEvidence:
    """The filtered log, and what each reading of it costs.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        [Hz]; default: from the spectrum of the velocities.

    Raises
    ------
    InputError
        When the log cannot be filtered.
    """

    def __init__(
        self, dynamics: Dynamics, log: Log, cutoff_frequency: float | None = None
    ) -> None:
        self._dynamics = dynamics
        limits = dynamics.robot.limits('effort_limit')
        cutoff = _choose_cutoff(log) if cutoff_frequency is None else cutoff_frequency
        signals = filtered(log, np.full_like(limits, np.inf), cutoff)
        chosen = slice(None, None, max(1, signals.times.size // SAMPLES))
        self._motion = Motion(
            signals.position[chosen],
            signals.velocity[chosen],
            signals.acceleration[chosen],
            signals.direction[chosen],
        )
        self._effort = signals.effort[chosen]
        self._used = signals.usable[chosen]
        self._counts = count_independent(self._effort)
        measured = signals.measured_velocity
        self._velocity = None if measured is None else measured[chosen]
        self.moves = signals.moves
        self._late = np.array(
            [
                filtered(
                    _with_late_effort(log, delay), np.full_like(limits, np.inf), cutoff
                ).effort[chosen]
                for delay in DELAYS
            ]
        )
        self._fits: dict[bytes, EffortFit] = {}

    @property
    def is_telling(self) -> bool:
        """False when no joint moves, or no effort was measured."""
        return bool(self._used.any() and self._effort.any())

    def explain(self, reading: LogReading) -> Explained:
        """Fit the log in a reading."""
        explained = self._fit(reading).explain(self.get_effort(reading))
        return replace(explained, cost=explained.cost + self._velocity_cost(reading))

    def get_effort(self, reading: LogReading) -> FloatArray:
        """Return the filtered efforts in a reading, shape (M, n) [N m or N]."""
        columns = [
            self._late_effort(int(source), float(delay))
            for source, delay in zip(reading.effort_source, reading.effort_delay, strict=True)
        ]
        return np.stack(columns, axis=1) * reading.effort_factor

    def get_given_effort(self, reading: LogReading) -> FloatArray:
        """Return the given model's effort without friction, shape (M, n) [N m or N]."""
        return self._fit(reading).given_effort

    def get_load_columns(self, reading: LogReading) -> FloatArray:
        """Return what a load at the ends of the arm adds, shape (M, n, columns) [N m or N].

        Each column by the spread of its parameter.
        """
        return self._fit(reading).load_columns

    def get_rates(self, reading: LogReading) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return velocity, acceleration and direction in a reading, shape (M, n) each."""
        motion = self._motion
        return (
            reading.read_rates(motion.velocity),
            reading.read_rates(motion.acceleration),
            _signs(reading.read_rates(motion.direction), reading),
        )

    def count(self, reading: LogReading) -> FloatArray:
        """Return how many independent values each effort holds, shape (n,)."""
        return self._counts[reading.effort_source]

    def _fit(self, reading: LogReading) -> EffortFit:
        key = b''.join(
            part.tobytes()
            for part in (
                reading.position_source,
                reading.position_factor,
                reading.position_offset,
                reading.effort_source,
            )
        )
        if key not in self._fits:
            velocity, acceleration, direction = self.get_rates(reading)
            self._fits[key] = EffortFit(
                self._dynamics,
                Motion(
                    reading.read_positions(self._motion.position),
                    velocity,
                    acceleration,
                    direction,
                ),
                self._used[:, reading.position_source],
                self.count(reading),
            )
        return self._fits[key]

    def _late_effort(self, source: int, delay: float) -> FloatArray:
        if delay == 0.0:
            return self._effort[:, source]
        place = float(
            np.clip(np.interp(delay, DELAYS, np.arange(DELAYS.size)), 0, DELAYS.size - 1)
        )
        before = min(int(place), DELAYS.size - 2)
        part = place - before
        table = self._late[:, :, source]
        result: FloatArray = (1.0 - part) * table[before] + part * table[before + 1]
        return result

    def _velocity_cost(self, reading: LogReading) -> float:
        """Return what the log's own velocities say against the positions of a reading.

        A velocity may have been changed with its position, or not.
        """
        if self._velocity is None:
            return 0.0
        derived = reading.read_rates(self._motion.velocity)
        size = np.maximum(rms(derived), 1e-9)
        mismatch = np.minimum(
            rms(self._velocity - derived), rms(reading.read_rates(self._velocity) - derived)
        )
        parts = np.clip(mismatch / size, SMALLEST_MISMATCH, 2.0)
        return VELOCITY_COUNT * float(np.log(parts[self.moves]).sum())


def _signs(direction: FloatArray, reading: LogReading) -> FloatArray:
    """Return directions without the factor of a unit, which has no place in a sign."""
    return direction / np.abs(reading.position_factor)


def _with_late_effort(log: Log, delay: float) -> Log:
    columns = [np.interp(log.times + delay, log.times, column) for column in log.effort.T]
    return replace(log, effort=np.array(columns).T)


def _choose_cutoff(log: Log) -> float:
    """Return the cut-off frequency that suits the motion [Hz]."""
    step = float(np.median(np.diff(log.times)))
    even = np.arange(log.times[0], log.times[-1], step)
    powers = np.zeros(even.size // 2 + 1)
    for column in log.position.T:
        values = np.interp(even, log.times, column)
        # What goes on at the end where it began has no step in its periodic continuation.
        values = values - np.linspace(values[0], values[-1], values.size)
        power = (np.arange(powers.size) * np.abs(np.fft.rfft(values))[: powers.size]) ** 2
        total = float(power.sum())
        if total > 0.0:
            powers += power / total
    reached = np.cumsum(powers)
    highest = float(np.searchsorted(reached, MOTION_POWER * reached[-1])) / (step * even.size)
    low, high = CUTOFF_RANGE
    return min(
        float(np.clip(CUTOFF_FACTOR * highest, low, high)), 1.0 / (SAMPLES_PER_CUTOFF * step)
    )
