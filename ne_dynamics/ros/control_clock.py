"""The control clock: stamps of messages as seconds that a float holds exactly enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ne_dynamics.ros.messages.conversion import stamp_nanoseconds
from ne_dynamics.ros.thresholds import NODE


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
        """Return a stamp [ns] since the first one [s]; 0 is the node's time."""
        if nanoseconds == 0:
            nanoseconds = self._now()
        if self._epoch is None:
            self._epoch = nanoseconds
        return (nanoseconds - self._epoch) * 1e-9

    def reading_time(self, stamp: Any, state_time: float | None) -> float:
        """Return the time of a sensor's reading by its stamp [s].

        Where it has none that of the last state, `state_time`, if there is one.
        """
        nanoseconds = stamp_nanoseconds(stamp)
        if nanoseconds == 0 and state_time is not None:
            return state_time
        return self.seconds(nanoseconds)

    def now(self) -> float:
        """Return the node's time [s]."""
        return self.seconds(0)

    def restart_at(self, nanoseconds: int) -> float:
        """Forget the first stamp when this one is of another clock; return its time [s]."""
        now = self.seconds(nanoseconds)
        if abs(now) > NODE.longest_clock_step:
            self._epoch = None
            now = self.seconds(nanoseconds)
        return now
