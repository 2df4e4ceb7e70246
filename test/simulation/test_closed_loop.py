"""Node and simulated robot as two processes over DDS, in lockstep: how well the laws track.

What is simulated: MuJoCo, fourth-order Runge-Kutta, with the friction of the model file, Coulomb
friction included; the node feeds the friction of the desired velocity forward.
"""

import re

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.model.rigid_body import axis_angle_rotation
from ne_dynamics.shipped import shipped_file

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.arm import gain_parameters, law_parameters
from ne_dynamics.simulation.demo.control_laws import LAWS
from ne_dynamics.simulation.demo.motion import excitation, rest_to_rest
from ne_dynamics.simulation.demo.ros_process import ProcessError
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.demo.session import NodeLoop

KP, KV = 400.0, 40.0
"""Of computed torque [1/s^2, 1/s]; PD has the same, times the diagonal of the mass matrix."""

RATE = 500.0
DURATION = 1.0
LOAD = 3.0
SIX_AXIS_ARM = shipped_file('six_axis_arm.urdf')
PUMA = shipped_file('puma560_standard_dh.yaml')
ARMS = {'six_axis_arm.urdf': 'tcp', 'puma560_standard_dh.yaml': ''}


class Rig:
    """An arm, its motion, and a closed loop that runs it."""

    def __init__(self, model, tip, motion=None, rate=RATE, kp=KP, kv=KV):
        self.model_file, self.tip = str(model), tip
        self.robot = ned.load_model(self.model_file, tip_link=tip or None)
        loaded = ned.Dynamics(with_hung_mass(self.robot, LOAD, np.zeros(3)), backend='python')
        self.motion = motion or excitation(self.robot, DURATION, loaded.inverse_dynamics)
        model_parameters = {'model_file': self.model_file, 'tip_link': tip}
        self.loop = NodeLoop(
            rate,
            {
                **model_parameters,
                'joint_states_reliability': 'reliable',
                **gain_parameters(self.robot, self.motion, kp, kv),
            },
            model_parameters,
        )

    def run(self, law, node=None, robot=None):
        """Run the motion once by a law of the demo."""
        parameters = law_parameters(LAWS[law].mode, LAWS[law].terms)
        with self.loop as loop:
            one = ScenarioRun(law, LAWS[law].style, {**parameters, **(node or {})}, robot or {})
            return loop.run(self.motion, one)


@pytest.mark.parametrize(('model', 'tip'), ARMS.items())
def test_computed_torque_tracks_twenty_times_better_than_pd_of_the_same_bandwidth(model, tip):
    pd = Rig(shipped_file(model), tip).run('pd')
    computed_torque = Rig(shipped_file(model), tip).run('computed_torque')
    assert len(computed_torque.time) > 0.98 * RATE * computed_torque.time[-1]
    assert (computed_torque.rms_error <= pd.rms_error / 20.0).all()
    assert computed_torque.overall_rms_error <= pd.overall_rms_error / 20.0
    assert computed_torque.peak_error.max() <= 2e-3


# Lee, Chung, Mudge and Turney, "On the control of mechanical manipulators", section 5.
PAPER_START = np.array([90.0, 0.0, 90.0, 0.0, 0.0, 0.0])
PAPER_END = np.array([45.0, 30.0, 0.0, 45.0, 60.0, 90.0])
PAPER_KP, PAPER_KV, PAPER_PERIOD, PAPER_BOUND = 100.0, 20.0, 0.01, 4.26e-4

PAPER_D, PAPER_A = (0.67183, 0.15005, 0.0, 0.4318, 0.0, 0.0), (0.0, 0.4318, -0.0203, 0.0, 0.0, 0.0)
PAPER_ALPHA = (-90.0, 0.0, 90.0, -90.0, 90.0, 0.0)
"""Frames of the authors' PUMA [deg], with the shipped model's lengths [m]."""

TO_MODEL = np.array([180.0, 180.0, -180.0, 0.0, 0.0, 0.0])
"""From the authors' joint angles to the shipped model's [deg]: its frames are turned by half a
turn. Their limits of joints 2 and 3, -225 to 45 and -45 to 225 deg, so become the model's."""

PAPER_DURATION = 4.0
"""Chosen: the paper gives no motion time and no profile. Quintic from rest to rest, in seconds."""


def paper_link_origins(angles):
    """Return the origins of the authors' link frames 3 to 6 [m] for joint angles [rad]."""
    pose, origins = np.eye(4), []
    for theta, d, a, alpha in zip(angles, PAPER_D, PAPER_A, np.deg2rad(PAPER_ALPHA), strict=True):
        turn = axis_angle_rotation((0.0, 0.0, 1.0), theta)
        step = np.eye(4)
        step[:3, :3] = turn @ axis_angle_rotation((1.0, 0.0, 0.0), alpha)
        step[:3, 3] = turn @ [a, 0.0, 0.0] + [0.0, 0.0, d]
        pose = pose @ step
        origins.append(pose[:3, 3])
    return np.array(origins[2:])


def test_the_postures_of_the_control_paper_are_those_of_the_shipped_puma():
    dyn = ned.Dynamics(ned.load_dh(PUMA), backend='python')
    for angles in (PAPER_START, PAPER_END):
        posture = np.deg2rad(angles + TO_MODEL)
        origins = [dyn.forward_kinematics(posture, f'link_{i}')[:3, 3] for i in (3, 4, 5, 6)]
        np.testing.assert_allclose(origins, paper_link_origins(np.deg2rad(angles)), atol=1e-12)


def without_position_limits(folder):
    """Return a copy of the shipped Puma whose joints may stand anywhere."""
    copy = folder / 'puma560.yaml'
    copy.write_text(re.sub(r'lower: [-\d]+, upper: [-\d]+, ', '', PUMA.read_text()))
    return copy


@pytest.mark.parametrize('friction', [True, False], ids=['friction', 'no friction'])
@pytest.mark.parametrize('zeros', ['of the authors', 'of the model'])
def test_the_puma_of_the_control_paper_stays_within_one_bit_of_its_converter(
    tmp_path, zeros, friction
):
    """Kp = 100, Kv = 20, 10 ms: every joint within 4.26e-4 rad, as section 5 reports.

    The postures are the paper's, and once more its angles taken as the model's own. The paper's
    model has no friction; the shipped model's own makes it harder.
    """
    model = without_position_limits(tmp_path)
    to_model = TO_MODEL if zeros == 'of the authors' else 0.0
    start, end = np.deg2rad(PAPER_START + to_model), np.deg2rad(PAPER_END + to_model)
    motion = rest_to_rest(ned.load_dh(model), start, end, PAPER_DURATION)
    recording = Rig(model, '', motion, 1.0 / PAPER_PERIOD, PAPER_KP, PAPER_KV).run(
        'computed_torque',
        {'terms.friction': friction},
        {'model_error.frictionless': not friction, 'substeps': 20},
    )
    np.testing.assert_allclose(np.diff(recording.time), PAPER_PERIOD, rtol=1e-6)
    assert recording.peak_error.max() < PAPER_BOUND


def test_a_run_is_the_same_every_time():
    robot = ned.load_model(SIX_AXIS_ARM, tip_link='tcp')
    start = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])
    motion = rest_to_rest(robot, start, start + 0.05, 0.15)
    runs = [Rig(SIX_AXIS_ARM, 'tcp', motion).run('computed_torque') for _ in range(2)]
    np.testing.assert_array_equal(runs[0].time, runs[1].time)
    np.testing.assert_array_equal(runs[0].position, runs[1].position)
    np.testing.assert_array_equal(runs[0].effort, runs[1].effort)


def test_a_process_that_dies_is_reported_with_what_it_printed():
    rig = Rig(SIX_AXIS_ARM, 'tcp')
    with pytest.raises(
        ProcessError, match=r'simulated_robot ended with exit code 1(.|\n)*substeps: expected'
    ):
        rig.run('pd', {}, {'substeps': -1})
