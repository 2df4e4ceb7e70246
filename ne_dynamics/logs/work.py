"""Who computes what is asked of the parts of logs: this process, or the workers of an executor.

A part goes to a worker with the question, and what it comes to comes back, in the order of the
parts: nothing is kept by workers, and they need no files. So the figures do not depend on who is
how fast, and what a worker is lost with is computed here.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from ne_dynamics.errors import NeDynamicsError
from ne_dynamics.logs.arrays import ArrayStore, release_pages
from ne_dynamics.logs.thresholds import LOGS

Progress = Callable[[str, Iterator[Any], int], Iterator[Any]]
"""Shows how far a step is: its name, its results as they come, and their number."""


@dataclass(frozen=True, eq=False)
class Work:
    """How the work on logs is done.

    Attributes
    ----------
    executor : Executor or None
        Whose workers do it, as from :mod:`concurrent.futures`, or ``Client.get_executor()`` of
        Dask; None for this process.
    progress : callable or None
        Shows how far it is.
    store : ArrayStore
        Where arrays are kept.
    """

    executor: Executor | None = None
    progress: Progress | None = None
    store: ArrayStore = field(default_factory=ArrayStore)

    def map(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Iterable[tuple[Any, ...]],
        *shared: Any,
        total: int | None = None,
    ) -> Iterator[Any]:
        """Yield what a function returns for each part, in their order.

        Parameters
        ----------
        name : str
            Of the step, for people.
        function : callable
            Of the module level; takes own and shared arguments.
        arguments : iterable of tuple
            Of each part.
        *shared
            Arguments of all.
        total : int, optional
            Parts; default: the length of the arguments.
        """
        if total is None:
            arguments = list(arguments)
            total = len(arguments)
        executor = self.executor if total > 1 else None
        results = _generate(executor, function, iter(arguments), shared)
        return (
            results if self.progress is None or total < 2 else self.progress(name, results, total)
        )


def _generate(
    executor: Executor | None,
    function: Callable[..., Any],
    arguments: Iterator[tuple[Any, ...]],
    shared: tuple[Any, ...],
) -> Iterator[Any]:
    waiting: deque[tuple[Future[Any] | None, tuple[Any, ...]]] = deque()
    ahead = 1 if executor is None else LOGS.parts_ahead
    while True:
        for own in itertools.islice(arguments, ahead - len(waiting)):
            future = None
            if executor is not None:
                # Without its workers an executor takes no more.
                with contextlib.suppress(RuntimeError):
                    future = executor.submit(function, *own, *shared)
            waiting.append((future, own))
        if not waiting:
            return
        future, own = waiting.popleft()
        try:
            if future is None:
                result = function(*own, *shared)
            else:
                result = future.result()
        except NeDynamicsError:
            raise
        except Exception:
            if future is None:
                raise
            # A worker was lost; what is wrong with the function itself is said here.
            result = function(*own, *shared)
        yield result
        release_pages()
