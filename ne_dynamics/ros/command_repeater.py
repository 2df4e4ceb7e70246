"""Sends a command again while no new one comes, for as long as it stands and no longer.

Its authority is that of the state that it answers. The watch over the joint states begins anew
with each that is answered, and is stopped by a fault, by a last command and by deactivation: where
it does not run, or has run out, nothing is sent again, and what the fault's policy has left is
what stays. Nothing is done for a state: when it was answered is read from the watch.
"""

from __future__ import annotations

from collections.abc import Callable

from ne_dynamics.ros.clock_timer import ClockTimer
from ne_dynamics.ros.thresholds import NODE


class CommandRepeater:
    """Repeats by a timer.

    Parameters
    ----------
    repeat : callable
        Sends the last command again.
    timer : ClockTimer
        Calls :meth:`tick`.
    watch : ClockTimer
        Of the watch over the joint states.
    """

    def __init__(self, repeat: Callable[[], None], timer: ClockTimer, watch: ClockTimer) -> None:
        self._repeat = repeat
        self._timer = timer
        self._watch = watch
        self._period = 0

    def configure(self, rate: float) -> None:
        """Let another rate count from now on [1/s]; 0: nothing is sent again."""
        period = round(1e9 * min(1.0 / rate, NODE.longest_period)) if rate else 0
        if period == self._period:
            return
        self._period = period
        self._timer.active.cancel()
        if period:
            self._timer.set_period(period)
            self._timer.active.reset()

    def switch(self) -> None:
        """Go by the last of the clocks."""
        self._timer.switch()
        if self._period:
            self._timer.active.reset()

    def tick(self) -> None:
        """Send the last command again if it still stands, and is not fresh."""
        watch = self._watch.active
        if watch.is_canceled():
            return
        left = watch.time_until_next_call()
        if left is None or left <= 0:
            return
        if watch.timer_period_ns - left >= NODE.fresh_share * self._period:
            self._repeat()
