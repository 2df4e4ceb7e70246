"""Drives that close the loop, over DDS: what they are told on a fault, and at the end."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.motion.thresholds import MOTION

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')


Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
REST = np.zeros(6)
WAY = 0.5
DRIVES = {
    'mode': 'feedforward',
    'command__interfaces': ['position', 'velocity', 'effort'],
    'transition_time': COMMAND.transition_time,
}


def told(bench: Any, first: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the drives were told from a command on: positions, velocities, efforts."""
    commands = np.array(bench.commands[first:])
    return commands[:, 0::3], commands[:, 1::3], commands[:, 2::3]


def set_out(bench: Any, error: float = 0.0) -> float:
    """Let the arm be in the middle of a motion, with an error [rad]; return its speed [rad/s]."""
    bench.answer(bench.joint_state(Q))
    bench.send_trajectory(bench.trajectory((1.0, Q + WAY, REST, REST)))
    bench.answer(bench.joint_state(Q))
    for _ in range(10):
        desired = bench.node.configured.controller.motion.present_state()
        bench.answer(bench.joint_state(desired.position - error, desired.velocity, dt=0.05))
    speed = np.abs(told(bench)[1][-1]).max()
    assert speed > 0.5
    return float(speed)


def until_at_rest(bench: Any) -> None:
    """Wait until the drives are told to stand, and nothing more."""

    def is_over() -> bool:
        before, end = len(bench.commands), time.monotonic() + 0.2
        bench.spin(lambda: time.monotonic() > end, 'time')
        return len(bench.commands) == before and not told(bench)[1][-1].any()

    bench.spin(is_over, 'rest')


def test_the_first_command_is_where_the_arm_is(bench) -> None:
    """Activated, and activated again, the drives are told the measured position, at rest."""
    bench.start(**DRIVES)
    for q in (Q, Q + 0.3):
        command = bench.answer(bench.joint_state(q))
        np.testing.assert_array_equal(command[0::3], q)
        assert not command[1::3].any()
        assert bench.change_state('deactivate')
        bench.settle()
        assert bench.change_state('activate')


def test_states_that_stop_bring_the_desired_motion_to_rest(bench) -> None:
    """On along its way and no farther than a stop goes; its end is held, by gravity's effort."""
    bench.start(**DRIVES)
    speed, first = set_out(bench), len(bench.commands) - 1
    bench.set(state_timeout=0.3)
    desired = bench.node.configured.controller.motion.present_state()
    bench.joint_states.publish(bench.joint_state(desired.position, desired.velocity))
    line = bench.hear('joint_states stopped', 'braked by the model')
    assert 'the drives hold the arm' in line
    until_at_rest(bench)
    position, velocity, effort = told(bench, first)
    ways = np.diff(position, axis=0)
    assert (ways > -1e-9).all()
    # From the answer before the last on, which the states had a period of 2 ms for.
    longest = speed * (0.002 + MOTION.longest_brake / 2.0)
    assert ways.sum(axis=0).max() < 1.1 * longest
    assert not velocity[-1].any()
    np.testing.assert_allclose(effort[-1], bench.dynamics.gravity_torque(position[-1]), atol=1e-9)


def test_an_observer_has_nothing_to_go_by(bench) -> None:
    """What the drives exert is not known: the node says that nothing is observed, and works."""
    bench.start(observer__mode='compensate', **DRIVES)
    bench.hear('observer.mode', 'the drives close the loop')
    bench.answer(bench.joint_state(Q))
