"""How often states come."""

from __future__ import annotations

from math import inf
from statistics import median

from ne_dynamics.control.sensors.thresholds import SENSORS


class StateRate:
    """A running mean of the time between states."""

    def __init__(self) -> None:
        self._mean, self._shortest, self._count = 0.0, inf, 0
        self._first: list[float] = []

    @property
    def period(self) -> float:
        """Mean time between the states of late [s]; 0 before three states have come.

        Of less than `least_periods` it is the shortest.
        """
        if self._count < 2:
            return 0.0
        return self._mean if self._count >= SENSORS.least_periods else self._shortest

    @property
    def is_known(self) -> bool:
        """Whether the mean is one of `least_periods` or more."""
        return self._count >= SENSORS.least_periods

    def learn(self, elapsed: float) -> None:
        """Take note of the time between two states."""
        self._count += 1
        if self._count <= SENSORS.least_periods:
            # States that were lost at the start say little of the rate.
            self._first.append(elapsed)
            self._mean, self._shortest = median(self._first), min(self._shortest, elapsed)
            return
        share = max(1.0 / self._count, SENSORS.period_share)
        # One stamp ahead of its time says little of the rate.
        self._mean += share * (min(elapsed, 2.0 * self._mean) - self._mean)
