"""A wrist sensor that says nothing yet, or no more: the model's tool is carried all the same.

The node's own configuration, its controller and MuJoCo's arm with a sensor in one process.
"""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.control.thresholds import COMMAND

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import PERIOD, HeldArmLoop, shipped_arm

from ne_dynamics.simulation.altered_robot import with_hung_mass

SENSOR = 'ft_sensor'
TOOL = 3.0
"""On the tcp, beyond the sensor, and in the model [kg]."""

POSTURE = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])
NEAR = 1e-3
"""How far a held arm may be from where it is held [rad]."""

STEEPEST = 2.45 / COMMAND.transition_time
"""Largest slope of an offset of 1 [1/s]: END / e / transition time."""

ARM = shipped_arm()
ROBOT = with_hung_mass(ARM, TOOL, np.zeros(3))


class SensorLoop(HeldArmLoop):
    """The node's controller, and an arm with a sensor that may say nothing; known is the tool."""

    def __init__(self, plant=ROBOT, **changes):
        given = {'tip_link': 'tcp', 'wrench.enabled': True, 'wrench.sensor_link': SENSOR}
        body = {'sensor_link': SENSOR}
        super().__init__(ROBOT, POSTURE, {**given, **changes}, plant=plant, body=body)

    def hold(self, seconds, *, reads):
        """Hold the arm for a while, with readings or without."""
        self.sensors = [] if reads else [lambda reading: reading._replace(wrench=None)]
        self.run(seconds)

    @property
    def away(self):
        """How far the arm was from where it is held [rad], one value a state."""
        return np.abs(self.recording().position - POSTURE).max(axis=1)

    def steps(self):
        """Return the largest step of any joint's command at each state but the first [N m]."""
        return np.abs(np.diff(self.recording().command, axis=0)).max(axis=1)


@pytest.mark.kept(2)
@pytest.mark.parametrize('mode', ['computed_torque', 'gravity_compensation'])
@pytest.mark.parametrize(
    'changes', [{}, {'wrench.gain': 0.9}, {'wrench.includes_tool': False}], ids=str
)
def test_without_any_reading_the_tool_of_the_model_is_carried(mode, changes):
    loop = SensorLoop(mode=mode, **changes)
    loop.hold(1.0, reads=False)
    assert max(loop.away) < NEAR
    whole = ned.Dynamics(ROBOT, backend='python').gravity_torque(POSTURE)
    np.testing.assert_allclose(loop.recording().command[0], whole, atol=1e-9)


@pytest.mark.kept(1)
@pytest.mark.parametrize('gain', [1.0, 0.9])
@pytest.mark.parametrize('on_timeout', ['zero', 'hold'])
def test_readings_that_begin_stop_and_return_leave_the_arm_where_it_is(on_timeout, gain):
    loop = SensorLoop(**{'wrench.on_timeout': on_timeout, 'wrench.gain': gain})
    for reads in (False, True, False, True):
        loop.hold(1.0, reads=reads)
    assert max(loop.away) < NEAR
    assert loop.steps().max() < 0.05


@pytest.mark.kept(1)
@pytest.mark.parametrize('on_timeout', ['zero', 'hold'])
def test_where_model_and_reading_differ_one_takes_over_from_the_other_without_a_step(on_timeout):
    missing = 1.0
    heavier = with_hung_mass(ROBOT, missing, np.zeros(3))
    loop = SensorLoop(heavier, **{'wrench.on_timeout': on_timeout})
    lever_arms = np.abs(ned.Dynamics(ARM, backend='python').jacobian(POSTURE)[2])
    difference = 9.80665 * missing * lever_arms.max()
    assert difference > 5.0
    loop.hold(2.0, reads=False)
    sagged = loop.away[-1]
    assert sagged > 10.0 * NEAR
    for reads in (True, False, True):
        begin = len(loop.away) - 1
        loop.hold(2.0, reads=reads)
        # Beside the transition the feedback takes back what the arm has sagged by.
        assert loop.steps()[begin:].max() < 1.5 * STEEPEST * PERIOD * difference
        if reads or on_timeout == 'hold':
            assert loop.away[-1] < 0.5 * sagged
        else:
            assert loop.away[-1] == pytest.approx(sagged, rel=0.1)


@pytest.mark.parametrize('has_read', [False, True])
def test_the_last_command_carries_the_tool_of_the_model(has_read):
    loop = SensorLoop(**{'wrench.on_timeout': 'zero'})
    loop.hold(0.2, reads=has_read)
    loop.hold(0.6, reads=False)
    last = list(loop.controller.machine.last_commands())[-1]
    position = loop.arm.position
    whole = ned.Dynamics(ROBOT, backend='python').gravity_torque(position)
    np.testing.assert_allclose(last, whole, atol=1e-6)
    for _ in range(round(1.0 / PERIOD)):
        loop.arm.step(last)
    assert np.abs(loop.arm.position - position).max() < NEAR
