"""An arm that is led by hand: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node

LED = {'mode': 'gravity_compensation', 'hand_guiding.damping': 2.0}


def pushed(plant, effort):
    """Push for a while."""
    return np.array([3.0, 3.0, 2.0, 0.1, 0.1, 0.05]) * (0.2 < plant.time < 0.5)


def test_a_damping_too_fast_for_the_states_is_refused() -> None:
    """It would shake the arm, ever faster: set while the arm is led, it changes nothing."""

    def script(loop):
        loop.disturbances.append(pushed)
        yield 1.0
        loop.set(hand_guiding__damping=100.0)
        loop.disturbances.clear()

    run = run_node(script, LED, 2.5, rate=30.0)
    assert run.faults == []
    assert run.fastest(1.0) < 1.0


def test_one_that_was_set_before_is_a_fault() -> None:
    """Nobody knew how fast the states are: the arm is damped as they allow."""

    def script(loop):
        loop.disturbances.append(pushed)
        yield 10.0

    run = run_node(script, {**LED, 'hand_guiding.damping': 100.0}, 2.5, rate=30.0)
    assert [name for name, _ in run.faults] == ['gains unstable']
    assert run.fastest(2.3) < 1.0
