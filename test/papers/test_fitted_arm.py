"""Denavit-Hartenberg frames fitted to the axes of any chain."""

import dataclasses

import numpy as np
import pytest
from formulation_cases import GRAVITY, random_motion, relative_error
from random_inertias import random_inertia
from robot_chain import chain_of

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import JointType, Link, Robot, Transform
from ne_dynamics.papers.forms.fitted_arm import PARALLEL, fit_arm

UNIT_AXES = [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]


def random_chain(seed, n):
    """Return a chain with axes in any direction, quarter turns and zero offsets among them."""
    rng = np.random.default_rng([6, seed])
    parts = []
    for _ in range(n):
        kind = JointType.PRISMATIC if rng.random() < 0.25 else JointType.REVOLUTE
        axis = np.array(UNIT_AXES[rng.integers(4)])
        turn = Transform.identity()
        if rng.random() < 0.5:
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
        if rng.random() < 0.5:
            matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            turn = Transform.from_rotation(matrix * np.sign(np.linalg.det(matrix)))
        shift = rng.uniform(-0.4, 0.4, 3) * rng.integers(0, 2, 3)
        pose = Transform.from_translation(shift) @ turn
        parts.append((kind, axis, pose, random_inertia(rng)))
    robot = chain_of(parts, viscous_friction=0.3)
    pose = Transform.from_translation((0.1, 0.0, 0.2))
    tip = Link('tip', n - 1, pose, robot.links[-1].name, has_inertial=False)
    return dataclasses.replace(robot, links=(*robot.links, tip), tip_link='tip')


def check_same(robot, arm, motion, tolerance=1e-10):
    """Assert that an arm has the robot's efforts, tip wrench included, and its tip pose."""
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    other = ned.Dynamics(arm.robot(), gravity=GRAVITY, backend='python')
    arguments = motion.q, motion.qd, motion.qdd, motion.wrench
    expected = ours.inverse_dynamics(*arguments)
    assert relative_error(other.inverse_dynamics(*arguments), expected) <= tolerance
    pose = ours.forward_kinematics(motion.q)
    assert relative_error(other.forward_kinematics(motion.q), pose) <= tolerance


@pytest.mark.kept(8)
@pytest.mark.parametrize('convention', ['standard', 'modified'])
@pytest.mark.parametrize('seed', range(24))
def test_fitted_frames_are_the_same_robot(seed, convention):
    """On random chains, with sliding, parallel, meeting and coinciding axes, the fitted arm has
    the chain's efforts and tip pose.
    """
    n = 1 + seed % 8
    robot = random_chain(seed, n)
    arm = fit_arm(robot, convention)
    assert arm.convention == convention
    check_same(robot, arm, random_motion(np.random.default_rng(seed), n))


def test_axes_that_are_parallel_but_for_rounding_become_parallel():
    """Two axes a rounding apart get no common normal far away; their efforts differ no more."""
    robot = random_chain(3, 2)
    turn = 0.3 * PARALLEL
    bodies = [
        dataclasses.replace(body, axis=np.array([0.0, 0.0, 1.0]), joint_type=JointType.REVOLUTE)
        for body in robot.bodies
    ]
    tilt = Transform.from_rotation(
        [[1.0, 0.0, 0.0], [0.0, np.cos(turn), -np.sin(turn)], [0.0, np.sin(turn), np.cos(turn)]]
    )
    bodies[1] = dataclasses.replace(
        bodies[1], pose_in_parent=Transform.from_translation((0.3, 0.2, 0.0)) @ tilt
    )
    robot = dataclasses.replace(robot, bodies=tuple(bodies))
    arm = fit_arm(robot)
    assert arm.links[0].alpha == 0.0
    assert arm.links[0].a == pytest.approx(np.hypot(0.3, 0.2))
    check_same(robot, arm, random_motion(np.random.default_rng(3), 2), 10.0 * PARALLEL)


@pytest.mark.parametrize(
    ('change', 'convention', 'message'),
    [
        ({'parent': 0}, 'standard', 'expected a chain, got a tree'),
        ({'multiplier': 2.0}, 'standard', "joint 'joint_2': expected a coordinate of its own"),
        ({}, 'classic', r"convention: expected one of .*'classic'"),
    ],
)
def test_robots_that_are_no_chain_are_refused(change, convention, message):
    """A tree, a mimic joint, no joint at all and a convention of another name are refused."""
    robot = random_chain(4, 3)
    last = dataclasses.replace(robot.bodies[2], **change)
    with pytest.raises(ModelError, match=message):
        fit_arm(dataclasses.replace(robot, bodies=(*robot.bodies[:2], last)), convention)
    links = (Link('base', -1, Transform.identity(), None),)
    with pytest.raises(ModelError, match='expected at least one joint that moves'):
        fit_arm(Robot('rock', (), (), links, 'base'))
