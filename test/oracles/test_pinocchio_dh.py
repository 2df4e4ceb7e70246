"""Random chains in both Denavit-Hartenberg conventions against Pinocchio."""

import numpy as np
import pytest
from motion_samples import inverse_dynamics_rows, random_motion
from oracle_measure import GRAVITY, backend_cases
from random_dh import PinocchioDh, random_dh, write_dh

import ne_dynamics as ned

ROWS = 2


@pytest.mark.kept(6)
@pytest.mark.parametrize(
    ('backend', 'seed'), backend_cases(range(1, 9), [2, 5].__contains__), indirect=['backend']
)
@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_random_chains(seed, convention, backend, tmp_path, assert_agree):
    """Torques, mass matrix and pose equal those of the convention's definition in Pinocchio.

    With general twists, offsets, base, tool, prismatic joints, full tensors, friction and rotors.
    """
    description = random_dh(seed, 1 + seed % 8, convention)
    robot = ned.load_dh(write_dh(description, tmp_path))
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend=backend)
    oracle = PinocchioDh(description, GRAVITY)
    assert list(ours.joint_names) == [joint['name'] for joint in description['joints']]
    name = f'random {convention} DH'
    sample = random_motion(seed, ROWS, ours.n)
    friction = np.array([oracle.friction_torque(qd) for qd in sample.qd])
    torque = inverse_dynamics_rows(oracle, sample)
    largest = np.abs(torque).max()
    computed = ours.inverse_dynamics(sample.q, sample.qd, sample.qdd)
    assert_agree(name, 'inverse dynamics', computed, torque + friction, largest)
    computed = ours.inverse_dynamics(sample.q, sample.qd, sample.qdd, wrench=sample.wrench)
    expected = inverse_dynamics_rows(oracle, sample, wrench=True) + friction
    assert_agree(name, 'with wrench', computed, expected, largest)
    q = sample.q[0]
    assert_agree(name, 'mass matrix', ours.mass_matrix(q), oracle.mass_matrix(q))
    assert_agree(name, 'pose', ours.forward_kinematics(q), oracle.forward_kinematics(q))
