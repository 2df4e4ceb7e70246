"""Tolerances of single joints, for trajectories by topic; test_jtc_parity.py has the others."""

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
