"""Inverse kinematics: the pose of what it returns is the target, by Pinocchio's kinematics."""

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from oracle_measure import GRAVITY
from pinocchio_oracle import PinocchioRobot
from random_dh import PinocchioDh, random_dh, write_dh

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

SAMPLES = 8

TOLERANCE = 2e-9
"""Of entries of a pose [1 or m]; arms here are one to two metres long."""


def draw_positions(robot, rng, count):
    """Return random positions within the limits, and within half a turn, shape (count, n)."""
    lower = np.maximum(robot.limits('lower'), -np.pi)
    upper = np.minimum(robot.limits('upper'), np.pi)
    return rng.uniform(lower, upper, (count, robot.n))


def check_arm(dynamics, compute_pose, link=None, seed=7):
    """Assert that random poses are met within the limits, with and without a start."""
    robot = dynamics.robot
    rng = np.random.default_rng(seed)
    lower, upper = robot.limits('lower'), robot.limits('upper')
    for number, q in enumerate(draw_positions(robot, rng, SAMPLES)):
        target = compute_pose(q)
        start = np.clip(q + rng.uniform(-0.2, 0.2, robot.n), lower, upper)
        for initial in (None, start) if number % 4 == 0 else (start,):
            found = ned.inverse_kinematics(dynamics, target, initial, link=link)
            assert found.shape == (robot.n,)
            assert (lower <= found).all()
            assert (found <= upper).all()
            np.testing.assert_allclose(compute_pose(found), target, rtol=0.0, atol=TOLERANCE)


@pytest.mark.kept(4)
@pytest.mark.parametrize('robot', EXAMPLE_ROBOTS, ids=lambda robot: robot.name)
def test_poses_of_example_robots_are_met(robot):
    """Arms of 4 to 8 joints, with mimic, sliding and continuous ones, and links of trees."""
    link = robot.tip_link or robot.wrench_link
    dynamics = ned.Dynamics(robot.load(), backend='python')
    oracle = PinocchioRobot(
        robot.path.read_text(), dynamics.joint_names, GRAVITY, **robot.as_loaded
    )
    check_arm(
        dynamics, lambda q: oracle.forward_kinematics(q, link), None if robot.tip_link else link
    )


@pytest.mark.kept(4)
@pytest.mark.parametrize('convention', ['standard', 'modified'])
@pytest.mark.parametrize('n_joints', [2, 5, 6, 7])
def test_poses_of_random_arms_are_met(n_joints, convention, tmp_path):
    """General arms, about a third of whose joints slide, of fewer and more than six joints."""
    for seed in (50, 51):
        description = random_dh(seed + 100 * n_joints, n_joints, convention)
        model = ned.load_dh(write_dh(description, tmp_path))
        oracle = PinocchioDh(description, GRAVITY)
        check_arm(ned.Dynamics(model, backend='python'), oracle.forward_kinematics, seed=seed)


def test_poses_of_the_shipped_arm_are_met(backend):
    """The URDF in config/, on every backend."""
    path = shipped_file('six_axis_arm.urdf')
    dynamics = ned.Dynamics(ned.load_urdf(path, tip_link='tcp'), backend=backend)
    oracle = PinocchioRobot(path.read_text(), dynamics.joint_names, GRAVITY, tip_link='tcp')
    check_arm(dynamics, oracle.forward_kinematics)
