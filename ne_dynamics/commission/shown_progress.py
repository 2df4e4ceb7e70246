"""How far something has come, on the terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from ne_dynamics.progress_bar import show_time


@contextlib.contextmanager
def show_progress(label: str, duration: float) -> Iterator[Callable[[float], None]]:
    """Show how far something has come; without a duration [s], how long it takes."""
    if duration > 0.0:
        with show_time(label, duration) as show:
            yield show
        return
    ended = threading.Event()
    began = time.monotonic()

    def tick() -> None:
        while not ended.wait(0.5):
            sys.stderr.write(f'\r{label}: {time.monotonic() - began:.0f} s\x1b[K')
            sys.stderr.flush()

    thread = threading.Thread(target=tick, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield lambda _: None
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
            sys.stderr.write('\r\x1b[K')
        sys.stderr.write(f'{label}: {time.monotonic() - began:.1f} s\n')
        sys.stderr.flush()
