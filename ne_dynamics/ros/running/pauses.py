"""Pauses in work that is done beside the control path, so that it answers on."""

from __future__ import annotations

import threading
import time

LONGEST_PIECE = 2e-4
"""Work goes on for so long before the next pause [s]."""


class Released(Exception):
    """The work is no longer wanted."""


class Pauses:
    """Called between pieces of work: sleeps as long as the last pieces took.

    A sleep, and not just a yield: a thread that waits for the interpreter needs some tens of
    microseconds to wake up, and would find it taken again.

    Parameters
    ----------
    stopping : threading.Event
        Ends the work.
    """

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._resumed = time.perf_counter()

    def __call__(self) -> None:
        """Sleep when it is time to; raise Released when the work is no longer wanted."""
        worked = time.perf_counter() - self._resumed
        if worked < LONGEST_PIECE:
            return
        if self._stopping.is_set():
            raise Released
        time.sleep(worked)
        self._resumed = time.perf_counter()
