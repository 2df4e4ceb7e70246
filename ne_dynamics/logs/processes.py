"""An executor of processes, each with a pipe of its own.

Those of :class:`~concurrent.futures.ProcessPoolExecutor` share pipes and locks: one that is killed
while it holds them, amid a large result, leaves the others waiting for ever. Here what a process
was killed with is an error of its own, and another process takes its place.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

NAME = 'ne_dynamics work'


class ProcessExecutor(Executor):
    """Calls functions of the module level in so many processes."""

    def __init__(self, jobs: int) -> None:
        self._threads = ThreadPoolExecutor(jobs)
        self._idle: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self._open: set[Connection] = set()
        for _ in range(jobs):
            self._start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call; :class:`BrokenExecutor` where its process is lost."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, once what they are at is done."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for connection in self._open:
            connection.close()

    def _start(self) -> None:
        here, there = multiprocessing.Pipe()
        context = multiprocessing.get_context('spawn')
        context.Process(target=_serve, args=(there,), name=NAME, daemon=True).start()
        there.close()
        self._open.add(here)
        self._idle.put(here)

    def _call(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        connection = self._idle.get()
        try:
            connection.send((fn, args, kwargs))
            is_result, value = connection.recv()
        except (EOFError, OSError) as error:
            self._open.remove(connection)
            connection.close()
            self._start()
            raise BrokenExecutor('the process was lost') from error
        self._idle.put(connection)
        if is_result:
            return value
        raise value


def _serve(connection: Connection) -> None:
    """Answer calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who calls ends this
    try:
        while True:
            fn, args, kwargs = connection.recv()
            try:
                answer = True, fn(*args, **kwargs)
            except Exception as error:
                answer = False, error
            connection.send(answer)
    except (EOFError, OSError):
        pass
