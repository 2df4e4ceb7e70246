"""Executors for the work on logs: processes of this computer, or the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import ne_dynamics
from ne_dynamics.errors import InputError, optional_dependency
from ne_dynamics.logs.processes import ProcessExecutor
from ne_dynamics.logs.thresholds import LOGS


@contextlib.contextmanager
def open_executor(jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor | None]:
    """Yield an executor; None for this process.

    Parameters
    ----------
    jobs : int
        Processes; 1: this one.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://HOST:PORT``.

    Raises
    ------
    InputError
        When no scheduler or worker answers, or a worker has another version of this package.
    MissingDependencyError
        For a scheduler, when Dask is missing.
    """
    if scheduler is not None:
        with contextlib.closing(_connect(scheduler)) as client:
            _require_workers(client, scheduler)
            # A part of a log is large for a task, and there is one on the way to each worker.
            warnings.filterwarnings('ignore', 'Sending large graph', UserWarning)
            yield client.get_executor(pure=False)
        return
    executor = ProcessExecutor(jobs) if jobs > 1 else None
    try:
        yield executor
    finally:
        if executor is not None:
            executor.shutdown(cancel_futures=True)


def _connect(address: str) -> Any:
    with optional_dependency('a cluster needs Dask', 'cluster'):
        import distributed
    logging.getLogger('distributed').setLevel(logging.CRITICAL)

    async def greet() -> None:
        async with distributed.core.rpc(address) as scheduler:
            await scheduler.identity()

    try:
        # A client waits for a handshake longer than it is told to.
        asyncio.run(asyncio.wait_for(greet(), LOGS.executor_timeout))
        return distributed.Client(address, timeout=LOGS.executor_timeout, set_as_default=False)
    except Exception as error:
        raise InputError(
            f'--scheduler {address}: expected a Dask scheduler that answers within '
            f'{LOGS.executor_timeout:g} s, got none ({type(error).__name__}: {str(error)[:200]})'
        ) from error


def _require_workers(client: Any, address: str) -> None:
    """Refuse a cluster without workers, or with one of another version of this package."""
    wanted = ne_dynamics.__version__
    try:
        client.wait_for_workers(1, timeout=LOGS.executor_timeout)
        versions = client.run(find_version)
    except Exception as error:
        raise InputError(
            f'--scheduler {address}: expected a worker with ne_dynamics {wanted} within '
            f'{LOGS.executor_timeout:g} s, got {type(error).__name__}: {error}'
        ) from error
    for worker, version in versions.items():
        if version != wanted:
            raise InputError(
                f'--scheduler {address}: expected ne_dynamics {wanted} on the worker {worker}, '
                f'got {version}'
            )


def find_version() -> str:
    """Return the version of this package where this is called."""
    return str(ne_dynamics.__version__)
