"""Work that takes longer than a request may wait: in a thread, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

Done = Callable[[Future[Any]], None]


class Background:
    """Does work beside the node, and tells of its end in the thread that serves the node.

    Parameters
    ----------
    node : rclpy.node.Node
    """

    def __init__(self, node: Any) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix='annotate')
        self._ended: deque[tuple[Future[Any], Done]] = deque()
        self._guard = node.create_guard_condition(self._deliver)

    def submit(self, done: Done, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a piece of work when those before it have ended.

        Parameters
        ----------
        done : callable
            Called with the future when it has a result or an error; not when it was cancelled.
        function : callable
        *arguments
            Of the function.
        """
        work = self._pool.submit(function, *arguments)
        work.add_done_callback(partial(self._note, done))
        return work

    def close(self) -> None:
        """Begin no more; what is being worked on is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _note(self, done: Done, work: Future[Any]) -> None:
        # In the thread of the work; the node may be gone.
        if not work.cancelled():
            self._ended.append((work, done))
            with suppress(Exception):
                self._guard.trigger()

    def _deliver(self) -> None:
        while self._ended:
            work, done = self._ended.popleft()
            done(work)
