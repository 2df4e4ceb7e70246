"""The bench that tests of the node are made on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests


@pytest.fixture
def bench() -> Iterator[Any]:
    """Return a bench with nothing started yet; see :class:`node_bench.Bench`."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from node_bench import Bench

    bench = Bench()
    yield bench
    bench.close()
