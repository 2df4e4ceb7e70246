"""An arm that is deactivated under way: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node
from sticking_arms import with_friction
from virtual_world import VirtualWorld

END = 1.1
"""When the node is deactivated [s]."""


@pytest.mark.parametrize('share', [0.01, 0.05])
def test_an_arm_that_moves_is_braked_first(share) -> None:
    """A command against gravity alone would let it go on, and fall: friction that the model does
    not have then holds it where it has come to rest.
    """

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield END
        loop.tell('transition', 'deactivate')

    run = run_node(script, seconds=2.6, plant=partial(with_friction, share=share))
    assert run.faults == []
    assert run.fastest(END) < 1.7
    assert run.fastest(END + 0.4) < 0.2
    assert run.fastest(2.3) < 0.05
    assert run.command_time[-1] < END + 0.5


def test_the_rate_limit_slows_the_brake_down() -> None:
    """A stop that asks for faster efforts than they may change would push the arm beyond it."""

    def script(loop):
        yield 0.2
        loop.go(np.array([0.2, -0.2, 0.2, 0.2, -0.2, 0.2]), 4.0)
        yield END
        loop.tell('transition', 'deactivate')

    slow = {'computed_torque.kp': [25.0], 'computed_torque.kv': [10.0]}
    start = (0.0, 2.74, -1.05, -0.48, 0.3, 0.0)
    run = run_node(script, {'effort_rate_limit': [1000.0], **slow}, 1.8, start=start)
    assert run.fastest(END) < 0.1
    assert run.fastest(1.7) < 0.02


def test_a_busy_machine_does_not_brake_it_for_longer(monkeypatch) -> None:
    """Pauses that last thrice as long as asked for: the brake would throw the arm back."""
    sleep = VirtualWorld._sleep
    monkeypatch.setattr(VirtualWorld, '_sleep', lambda world, time: sleep(world, 3.0 * time))

    def script(loop):
        yield 0.2
        loop.follow(loop.motion)
        yield END
        loop.tell('transition', 'deactivate')

    run = run_node(script, seconds=2.6, plant=partial(with_friction, share=0.01))
    assert run.fastest(END + 0.4) < 0.3
