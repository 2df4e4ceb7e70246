"""The work on pieces of logs, done by a Dask cluster.

Workers read the logs themselves, under the same paths, and keep what a piece came to; sums and
triangles come back. They are put together in the order of the pieces, so that the result does
not depend on who finishes first. When a worker is lost, what it kept is computed anew by another.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ne_dynamics
from ne_dynamics.errors import InputError, NeDynamicsError, optional_dependency
from ne_dynamics.logs.runner import Kept, Progress

with optional_dependency('a cluster needs Dask', 'cluster'):
    import distributed

PATIENCE = 8.0
"""How long scheduler and workers may take to answer [s]."""

AHEAD = 32
"""Tasks that are handed out before the first result is taken."""


@dataclass
class _OnWorkers(Kept):
    future: Any


@dataclass(frozen=True)
class _Pair:
    """What a task came to: what is kept, and what is told."""

    kept: Any
    told: Any


class ClusterRunner:
    """Does the work on the workers of a scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, ``tcp://HOST:PORT``.
    progress : callable, optional
        Shows how far it is.

    Raises
    ------
    InputError
        When no scheduler or worker answers, or a worker has another version of this package.
    """

    def __init__(self, address: str, progress: Progress | None = None) -> None:
        self._progress, self._address = progress, address
        logging.getLogger('distributed').setLevel(logging.CRITICAL)
        try:
            # A client waits for a handshake longer than it is told to.
            asyncio.run(asyncio.wait_for(_greet(address), PATIENCE))
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (
            OSError,
            TimeoutError,
            asyncio.TimeoutError,
            ValueError,
            TypeError,
            ImportError,
            RuntimeError,
        ) as error:
            raise InputError(
                f'--scheduler {address}: expected a Dask scheduler that answers within '
                f'{PATIENCE:g} s, got none ({type(error).__name__}: {str(error)[:200]})'
            ) from error
        try:
            self._require_workers()
        except BaseException:
            self._client.close(timeout=1)
            raise

    def __enter__(self) -> ClusterRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close(timeout=PATIENCE)

    def keep(
        self,
        name: str,
        function: Callable[..., tuple[Any, Any]],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> tuple[list[Kept], list[Any]]:
        """Return what is kept of each piece, and what is small."""
        common = self._share(shared)
        pairs = [self._submit(_keep, function, own, common) for own in arguments]
        told = (self._submit(_tell, function, (_OnWorkers(pair),), None) for pair in pairs)
        results = self._gather(name, told, len(pairs))
        return [_OnWorkers(pair) for pair in pairs], list(results)

    def map(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> Iterator[Any]:
        """Yield what the function returns for each piece, in their order."""
        common = self._share(shared)
        futures = (self._submit(_call, function, own, common) for own in arguments)
        return self._gather(name, futures, len(arguments))

    def release(self, kept: Iterable[Kept]) -> None:
        """Forget what was kept."""
        for item in kept:
            if isinstance(item, _OnWorkers):
                item.future = None

    def _share(self, shared: tuple[Any, ...]) -> Any:
        """Return what all tasks have in common: loaded once by each worker, anew when lost."""
        return self._client.submit(pickle.loads, pickle.dumps(shared), pure=False)

    def _submit(
        self, task: Callable[..., Any], function: Callable[..., Any], own: Any, common: Any
    ) -> Any:
        resolved = [item.future if isinstance(item, _OnWorkers) else item for item in own]
        return self._client.submit(task, function, resolved, common, pure=False)

    def _gather(self, name: str, futures: Iterable[Any], total: int) -> Iterator[Any]:
        results = self._generate(iter(futures))
        return results if self._progress is None else self._progress(name, results, total)

    def _generate(self, futures: Iterator[Any]) -> Iterator[Any]:
        waiting = list(itertools.islice(futures, AHEAD))
        while waiting:
            result = self._get(waiting.pop(0))
            waiting += itertools.islice(futures, 1)
            yield result

    def _get(self, future: Any) -> Any:
        try:
            return future.result()
        except NeDynamicsError:
            raise
        except Exception as error:
            raise InputError(
                f'--scheduler {self._address}: the work on a piece of a log failed there: '
                f'{type(error).__name__}: {str(error)[:300]}'
            ) from error

    def _require_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise InputError(
                f'--scheduler {self._address}: expected a worker within {PATIENCE:g} s, got none'
            ) from error
        try:
            versions = self._client.run(find_version)
        except Exception as error:
            raise InputError(
                f'--scheduler {self._address}: expected workers with ne_dynamics '
                f'{ne_dynamics.__version__}, got {type(error).__name__}: {error}'
            ) from error
        for worker, version in versions.items():
            if version != ne_dynamics.__version__:
                raise InputError(
                    f'--scheduler {self._address}: expected ne_dynamics '
                    f'{ne_dynamics.__version__} on the worker {worker}, got {version}'
                )


async def _greet(address: str) -> None:
    """Return when a scheduler answers."""
    async with distributed.core.rpc(address) as scheduler:
        await scheduler.identity()


def find_version() -> str:
    """Return the version of this package where this is called."""
    return str(ne_dynamics.__version__)


def _call(function: Callable[..., Any], own: Sequence[Any], common: tuple[Any, ...]) -> Any:
    arguments = [item.kept if isinstance(item, _Pair) else item for item in own]
    try:
        return function(*arguments, *common)
    except InputError as error:
        place = distributed.get_worker().address
        raise InputError(
            f'{error} (on the worker {place}: workers read the logs under the same paths)'
        ) from error


def _keep(function: Callable[..., Any], own: Sequence[Any], common: tuple[Any, ...]) -> _Pair:
    return _Pair(*_call(function, own, common))


def _tell(function: Callable[..., Any], own: Sequence[_Pair], common: None) -> Any:
    return own[0].told
