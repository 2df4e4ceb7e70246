"""SIGINT and SIGTERM as a request to stop, for executables that have something to do then.

rclpy's own handlers shut the context down at once: no last command could be sent, and a publish
under way fails. Python's wait for the executor to return from its wait. So a thread waits for
the byte that the interpreter writes when a signal comes, and wakes the executor.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether a signal has come; made by :func:`stop_on_signals`."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._wake: Any = None

    def is_set(self) -> bool:
        """Return whether to stop."""
        return self._event.is_set()

    def set(self) -> None:
        """Ask to stop, and wake the executor that serves the node; from any thread."""
        self._event.set()
        wake = self._wake
        if wake is not None:
            wake.trigger()

    def wake(self, node: Any) -> None:
        """Wake whatever executor serves a node, an `rclpy.node.Node`, when the request comes."""
        # A guard condition of the node: one of the executor does not end its `spin_once`. Not
        # `spin_until_future_complete`: it adds a callback to the future with every message.
        self._wake = node.create_guard_condition(self._event.set)

    def forget_node(self) -> None:
        """Wake no executor any more; before the node is destroyed."""
        self._wake = None


@contextlib.contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Take SIGINT and SIGTERM for a request to stop, and ignore them from then on.

    They stay ignored when the context ends, until the process does: under `ros2 launch` a
    process gets them more than once, from the terminal and from launch, and is to end by itself.
    """
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    request = StopRequest()
    ended = threading.Event()

    def wait() -> None:
        if os.read(readable, 1) and not ended.is_set():
            request.set()

    for number in NUMBERS:
        signal.signal(number, lambda *_: None)
    wakeup = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    waiter = threading.Thread(target=wait, name='signals', daemon=True)
    waiter.start()
    try:
        yield request
    finally:
        ended.set()
        # Not a handler of Python's: the interpreter takes those back before the process ends.
        for number in NUMBERS:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(wakeup)
        os.close(writable)
        waiter.join()
        os.close(readable)
