"""The wrist sensor at the node: tare, and the sign of its readings."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics import Dynamics
from ne_dynamics.control.sensors.wrench import inertia_beyond

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
SENSOR = 'ft_sensor'


@pytest.fixture
def sensing(bench):
    """Return the bench of a node with a wrist sensor; velocities and errors stay zero."""
    bench.start(wrench__enabled=True, wrench__sensor_link=SENSOR, wrench__timeout=1e3)
    return bench


def tool_reading(bench, sign: float = 1.0) -> np.ndarray:
    dynamics = Dynamics(bench.robot.cut_beyond(SENSOR), backend='python')
    tool = inertia_beyond(bench.robot, SENSOR)
    weight = tool.mass * dynamics.forward_kinematics(Q)[:3, :3].T @ dynamics.gravity
    return sign * np.concatenate((weight, np.cross(tool.center_of_mass, weight)))


def refuse_tare(bench, reason: str) -> None:
    """Check that a tare fails and says why."""
    response = bench.trigger('tare_wrench')
    assert not response.success
    assert reason in response.message


def test_tare_removes_the_bias_not_the_tool(sensing) -> None:
    """After a tare at rest a biased sensor gives the whole arm's gravity again."""
    bench = sensing
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


def test_tare_is_refused_where_there_is_nothing_to_tare(sensing) -> None:
    """Before a state, before a reading, without a sensor; while the arm moves."""
    bench = sensing
    refuse_tare(bench, 'no joint state yet')
    bench.answer(bench.joint_state(Q))
    refuse_tare(bench, 'no reading yet')
    bench.send_wrench(SENSOR, tool_reading(bench))
    bench.answer(bench.joint_state(Q, velocity=[0.0, 0.2, 0.0, 0.0, 0.0, 0.0]))
    refuse_tare(bench, "the arm moves: joint 'joint_2' has a measured velocity of 0.2")
    bench.answer(bench.joint_state(Q, dt=0.05))  # by then it is to be at rest
    assert bench.trigger('tare_wrench').success
    for transition in ('deactivate', 'cleanup'):
        assert bench.change_state(transition)
    bench.set(wrench__enabled=False)
    for transition in ('configure', 'activate'):
        assert bench.change_state(transition)
    refuse_tare(bench, 'wrench.enabled')


def test_tare_is_refused_with_the_sign_reversed(sensing) -> None:
    """A sensor that measures the opposite of what is said would lose twice the tool's weight."""
    bench = sensing
    bench.answer(bench.joint_state(Q))
    whole = bench.answer(bench.joint_state(Q))
    bench.send_wrench(SENSOR, -tool_reading(bench))
    wrong = bench.answer(bench.joint_state(Q))
    refuse_tare(bench, 'is wrench.measures right?')
    np.testing.assert_array_equal(bench.answer(bench.joint_state(Q)), wrong)
    assert np.abs(wrong - whole).max() > 0.5


@pytest.mark.parametrize('sign', [1.0, -1.0], ids=['right', 'opposite'])
def test_the_opposite_sign_of_the_wrench_is_doubted(sensing, sign: float) -> None:
    """A sensor that reads the opposite of the tool's weight while the arm rests is a warning of
    the third status, which ends with the right `wrench.measures`; one that reads it is none.
    """
    bench = sensing
    bench.answer(bench.joint_state(Q))
    for measures, is_right in (('on_tool', sign > 0.0), ('by_tool', sign < 0.0)):
        bench.set(wrench__measures=measures)
        bench.send_wrench(SENSOR, tool_reading(bench, sign))
        bench.answer(bench.joint_state(Q))
        said = [bench.diagnose().message for _ in range(3)]
        assert ('is wrench.measures right' not in said[-1]) == is_right
