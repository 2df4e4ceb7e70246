"""Simulated arms that are not as their model: what is planted acts, and is reported."""

import math
from dataclasses import replace

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.friction_levels import FrictionLevels
from ne_dynamics.simulation.hidden_errors import (
    DELAYS,
    EffortMeaning,
    HiddenErrors,
    HiddenJoint,
    draw_hidden_errors,
    read_hidden_errors,
)
from ne_dynamics.simulation.robot_parameters import ModelErrorSettings, SimulatedRobotSettings

ROBOT = ned.load_urdf(str(shipped_file('six_axis_arm.urdf')), tip_link='tcp')

SLIDE = """<robot name="slide"><link name="base"/>
<link name="sled"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="sled"/><axis xyz="1 0 0"/>
<limit lower="-100" upper="100" effort="100" velocity="10"/></joint></robot>"""


@pytest.mark.parametrize('seed', range(3))
def test_what_is_drawn_is_within_its_bounds(seed):
    errors = draw_hidden_errors(ROBOT, seed, EffortMeaning.CURRENT, reversed_joint=True)
    limits = dict(zip(ROBOT.joint_names, ROBOT.limits('effort_limit'), strict=True))
    for link in errors.links.values():
        assert 0.7 <= link.mass <= 1.3
        assert all(0.7 <= factor <= 1.3 for factor in link.center_of_mass)
    for name, joint in errors.joints.items():
        largest = joint.static_friction + abs(joint.friction_asymmetry)
        assert 0.0 < joint.coulomb_friction <= joint.static_friction
        assert abs(joint.friction_asymmetry) <= 0.15 * joint.coulomb_friction
        assert largest <= 0.3 * limits[name]
        assert 5.0 <= abs(joint.effort_per_reading) <= 15.0
    assert errors.delay in DELAYS
    assert 14 <= errors.encoder_bits <= 19
    assert len(errors.reversed_joints) == 1


def test_a_file_brings_back_what_was_written(tmp_path):
    errors = draw_hidden_errors(ROBOT, 2, EffortMeaning.CURRENT, reversed_joint=True)
    errors.write(tmp_path / 'hidden.yaml')
    assert read_hidden_errors(tmp_path / 'hidden.yaml') == errors


@pytest.mark.parametrize('text', ['[]', 'links: 3\njoints: {}', 'links: {}\njoints: {}'])
def test_what_no_hidden_errors_can_be_is_refused(tmp_path, text):
    (tmp_path / 'hidden.yaml').write_text(text)
    with pytest.raises(InputError, match=r'hidden\.yaml: expected hidden errors'):
        read_hidden_errors(tmp_path / 'hidden.yaml')
    with pytest.raises(InputError, match=r'expected joints of joint_1.*got elbow'):
        HiddenErrors({}, {'elbow': HiddenJoint()}).apply(ROBOT)
    for friction in (0.01, math.nan, 1.5):
        with pytest.raises(InputError, match='friction: expected a part'):
            draw_hidden_errors(ROBOT, 1, friction=friction)


class TestPhysics:
    """The sled of 2 kg and a rotor of 1 kg, with MuJoCo."""

    hidden = HiddenJoint(
        rotor_inertia=1.0,
        viscous_friction=2.0,
        coulomb_friction=10.0,
        static_friction=14.0,
        friction_asymmetry=1.5,
        stribeck_velocity=0.05,
    )

    @pytest.fixture
    def arm(self):
        mujoco_model = pytest.importorskip(
            'ne_dynamics.simulation.mujoco_model', reason='MuJoCo is not installed'
        )
        return mujoco_model.MujocoArm(
            HiddenErrors({}, {'slide': self.hidden}).apply(load_urdf(SLIDE))
        )

    @pytest.mark.parametrize('sign', [1.0, -1.0])
    def test_it_sticks_up_to_its_static_friction(self, arm, sign):
        for effort, moves in ((12.0, False), (16.0, True)):
            arm.reset([0.0])
            for _ in range(250):
                arm.step([sign * effort])
            assert bool(sign * arm.position[0] > 0.01) is moves

    @pytest.mark.parametrize(('sign', 'dry'), [(1.0, 11.5), (-1.0, 8.5)])
    def test_its_friction_differs_by_direction(self, arm, sign, dry):
        for _ in range(6000):
            arm.step([sign * 20.0])
        assert sign * arm.velocity[0] == pytest.approx((20.0 - dry) / 2.0, rel=1e-3)

    def test_its_rotor_is_felt(self, arm):
        for _ in range(100):
            arm.step([40.0])
        before = arm.velocity[0]
        arm.step([40.0])
        acceleration = (arm.velocity[0] - before) / arm.period
        assert acceleration == pytest.approx((40.0 - 11.5 - 2.0 * before) / 3.0, rel=5e-3)


class TestReports:
    """What the arm says of the efforts of its motors."""

    effort = np.array([10.0, -20.0, 5.0, 1.0, -1.0, 0.5])

    def arm(self):
        mujoco_model = pytest.importorskip(
            'ne_dynamics.simulation.mujoco_model', reason='MuJoCo is not installed'
        )
        arm = mujoco_model.MujocoArm(ROBOT)
        arm.reset([0.1, -0.5, 0.9, 0.2, 0.6, -0.3])
        return arm

    def test_gravity_of_the_physics_is_that_of_the_equations(self):
        arm = self.arm()
        expected = ned.Dynamics(ROBOT, backend='python').gravity_torque(arm.position)
        np.testing.assert_allclose(arm.gravity_effort(), expected, atol=1e-9)

    def test_what_is_reported_is_what_is_meant(self):
        arm = self.arm()
        gravity = arm.gravity_effort()
        for meaning, expected in (
            (EffortMeaning.TORQUE, self.effort),
            (EffortMeaning.TORQUE_WITHOUT_GRAVITY, self.effort - gravity),
            (EffortMeaning.NOTHING, np.empty(0)),
        ):
            errors = draw_hidden_errors(ROBOT, 3, meaning)
            np.testing.assert_allclose(
                errors.reported_effort(ROBOT.joint_names, self.effort, gravity), expected
            )

    def test_currents_have_a_constant_of_each_joint_and_one_the_wrong_sign(self):
        errors = draw_hidden_errors(ROBOT, 3, EffortMeaning.CURRENT, reversed_joint=True)
        reported = errors.reported_effort(ROBOT.joint_names, self.effort, np.zeros(6))
        ratio = self.effort / reported
        assert np.unique(np.abs(ratio)).size == 6
        wrong = tuple(
            name for name, value in zip(ROBOT.joint_names, ratio, strict=True) if value < 0.0
        )
        assert wrong == errors.reversed_joints
        assert len(wrong) == 1


def test_joints_without_limits_are_taken_for_usual_ones():
    """Friction and rotors are then those of 50 N m and 2 rad/s."""

    def limited(effort, velocity):
        robot = ROBOT.with_joint_values('effort_limit', np.full(6, effort))
        return robot.with_joint_values('velocity_limit', np.full(6, velocity))

    expected = draw_hidden_errors(limited(50.0, 2.0), 1)
    assert draw_hidden_errors(limited(math.inf, math.inf), 1) == expected


def test_motors_ripple_without_load_by_a_25th_of_their_limits():
    """What the parameter says: that share of a torque, a 25th of it of the effort limits."""
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    from ne_dynamics.simulation.simulated_arm import SimulatedArm

    settings = SimulatedRobotSettings(model_error=ModelErrorSettings(torque_ripple=0.1))
    arm = SimulatedArm(ROBOT, settings)
    arm.mujoco.reset(np.full(6, 0.01))
    expected = 0.1 / 25.0 * np.sin(60.0 * 0.01) * ROBOT.limits('effort_limit')
    np.testing.assert_allclose(arm._ripple(arm.mujoco, np.zeros(6)), expected)


def test_friction_changes_with_the_direction_within_a_millimetre_a_second():
    """Where the model has no width of its own the asymmetry follows tanh(v / 0.001)."""
    joint = replace(
        ROBOT.joints[0], coulomb_friction=2.0, friction=FrictionModel(friction_asymmetry=0.5)
    )
    found = FrictionLevels.of([joint]).at(np.array([1e-3]))
    assert found == pytest.approx(2.0 + 0.5 * math.tanh(1.0))
