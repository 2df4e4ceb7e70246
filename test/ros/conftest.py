"""The bench that tests of the node are made on."""

from __future__ import annotations

from collections.abc import Iterator
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
