"""Arms in Denavit-Hartenberg parameters: made, given to the production recursion, recovered."""

import dataclasses

import numpy as np
import pytest
from formulation_cases import GRAVITY, random_motion, relative_error, without_drives

import ne_dynamics as ned
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.robot import Transform
from ne_dynamics.papers.forms import FORMULATIONS, Arm, DHLink, arm_from_robot
from ne_dynamics.papers.forms.arm import cosine_sine
from ne_dynamics.papers.forms.fitted_arm import fit_arm
from ne_dynamics.papers.forms.random_arms import random_arm
from ne_dynamics.shipped import shipped_file

CONVENTIONS = ['standard', 'modified']


@pytest.mark.parametrize('convention', CONVENTIONS)
@pytest.mark.parametrize('seed', range(12))
def test_an_arm_survives_the_way_through_a_robot(seed, convention):
    rng = np.random.default_rng([seed, 1])
    n = 1 + seed % 6
    arm = random_arm(rng, n, convention)
    again = arm_from_robot(arm.robot(), convention)
    assert again.convention == convention
    motion = random_motion(rng, n)
    torques, poses = [], []
    for robot in (arm.robot(), again.robot()):
        dynamics = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
        torques.append(
            dynamics.inverse_dynamics(motion.q, motion.qd, motion.qdd, wrench=motion.wrench)
        )
        poses.append(dynamics.forward_kinematics(motion.q))
    assert relative_error(torques[1], torques[0]) <= 1e-11
    assert relative_error(poses[1], poses[0]) <= 1e-11


@pytest.mark.parametrize(
    'file', ['puma560_standard_dh.yaml', 'puma560_modified_dh.yaml', 'six_link_dh.yaml']
)
def test_shipped_arms_are_recovered(file):
    """Every formulation that covers a shipped arm gives the production torques of its file."""
    robot = ned.load_dh(shipped_file(file))
    arm = arm_from_robot(robot)
    rng = np.random.default_rng(5)
    motion = random_motion(rng, arm.n)
    covered = 0
    for name, form in FORMULATIONS.items():
        bare = without_drives(arm)
        if form.covers.missing(bare):
            continue
        covered += 1
        dynamics = ned.Dynamics(bare.robot(), gravity=GRAVITY, backend='python')
        expected = dynamics.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        computed = form.inverse_dynamics(bare, motion.q, motion.qd, motion.qdd, gravity=GRAVITY)
        assert relative_error(computed, expected) <= 1e-9, name
        full = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
        drives = [
            link.reflected_inertia * acceleration + link.coulomb_friction * np.sign(rate)
            for link, acceleration, rate in zip(arm.links, motion.qdd, motion.qd, strict=True)
        ]
        expected = full.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        assert relative_error(np.array(computed) + drives, expected) <= 1e-9, name
    assert covered >= (1 if 'modified' in file else 6)


def test_robots_that_are_no_denavit_hartenberg_arm_are_refused():
    """A URDF arm, a convention that does not fit and an unknown one are refused."""
    urdf = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    with pytest.raises(ModelError, match=r'link_1|z axis'):
        arm_from_robot(urdf)
    arm = random_arm(np.random.default_rng(10), 4, 'modified', prismatic=0.0)
    with pytest.raises(ModelError, match='expected a screw'):
        arm_from_robot(arm.robot(), 'standard')
    arm = random_arm(np.random.default_rng(11), 4, 'standard', prismatic=0.0)
    with pytest.raises(ModelError, match='expected the frame of body'):
        arm_from_robot(arm.robot(), 'modified')
    with pytest.raises(ModelError, match=r"convention: expected one of .*'classic'"):
        arm_from_robot(arm.robot(), 'classic')


def test_drives_of_several_joints_are_refused():
    """No document has them: they are named, and not dropped."""
    robot = ned.load_dh(shipped_file('puma560_standard_dh.yaml'))
    drive = CoupledDrive('wrist', ('joint_5', 'joint_6'), (1.0, -1.0), 1e-5)
    robot = dataclasses.replace(robot, coupled_drives=(drive,))
    message = "got coupled drive 'wrist', which turns with joint_5 - joint_6"
    for find in (arm_from_robot, fit_arm):
        with pytest.raises(ModelError, match=message):
            find(robot)


def test_wrong_rows_are_refused():
    """Names, types and numbers of a row are checked when it is made."""
    with pytest.raises(ModelError, match='a: expected a finite number, got nan'):
        DHLink(a=float('nan'))
    with pytest.raises(ModelError, match='d: expected a number'):
        DHLink(d='long')
    with pytest.raises(ModelError, match='viscous_friction: expected >= 0'):
        DHLink(viscous_friction=-1.0)
    with pytest.raises(ModelError, match=r"type: expected one of .*'spherical'"):
        DHLink(type='spherical')
    with pytest.raises(ModelError, match='inertia: expected an Inertia, got float'):
        DHLink(inertia=1.0)
    with pytest.raises(ModelError, match='links: expected at least one'):
        Arm('standard', ())
    with pytest.raises(ModelError, match="'axis': the name is used twice"):
        Arm('standard', (DHLink(name='axis'), DHLink(name='axis')))
    with pytest.raises(ModelError, match='convention: expected one of standard, modified'):
        Arm('DH', (DHLink(),))
    with pytest.raises(InputError, match='n: expected at least 1'):
        random_arm(np.random.default_rng(0), 0)


def test_quarter_turns_are_exact():
    """Multiples of a quarter turn have sines and cosines of exactly 0, 1 and -1."""
    for quarter in range(-5, 6):
        assert set(map(abs, cosine_sine(0.5 * np.pi * quarter))) == {0.0, 1.0}
        cosine, sine = cosine_sine(0.5 * np.pi * quarter)
        assert cosine == pytest.approx(np.cos(0.5 * np.pi * quarter), abs=1e-15)
        assert sine == pytest.approx(np.sin(0.5 * np.pi * quarter), abs=1e-15)
    assert cosine_sine(0.3) == (np.cos(0.3), np.sin(0.3))


def test_an_arm_is_frozen():
    """Rows and arms cannot be changed; changes make new ones."""
    arm = Arm('standard', (DHLink(), DHLink()), tool=Transform.from_translation((0.1, 0.0, 0.0)))
    assert [link.name for link in arm.links] == ['joint_1', 'joint_2']
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.links = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.links[0].a = 1.0
