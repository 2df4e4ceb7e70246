"""Two publishers of the same joints: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node
from sticking_arms import with_friction

BEGIN = 0.5
"""When the other one begins [s]."""


def disturbed(away, *, moves=False, still=False):
    """Return a script of which another publisher becomes part, which may show one pose."""

    def script(loop):
        yield 0.2
        if moves:
            loop.follow(loop.motion)
        yield BEGIN
        loop.say_beside(np.array(away), still=still)

    return script


@pytest.mark.parametrize('rate', [125.0, 250.0])
def test_one_that_is_near_at_some_joints_shakes_none(rate) -> None:
    """A resting arm without friction is damped without a step, though of some joints the two
    positions are so near that they alone would be no jump.
    """
    away = [0.3, 0.01, 0.019, 0.025, 0.1, 0.03]
    run = run_node(disturbed(away), plant=lambda robot: robot.without_friction(), rate=rate)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest() < 0.05
    assert run.largest_step() < 0.02


@pytest.mark.parametrize(('rate', 'away'), [(50.0, 0.3), (125.0, 0.1)])
def test_one_that_shows_a_pose_near_the_way_of_the_arm_throws_it_not(rate, away) -> None:
    """The arm comes nearer to that pose than it was when they parted, as it comes to rest."""
    script = disturbed(np.full(6, away), moves=True, still=True)
    run = run_node(script, plant=lambda robot: robot.without_friction(), rate=rate, seconds=3.5)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest(BEGIN) < 1.5
    assert run.fastest(3.0) < 0.1


@pytest.mark.parametrize('away', [0.1, 0.3])
def test_an_arm_that_is_left_under_way_is_braked(away) -> None:
    """`on_fault: leave`: the last states that were believed tell how it is brought to rest; a
    friction that the model does not have then holds it.
    """
    script = disturbed(np.full(6, away), moves=True)
    plant = partial(with_friction, share=0.01)
    run = run_node(script, {'on_fault': 'leave'}, 3.0, plant=plant)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest(BEGIN) < 1.5
    assert run.fastest(1.5) < 0.05
