"""200 random trees against Pinocchio: every joint type, mimic, full tensors, rotated frames."""

import functools
from collections import Counter

import numpy as np
import pytest
from motion_samples import inverse_dynamics_rows, random_motion
from oracle_measure import GRAVITY, backend_cases, urdf_dynamics
from pinocchio_oracle import PinocchioRobot, UrdfTopology
from random_robots import random_tree

TREES = 200
LARGEST = 30
ROWS = 2

ALL_SEEDS = range(TREES)
SMALL_SEEDS = [23, *[seed for seed in ALL_SEEDS if seed % LARGEST < 10][:40]]
"""One tree of which no matrix is written out, and others of up to ten joints."""
COMPILED_SEEDS = {2, 5, 9, 19}  # up to 10 joints, and 20


@functools.cache
def tree(seed):
    """Return the random tree of a seed; sizes run from 1 to 30 joints and over again."""
    return random_tree(seed, 1 + seed % LARGEST)


def dynamics_and_oracle(seed, backend):
    """Return ours and Pinocchio's of the whole tree, with a tip for the wrench."""
    subject = tree(seed)
    ours = urdf_dynamics(subject.urdf, backend, wrench_link=subject.tip)
    return ours, PinocchioRobot(subject.urdf, ours.joint_names, GRAVITY, wrench_link=subject.tip)


def test_the_trees_are_what_they_are_said_to_be():
    trees = [tree(seed) for seed in ALL_SEEDS]
    assert {len(subject.kinds) for subject in trees} == set(range(1, LARGEST + 1))
    kinds = Counter(kind for subject in trees for kind in subject.kinds)
    assert set(kinds) == {'revolute', 'continuous', 'prismatic', 'fixed', 'mimic'}
    assert min(kinds.values()) > TREES
    branching = 0
    for subject in trees:
        parents = Counter(UrdfTopology(subject.urdf).parent_link.values())
        branching += max(parents.values()) > 1
    assert branching > TREES / 2


@pytest.mark.kept(10)
@pytest.mark.parametrize(
    ('backend', 'seed'),
    backend_cases(ALL_SEEDS, COMPILED_SEEDS.__contains__),
    indirect=['backend'],
)
def test_inverse_dynamics_and_gravity(seed, backend, assert_agree):
    """Torques under a tip wrench, friction included, and gravity torques equal Pinocchio's."""
    ours, oracle = dynamics_and_oracle(seed, backend)
    assert sorted(ours.joint_names) == sorted(tree(seed).coordinates)
    sample = random_motion(seed, ROWS, ours.n)
    friction = np.array([oracle.friction_torque(qd) for qd in sample.qd])
    rigid = inverse_dynamics_rows(oracle, sample, wrench=True)
    largest = np.abs(rigid).max()
    row = ours.inverse_dynamics(sample.q[0], sample.qd[0], sample.qdd[0], wrench=sample.wrench[0])
    assert_agree('random trees', 'inverse dynamics', row, rigid[0] + friction[0], largest)
    batch = ours.inverse_dynamics(sample.q, sample.qd, sample.qdd, wrench=sample.wrench)
    assert_agree('random trees', 'inverse dynamics (batch)', batch, rigid + friction, largest)
    gravity = ours.gravity_torque(sample.q[0])
    assert_agree('random trees', 'gravity', gravity, oracle.gravity_torque(sample.q[0]), largest)


@pytest.mark.kept(5)
@pytest.mark.parametrize(
    ('backend', 'seed'), backend_cases(SMALL_SEEDS, [2, 5].__contains__), indirect=['backend']
)
def test_mass_matrix_coriolis_and_forward_dynamics(seed, backend, assert_agree):
    ours, oracle = dynamics_and_oracle(seed, backend)
    sample = random_motion(seed, ROWS, ours.n)
    torque = inverse_dynamics_rows(oracle, sample)
    largest = np.abs(torque).max()
    for q, qd, qdd, tau in zip(sample.q, sample.qd, sample.qdd, torque, strict=True):
        mass = oracle.mass_matrix(q)
        assert_agree('random trees', 'mass matrix', ours.mass_matrix(q), mass)
        coriolis = ours.coriolis_matrix(q, qd) @ qd
        expected = oracle.coriolis_torque(q, qd)
        assert_agree('random trees', 'Coriolis', coriolis, expected, largest)
        found = ours.forward_dynamics(q, qd, tau + oracle.friction_torque(qd))
        deviation = mass @ (found - qdd)
        zero = np.zeros(ours.n)
        assert_agree('random trees', 'forward dynamics', deviation, zero, largest)


@pytest.mark.kept(4)
@pytest.mark.parametrize(
    ('backend', 'seed'), backend_cases(SMALL_SEEDS, [2, 5].__contains__), indirect=['backend']
)
def test_regressor(seed, backend, assert_agree):
    """The regressor equals Pinocchio's, mimic joints folded into the joint they follow."""
    ours, oracle = dynamics_and_oracle(seed, backend)
    sample = random_motion(seed, ROWS, ours.n)
    joints = [body.joint_name for body in ours.robot.bodies]
    motion = sample.q[0], sample.qd[0], sample.qdd[0]
    computed = ours.regressor(*motion)
    assert_agree('random trees', 'regressor', computed, oracle.regressor(*motion, joints))


def is_plain_chain(subject):
    """Return whether no mimic joint and the joint it follows are on two sides of the lock."""
    topology = UrdfTopology(subject.urdf)
    on_the_way = topology.joints_between(subject.root, subject.tip)
    return all(
        (name in on_the_way) == (mimic.source in on_the_way)
        for name, mimic in topology.mimics.items()
    )


@pytest.mark.kept(4)
@pytest.mark.parametrize(
    'seed',
    [seed for seed in ALL_SEEDS if 4 <= len(tree(seed).kinds) <= 16 if is_plain_chain(tree(seed))][
        :10
    ],
)
def test_chain_with_the_rest_locked(seed, backend, assert_agree):
    """Joints off the way to the tip are locked where told, else at zero, and nothing is lost."""
    subject = tree(seed)
    topology = UrdfTopology(subject.urdf)
    on_the_way = topology.joints_between(subject.root, subject.tip)
    off_the_way = [name for name in subject.coordinates if name not in on_the_way]
    rng = np.random.default_rng(seed)
    locked = tuple((name, float(rng.uniform(-1.0, 1.0))) for name in off_the_way[::2])
    ours = urdf_dynamics(
        subject.urdf, backend, base_link=subject.root, tip_link=subject.tip, locked=locked
    )
    oracle = PinocchioRobot(
        subject.urdf,
        ours.joint_names,
        GRAVITY,
        base_link=subject.root,
        tip_link=subject.tip,
        locked=locked,
    )
    sample = random_motion(seed, ROWS, ours.n)
    expected = inverse_dynamics_rows(oracle, sample, wrench=True)
    largest = np.abs(expected).max()
    expected += [oracle.friction_torque(qd) for qd in sample.qd]
    computed = ours.inverse_dynamics(sample.q, sample.qd, sample.qdd, wrench=sample.wrench)
    assert_agree('random chains', 'inverse dynamics', computed, expected, largest)
    pose = ours.forward_kinematics(sample.q[0])
    expected_pose = oracle.forward_kinematics(sample.q[0])
    assert_agree('random chains', 'forward kinematics', pose, expected_pose)
