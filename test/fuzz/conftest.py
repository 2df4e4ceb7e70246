"""What the fuzz tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from build_control_msgs import ControlMessages, importable


@pytest.fixture(scope='module')
def action(found_messages: ControlMessages) -> Iterator[None]:
    """Make the action part of the fuzz, where its type can be had."""
    with importable(found_messages):
        yield


@pytest.fixture(scope='module')
def context(action: None) -> Iterator[Any]:
    """Return a context whose nodes are found by nobody."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from virtual_world import closed_context

    context = closed_context(19)
    yield context
    context.try_shutdown()
