"""A command that is sent again: for as long as it stands, and no longer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from sensor_msgs.msg import JointState

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
RATE = 50.0
PERIOD = 1.0 / RATE
LONG = 60.0
"""A state_timeout that no test waits for [s]."""


def answer(bench: Any, *state: Any, **fields: Any) -> np.ndarray:
    """Send a joint state and return the command that answers it; it may be sent again since."""
    before = len(bench.efforts)
    bench.joint_states.publish(bench.joint_state(*state, **fields))
    bench.spin(lambda: len(bench.efforts) > before, '~/effort')
    wanted = np.array(bench.efforts[-1].effort)
    bench.spin(lambda: bench.commands and (bench.commands[-1] == wanted).all(), 'the command')
    return wanted


def until_repeated(bench: Any, times: int = 5) -> None:
    """Wait until the last command has come again so often."""
    first, last = len(bench.commands), bench.commands[-1]
    bench.spin(lambda: len(bench.commands) > first + times, 'the command again')
    for again in bench.commands[first:]:
        np.testing.assert_array_equal(again, last)


def until_silent(bench: Any) -> int:
    """Wait until all that was sent has come, and nothing does; return how many came in all."""

    def is_silent() -> bool:
        before = len(bench.commands)
        bench.serve_for(10.0 * PERIOD)
        return len(bench.commands) == before

    bench.spin(is_silent, 'silence')
    return len(bench.commands)


def test_it_is_sent_again_while_no_other_comes(bench) -> None:
    """From when the rate is set, until it is 0 again; with the next state it is that of that one.
    Without an end it is refused.
    """
    bench.start(state_timeout=LONG)
    answer(bench, Q)
    assert until_silent(bench) == 1
    bench.set(command__repeat=RATE)
    for q in (Q, Q + 0.1):
        answer(bench, q)
        until_repeated(bench)
    bench.set(command__repeat=0.0)
    until_silent(bench)
    refused = bench.set_atomically(command__repeat=RATE, state_timeout=float('inf'))
    assert not refused.successful
    assert 'command.repeat' in refused.reason


def wait(bench: Any, count: int) -> None:
    """Let nothing come."""


def send_bad_states(bench: Any, count: int) -> None:
    """Send states that cannot be used: the time of the last good one counts."""
    bench.joint_states.publish(bench.joint_state([*Q[:5], np.nan]))


def set_timeout(bench: Any, count: int) -> None:
    """Set the timeout again and again: what has passed since the last state counts."""
    assert count < 50, 'the watchdog never acts'
    bench.set(state_timeout=0.5 + 0.005 * (count % 2))
    bench.serve_for(0.05)


@pytest.mark.parametrize('meanwhile', [wait, send_bad_states, set_timeout])
def test_states_that_stop_end_it(bench, meanwhile) -> None:
    """Sent again until the watchdog acts; then the last command comes once, and silence, until
    the next state.
    """
    bench.start(state_timeout=0.5, command__repeat=RATE)
    command = answer(bench, Q, np.full(6, 0.1))
    first, count = len(bench.commands), 0
    while not any('joint_states stopped' in line for line in bench.said()):
        meanwhile(bench, count := count + 1)
        bench.executor.spin_once(timeout_sec=0.02)
    commands = bench.commands[first : until_silent(bench)]
    assert len(commands) > 2
    for again in commands[:-1]:
        np.testing.assert_array_equal(again, command)
    np.testing.assert_allclose(commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)
    assert np.abs(commands[-1] - command).max() > 1e-3
    bench.set(state_timeout=LONG)
    answer(bench, Q)
    until_repeated(bench)


@pytest.mark.parametrize('on_fault', ['leave', 'damp'])
@pytest.mark.parametrize('fault', ['joint_states jumped', 'following error'])
def test_a_fault_ends_it_where_the_arm_is_left(bench, fault: str, on_fault: str) -> None:
    """By default the answers to states that are not believed, or come after a fault that latches,
    stand as any other.
    """
    jumps = fault == 'joint_states jumped'
    chosen = {'jump_velocity': None} if jumps else {'following_error__position': [0.1]}
    bench.start(state_timeout=LONG, command__repeat=RATE, on_fault=on_fault, **chosen)
    answer(bench, Q)
    far = Q + (np.eye(6)[1] if jumps else 0.2)
    bench.joint_states.publish(bench.joint_state(far))

    def is_found() -> bool:
        if not jumps:
            bench.joint_states.publish(bench.joint_state(far))
        return any(fault in line for line in bench.said())

    bench.spin(is_found, 'the fault')
    if on_fault == 'leave':
        before = until_silent(bench)
        for _ in range(3 if jumps else 10):
            bench.joint_states.publish(bench.joint_state(Q if jumps else far))
            bench.settle()
        if not jumps:
            # What is observed but not answered keeps nothing up.
            assert until_silent(bench) == before
            return
    before = len(bench.commands)
    bench.spin(lambda: len(bench.commands) > before + 5, 'the command again')


@pytest.mark.parametrize('last', ['gravity', 'none'])
def test_deactivation_ends_it(bench, last: str) -> None:
    """Whatever is sent last is sent once; activated, only the next state begins anew."""
    bench.start(state_timeout=LONG, command__repeat=RATE, on_deactivate=last)
    answer(bench, Q)
    assert bench.change_state('deactivate')
    before = until_silent(bench)
    assert bench.change_state('activate')
    assert until_silent(bench) == before
    answer(bench, Q)
    until_repeated(bench)


def test_simulated_time_counts(bench) -> None:
    """While it stands still nothing is sent again; each period brings one, up to the timeout. The
    stamp of each message is the time at which it is sent.
    """
    heard = bench.hear_commands(JointState)
    bench.start(
        use_sim_time=True, state_timeout=0.2, command__repeat=RATE, command__type='joint_state'
    )

    def answer_at(begin: float, count: int) -> None:
        bench.tick(begin)
        # The joint states may be stamped by another clock.
        bench.joint_states.publish(bench.joint_state(Q))
        bench.spin(lambda: len(heard) == count, 'the command')

    answer_at(5000.0, 1)
    bench.serve_for(0.3)
    times = [5000.0]
    for _ in range(8):
        times.append(times[-1] + PERIOD + 1e-4)
        bench.tick(times[-1])
        bench.spin(lambda: len(heard) == len(times), 'the command again')
    stamps = [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for message in heard]
    np.testing.assert_allclose(stamps, times, rtol=0, atol=1e-6)
    assert all(message.effort == heard[0].effort for message in heard)
    # A new one is not sent again as soon as it is out.
    answer_at(times[-1] + 0.4 * PERIOD, 10)
    bench.tick(times[-1] + 0.8 * PERIOD)
    assert len(heard) == 10
    bench.tick(5001.0)
    bench.hear('joint_states stopped')
    bench.spin(lambda: len(heard) > 10, 'the last command')
    for count in range(10):
        bench.tick(5001.0 + (1 + count) * PERIOD)
    assert len(heard) == 11
