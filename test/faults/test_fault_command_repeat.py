"""Commands that are sent again, before a node in a process of its own: they end with it."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import POSTURE as Q
from fault_bench import SHORTEST_PERIOD

RATE = 50.0
PATIENT = 60.0
"""state_timeout [s] of what is no matter of it."""


NODE = {'state_timeout': PATIENT, 'command.repeat': RATE, 'transition_time': 0.05}
RESET = {'state_timeout': PATIENT}

# A command that is sent again has no state of its own to tell its time by: the shortest one is
# what steps are judged by.
PLAYER = {'period': SHORTEST_PERIOD}


def until_repeated(node, count: int = 10) -> None:
    """Wait until the last command has been sent again so many times."""
    first, held = len(node.commands), node.commands[-1].effort
    node.until(lambda: len(node.commands) >= first + count, 'the command again')
    for record in node.commands[first:]:
        np.testing.assert_array_equal(record.effort, held)


def until_silent(node) -> None:
    """Wait until all that was sent has come, and nothing does in the time of many repeats."""

    def is_silent() -> bool:
        count, end = len(node.commands), time.monotonic() + 20.0 / RATE
        node.until(lambda: time.monotonic() > end, 'time')
        return len(node.commands) == count

    node.until(is_silent, 'silence')


def test_a_node_that_is_stopped_repeats_nothing(node, player) -> None:
    """SIGSTOP: nothing comes, so that a controller's own timeout counts; SIGCONT: it goes on."""
    until_repeated(node)
    node.node.send(signal.SIGSTOP)
    until_silent(node)
    node.node.send(signal.SIGCONT)
    until_repeated(node)
    np.testing.assert_allclose(player.answer(Q), node.gravity(Q), atol=1e-9)


def test_a_node_that_is_asked_to_end_repeats_its_last_command_never(node, player) -> None:
    """SIGINT: the last command once, and silence; a new node begins with the next state."""
    until_repeated(node)
    node.node.end(signal.SIGINT)
    until_silent(node)
    np.testing.assert_allclose(node.commands[-1].effort, node.gravity(Q), atol=1e-9)
    count = len(node.commands)
    node.restart_node(**NODE)
    node.until_ready()
    until_silent(node)
    assert len(node.commands) == count
    player.rest(Q)
    until_repeated(node)
