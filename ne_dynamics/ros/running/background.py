"""Work beside a node whose end is told of in the thread that serves the node."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any

from ne_dynamics.ros.running.worker_process import WorkerProcess

Done = Callable[[Future[Any]], None]


class Background:
    """Has work done, and tells the node of its end.

    Parameters
    ----------
    node : rclpy.node.Node
    executor : Executor or WorkerProcess
    """

    def __init__(self, node: Any, executor: Executor | WorkerProcess) -> None:
        self._node = node
        self._executor = executor
        self._ended: deque[tuple[Future[Any], Done]] = deque()
        self._guard = node.create_guard_condition(self._deliver)

    def submit(self, done: Done, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a piece of work, a function with arguments, when those before it have ended.

        `done` is called with the future when it has a result or an error; not when cancelled.
        """
        work = self._executor.submit(function, *arguments)
        work.add_done_callback(partial(self._note, done))
        return work

    def destroy(self) -> None:
        """Tell of nothing any more."""
        self._node.destroy_guard_condition(self._guard)

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
