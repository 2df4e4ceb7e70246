"""A command that is sent again: for as long as it stands, and no longer."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rosgraph_msgs.msg import Clock
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


def wait(bench: Any, seconds: float) -> None:
    """Serve both nodes for a while."""
    deadline = time.monotonic() + seconds
    bench.spin(lambda: time.monotonic() > deadline, 'time')


def until_silent(bench: Any) -> int:
    """Wait until all that was sent has come, and nothing does; return how many came in all."""

    def is_silent() -> bool:
        before = len(bench.commands)
        wait(bench, 10.0 * PERIOD)
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
        wait(bench, 0.1)
    until_silent(bench)
    # The next state is given all of the time again.
    answer(bench, Q)
    first = len(bench.commands)
    bench.spin(lambda: len(bench.commands) > first + 3, 'the command again')


def test_a_fault_ends_it(bench) -> None:
    """With `on_fault: leave` a position that jumped ends it; good states begin it again."""
    bench.start(state_timeout=LONG, command__repeat=RATE, jump_velocity=None, on_fault='leave')
    answer(bench, Q)
    bench.joint_states.publish(bench.joint_state(Q + np.eye(6)[1]))
    bench.hear('joint_states jumped')
    before = until_silent(bench)
    for _ in range(3):
        bench.joint_states.publish(bench.joint_state(Q))
        bench.settle()
    bench.spin(lambda: len(bench.commands) > before + 5, 'the command again')


def test_a_latched_fault_ends_it(bench) -> None:
    """With `on_fault: leave` states that are observed but not answered keep nothing up."""
    bench.start(
        state_timeout=LONG,
        command__repeat=RATE,
        following_error__position=[0.1],
        on_fault='leave',
    )
    answer(bench, Q)

    def is_held_back() -> bool:
        bench.joint_states.publish(bench.joint_state(Q + 0.2))
        return any('following error' in line for line in bench.said())

    bench.spin(is_held_back, 'the fault')
    before = until_silent(bench)
    for _ in range(10):
        bench.joint_states.publish(bench.joint_state(Q + 0.2))
        wait(bench, 0.03)
    assert len(bench.commands) == before


def test_a_state_that_is_not_believed_is_damped_and_that_is_sent_again(bench) -> None:
    """By default the answer to a position that jumped stands as any other does."""
    bench.start(state_timeout=LONG, command__repeat=RATE, jump_velocity=None)
    answer(bench, Q)
    bench.joint_states.publish(bench.joint_state(Q + np.eye(6)[1]))
    bench.hear('joint_states jumped')
    damped = len(bench.efforts)
    before = len(bench.commands)
    bench.spin(lambda: len(bench.commands) > before + 5, 'the command again')
    assert len(bench.efforts) <= damped + 1


def test_an_arm_that_is_damped_after_a_fault_has_its_commands_again(bench) -> None:
    """By default states are answered after a fault that latches: their commands are repeated."""
    bench.start(state_timeout=LONG, command__repeat=RATE, following_error__position=[0.1])
    answer(bench, Q)

    def is_held_back() -> bool:
        bench.joint_states.publish(bench.joint_state(Q + 0.2))
        return any('following error' in line for line in bench.said())

    bench.spin(is_held_back, 'the fault')
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
    wait(bench, 0.2)
    assert len(bench.commands) == before
    answer(bench, Q)
    bench.spin(lambda: len(bench.commands) > before + 5, 'the command again')


def test_it_is_switched_on_and_off(bench) -> None:
    """The rate may be set while the arm is held; 0 is the default."""
    bench.start(state_timeout=LONG)
    answer(bench, Q)
    wait(bench, 0.2)
    assert len(bench.commands) == 1
    bench.set(command__repeat=RATE)
    bench.spin(lambda: len(bench.commands) > 4, 'the command again')
    bench.set(command__repeat=0.0)
    until_silent(bench)
    refused = bench.set_atomically(command__repeat=RATE, state_timeout=float('inf'))
    assert not refused.successful
    assert 'command.repeat' in refused.reason


class SimulatedTime:
    """A `/clock` of the test's own."""

    def __init__(self, bench: Any) -> None:
        self._bench = bench
        self._publisher = bench.probe.create_publisher(Clock, '/clock', 10)

    def set(self, seconds: float) -> None:
        """Let it be this time, and all that is due happen."""
        nanoseconds = round(seconds * 1e9)
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, 10**9)
        bench = self._bench
        bench.spin(lambda: self._publisher.get_subscription_count() > 0)
        self._publisher.publish(message)
        bench.spin(lambda: bench.node.get_clock().now().nanoseconds == nanoseconds, 'the time')
        bench.settle()


def test_simulated_time_counts(bench) -> None:
    """While it stands still nothing is sent again; each period brings one, up to the timeout."""
    bench.start(use_sim_time=True, state_timeout=0.2, command__repeat=RATE)
    clock, begin = SimulatedTime(bench), bench.time
    clock.set(begin)
    answer(bench, Q)
    wait(bench, 0.3)
    assert len(bench.commands) == 1
    for count in range(1, 9):
        clock.set(begin + count * (PERIOD + 1e-4))
        bench.spin(lambda n=count: len(bench.commands) > n, 'the command again')
        assert len(bench.commands) == 1 + count
    # A new one is not sent again as soon as it is out.
    answer(bench, Q, dt=8 * PERIOD)
    fresh = len(bench.commands)
    clock.set(begin + 8.4 * (PERIOD + 1e-4))
    assert len(bench.commands) == fresh
    clock.set(begin + 1.0)
    bench.hear('joint_states stopped')
    last = until_silent(bench)
    for count in range(10):
        clock.set(begin + 1.0 + (1 + count) * PERIOD)
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
    clock = SimulatedTime(bench)
    # The joint states may be stamped by another clock.
    clock.set(5000.0)
    bench.time = 5000.0
    bench.joint_states.publish(bench.joint_state(Q, dt=-0.001))
    bench.spin(lambda: len(heard) == 1, 'the command')
    clock.set(5000.0 + 1.01 * PERIOD)
    bench.spin(lambda: len(heard) == 2, 'the command again')
    stamps = [message.header.stamp for message in heard]
    assert [(stamp.sec, stamp.nanosec) for stamp in stamps] == [
        (5000, 0),
        (5000, round(1.01e9 * PERIOD)),
    ]
    assert heard[0].effort == heard[1].effort
