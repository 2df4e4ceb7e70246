"""How often states come."""

from __future__ import annotations

from math import inf

MEAN_SHARE = 0.02
"""How much of the mean period is that of the last state."""

LEAST_PERIODS = 10
"""Periods of which the mean says something."""


class StateRate:
    """A running mean of the time between states."""

    def __init__(self) -> None:
        self._mean, self._shortest, self._count = 0.0, inf, 0

    @property
    def period(self) -> float:
        """Mean time between the states of late [s]; 0 before three states have come.

        Of less than :data:`LEAST_PERIODS` it is the shortest.
        """
        if self._count < 2:
            return 0.0
        return self._mean if self._count >= LEAST_PERIODS else self._shortest

    def learn(self, elapsed: float) -> None:
        """Take note of the time between two states.

        Parameters
        ----------
        elapsed : float
            Positive [s].
        """
        self._count += 1
        share = max(1.0 / self._count, MEAN_SHARE)
        # One stamp ahead of its time says little of the rate.
        longest = elapsed if self._count == 1 else 2.0 * self._mean
        self._mean += share * (min(elapsed, longest) - self._mean)
        self._shortest = min(self._shortest, elapsed)
