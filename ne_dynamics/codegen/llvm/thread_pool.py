"""The threads that share batches of machine code."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

_busy = threading.RLock()
"""Held while threads are made. A fork waits for it."""

_executor: ThreadPoolExecutor | None = None
_delay: float | None = None
_retired: list[ThreadPoolExecutor] = []


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def run_together(work: Callable[[], bool], threads: int) -> bool:
    """Run work on this thread and others at a time; return whether all of them succeeded."""
    others = [_pool().submit(work) for _ in range(threads - 1)]
    try:
        is_good = work()
    finally:
        wait(others)  # whatever happens: they write into memory of the caller
    return is_good and all(other.result() for other in others)


def measure_delay(threads: int) -> float:
    """Return what it takes to hand work to other threads and to wait for it [s], measured once."""
    global _delay
    if _delay is None:
        pool = _pool()
        times = []
        for _ in range(9):
            began = time.perf_counter()
            wait([pool.submit(int) for _ in range(threads - 1)])
            times.append(time.perf_counter() - began)
        _delay = sorted(times)[len(times) // 2]
    return _delay


def _pool() -> ThreadPoolExecutor:
    global _executor
    with _busy:
        if _executor is None:
            _executor = ThreadPoolExecutor(count_cores(), 'ne_dynamics')
        return _executor


def _forget_threads() -> None:
    """Leave the parent's threads behind: a child has none of them."""
    global _executor
    if _executor is not None:
        _retired.append(_executor)  # its clean-up would wait for threads that are not there
        _executor = None
    _busy.release()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(
        before=_busy.acquire, after_in_parent=_busy.release, after_in_child=_forget_threads
    )
