"""Inverse dynamics on a moving base against Pinocchio with a free-flyer root joint."""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import EXAMPLE_ROBOTS
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot
from random_robots import random_tree

ROWS = 3
ROBOTS = [
    robot
    for robot in EXAMPLE_ROBOTS
    if robot.name in ('UR3', 'Z1', 'Baxter (tree, mimic)')
    or robot.name.startswith(('Panda with', 'TIAGo without'))
]


def check(name, ours, oracle, sample, wrench, assert_agree):
    """Compare at every row of the sample, without friction in the scale."""
    for row in range(len(sample)):
        motion = sample.q[row], sample.qd[row], sample.qdd[row]
        force = sample.wrench[row] if wrench else None
        base = sample.base_motion[row]
        rigid = oracle.inverse_dynamics(*motion, wrench=force, base_motion=base)
        computed = ours.inverse_dynamics(*motion, wrench=force, base_motion=base)
        expected = rigid + oracle.friction_torque(sample.qd[row])
        assert_agree(name, 'moving base', computed, expected, np.abs(rigid).max())


@pytest.mark.parametrize('wrench', [False, True], ids=['free', 'wrench'])
@pytest.mark.parametrize('robot', ROBOTS, ids=lambda robot: robot.name)
def test_robots_on_a_moving_base(robot, wrench, backend, assert_agree):
    """A base that turns and accelerates changes the torques as Pinocchio's free flyer does."""
    assert robot.base_link is None, 'the free flyer moves the root link'
    ours = urdf_dynamics(robot.path, backend, **robot.as_loaded)
    oracle = PinocchioRobot(
        robot.path.read_text(), ours.joint_names, GRAVITY, **robot.as_loaded, floating=True
    )
    check(robot.name, ours, oracle, random_motion(2, ROWS, ours.n), wrench, assert_agree)


@pytest.mark.parametrize(
    ('backend', 'seed'),
    backend_cases(range(500, 530), range(500, 510).__contains__),
    indirect=['backend'],
)
def test_random_trees_on_a_moving_base(seed, backend, assert_agree):
    """Random trees of up to ten joints agree on a moving base, tip wrench included."""
    subject = random_tree(seed, 1 + seed % 10)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    oracle = PinocchioRobot(
        subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip, floating=True
    )
    check('random trees', ours, oracle, random_motion(seed, ROWS, ours.n), True, assert_agree)


def test_a_base_accelerating_upwards_feels_like_gravity(backend, assert_agree):
    """A linear base acceleration is the same as so much more gravity the other way."""
    subject = random_tree(77, 6)
    acceleration = np.array([0.4, -1.1, 2.3])
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    heavier = urdf_dynamics(
        subject.urdf,
        backend,
        gravity=tuple(np.array(GRAVITY) - acceleration),
        wrench_link=subject.tip,
    )
    sample = random_motion(77, 1, ours.n)
    motion = sample.q[0], sample.qd[0], sample.qdd[0]
    base = np.concatenate([np.zeros(6), acceleration])
    computed = ours.inverse_dynamics(*motion, base_motion=base)
    expected = heavier.inverse_dynamics(*motion)
    assert_agree('identities', 'base acceleration', computed, expected)


def test_a_base_at_rest_changes_nothing(backend, assert_agree):
    """Base motion zero gives the torques without base motion."""
    subject = random_tree(78, 6)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    sample = random_motion(78, 1, ours.n)
    motion = sample.q[0], sample.qd[0], sample.qdd[0]
    computed = ours.inverse_dynamics(*motion, base_motion=np.zeros(9))
    assert_agree('identities', 'base at rest', computed, ours.inverse_dynamics(*motion))
