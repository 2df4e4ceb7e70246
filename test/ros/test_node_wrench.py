"""The wrist sensor at the node: cut, frames, sign, age, tare, and bad readings."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics
from ne_dynamics.control.sensors.wrench import inertia_beyond

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
SENSOR = 'ft_sensor'


def start(bench, **parameters):
    """Start the node with a wrist sensor; velocities and errors stay zero in these tests."""
    bench.start(wrench__enabled=True, wrench__sensor_link=SENSOR, **parameters)


def cut(bench) -> Dynamics:
    """Return the dynamics of the arm without its tool."""
    return Dynamics(bench.robot.cut_beyond(SENSOR), backend='python')


def tool_reading(bench, sign: float = 1.0) -> np.ndarray:
    dynamics = cut(bench)
    tool = inertia_beyond(bench.robot, SENSOR)
    weight = tool.mass * dynamics.forward_kinematics(Q)[:3, :3].T @ dynamics.gravity
    return sign * np.concatenate((weight, np.cross(tool.center_of_mass, weight)))


def test_tare_removes_the_bias_not_the_tool(bench) -> None:
    """After a tare at rest a biased sensor gives the whole arm's gravity again."""
    start(bench)
    bench.answer(bench.joint_state(Q))
    bias = np.array([2.0, -1.0, 3.0, 0.3, 0.2, -0.1])
    bench.send_wrench(SENSOR, tool_reading(bench) + bias)
    whole = bench.dynamics.gravity_torque(Q)
    assert np.abs(bench.answer(bench.joint_state(Q)) - whole).max() > 0.5
    response = bench.trigger('tare_wrench')
    assert response.success
    assert '1.2 kg' in response.message
    bench.send_wrench(SENSOR, tool_reading(bench) + bias)
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q)), whole, atol=1e-9)


def refuse_tare(bench, reason: str) -> None:
    """Check that a tare fails and says why."""
    response = bench.trigger('tare_wrench')
    assert not response.success
    assert reason in response.message


def test_tare_is_refused_where_there_is_nothing_to_tare(bench) -> None:
    start(bench)
    refuse_tare(bench, 'no joint state yet')
    bench.answer(bench.joint_state(Q))
    refuse_tare(bench, 'no reading yet')
    for transition in ('deactivate', 'cleanup'):
        assert bench.change_state(transition)
    bench.set(wrench__enabled=False)
    for transition in ('configure', 'activate'):
        assert bench.change_state(transition)
    refuse_tare(bench, 'wrench.enabled')


def test_tare_is_refused_while_the_arm_moves(bench) -> None:
    start(bench)
    bench.send_wrench(SENSOR, tool_reading(bench))
    bench.answer(bench.joint_state(Q))
    bench.answer(bench.joint_state(Q, velocity=[0.0, 0.2, 0.0, 0.0, 0.0, 0.0]))
    refuse_tare(bench, "the arm moves: joint 'joint_2' has a measured velocity of 0.2")
    bench.answer(bench.joint_state(Q, dt=0.05))  # by then it is to be at rest
    assert bench.trigger('tare_wrench').success


def test_tare_is_refused_with_the_sign_reversed(bench) -> None:
    """A sensor that measures the opposite of what is said would lose twice the tool's weight."""
    start(bench)
    bench.answer(bench.joint_state(Q))
    whole = bench.answer(bench.joint_state(Q))
    bench.send_wrench(SENSOR, -tool_reading(bench))
    wrong = bench.answer(bench.joint_state(Q))
    refuse_tare(bench, 'is wrench.measures right?')
    np.testing.assert_array_equal(bench.answer(bench.joint_state(Q)), wrong)
    assert np.abs(wrong - whole).max() > 0.5


def is_doubted(bench) -> bool:
    """Return whether the third status from now on says that the sign is likely wrong."""
    bench.settle()
    bench.diagnostics.clear()
    for _ in range(3):
        bench.node._on_diagnostics_timer()

    def mains():
        return [one for one in bench.diagnostics if one.name.endswith('computed_torque')]

    bench.spin(lambda: len(mains()) > 2, 'diagnostics')
    return 'is wrench.measures right' in mains()[-1].message


@pytest.mark.parametrize('sign', [1.0, -1.0], ids=['right', 'opposite'])
def test_the_opposite_sign_of_the_wrench_is_doubted(bench, sign: float) -> None:
    """A sensor that reads the opposite of the tool's weight while the arm rests is a warning of
    the status, which ends with the right `wrench.measures`; one that reads it is none.
    """
    start(bench, wrench__timeout=1e3)
    bench.answer(bench.joint_state(Q))
    bench.send_wrench(SENSOR, tool_reading(bench, sign))
    bench.answer(bench.joint_state(Q))
    assert is_doubted(bench) == (sign < 0.0)
    bench.set(wrench__measures='by_tool')
    bench.send_wrench(SENSOR, tool_reading(bench, sign))
    bench.answer(bench.joint_state(Q))
    assert is_doubted(bench) == (sign > 0.0)
