"""What the gain of the wrench leaves out of the reading, the model puts in."""

from __future__ import annotations

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.control.sensors.wrench import static_wrench
from ne_dynamics.ros.settings.carried_load import load_beyond_sensor, payload_parameters
from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.shipped import shipped_file

MODEL = shipped_file('six_axis_arm.urdf')
Q = np.array([0.2, -0.9, 1.1, -0.4, 0.6, 0.1])


def settings(changes):
    """Return the settings of the node, some of them changed."""
    usual = {'model_file': str(MODEL), 'tip_link': 'tcp', 'backend': 'python'}
    return PARAMETERS.changed({**usual, **changes})


@pytest.mark.parametrize('link', ['tcp', 'flange'])
@pytest.mark.parametrize('gain', [0.0, 0.4, 0.9, 1.0])
@pytest.mark.parametrize('includes_tool', [True, False])
def test_an_arm_at_rest_carries_all_of_a_known_tool_at_every_gain(link, gain, includes_tool):
    """Reading times gain and model together hold tool and payload, wherever the payload hangs."""
    chosen = settings(
        {
            'wrench.enabled': True,
            'wrench.sensor_link': 'ft_sensor',
            'wrench.includes_tool': includes_tool,
            'wrench.gain': gain,
            'payload.mass': 4.0,
            'payload.com': (0.02, -0.01, 0.05),
            'payload.inertia': (0.01, 0.0, 0.0, 0.01, 0.0, 0.01),
            'payload.link': link,
            'mode': 'gravity_compensation',
        }
    )
    robot = ned.load_urdf(MODEL, tip_link='tcp')
    arm = controlled_arm(chosen, robot)
    tuning, _ = make_tuning(chosen, arm)
    controller = make_controller(arm, tuning)
    rotation = arm.dynamics.forward_kinematics(Q)[:3, :3]
    reading = -static_wrench(load_beyond_sensor(chosen, arm), rotation, arm.dynamics.gravity)
    controller.sense.wrist.update('ft_sensor', reading, 0.0)
    effort = controller.update(Q, np.zeros(6), 0.0).effort
    inertia = ned.model.robot.Inertia(4.0, np.array((0.02, -0.01, 0.05)), 0.01 * np.eye(3))
    whole = ned.Dynamics(robot.with_payload(inertia, link), backend='python')
    np.testing.assert_allclose(effort, whole.gravity_torque(Q), atol=1e-9)


def test_with_full_gain_the_model_carries_nothing_of_the_tool():
    """Gain 1 leaves nothing out: no payload, no cost."""
    chosen = settings({'wrench.enabled': True, 'wrench.sensor_link': 'ft_sensor'})
    arm = controlled_arm(chosen, ned.load_urdf(MODEL, tip_link='tcp'))
    assert payload_parameters(chosen, arm) == (None, [])
