"""Processes that end, stop and come back, in the middle of a motion."""

from __future__ import annotations

import signal
import time
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import LARGEST_SAG, SHORTEST_PERIOD

POSTURE = np.array([0.0, 2.74, -1.05, -0.48, 0.3, 0.0])
"""The arm hangs: with an effort that stays what it is, it does not fall [rad]."""

ELSEWHERE = POSTURE + np.array([-0.3, 0.2, 0.4, 0.3, -0.2, 0.5])
REST = [0.0] * 6
ARM = {'node': {'state_timeout': 5.0}, 'robot': {'initial_position': POSTURE.tolist()}}


@pytest.fixture
def arm(module_arm):
    bench = module_arm
    bench.set(state_timeout=5.0)
    bench.until_rest()
    yield bench
    bench.check()


def start_moving(arm) -> None:
    """Set the arm in slow motion, back and forth from one time to the next."""
    goal = arm.held_at + np.copysign(0.2, POSTURE - arm.held_at)
    arm.trajectories.publish(arm.trajectory((4.0, goal, REST, REST)))
    arm.until(lambda: np.any(np.abs(arm.answers[-1].velocity) > 0.03), 'motion')


def check_first(arm, mark) -> None:
    """Check the first answer of a new node: held where measured, from the effort that is there."""
    first = arm.answers[mark.answers]
    (state,) = (state for state in arm.states if state.stamp == first.stamp)
    np.testing.assert_allclose(first.position, state.position, atol=1e-9)
    np.testing.assert_allclose(first.velocity, state.velocity, atol=1e-2)
    step = np.abs(first.effort - state.effort).max()
    assert step <= arm.rate_limit * SHORTEST_PERIOD * (1.0 + 1e-9)


def test_the_node_is_stopped_for_a_while(arm) -> None:
    mark = arm.mark()
    start_moving(arm)
    arm.set(state_timeout=2.0)
    arm.node.send(signal.SIGSTOP)
    answered = arm.answers[-1].stamp
    arm.until(lambda: arm.states[-1].stamp - answered > 2.5e9, 'more than the timeout of 2 s')
    later = arm.mark()
    arm.node.send(signal.SIGCONT)
    arm.until_answering(20)
    arm.set(state_timeout=5.0)
    arm.until_fault('joint_states gap', 'joint_states stopped', since=mark)
    measured = {state.stamp: state for state in arm.states}
    found = next(
        state
        for answer in arm.answers[later.answers :]
        if np.allclose(answer.position, (state := measured[answer.stamp]).position, 0.0, 1e-9)
    )
    arm.until(lambda: not np.any(arm.answers[-1].velocity), 'the stop')
    assert (np.abs(arm.held_at - found.position) <= 0.1 * np.abs(found.velocity) + 1e-9).all()


def test_the_node_is_stopped_for_a_moment(arm) -> None:
    """SIGSTOP for less than the timeout and SIGCONT: the arm is held on, without an error."""
    mark, held = arm.mark(), arm.held_at
    arm.node.send(signal.SIGSTOP)
    arm.until_states(30)
    arm.node.send(signal.SIGCONT)
    arm.until_answering(20)
    assert arm.sag(mark, held) < LARGEST_SAG
    np.testing.assert_array_equal(arm.held_at, held)


@pytest.mark.long
def test_the_node_is_killed_under_way(arm) -> None:
    """SIGKILL in the middle of a motion, and a new node: it holds the arm where it is measured,
    from the effort that the motors apply; the motion is forgotten.
    """
    start_moving(arm)
    arm.node.kill()
    arm.until(lambda: arm.is_silent, 'silence')
    arm.check()
    mark = arm.mark()
    arm.restart_node(state_timeout=5.0)
    arm.until_answering(20)
    check_first(arm, mark)
    arm.until_ready()
    arm.until(lambda: np.abs(arm.states[-1].velocity).max() < 0.05, 'the arm at rest')
    first = arm.answers[mark.answers]
    assert (np.abs(arm.held_at - first.position) <= 0.1 * np.abs(first.velocity) + 1e-9).all()


def test_the_node_is_asked_to_end_under_way(arm) -> None:
    """SIGINT in the middle of a motion: the arm is braked, a last command against gravity carries
    it where it has come to rest, and the exit code is 0.
    """
    start_moving(arm)
    arm.node.end(signal.SIGINT)
    arm.until(lambda: arm.is_silent, 'silence')
    last = arm.commands[-1].effort
    answered = arm.answers[-1].stamp
    poses = [state.position for state in arm.states if state.stamp >= answered]
    distance = min(np.abs(arm.gravity(pose) - last).max() for pose in poses)
    later = [state.velocity for state in arm.states if state.stamp >= answered]
    assert np.abs(later).max() < 0.2
    assert distance < 0.1
    arm.check()
    mark = arm.mark()
    arm.restart_node(state_timeout=5.0)
    arm.until_answering(20)
    check_first(arm, mark)
    arm.until_ready()


@pytest.mark.long
def test_the_robot_is_killed_and_started_again(arm) -> None:
    """The robot goes and comes back in another posture, under brakes: the node waits, says so,
    and holds it there when the brake is released.
    """
    mark = arm.mark()
    start_moving(arm)
    arm.robot.kill()
    killed = time.time_ns()
    arm.set(state_timeout=0.5)
    arm.until_fault('joint_states stopped', since=mark)
    later = arm.mark()
    arm.set(state_timeout=5.0)
    arm.start_robot(initial_position=ELSEWHERE.tolist())
    arm.until_answering(20)
    first = next(answer for answer in arm.answers if answer.stamp > killed)
    before = [record for record in arm.commands if record.sent < first.sent][-2]
    np.testing.assert_allclose(first.position, ELSEWHERE, atol=1e-9)
    np.testing.assert_array_equal(first.effort, before.effort)
    arm.until_held()
    arm.until_answering(40)
    assert arm.sag(later, ELSEWHERE) < LARGEST_SAG


def test_the_subscriber_of_the_commands_goes_and_comes_back(arm) -> None:
    """Without anyone to hear them the node goes on answering, and is heard again later."""
    arm.check()
    arm.leave_commands()
    arm.until_answering(40)
    arm.listen_to_commands()
    mark = arm.mark()
    arm.until(lambda: len(arm.commands) > mark.commands + 10, 'commands')
    # Nobody heard the commands between: the steps are those of the messages of ~/effort.
    arm.skip_to(mark)
    answers = arm.answers[mark.answers - 40 :]
    for before, now in pairwise(answers):
        dt = max((now.stamp - before.stamp) * 1e-9, 0.002)
        assert np.abs(now.effort - before.effort).max() <= arm.rate_limit * dt * (1 + 1e-9)


def test_the_node_ends_without_a_last_command(arm) -> None:
    arm.set(on_deactivate='none')
    with arm.state_wire.broken(lambda message: []):
        arm.set(state_timeout=60.0)
        arm.settle()
        count = len(arm.commands)
        arm.node.end(signal.SIGTERM)
        arm.until_states(20)
        assert len(arm.commands) == count
