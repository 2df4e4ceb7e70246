"""Faults of the joint states, each before a node that a test plays the robot for."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import NAMES
from fault_bench import POSTURE as Q

NAN, INF = float('nan'), float('inf')
ELSEWHERE = Q + np.array([0.5, 0.4, -0.6, 0.3, 0.5, -0.7])
PATIENT = 60.0
"""state_timeout [s] of rows that are no matter of time."""

QUICK = 0.3
"""state_timeout [s] of rows that wait for it to pass."""

ERROR = 2

UNUSABLE = {
    'NaN position': {'position': [*Q[:2], NAN, *Q[3:]]},
    'all positions NaN': {'position': [NAN] * 6},
    'infinite position': {'position': [*Q[:5], INF]},
    'negative infinite position': {'position': [-INF, *Q[1:]]},
    'NaN velocity': {'velocity': [NAN, *[0.0] * 5]},
    'infinite velocity': {'velocity': [*[0.0] * 5, -INF]},
    'overflowing velocity': {'velocity': [1e200] * 6},
    'joint missing': {'name': NAMES[:5], 'position': Q[:5], 'velocity': [0.0] * 5},
    'joint renamed': {'name': [*NAMES[:5], 'joint_7']},
    'other joints only': {'name': ['finger'], 'position': [0.0], 'velocity': [0.0]},
    'joint twice': {'name': [*NAMES, 'joint_1'], 'position': [*Q, 0.3], 'velocity': [0.0] * 7},
    'joint twice, another missing': {'name': [*NAMES[:5], 'joint_1']},
    'empty': {'name': [], 'position': [], 'velocity': []},
    'no names': {'name': []},
    'no positions': {'position': []},
    'short positions': {'position': Q[:4]},
    'long positions': {'position': [*Q, 0.0]},
    'short velocities': {'velocity': [0.0] * 3},
    'no velocities': {'velocity': []},
}


RESET = {'state_timeout': PATIENT}
NODE = {**RESET, 'transition_time': 0.05}


def follow(node, goal, seconds: float = 2.0) -> None:
    """Let the arm follow a trajectory, from the next state on."""
    node.trajectories.publish(node.trajectory((seconds, goal)))
    node.settle()


def set_out(node, player) -> np.ndarray:
    """Let the arm be under way; return where it is."""
    follow(node, Q + 0.4)
    for step in range(8):
        player.answer(Q + 0.001 * step, velocity=[0.2] * 6)
    return Q + 0.001 * 7


def until_restarted(node, player, q) -> int:
    """Send states until one is answered; return how many it took.

    Nothing came since the arm was left, the first command is the one it was left with, and the
    arm is held where it is now.
    """
    for count in range(1, 6):
        mark = node.mark()
        if player.is_answered(q):
            answer = node.answers[mark.answers]
            np.testing.assert_allclose(answer.position, q, atol=1e-9)
            np.testing.assert_array_equal(answer.velocity, 0.0)
            before = [record.effort for record in node.commands if record.sent < answer.sent][-2]
            np.testing.assert_allclose(answer.effort, before, rtol=0, atol=1e-9)
            if node.left_at is not None:
                assert len(node.commands) == node.left_at + 1
            np.testing.assert_allclose(player.rest(q), node.gravity(q), atol=1e-9)
            np.testing.assert_allclose(node.held_at, q, atol=1e-9)
            return count
    raise AssertionError('states are not answered any more')


def until_left(node, q) -> None:
    gravity = node.gravity(q)
    node.until(
        lambda: np.allclose(node.commands[-1].effort, gravity, atol=1e-9),
        'a last command against gravity',
    )
    node.settle()
    node.left_at = len(node.commands)


def faults(record) -> int:
    """Return how many faults a status counts."""
    return sum(int(count) for key, count in record.values.items() if key.startswith('faults '))


def until_counted(node, name: str, send) -> None:
    """Send states, 10 ms apart, until a fault has come about once more by the diagnostics."""
    key, mark = f'faults {name}', node.mark()
    before = node.fault_count(name)

    def is_counted() -> bool:
        send()
        time.sleep(0.01)
        found = node.diagnostics[mark.diagnostics :]
        return any(int(record.values.get(key, 0)) > before for record in found)

    node.until(is_counted, name)


def shorten_timeout(node, player, q) -> None:
    """Let the states stop soon after one more."""
    node.set(state_timeout=QUICK)
    player.send(q)
    node.settle()


# ---- what cannot be used


def test_an_unusable_state_is_passed_over(node, player) -> None:
    """A state that cannot be used gives no command, and the next good one is answered."""
    held = node.commands[-1].effort
    for fault, fields in UNUSABLE.items():
        count = len(node.commands)
        for _ in range(3):
            player.send(Q, **{key: list(value) for key, value in fields.items()})
        node.settle()
        assert len(node.commands) == count, fault
        np.testing.assert_allclose(player.answer(Q), held, atol=1e-9, err_msg=fault)
        np.testing.assert_allclose(node.held_at, Q, atol=1e-9)


def test_unusable_states_are_counted_by_field(node, player) -> None:
    """The diagnostics count what was dropped, by the field at fault, and the log names it."""
    mark = node.mark()
    for _ in range(5):
        player.send(Q, position=[NAN] * 6)
        player.send(Q, name=NAMES[:5], position=Q[:5].tolist(), velocity=[0.0] * 5)
        node.settle()
    record = node.until_diagnosed(
        lambda record: (
            int(record.values.get('joint_states.position dropped', 0)) >= 5
            and int(record.values.get('joint_states.name dropped', 0)) >= 5
        ),
        mark,
        'counts',
    )
    assert record.level > 0
    node.until_logged('joint_states dropped', 'position')
    node.until_logged('joint_states dropped', 'name')


def test_names_decide(node, player) -> None:
    """Joints in another order, and among others whatever their values, are matched by name."""
    generator = np.random.default_rng(5)
    moving = np.linspace(-0.3, 0.3, 6)
    names = np.array([*NAMES, 'wheel', 'finger'])
    position, velocity = np.array([*Q, NAN, 1e300]), np.array([*moving, -INF, NAN])
    expected = player.answer(Q, velocity=moving.tolist())
    for count in (6, 6, 8, 8):
        order = generator.permutation(count)
        command = player.answer(
            position[order], dt=0.0, name=names[order].tolist(), velocity=velocity[order].tolist()
        )
        np.testing.assert_allclose(command, expected, atol=1e-9)
        np.testing.assert_allclose(node.held_at, Q, atol=1e-9)


def test_no_stamp(node, player) -> None:
    """States without a stamp are placed in time by the node's clock, and answered."""
    from builtin_interfaces.msg import Time
    from std_msgs.msg import Header

    assert node.change_state('deactivate')
    assert node.change_state('activate')
    for _ in range(5):
        command = player.answer(Q, header=Header(stamp=Time()))
    np.testing.assert_allclose(command, node.gravity(Q), atol=1e-9)


# ---- states that stop


@pytest.mark.parametrize('moved', [False, True])
def test_states_that_stop(node, player, moved: bool) -> None:
    """States stop under way: left with gravity, an error, silence; held where they return, though
    the arm was moved meanwhile, without a step of the command.
    """
    mark = node.mark()
    # These states are no arm's, which a brake would be reckoned from.
    node.set(on_state_loss='gravity')
    last = set_out(node, player)
    assert np.abs(node.commands[-1].effort - node.gravity(last)).max() > 0.05
    shorten_timeout(node, player, last)
    node.until_fault('joint_states stopped', since=mark)
    until_left(node, last)
    node.set(state_timeout=PATIENT, on_state_loss='brake')
    player.time += 10.0
    until_restarted(node, player, ELSEWHERE if moved else last)


def test_a_timeout_that_is_shortened_while_states_stay_away(node, player) -> None:
    """A new timeout counts for the state that is being waited for already."""
    mark = node.mark()
    node.set(state_timeout=QUICK)
    node.until_fault('joint_states stopped', since=mark)
    node.set(state_timeout=PATIENT)
    until_restarted(node, player, Q)


def test_only_unusable_states_are_none(node, player) -> None:
    """States that cannot be used for longer than the timeout are states that have stopped."""
    shorten_timeout(node, player, Q)
    until_counted(node, 'joint_states stopped', lambda: player.send(Q, position=[NAN] * 6))
    until_left(node, Q)
    node.set(state_timeout=PATIENT)
    until_restarted(node, player, Q)


# ---- jumps


def test_a_fast_but_possible_motion_is_no_jump(node, player) -> None:
    """At one and a half times the velocity limit of the model states are still believed, also
    when ten of them were lost.
    """
    step = 1.5 * player.period * np.array([2.1, 2.1, 3.1, 3.1, 3.1, 3.1])
    for count in range(1, 9):
        assert player.is_answered(Q + count * step)
    assert player.is_answered(Q + 18 * step, dt=10 * player.period)


# ---- time


def test_states_that_are_not_believed_are_damped(node, player) -> None:
    """States that jump, or whose stamp stands still, are answered while they come."""
    mark = node.mark()
    for position in (ELSEWHERE, Q, ELSEWHERE, Q):
        assert player.is_answered(position)
    node.until_fault('joint_states jumped', since=mark)
    for _ in range(20):
        assert player.is_answered(Q, dt=0.05)
    np.testing.assert_allclose(node.held_at, Q, atol=1e-9)
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)


def test_disorder_that_lasts(node, player) -> None:
    """Stamps that stay a little behind are no usable states: an error when the time is up."""
    before = max(faults(record) for record in node.diagnostics)
    mark = node.mark()
    shorten_timeout(node, player, Q)
    player.time -= 0.5

    def left() -> bool:
        player.send(Q, dt=1e-6)
        time.sleep(0.01)
        return any(
            record.level == ERROR and faults(record) > before
            for record in node.diagnostics[mark.diagnostics :]
        )

    node.until(left, 'an error')
    node.set(state_timeout=PATIENT)
    player.time += 1.0
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)
    np.testing.assert_allclose(node.held_at, Q, atol=1e-9)


# ---- deactivated


@pytest.mark.parametrize('last', ['gravity', 'zero', 'none'])
def test_the_last_command_of_choice(node, player, last: str) -> None:
    """On deactivation the last command is what on_deactivate says, reached no faster than the
    rate limit; then none comes, whatever the robot sends.
    """
    # Else the arm is braked first.
    node.set(on_deactivate=last, on_state_loss='gravity')
    before = player.answer(Q, velocity=[0.5] * 6)
    assert np.abs(before - node.gravity(Q)).max() > 1.0
    count = len(node.commands)
    assert node.change_state('deactivate')
    node.settle()
    expected = {'gravity': node.gravity(Q), 'zero': np.zeros(6), 'none': before}[last]
    np.testing.assert_allclose(node.commands[-1].effort, expected, atol=1e-9)
    if last == 'none':
        assert len(node.commands) == count
    count = len(node.commands)
    for _ in range(3):
        player.send(Q)
    node.settle()
    assert len(node.commands) == count
    assert node.change_state('activate')
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)
    node.set(on_deactivate='gravity', on_state_loss='brake')


def test_moved_while_inactive(node, player) -> None:
    assert node.change_state('deactivate')
    for step in np.linspace(0.0, 1.0, 20):
        player.send(Q + step * (ELSEWHERE - Q))
    node.settle()
    assert node.change_state('activate')
    last = node.commands[-1].effort
    first = player.answer(ELSEWHERE)
    np.testing.assert_array_equal(node.held_at, ELSEWHERE)
    assert np.abs(first - last).max() <= node.rate_limit * 0.002 * (1 + 1e-9)
    np.testing.assert_allclose(player.rest(ELSEWHERE), node.gravity(ELSEWHERE), atol=1e-9)


def test_no_state_has_come_yet(node, player) -> None:
    """Deactivated before any state has come, there is no pose, and no command is made up."""
    assert node.change_state('deactivate')
    assert node.change_state('cleanup')
    assert node.change_state('configure')
    assert node.change_state('activate')
    node.settle()
    count = len(node.commands)
    assert node.change_state('deactivate')
    node.settle()
    assert len(node.commands) == count
    assert node.change_state('activate')
    node.until_ready()
    player.rest(Q)
