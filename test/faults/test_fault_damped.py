"""After a fault that latches, states are answered on: by gravity compensation and damping."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import POSTURE as Q

PATIENT = 60.0
"""state_timeout [s]: most rows are no matter of time."""

NODE = {'state_timeout': PATIENT, 'transition_time': 0.05}
PLAYER = {'period': 0.02}


def creep_until_fault(node, player) -> np.ndarray:
    """Let an arm creep where it should move, until the fault is said; return where it is."""
    mark = node.mark()
    node.trajectories.publish(node.trajectory((0.9, Q + 0.9)))
    node.settle()
    for step in range(1500):
        position = Q + 4e-4 * step
        assert player.is_answered(position, velocity=[0.02] * 6)
        # The log says the same of one kind once in five seconds.
        if any(
            'latched' in one.values.get('fault', '')
            for one in node.diagnostics[mark.diagnostics :]
        ):
            return position
    raise AssertionError('no fault')


def test_every_state_is_answered_and_every_request_refused(node, player) -> None:
    """The arm is carried where it stands; motions are refused until the fault is cleared."""
    mark = node.mark()
    position = creep_until_fault(node, player)
    assert 'damped while joint states come' in ' '.join(node.log[mark.log :])
    for _ in range(40):
        assert player.is_answered(position, dt=0.05)
    np.testing.assert_allclose(node.commands[-1].effort, node.gravity(position), atol=1e-4)
    refused = node.trigger('hold')
    assert not refused.success
    assert 'following error' in refused.message
    record = node.until_diagnosed(
        lambda record: 'latched' in record.values.get('fault', ''), mark, 'the fault that latches'
    )
    assert '~/clear_fault' in record.message
    dropped = node.mark()
    node.trajectories.publish(node.trajectory((0.5, Q)))
    node.until_diagnosed(
        lambda record: int(record.values.get('joint_trajectory.state dropped', 0)) > 0,
        dropped,
        'a drop',
    )
    assert node.trigger('clear_fault').success
    for _ in range(3):
        assert player.is_answered(position)
    np.testing.assert_allclose(node.held_at, position, atol=1e-9)
    np.testing.assert_allclose(player.rest(position), node.gravity(position), atol=1e-9)
    assert node.trigger('hold').success


def test_states_that_stop_then_are_on_state_loss(node, player) -> None:
    """A silence during the damping is left as any other; with the next state it goes on."""
    position = creep_until_fault(node, player)
    for _ in range(40):
        player.is_answered(position, dt=0.05)
    mark = node.mark()
    node.set(state_timeout=0.3)
    node.until_logged('stays until states come, which are damped', since=mark)
    node.settle()
    np.testing.assert_allclose(node.commands[-1].effort, node.gravity(position), atol=1e-4)
    node.set(state_timeout=PATIENT)
    assert player.is_answered(position)
    assert not node.trigger('hold').success
    assert node.trigger('clear_fault').success
    np.testing.assert_allclose(player.rest(position), node.gravity(position), atol=1e-9)


def test_reactivation_clears(node, player) -> None:
    """Deactivated and activated again, the arm is held where it is. Without a fault, and while the
    node is inactive, ~/clear_fault refuses and says why.
    """
    position = creep_until_fault(node, player)
    assert node.change_state('deactivate')
    answer = node.trigger('clear_fault')
    assert not answer.success
    assert 'inactive' in answer.message
    assert node.change_state('activate')
    np.testing.assert_allclose(player.rest(position), node.gravity(position), atol=1e-9)
    answer = node.trigger('clear_fault')
    assert not answer.success
    assert 'there is no latched fault' in answer.message


def test_an_arm_that_is_to_be_left_gets_a_last_command(node, player) -> None:
    position = creep_until_fault(node, player)
    velocity = np.array([0.9, -0.7, 0.5, 0.0, 0.0, 0.0])
    for _ in range(10):
        position = position + player.period * velocity
        assert player.is_answered(position, velocity=velocity.tolist())
    gravity = node.gravity(position)
    assert np.abs(node.commands[-1].effort - gravity).max() > 10.0
    mark = node.mark()
    node.set(on_fault='leave')
    try:
        node.until_logged('a last command against gravity stays, after following', since=mark)
        node.settle()
        np.testing.assert_allclose(node.commands[-1].effort, gravity, atol=1e-9)
        count = len(node.commands)
        for _ in range(5):
            assert not player.is_answered(position)
        assert len(node.commands) == count
    finally:
        node.set(on_fault='damp')
    assert player.is_answered(position)
    np.testing.assert_allclose(node.commands[-1].effort, gravity, atol=30.0)
    assert node.trigger('clear_fault').success
    player.rest(position)
