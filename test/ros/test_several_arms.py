"""Two arms on one domain, each with its own node, robot and namespace: four processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
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


@pytest.fixture
def arms() -> Iterator[list[Any]]:
    from fault_bench import FaultBench

    from ne_dynamics.simulation.demo.ros_process import local_discovery

    with local_discovery(), ExitStack() as stack:
        benches = []
        for posture in POSTURES:
            bench = FaultBench(wired=False)
            stack.callback(bench.close)
            benches.append(bench)
            bench.start_robot(initial_position=posture.tolist(), rate=100.0)
            bench.start_node(state_timeout=2.0)
        for bench in benches:
            bench.until_ready()
            bench.until_held()
        yield benches


def until_there(arm: Any, goal: np.ndarray) -> None:
    """Wait until an arm has come to rest at its goal."""
    arm.until(lambda: np.array_equal(arm.held_at, goal), 'the goal')
    arm.until(lambda: np.abs(arm.states[-1].position - goal).max() < TOLERANCE, 'the arm there')


def test_each_follows_its_own_trajectory(arms) -> None:
    """Two arms that move at once do not hear each other: each moves its own joints, on the way
    from its own start to its own goal; one ends on the way back, and the other goes on.
    """
    marks = [arm.mark() for arm in arms]
    goals = [posture + step for posture, step in zip(POSTURES, STEPS, strict=True)]
    for arm, goal in zip(arms, goals, strict=True):
        arm.trajectories.publish(arm.trajectory((1.0, goal, REST, REST)))
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
    first, second = arms
    mark = second.mark()
    second.trajectories.publish(second.trajectory((1.0, POSTURES[1], REST, REST)))
    second.until(lambda: np.any(second.answers[-1].velocity), 'motion')
    first.node.end(signal.SIGINT)
    first.check()
    first.robot.kill()
    until_there(second, POSTURES[1])
    second.check()
    record = second.until_diagnosed(lambda record: True, second.mark(), 'any')
    assert record.values['state'] == 'active'
    assert record.values['fault'] == 'none'
    assert not any(
        one.level == 2 and 'joint_states' in one.message
        for one in second.diagnostics[mark.diagnostics :]
    )
    second.node.end(signal.SIGTERM)
