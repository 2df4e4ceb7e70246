"""States that come slowly: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node
from sticking_arms import with_friction


def follow(loop):
    """Send the motion of the demo."""
    yield 0.3
    loop.follow(loop.motion)


@pytest.mark.parametrize('share', [0.002, 0.005, 0.03])
def test_an_arm_that_stands_at_last_is_held(share) -> None:
    gains = {'computed_torque.kp': [25.0], 'computed_torque.kv': [10.0]}
    run = run_node(follow, gains, 3.5, plant=partial(with_friction, share=share), rate=30.0)
    assert run.faults == []
    assert run.fastest(3.0) < 0.1
