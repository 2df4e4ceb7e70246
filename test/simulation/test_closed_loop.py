"""Node and simulated robot as two processes over DDS, in lockstep: how well the laws track.

What is simulated: MuJoCo, fourth-order Runge-Kutta, with the friction of the model file, Coulomb
friction included; the node feeds the friction of the desired velocity forward.
"""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.arm import gain_parameters, law_parameters
from ne_dynamics.simulation.demo.control_laws import LAWS
from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.session import NodeLoop

KP, KV = 400.0, 40.0
"""Of computed torque [1/s^2, 1/s]; PD has the same, times the diagonal of the mass matrix."""

RATE = 500.0
DURATION = 1.0
LOAD = 3.0
ARMS = {'six_axis_arm.urdf': 'tcp', 'puma560_standard_dh.yaml': ''}


def run(model, tip, law):
    """Run the motion of an arm once, by a law of the demo."""
    file = str(shipped_file(model))
    robot = ned.load_model(file, tip_link=tip or None)
    loaded = ned.Dynamics(with_hung_mass(robot, LOAD, np.zeros(3)), backend='python')
    motion = excitation(robot, DURATION, loaded.inverse_dynamics)
    given = {'model_file': file, 'tip_link': tip}
    parameters = {**given, 'joint_states_reliability': 'reliable'}
    parameters |= gain_parameters(robot, motion, KP, KV)
    of_law = law_parameters(LAWS[law].mode, LAWS[law].terms)
    with NodeLoop(RATE, parameters, given) as loop:
        return loop.run(motion, ScenarioRun(law, LAWS[law].style, of_law, {}))


@pytest.mark.parametrize(('model', 'tip'), ARMS.items())
def test_computed_torque_tracks_twenty_times_better_than_pd_of_the_same_bandwidth(model, tip):
    pd, computed_torque = (run(model, tip, law) for law in ('pd', 'computed_torque'))
    assert len(computed_torque.time) > 0.98 * RATE * computed_torque.time[-1]
    assert (computed_torque.rms_error <= pd.rms_error / 20.0).all()
    assert computed_torque.overall_rms_error <= pd.overall_rms_error / 20.0
    assert computed_torque.peak_error.max() <= 2e-3
