"""What the node tells of itself once a second: counts, ages, latencies, faults. No ROS in it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.control.guards.state_guard import Fault
from ne_dynamics.model.rigid_body import FloatArray


class Statistics:
    """Counts what comes in and goes out, from one report to the next.

    Attributes
    ----------
    answers : list of (float, float)
        Latency [s] and stamp [s] of every command since the last report.
    """

    def __init__(self) -> None:
        self.answers: list[tuple[float, float]] = []
        self.received: Counter[str] = Counter()
        self.drops: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._saturated: set[int] = set()
        self._heard: dict[str, float] = {}
        self._received_before: Counter[str] = Counter()
        self._dropped_before = 0
        self._new_faults: list[Fault] = []
        self._last_stamp: float | None = None
        self._reported_at = time.perf_counter()

    def hear(self, topic: str, arrival: float) -> None:
        """Count a message; `arrival` by `time.perf_counter` [s]."""
        self.received[topic] += 1
        self._heard[topic] = arrival

    def age(self, topic: str) -> float:
        """Return the time since the last message of a topic [s]; infinite without one."""
        return time.perf_counter() - self._heard.get(topic, -np.inf)

    def drop(self, key: str) -> int:
        """Count a message that was not used, by topic and reason; return how many there were."""
        self.drops[key] += 1
        return self.drops[key]

    def fault(self, fault: Fault) -> None:
        """Count a fault; the next report has it, even when it is over by then."""
        self.faults[fault.kind.value] += 1
        self._new_faults.append(fault)

    def saturate(self, joints: NDArray[np.bool_]) -> None:
        """Take note of joints whose effort was limited."""
        self._saturated.update(np.flatnonzero(joints).tolist())

    def inputs(self) -> Iterator[tuple[str, Any]]:
        """Report on what came in: rates, ages, drops; and begin a new period."""
        now = time.perf_counter()
        period = max(now - self._reported_at, 1e-3)
        self._reported_at = now
        for topic, count in sorted(self.received.items()):
            rate = (count - self._received_before[topic]) / period
            yield f'{topic} rate [1/s]', f'{rate:.1f}'
            yield f'{topic} age [s]', f'{now - self._heard[topic]:.3f}'
            yield f'{topic} received', count
        self._received_before = self.received.copy()
        for key, count in sorted(self.drops.items()):
            yield f'{key} dropped', count
        for name, count in sorted(self.faults.items()):
            yield f'faults {name}', count

    def new_drops(self) -> int:
        """Return how many messages were dropped since this was last asked."""
        dropped = self.drops.total()
        new, self._dropped_before = dropped - self._dropped_before, dropped
        return new

    def new_faults(self) -> list[Fault]:
        """Return the faults since this was last asked."""
        new, self._new_faults = self._new_faults, []
        return new

    def outputs(self, joint_names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Report on the commands since the last report, and forget them."""
        answers, self.answers = self.answers, []
        yield 'commands in the last second', len(answers)
        if answers:
            latencies, stamps = np.array(answers).T
            for name, value in zip(
                ('p50', 'p99', 'max'), np.percentile(latencies, (50, 99, 100)), strict=True
            ):
                yield f'latency {name} [us]', f'{1e6 * value:.0f}'
            yield 'missed cycles', self._missed(stamps)
        names = ' '.join(joint_names[index] for index in sorted(self._saturated))
        yield 'saturated in the last second', names or 'none'
        self._saturated.clear()

    def restart(self) -> None:
        """Forget the last stamp: what lies before the next state was not missed."""
        self._last_stamp = None

    def _missed(self, stamps: FloatArray) -> int:
        """Return how many states are missing between those answered, by their usual period."""
        if self._last_stamp is not None:
            stamps = np.insert(stamps, 0, self._last_stamp)
        self._last_stamp = float(stamps[-1])
        steps = np.diff(stamps)
        period = np.median(steps) if steps.size else 0.0
        if period <= 0.0:
            return 0
        return int(np.maximum(np.round(steps / period) - 1.0, 0.0).sum())
