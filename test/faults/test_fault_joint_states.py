"""Faults of the joint states, each before a node that a test plays the robot for."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import NAMES
from fault_bench import POSTURE as Q

NAN, INF = float('nan'), float('inf')
SPIKE = Q + np.array([0.0, 0.8, 0.0, 0.0, 0.0, 0.0])
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


NODE = RESET = {'state_timeout': PATIENT}


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
    """Wait until the last command is that against gravity of a pose; none comes after it."""
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


def test_effort_that_is_not_finite(node, player) -> None:
    """An effort of NaN in the states does not reach the first command after activation."""
    assert node.change_state('deactivate')
    assert node.change_state('activate')
    command = player.answer(Q, effort=[NAN, INF, *[0.0] * 4])
    np.testing.assert_allclose(command, node.gravity(Q), atol=1e-9)


def test_efforts_that_mean_something_else(node, player) -> None:
    """Currents, or torques without gravity, are no beginning unless they are said to be one: the
    first command is that of the model, which is said once. Where the robot compensates gravity
    the command begins without it.
    """
    gravity, ones = node.gravity(Q), np.ones(6)
    rows = (
        ({}, 0.1 * gravity, gravity, 1),
        ({'state_effort': 'ignore'}, 0.1 * gravity, gravity, 0),
        ({'state_effort': 'torque_without_gravity'}, ones, gravity + ones, 0),
        ({'terms.gravity': False}, gravity + ones, ones, 0),
        ({'terms.gravity': False, 'state_effort': 'ignore'}, gravity, 0.0 * ones, 0),
        ({'terms.gravity': False, 'state_effort': 'torque_without_gravity'}, ones, ones, 0),
    )
    usual = {'terms.gravity': True, 'state_effort': 'torque'}
    try:
        for settings, reading, expected, count in rows:
            assert node.change_state('deactivate')
            node.set(**{**usual, **settings})
            mark = node.mark()
            assert node.change_state('activate')
            command = player.answer(Q, effort=reading.tolist())
            np.testing.assert_allclose(command, expected, atol=1e-9)
            player.answer(Q, effort=reading.tolist())
            said = [line for line in node.log[mark.log :] if 'state_effort' in line]
            # Lines of one kind are seldom: another test may have had one just before.
            while count and not said:
                assert node.change_state('deactivate')
                assert node.change_state('activate')
                player.answer(Q, effort=reading.tolist())
                said = [line for line in node.log[mark.log :] if 'state_effort' in line]
            assert len(said) == count, said
            assert all('joint_3' in line and 'state_effort: torque' in line for line in said)
            node.skip_to(mark)
    finally:
        assert node.change_state('deactivate')
        node.set(**usual)
        assert node.change_state('activate')
        player.rest(Q)
        node.left_at = None


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


@pytest.fixture
def leaving(node, player):
    """Let the node leave the arm after every fault."""
    node.set(on_fault='leave')
    yield
    node.set(on_fault='damp')


JUMPS = {
    'a spike': ([SPIKE], Q, (3, 4)),
    'for good': ([ELSEWHERE] * 2, ELSEWHERE, (1, 2)),
    'again and again': ([Q - 1.0, ELSEWHERE] * 5, Q, (3, 4)),
}
"""What is sent; where the arm is after it, and how many states agree when one is answered."""


@pytest.mark.parametrize('jump', JUMPS)
def test_jumps_are_refused_until_states_agree(node, player, leaving, jump: str) -> None:
    """Left with gravity of the last good pose; held where three states in a row agree."""
    mark = node.mark()
    sent, found, counts = JUMPS[jump]
    for position in sent:
        assert not player.is_answered(position)
    node.until_fault('joint_states jumped', since=mark)
    until_left(node, Q)
    assert until_restarted(node, player, found) in counts


def test_a_fast_but_possible_motion_is_no_jump(node, player) -> None:
    """At one and a half times the velocity limit of the model states are still believed, also
    when ten of them were lost.
    """
    step = 1.5 * player.period * np.array([2.1, 2.1, 3.1, 3.1, 3.1, 3.1])
    for count in range(1, 9):
        assert player.is_answered(Q + count * step)
    assert player.is_answered(Q + 18 * step, dt=10 * player.period)


def test_a_fall_is_no_jump(node, player, leaving) -> None:
    """An arm that falls, faster than it ever should move, is believed: its velocities say the
    same as its positions. It is braked.
    """
    speed = np.array([3.0, -9.0, 12.0, 15.0, -14.0, 20.0])
    time, position = 0.0, Q
    for step in range(1, 11):
        time = step * player.period
        position = Q + 0.5 * time**2 * speed / 0.05
        assert player.is_answered(position, velocity=(time / 0.05 * speed).tolist())
    push = node.commands[-1].effort - node.gravity(position)
    assert push @ speed < 0.0
    assert not player.is_answered(position + 0.5, velocity=speed.tolist())


# ---- time


def test_states_that_are_not_believed_are_damped(node, player) -> None:
    """States that jump, or whose stamp stands still, are answered while they come."""
    mark = node.mark()
    for position in (ELSEWHERE, Q, ELSEWHERE, Q):
        assert player.is_answered(position)
    node.until_fault('joint_states jumped', since=mark)
    for _ in range(200):
        assert player.is_answered(Q)
    np.testing.assert_allclose(node.held_at, Q, atol=1e-9)
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)


@pytest.mark.parametrize('trembles', [False, True])
def test_a_frozen_stamp(node, player, leaving, trembles: bool) -> None:
    """States that keep coming with one stamp are of a robot that stands still in time; so are
    those of a stamp of which only the last digits change.
    """
    mark = node.mark()
    shorten_timeout(node, player, Q)

    def send() -> None:
        for step in (256e-9, -256e-9) if trembles else (0.0,):
            player.send(Q, dt=step)
            time.sleep(0.005)  # each is heard: only the newest is kept

    until_counted(node, 'joint_states frozen stamp', send)
    node.until_fault('joint_states frozen stamp', since=mark)
    until_left(node, Q)
    for _ in range(20):
        send()
    node.settle()
    assert len(node.commands) == node.left_at
    node.set(state_timeout=PATIENT)
    until_restarted(node, player, Q)


@pytest.mark.parametrize(
    ('seconds', 'fault', 'most'),
    [(5.0, 'joint_states gap', 1), (-5.0, 'joint_states clock ran backwards', 4)],
)
def test_a_clock_that_jumps(node, player, seconds: float, fault: str, most: int) -> None:
    """Named as an error; held at the measured position soon, no step, the motion forgotten."""
    mark = node.mark()
    node.set(state_timeout=2.0)
    last = set_out(node, player)
    player.time += seconds
    assert until_restarted(node, player, last) <= most
    node.until_fault(fault, since=mark)
    np.testing.assert_allclose(node.held_at, last, atol=1e-9)


def test_a_state_that_comes_late_is_dropped(node, player) -> None:
    """A little disorder of the stamps costs the message, and nothing else."""
    held = node.commands[-1].effort
    assert not player.is_answered(Q, dt=-0.02)
    player.time += 0.02
    np.testing.assert_allclose(player.answer(Q), held, atol=1e-9)
    assert node.get('state_timeout') == [PATIENT]


def test_a_stamp_ahead_of_its_time(node, player) -> None:
    """One state stamped 50 s too late: the motion goes on, and every other state is answered."""

    def dropped(record) -> int:
        return int(record.values.get('joint_states.header.stamp dropped', 0))

    before = dropped(node.until_diagnosed(lambda record: True, node.mark(), 'any'))
    follow(node, Q + 0.4, 600.0)
    mark = node.mark()
    for step in range(8):
        ahead = 50.0 if step == 4 else 0.0
        player.time += ahead
        assert player.is_answered(Q + 1e-3 * step)
        player.time -= ahead
    assert np.any(node.answers[-1].velocity)
    node.until_diagnosed(lambda record: dropped(record) == before + 1, mark, 'one drop')


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
    node.set(on_deactivate=last)
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
    node.set(on_deactivate='gravity')


def test_moved_while_inactive(node, player) -> None:
    """An arm that was moved while the node was inactive is held where it is at activation."""
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


def test_a_rate_limit_that_is_too_slow_for_the_last_command(node, player) -> None:
    """Where the last command cannot be reached in half a second, it is left out, not jumped to;
    the log says so.
    """
    node.check()
    mark = node.mark()
    # With feedback a rate limit as slow as this is refused.
    slow = {'mode': 'gravity_compensation', 'effort_rate_limit': [20.0]}
    assert node.set_atomically(on_deactivate='zero', **slow).successful
    node.rate_limit = 20.0
    before = player.answer(Q)
    assert node.change_state('deactivate')
    node.settle()
    last = node.commands[-1].effort
    assert 1.0 < np.abs(last - before).max() <= 10.0 * (1 + 1e-6) + 20.0 * 0.002
    assert np.abs(last).max() > 20.0
    node.check()
    assert any('rate' in line for line in node.log[mark.log :])
    assert node.change_state('activate')
    node.settle()
    fast = {'mode': 'computed_torque', 'effort_rate_limit': [1000.0]}
    assert node.set_atomically(on_deactivate='gravity', **fast).successful
    node.rate_limit = 1000.0
    np.testing.assert_allclose(player.rest(Q), node.gravity(Q), atol=1e-9)
