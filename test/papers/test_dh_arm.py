"""Arms in Denavit-Hartenberg parameters: made, given to the production recursion, recovered."""

import dataclasses

import numpy as np
import pytest
from formulation_cases import GRAVITY, random_motion, relative_error

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.papers.forms import Arm, DHLink, arm_from_robot
from ne_dynamics.papers.forms.fitted_arm import fit_arm
from ne_dynamics.papers.forms.random_arms import random_arm
from ne_dynamics.shipped import shipped_file


@pytest.mark.parametrize('convention', ['standard', 'modified'])
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
    ('made', 'asked', 'message'),
    [
        ('modified', 'standard', 'expected a screw'),
        ('standard', 'modified', 'expected the frame of body'),
        ('standard', 'classic', r"convention: expected one of .*'classic'"),
    ],
)
def test_robots_that_are_no_denavit_hartenberg_arm_are_refused(made, asked, message):
    """A convention that does not fit and an unknown one are refused, and a URDF arm."""
    arm = random_arm(np.random.default_rng(10), 4, made, prismatic=0.0)
    with pytest.raises(ModelError, match=message):
        arm_from_robot(arm.robot(), asked)
    urdf = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    with pytest.raises(ModelError, match=r'link_1|z axis'):
        arm_from_robot(urdf)


def test_drives_of_several_joints_are_refused():
    """No document has them: they are named, and not dropped."""
    robot = ned.load_dh(shipped_file('puma560_standard_dh.yaml'))
    drive = CoupledDrive('wrist', ('joint_5', 'joint_6'), (1.0, -1.0), 1e-5)
    robot = dataclasses.replace(robot, coupled_drives=(drive,))
    message = "got coupled drive 'wrist', which turns with joint_5 - joint_6"
    for find in (arm_from_robot, fit_arm):
        with pytest.raises(ModelError, match=message):
            find(robot)


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        ({'a': float('nan')}, 'a: expected a finite number, got nan'),
        ({'d': 'long'}, 'd: expected a number'),
        ({'viscous_friction': -1.0}, 'viscous_friction: expected >= 0'),
        ({'type': 'spherical'}, r"type: expected one of .*'spherical'"),
        ({'inertia': 1.0}, 'inertia: expected an Inertia, got float'),
    ],
)
def test_wrong_rows_are_refused(row, message):
    """Names, types and numbers of a row are checked when it is made."""
    with pytest.raises(ModelError, match=message):
        DHLink(**row)


@pytest.mark.parametrize(
    ('convention', 'links', 'message'),
    [
        ('standard', (), 'links: expected at least one'),
        ('standard', (DHLink(name='a'), DHLink(name='a')), "'a': the name is used twice"),
        ('DH', (DHLink(),), 'convention: expected one of standard, modified'),
    ],
)
def test_wrong_arms_are_refused(convention, links, message):
    with pytest.raises(ModelError, match=message):
        Arm(convention, links)
