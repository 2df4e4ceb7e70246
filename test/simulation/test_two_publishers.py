"""Two publishers of the same joints: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import SHORTEST_PERIOD
from motion_loop import shipped_arm
from node_loop import run_node
from sticking_arms import with_friction

from ne_dynamics import Robot

BEGIN = 0.5
"""When the other one begins [s]."""

RATE_LIMIT = 3000.0
"""Of the efforts [N m/s]."""


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
    run = run_node(disturbed(away), plant=Robot.without_friction, rate=rate)
    assert [name for name, _ in run.faults] == ['joint_states jumped']
    assert run.fastest() < 0.05
    assert run.largest_step() < 0.02


@pytest.mark.parametrize(('rate', 'away'), [(50.0, 0.3), (125.0, 0.1)])
def test_one_that_shows_a_pose_near_the_way_of_the_arm_throws_it_not(rate, away) -> None:
    """The arm comes nearer to that pose than it was when they parted, as it comes to rest."""
    script = disturbed(np.full(6, away), moves=True, still=True)
    run = run_node(script, plant=Robot.without_friction, rate=rate, seconds=3.5)
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


@pytest.mark.parametrize('rate', [125.0, 500.0])
def test_one_that_repeats_a_state_with_its_stamp_throws_it_not(rate) -> None:
    """From a stamp that is old by seconds to a new one no such time has passed: neither for the
    velocity of an arm that is damped, nor for the rate limit of its efforts.
    """

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield BEGIN
        loop.say_beside(np.zeros(6), still=True)
        make, stamp = loop.second, loop.time
        loop.second = lambda now: make(stamp)

    parameters = {'effort_rate_limit': [RATE_LIMIT], 'terms.friction': False}
    run = run_node(script, parameters, 4.0, plant=Robot.without_friction, rate=rate)
    assert {name for name, _ in run.faults} == {'joint_states clock ran backwards'}
    assert run.fastest(BEGIN) < 2.5
    assert run.fastest(3.0) < 0.01
    elapsed = np.maximum(np.diff(run.command_time), SHORTEST_PERIOD)
    steps = np.abs(np.diff(run.command, axis=0)) * shipped_arm().limits('effort_limit')
    # States come up to 0.1 ms later than they are stamped.
    assert (steps.max(axis=1) <= RATE_LIMIT * (elapsed + 1e-4)).all()
