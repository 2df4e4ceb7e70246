"""What the fuzz tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests


@pytest.fixture(scope='module')
def context() -> Iterator[Any]:
    """Return a context whose nodes are found by nobody."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from fuzz_run import closed_context

    context = closed_context(19)
    yield context
    context.try_shutdown()
