"""Trajectories by topic, judged as JTC judges them: tolerances, silence, some of the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])


def follow(bench: Any, *rows: Any) -> list[np.ndarray]:
    before = len(bench.efforts)
    for dt, position in rows:
        bench.answer(bench.joint_state(position, dt=dt))
    bench.spin(lambda: len(bench.efforts) >= before + len(rows), 'the desired states')
    return [np.array(effort.position) for effort in bench.efforts[before:]]


def begin(bench: Any, **parameters: Any) -> None:
    """Start the node and hold the arm at Q."""
    bench.start(**parameters)
    bench.answer(bench.joint_state(Q))


def test_a_path_tolerance_counts_for_the_topic(bench) -> None:
    """Too far from the trajectory the arm is held where it is found, and the log says why."""
    begin(bench, constraints__trajectory=[0.05])
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5)))
    follow(bench, (0.0, Q), (0.05, Q), (0.2, Q))
    bench.hear('PATH_TOLERANCE_VIOLATED', 'held at its measured position')
    (held,) = follow(bench, (0.5, Q))
    np.testing.assert_allclose(held, Q, atol=1e-9)


@pytest.mark.parametrize('is_held', [True, False])
def test_the_goal_time_counts_for_the_topic(bench, is_held: bool) -> None:
    """Not at the end in time: the arm is held where it is found; without a goal time it is not."""
    begin(bench, constraints__goal=[0.05], constraints__goal_time=0.2 if is_held else 0.0)
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5)))
    steps = [(0.0, Q), (1.1, Q + 0.4), (0.2, Q + 0.4), (0.1, Q + 0.4)]
    held = follow(bench, *steps)[-1]
    np.testing.assert_allclose(held, Q + (0.4 if is_held else 0.5), atol=1e-9)


def test_single_joints_have_tolerances_of_their_own(bench) -> None:
    """`constraints.<joint>.trajectory` counts before the list, at the start and at run time."""
    begin(bench, **{'constraints.joint_2.trajectory': 0.1, 'constraints.trajectory': [2.0]})
    (name,) = (joint for joint in bench.robot.joint_names if joint == 'joint_2')
    index = list(bench.robot.joint_names).index(name)
    away = np.where(np.arange(6) == index, 0.0, 0.3)
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    follow(bench, (0.0, Q + away))
    assert not any('VIOLATED' in line for line in bench.said())
    follow(bench, (0.1, Q + 0.2))
    bench.hear("PATH_TOLERANCE_VIOLATED: joint 'joint_2'")
    assert bench.set_atomically(**{'constraints.joint_2.trajectory': -1.0}).successful
    bench.send_trajectory(bench.trajectory((1.0, Q)))
    (on_the_way,) = follow(bench, (0.002, Q + 1.0))
    assert np.abs(on_the_way - Q).max() > 0.1
    (goes_on,) = follow(bench, (0.5, Q + 1.0))
    np.testing.assert_allclose(goes_on, (on_the_way + Q) / 2.0, atol=1e-3)


@pytest.mark.parametrize('value', [-2.0, float('nan'), 'tight', [0.1]])
def test_tolerances_of_single_joints_are_checked(bench, value: Any) -> None:
    """Below -1, NaN, of the wrong type: named, and not configured."""
    bench.start(wait=None, **{'constraints.joint_2.goal': value})
    bench.hear('not configured: constraints.joint_2.goal: expected')
    assert bench.state == 'unconfigured'


def test_silence_after_the_last_point_is_noticed(bench) -> None:
    begin(bench, cmd_timeout=0.5)
    bench.send_trajectory(bench.trajectory((1.0, Q + 0.5)))
    found = follow(bench, (0.0, Q), (1.4, Q + 0.45), (0.2, Q + 0.45), (0.1, Q + 0.45))
    bench.hear('cmd_timeout', 'held at its measured position')
    np.testing.assert_allclose(found[1:3], [Q + 0.5] * 2, atol=1e-9)
    np.testing.assert_allclose(found[3], Q + 0.45, atol=1e-9)
