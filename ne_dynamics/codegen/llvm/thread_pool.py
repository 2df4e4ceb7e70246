"""The threads that share batches of machine code."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait

from ne_dynamics.codegen.llvm.thresholds import LLVM
from ne_dynamics.model.robot import FloatArray

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


class Sharing:
    """Shares the batches of one function among threads, for as long as that pays.

    Parameters
    ----------
    most_rows : array, shape (1,)
        Is set to the rows of a batch that are not worth sharing; infinite when none are.
    least : int
        Rows that a thread takes at a time, at least.
    """

    def __init__(self, most_rows: FloatArray, least: int) -> None:
        self._most_rows = most_rows
        self._least = least
        self._alone = math.inf
        self._measured = self._misses = 0

    def run(self, run: Callable[[int, int], bool], samples: int, threads: int) -> bool:
        """Run a batch; return whether all of it succeeded.

        Parameters
        ----------
        run : callable
            Computes the rows from a first one up to another.
        samples, threads : int
        """
        start = 0
        if self._measured < LLVM.thread_trials:
            began = time.perf_counter()
            if not run(0, self._least):
                return False
            start = self._least
            self._alone = min(self._alone, (time.perf_counter() - began) / self._least)
            self._measured += 1
            # One core is faster while the rest takes less than starting the others does.
            self._most_rows[0] = 2.0 * measure_delay(threads) / self._alone + self._least
        if samples <= self._most_rows[0]:
            return run(start, samples)
        began = time.perf_counter()
        is_good = _share(run, start, samples, threads, self._least)
        is_faster = self._alone * (samples - start) >= LLVM.least_thread_gain * (
            time.perf_counter() - began
        )
        self._misses = 0 if is_faster else self._misses + 1
        if self._misses == LLVM.thread_trials:
            self._most_rows[0] = math.inf
        return is_good


def _share(
    run: Callable[[int, int], bool], start: int, samples: int, threads: int, least: int
) -> bool:
    # Some pieces for each: who is interrupted leaves work to the others.
    size = max(least, -(-(samples - start) // (4 * threads)))
    starts: Iterator[int] = iter(range(start, samples, size))

    def work() -> bool:
        outcomes = [run(first, min(first + size, samples)) for first in starts]
        return all(outcomes)

    return run_together(work, threads)


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
