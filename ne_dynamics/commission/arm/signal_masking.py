"""Ending a run and leaving its arm safely, however often Ctrl-C is pressed, and when."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from ne_dynamics.commission.thresholds import ARM

NUMBERS = tuple(
    getattr(signal, name) for name in ('SIGINT', 'SIGTERM', 'SIGHUP') if hasattr(signal, name)
)


Handler = Callable[[int, FrameType | None], None]


class _Interruption:
    """Whether, and when, a signal interrupts."""

    def __init__(self) -> None:
        self.is_put_off = False
        self.is_wanted = False
        self._last = -math.inf

    def forget(self) -> None:
        """Forget what came before a run."""
        self._last = -math.inf

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Interrupt, or see to it that it is done later."""
        if self.is_put_off:
            self.is_wanted = True
        else:
            self.interrupt()

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt, once for all signals in a row."""
        now = time.monotonic()
        if now - self._last > ARM.signals_in_a_row:
            self._last = now
            raise KeyboardInterrupt


_interruption = _Interruption()


@contextlib.contextmanager
def interrupted_in_order() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, but not in :func:`in_one_piece`.

    The second of two in a row must not meet the first one on its way to where the arm is held.
    What the process was started to ignore, as by `nohup`, stays ignored.
    """
    _interruption.forget()
    with _handled(_interruption.on_signal):
        yield


@contextlib.contextmanager
def in_one_piece() -> Iterator[None]:
    """Put a signal off until the end of the context.

    A handler that raises in the middle of a call of rclpy is an error of that call: what comes
    out is a RuntimeError that says nothing of Ctrl-C.

    Raises
    ------
    KeyboardInterrupt
        At the end, when a signal has come.
    """
    if _interruption.is_put_off:
        yield
        return
    _interruption.is_wanted, _interruption.is_put_off = False, True
    try:
        yield
    finally:
        _interruption.is_put_off = False
    if _interruption.is_wanted:
        _interruption.interrupt()


@contextlib.contextmanager
def signals_masked() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP wait: the arm is being held, and left, already.

    What is done inside takes a limited time, or waits for the operator to say that the brakes are
    engaged. Elsewhere than in the main thread, which gets the signals, it changes nothing.
    """

    def say(number: int, frame: FrameType | None) -> None:
        say_to_terminal('\nstopping already: the arm is held until its brakes are engaged')

    with _handled(say):
        yield


def say_to_terminal(text: str) -> None:
    """Write a line to stderr; a terminal that is gone is no error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f'{text}\n')
        sys.stderr.flush()


@contextlib.contextmanager
def _handled(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, handler)
        for number in NUMBERS
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)
