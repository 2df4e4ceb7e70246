"""States that come slowly: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node


def with_friction(share):
    """Return what makes an arm whose only friction is a share of the effort limits."""

    def make(robot):
        joints = [replace(one, coulomb_friction=share * one.effort_limit) for one in robot.joints]
        return replace(robot.without_friction(), joints=tuple(joints))

    return make


def follow(loop):
    """Send the motion of the demo."""
    yield 0.3
    loop.follow(loop.motion)


@pytest.mark.parametrize('share', [0.002, 0.005, 0.03])
def test_an_arm_that_stands_at_last_is_held(share) -> None:
    """At 30 Hz friction stops a joint a little early: that is no frozen encoder."""
    gains = {'computed_torque.kp': [25.0], 'computed_torque.kv': [10.0]}
    run = run_node(follow, gains, 3.5, plant=with_friction(share), rate=30.0)
    assert run.faults == []
    assert run.fastest(3.0) < 0.1
