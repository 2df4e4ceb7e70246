"""Two arms on one domain, each with its own node, robot and namespace: four processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
pytest.importorskip('mujoco', reason='MuJoCo is not installed: pip install "ne_dynamics[sim]"')

POSTURES = (np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2]), np.array([-0.4, -0.6, 0.9, 0.1, 0.7, 0.0]))
STEPS = (np.array([0.3, 0.0, 0.2, 0.0, 0.3, 0.0]), np.array([0.0, -0.3, 0.0, 0.2, 0.0, -0.3]))
REST = [0.0] * 6
TOLERANCE = 0.02
"""How far an arm may be from where it is to be [rad]."""


@pytest.fixture(scope='module')
def arms() -> Iterator[list[Any]]:
    from fault_bench import FaultBench

    from ne_dynamics.simulation.demo.ros_process import local_discovery

    with local_discovery():
        benches = []
        try:
            for posture in POSTURES:
                bench = FaultBench(wired=False)
                benches.append(bench)
                bench.start_robot(initial_position=posture.tolist(), rate=100.0)
                bench.start_node(state_timeout=2.0)
            for bench in benches:
                bench.until_ready()
                bench.until_held()
            yield benches
        finally:
            for bench in benches:
                bench.close()


def send(arm: Any, goal: np.ndarray) -> None:
    """Let an arm move to a goal within a second."""
    arm.trajectories.publish(arm.trajectory((1.0, goal, REST, REST)))


def until_there(arm: Any, goal: np.ndarray) -> None:
    """Wait until an arm has come to rest at its goal."""
    arm.until(lambda: np.array_equal(arm.held_at, goal), 'the goal')
    arm.until(lambda: np.abs(arm.states[-1].position - goal).max() < TOLERANCE, 'the arm there')


def test_each_follows_its_own_trajectory(arms) -> None:
    """Two arms that move at once do not hear each other: each moves its own joints, on the way
    from its own start to its own goal, and each command is for its own arm.
    """
    marks = [arm.mark() for arm in arms]
    goals = [posture + step for posture, step in zip(POSTURES, STEPS, strict=True)]
    for arm, goal in zip(arms, goals, strict=True):
        send(arm, goal)
    for arm, goal in zip(arms, goals, strict=True):
        until_there(arm, goal)
    for arm, mark, posture, goal in zip(arms, marks, POSTURES, goals, strict=True):
        low, high = np.minimum(posture, goal), np.maximum(posture, goal)
        desired = np.array([answer.position for answer in arm.answers[mark.answers :]])
        assert (desired >= low - 1e-9).all()
        assert (desired <= high + 1e-9).all()
        positions = np.array([state.position for state in arm.states[mark.states :]])
        assert (positions >= low - TOLERANCE).all()
        assert (positions <= high + TOLERANCE).all()
        arm.check()


def test_one_ends_and_the_other_goes_on(arms) -> None:
    first, second = arms
    mark = second.mark()
    # Away from where it is held, whether it has moved before or not.
    goal = second.held_at - STEPS[1]
    send(second, goal)
    second.until(lambda: np.any(second.answers[-1].velocity), 'motion')
    first.node.end(signal.SIGINT)
    first.check()
    first.robot.kill()
    until_there(second, goal)
    second.until_answering(20)
    second.check()
    record = second.until_diagnosed(lambda record: True, second.mark(), 'any')
    assert record.values['state'] == 'active'
    assert record.values['fault'] == 'none'
    assert not any(
        record.level == 2 and 'joint_states' in record.message
        for record in second.diagnostics[mark.diagnostics :]
    )
    second.node.end(signal.SIGTERM)
