"""Timers that go by real time until there is simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ClockTimer:
    """Timers of rclpy, stopped, one a clock, of which one is used.

    Attributes
    ----------
    active : rclpy.timer.Timer
        The one that is used, at first the first of them.
    """

    def __init__(self, timers: Sequence[Any]) -> None:
        self.timers = timers
        self.active = timers[0]

    def set_period(self, period: int) -> None:
        """Let another period count, of all clocks [ns]."""
        for timer in self.timers:
            timer.timer_period_ns = period

    def switch(self) -> None:
        """Stop, and go by the last of the clocks from now on."""
        self.active.cancel()
        self.active = self.timers[-1]

    def restart(self) -> None:
        """Wait anew where it waits: the clock was set back."""
        if not self.active.is_canceled():
            self.active.reset()
