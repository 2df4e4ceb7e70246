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
    first = len(bench.commands)
    bench.joint_states.publish(bench.joint_state(*state, **fields))
    bench.spin(lambda: len(bench.efforts) > before, '~/effort')
    bench.spin(lambda: len(bench.commands) > first, 'a command')
    wanted = np.array(bench.efforts[-1].effort)
    bench.spin(lambda: (bench.commands[-1] == wanted).all(), 'the command')
    return wanted


def until_silent(bench: Any) -> int:
    """Wait until all that was sent has come, and nothing does; return how many came in all."""

    def is_silent() -> bool:
        before = len(bench.commands)
        bench.serve_for(10.0 * PERIOD)
        return len(bench.commands) == before

    bench.spin(is_silent, 'silence')
    return len(bench.commands)


def test_it_is_sent_again_while_no_other_comes(bench) -> None:
    """The same numbers come on and on; with the next state they are those of that one."""
    bench.start(state_timeout=LONG, command__repeat=RATE)
    for q in (Q, Q + 0.1):
        command = answer(bench, q)
        first = len(bench.commands)
        bench.spin(lambda n=first: len(bench.commands) > n + 5, 'the command again')
        for again in bench.commands[first:]:
            np.testing.assert_array_equal(again, command)


def test_states_that_stop_end_it(bench) -> None:
    """Sent again until the watchdog acts; then the last command comes once, and silence."""
    bench.start(state_timeout=1.0, command__repeat=RATE)
    command = answer(bench, Q, np.full(6, 0.1))
    bench.hear('joint_states stopped')
    commands = bench.commands[: until_silent(bench)]
    assert len(commands) > 2
    for again in commands[:-1]:
        np.testing.assert_array_equal(again, command)
    np.testing.assert_allclose(commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)
    assert np.abs(commands[-1] - command).max() > 1e-3


def test_states_that_cannot_be_used_do_not_keep_it_up(bench) -> None:
    """Nor do messages without a joint: the time of the last good state counts."""
    bench.start(state_timeout=1.0, command__repeat=RATE)
    answer(bench, Q)

    def is_over() -> bool:
        bench.joint_states.publish(bench.joint_state([*Q[:5], np.nan]))
        return any('joint_states stopped' in line for line in bench.said())

    bench.spin(is_over, 'the fault')
    until_silent(bench)
    np.testing.assert_allclose(bench.commands[-1], bench.dynamics.gravity_torque(Q), atol=1e-9)


def test_a_timeout_that_is_set_again_and_again_does_not_keep_it_up(bench) -> None:
    """What has passed since the last state counts for the new one: it ends all the same."""
    bench.start(state_timeout=1.0, command__repeat=RATE)
    answer(bench, Q)
    stopped, count = 'joint_states stopped', 0
    while not any(stopped in line for line in bench.said()):
        count += 1
        assert count < 50, 'the watchdog never acts'
        assert bench.set_atomically(state_timeout=1.0 + 0.01 * (count % 2)).successful
        bench.serve_for(0.1)
    until_silent(bench)
    # The next state is given all of the time again.
    answer(bench, Q)
    first = len(bench.commands)
    bench.spin(lambda: len(bench.commands) > first + 3, 'the command again')


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
    bench.serve_for(0.2)
    assert len(bench.commands) == before
    answer(bench, Q)
    bench.spin(lambda: len(bench.commands) > before + 5, 'the command again')


def test_it_is_switched_on_and_off(bench) -> None:
    """The rate may be set while the arm is held; 0 is the default."""
    bench.start(state_timeout=LONG)
    answer(bench, Q)
    bench.serve_for(0.2)
    assert len(bench.commands) == 1
    bench.set(command__repeat=RATE)
    bench.spin(lambda: len(bench.commands) > 4, 'the command again')
    bench.set(command__repeat=0.0)
    until_silent(bench)
    refused = bench.set_atomically(command__repeat=RATE, state_timeout=float('inf'))
    assert not refused.successful
    assert 'command.repeat' in refused.reason


def test_simulated_time_counts(bench) -> None:
    """While it stands still nothing is sent again; each period brings one, up to the timeout."""
    bench.start(use_sim_time=True, state_timeout=0.2, command__repeat=RATE)
    begin = bench.time
    bench.tick(begin)
    answer(bench, Q)
    bench.serve_for(0.3)
    assert len(bench.commands) == 1
    for count in range(1, 9):
        bench.tick(begin + count * (PERIOD + 1e-4))
        bench.spin(lambda n=count: len(bench.commands) > n, 'the command again')
        assert len(bench.commands) == 1 + count
    # A new one is not sent again as soon as it is out.
    answer(bench, Q, dt=8 * PERIOD)
    fresh = len(bench.commands)
    bench.tick(begin + 8.4 * (PERIOD + 1e-4))
    assert len(bench.commands) == fresh
    bench.tick(begin + 1.0)
    bench.hear('joint_states stopped')
    last = until_silent(bench)
    for count in range(10):
        bench.tick(begin + 1.0 + (1 + count) * PERIOD)
    assert len(bench.commands) == last


def test_a_stamp_says_when_the_node_stood_by_it(bench) -> None:
    """Each message has the time at which it is sent, by the clock of the node, the repeats too."""
    heard: list[JointState] = []
    for known in list(bench.probe.subscriptions):
        if known.topic_name.endswith('effort_controller/commands'):
            bench.probe.destroy_subscription(known)
    bench.probe.create_subscription(JointState, 'effort_controller/commands', heard.append, 100)
    bench.start(
        use_sim_time=True, state_timeout=0.5, command__repeat=RATE, command__type='joint_state'
    )
    # The joint states may be stamped by another clock.
    bench.tick(5000.0)
    bench.time = 5000.0
    bench.joint_states.publish(bench.joint_state(Q, dt=-0.001))
    bench.spin(lambda: len(heard) == 1, 'the command')
    bench.tick(5000.0 + 1.01 * PERIOD)
    bench.spin(lambda: len(heard) == 2, 'the command again')
    stamps = [message.header.stamp for message in heard]
    assert [(stamp.sec, stamp.nanosec) for stamp in stamps] == [
        (5000, 0),
        (5000, round(1.01e9 * PERIOD)),
    ]
    assert heard[0].effort == heard[1].effort
