"""The bench that tests of the node are made on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def bench() -> Iterator[Any]:
    """Return a bench with nothing started yet; see :class:`node_bench.Bench`."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from node_bench import Bench

    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the node say the same again at once: for tests that go through tables."""
    from ne_dynamics.ros.thresholds import NODE

    monkeypatch.setitem(vars(NODE), 'warning_period', 0.0)


@pytest.fixture
def process(bench: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that starts an executable in the bench's domain, the node unless told."""
    from node_probe import DOMAIN

    from ne_dynamics.simulation.demo.ros_process import NODE_MODULE, RosProcesses

    processes = RosProcesses(DOMAIN)

    def start(module: str = NODE_MODULE, environment: Any = None, **parameters: Any) -> Any:
        name = f'process_{len(processes.all)}'
        return processes.start(name, module, parameters, environment=environment)

    yield start
    processes.kill()
