"""The control clock: stamps of messages as seconds that a float holds exactly enough."""

from __future__ import annotations

from collections.abc import Callable

LONGEST_RUN = 1e7
"""Seconds between two stamps beyond which they are of different clocks."""


class ControlClock:
    """Counts from the first stamp that it is shown.

    Parameters
    ----------
    now : callable
        Returns the node's time [ns], for what carries no stamp.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._epoch: int | None = None

    def seconds(self, nanoseconds: int) -> float:
        """Return a stamp [s] since the first one.

        Parameters
        ----------
        nanoseconds : int
            0 is the node's time.
        """
        if nanoseconds == 0:
            nanoseconds = self._now()
        if self._epoch is None:
            self._epoch = nanoseconds
        return (nanoseconds - self._epoch) * 1e-9

    def now(self) -> float:
        """Return the node's time [s]."""
        return self.seconds(0)

    def restart_at(self, nanoseconds: int) -> float:
        """Forget the first stamp when this one is of another clock; return its time [s]."""
        now = self.seconds(nanoseconds)
        if abs(now) > LONGEST_RUN:
            self._epoch = None
            now = self.seconds(nanoseconds)
        return now
