"""The checker of the fault table finds what it is there to find."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

LIMITS = np.array([10.0, 5.0])
RATE = 100.0


def check(commands, stamps=()) -> None:
    """Check commands sent 5 ms apart; those with a stamp [s] have a message of ~/effort."""
    from fault_bench import CommandRecord, JointRecord, check_commands

    rest = np.zeros(2)
    records, answers = [], []
    for index, effort in enumerate(commands):
        sent, effort = 5_000_000 * index, np.array(effort, dtype=float)
        records.append(CommandRecord(sent, effort, sent))
        if index < len(stamps) and stamps[index] is not None:
            stamp = round(stamps[index] * 1e9)
            answers.append(JointRecord(sent + 1000, stamp, rest, rest, effort, sent))
    check_commands(records, answers, LIMITS, RATE)


def test_what_is_allowed() -> None:
    """A step of the rate limit times the time between stamps, or times 2 ms, is no fault."""
    check([[0.0, 0.0], [1.0, -1.0], [2.0, -2.0]], [1.0, 1.01, 1.02])
    check([[0.0, 0.0], [0.2, 0.0], [0.4, 0.0], [0.6, 0.0]], [1.0, None, None, 9.0])
    check([[0.0, 0.0], [0.2, 0.0]], [1.0, 1.0])
    check([[10.0, -5.0]])


@pytest.mark.parametrize(
    ('commands', 'stamps'),
    [
        ([[float('nan'), 0.0]], []),
        ([[0.0, float('-inf')]], []),
        ([[10.1, 0.0]], []),
        ([[0.0, 0.0, 0.0]], []),
        ([[0.0, 0.0], [1.1, 0.0]], [1.0, 1.01]),
        ([[0.0, 0.0], [0.3, 0.0]], [1.0, 1.0]),
        ([[0.0, 0.0], [0.3, 0.0]], [1.0, 0.5]),
        ([[0.0, 0.0], [0.3, 0.0]], [1.0, None]),
        ([[0.0, 0.0], [0.3, 0.0]], [None, 2.0]),
    ],
    ids=[
        'NaN',
        'infinite',
        'beyond the limit',
        'too many',
        'a step too large',
        'a step without time',
        'a step back in time',
        'a step to the last command',
        'a step from the last command',
    ],
)
def test_what_is_found(commands, stamps) -> None:
    """Each kind of fault is one."""
    with pytest.raises(AssertionError):
        check(commands, stamps)
