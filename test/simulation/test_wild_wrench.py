"""A wrist sensor that reads what no motor can hold: the node and MuJoCo's arm in virtual time."""

from __future__ import annotations

import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from node_loop import run_node
from sticking_arms import with_friction

FORCE = 1000.0
"""What is read beside the load [N]."""


def shake_sensor(duration):
    """Return a script in which the sensor reads a force for a time, under way."""

    def script(loop):
        yield 0.3
        loop.follow(loop.motion)
        yield 1.0

        def alter(_kind, values):
            values = values.copy()
            values[2] += FORCE
            return values

        loop.alter_reading = alter
        yield 1.0 + duration
        loop.alter_reading = lambda _kind, values: values

    return script


@pytest.mark.parametrize('duration', [0.004, 0.5])
def test_a_force_that_no_motor_can_hold_is_not_compensated(duration) -> None:
    parameters = {'wrench.enabled': True, 'wrench.sensor_link': 'ft_sensor'}
    run = run_node(
        shake_sensor(duration),
        parameters,
        2.5,
        plant=lambda robot: with_friction(robot, 0.005),
        rate=500.0,
        options={'sensor_link': 'ft_sensor'},
    )
    assert run.faults == []
    assert run.largest_step(0.5) < 0.1
    assert run.fastest() < 2.5
