"""A process that works beside the node, held up for a while as by a busy machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ne_dynamics.ros.running.worker_process import WorkerProcess


@contextmanager
def held_up(worker: WorkerProcess) -> Iterator[int]:
    """Let a process stand still inside the block; yield its number."""
    worker.submit(int).result()
    pid = worker.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
