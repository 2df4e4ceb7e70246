"""Leaving an arm safely, however often Ctrl-C is pressed."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

NUMBERS = tuple(
    getattr(signal, name) for name in ('SIGINT', 'SIGTERM', 'SIGHUP') if hasattr(signal, name)
)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP wait: the arm is being held, and left, already.

    What is done inside takes a limited time, or waits for the operator to say that the brakes are
    engaged. Elsewhere than in the main thread, which gets the signals, it changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def say(number: int, frame: FrameType | None) -> None:
        sys.stderr.write('\nstopping already: the arm is held until its brakes are engaged\n')

    previous = {number: signal.signal(number, say) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
