"""Motions that are not followed, velocities that are none, faults that come back: they latch.

With `on_fault: leave`; what damps is in test_fault_damped.py.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import POSTURE as Q

NODE = {'state_timeout': 60.0, 'on_fault': 'leave'}
REST = [0.0] * 6


def follow(node, goal, seconds: float = 0.5) -> None:
    """Let the arm follow a trajectory, from the next state on."""
    node.trajectories.publish(node.trajectory((seconds, goal)))
    node.settle()


def until_refused(player, states) -> np.ndarray:
    """Send states (position, velocity) until one is not answered; return the position before it.

    That is of the last state that was answered: with its command on the way, the motion is judged,
    and it is there that the arm is left.
    """
    left_at = None
    for position, velocity in states:
        if not player.is_answered(position, velocity=list(velocity)):
            assert left_at is not None, 'no state is answered'
            return left_at
        left_at = position
    raise AssertionError('all states are answered')


def check_latched(node, player, position, name: str, mark) -> None:
    """Check that the arm is left for good, that it is said, and that all requests are refused."""
    gravity = node.gravity(position)
    node.until(
        lambda: np.allclose(node.commands[-1].effort, gravity, atol=1e-9),
        'a last command against gravity',
    )
    node.until_fault(name, since=mark)
    record = node.until_diagnosed(
        lambda record: all(one in record.values.get('fault', '') for one in (name, 'latched')),
        mark,
        'the fault that latches',
    )
    assert '~/clear_fault' in record.message
    count = len(node.commands)
    for _ in range(10):
        assert not player.is_answered(position)
    refused = node.trigger('hold')
    assert not refused.success
    assert name in refused.message
    dropped = node.mark()
    follow(node, Q)
    node.until_diagnosed(
        lambda record: int(record.values.get('joint_trajectory.state dropped', 0)) > 0,
        dropped,
        'a drop',
    )
    assert len(node.commands) == count


def check_cleared(node, player, position) -> None:
    last = node.commands[-1].effort
    answer = node.trigger('clear_fault')
    assert answer.success, answer.message
    mark = node.mark()
    for _ in range(3):
        player.is_answered(position)
    assert len(node.answers) > mark.answers
    np.testing.assert_allclose(node.answers[mark.answers].effort, last, rtol=0, atol=1e-9)
    np.testing.assert_allclose(node.held_at, position, atol=1e-9)
    np.testing.assert_allclose(player.rest(position), node.gravity(position), atol=1e-9)
    assert node.trigger('hold').success


def test_an_arm_that_does_not_follow(node, player) -> None:
    """It creeps where it should move: the following error ends it."""
    mark = node.mark()
    follow(node, Q + 0.9, 0.9)
    creep = [(Q + 1e-4 * step, [0.02] * 6) for step in range(300)]
    last = until_refused(player, creep)
    check_latched(node, player, last, 'following error', mark)
    check_cleared(node, player, last)


def test_reactivation_clears(node, player) -> None:
    """Deactivated and activated again, the arm is held where it is. Without a fault, and while the
    node is inactive, ~/clear_fault refuses and says why.
    """
    follow(node, Q + 0.4)
    until_refused(player, [(Q, REST)] * 60)
    assert node.change_state('deactivate')
    answer = node.trigger('clear_fault')
    assert not answer.success
    assert 'inactive' in answer.message
    assert node.change_state('activate')
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)
    answer = node.trigger('clear_fault')
    assert not answer.success
    assert 'there is no latched fault' in answer.message


class Stuck:
    """Let positions stand still, with velocities of zero."""

    position = None

    def __call__(self, message):
        """Return what is passed on."""
        message = copy.deepcopy(message)
        if self.position is None:
            self.position = list(message.position)
        message.position, message.velocity = self.position, REST
        return [message]


def test_a_frozen_encoder_of_an_arm_under_way(arm) -> None:
    mark = arm.mark()
    arm.trajectories.publish(arm.trajectory((2.0, arm.base + 0.4, REST, REST)))
    arm.until(lambda: np.any(arm.answers[-1].velocity > 0.1), 'motion')
    with arm.state_wire.broken(Stuck()):
        arm.until_logged('joint_states position frozen', since=mark)
        # The last command carries its weight, and brakes nothing: whoever clears it is not slow.
        left = arm.commands[-1].heard
    answer = arm.trigger('clear_fault')
    while 'no state has come since the fault' in answer.message:  # a state that is on its way
        answer = arm.trigger('clear_fault')
    assert answer.success, answer.message
    assert 'frozen' in answer.message
    arm.until_answering(20)
    before = [state for state in arm.states[mark.states :] if state.heard <= left]
    assert max(np.abs(state.velocity).max() for state in before) < 3.0
    arm.until_fault('joint_states position frozen', since=mark)
