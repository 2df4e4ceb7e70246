"""What the fuzz tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope='module')
def context() -> Iterator[Any]:
    """Return a context whose nodes are found by nobody."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from fuzz_run import closed_context

    context = closed_context(19)
    yield context
    context.try_shutdown()
