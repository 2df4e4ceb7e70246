"""A process that works beside the node, held up for a while as by a busy machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ne_dynamics.ros.running.worker_process import PLANNING, WorkerProcess


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


@contextmanager
def being_planned(bench: Any, message: Any) -> Iterator[int]:
    """Send a trajectory whose plan is not done before the block is; yield the planner's number."""
    with held_up(PLANNING) as pid:
        bench.trajectories.publish(message)
        bench.spin(lambda: bench.node.configured.motion.planning.is_busy, 'the message')
        yield pid
