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


@pytest.mark.parametrize(('measures', 'sign'), [('on_tool', 1.0), ('by_tool', -1.0)])
def test_the_tool_counts_once(bench, measures: str, sign: float) -> None:
    """With the tool in the reading the command is that of the whole arm, whatever the sign."""
    start(bench, wrench__measures=measures)
    bench.answer(bench.joint_state(Q))
    bench.send_wrench(SENSOR, tool_reading(bench, sign))
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


@pytest.mark.parametrize('gain', [1.0, 0.9])
def test_before_the_first_reading_the_tool_of_the_model_counts(bench, gain: float) -> None:
    """Until a reading comes the whole arm is carried by the model, and the diagnostics warn."""
    start(bench, wrench__gain=gain)
    command = bench.answer(bench.joint_state(Q))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)
    bench.spin(lambda: any('no recent wrench' in status.message for status in bench.diagnostics))


@pytest.mark.parametrize('on_timeout', ['zero', 'hold'])
def test_readings_that_stop(bench, on_timeout: str) -> None:
    """After the timeout the last reading counts on, or the model's tool does; then a new one."""
    start(bench, wrench__on_timeout=on_timeout, wrench__timeout=0.05)
    bench.answer(bench.joint_state(Q))
    heavier = 3.0 * tool_reading(bench)
    bench.send_wrench(SENSOR, heavier)
    known, alone = bench.dynamics.gravity_torque(Q), cut(bench).gravity_torque(Q)
    read = alone + 3.0 * (known - alone)
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q, dt=0.04)), read, atol=1e-9)
    expected = read if on_timeout == 'hold' else known
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q, dt=0.04)), expected, atol=1e-9)
    bench.send_wrench(SENSOR, heavier)
    np.testing.assert_allclose(bench.answer(bench.joint_state(Q)), read, atol=1e-9)


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


def test_sign_and_timeout_change_at_run_time(bench) -> None:
    """The sign of the readings may be set right while the arm is held."""
    start(bench, wrench__measures='by_tool')
    bench.answer(bench.joint_state(Q))
    assert bench.set_atomically(wrench__measures='on_tool', wrench__timeout=0.5).successful
    bench.send_wrench(SENSOR, tool_reading(bench))
    command = bench.answer(bench.joint_state(Q, dt=0.3))
    np.testing.assert_allclose(command, bench.dynamics.gravity_torque(Q), atol=1e-9)


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
