"""Identities between our own quantities that no correct dynamics can break."""

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from motion_samples import random_motion
from oracle_measure import GRAVITY, backend_cases
from random_robots import random_tree

import ne_dynamics as ned

CONFIG = Path(__file__).resolve().parents[2] / 'config'
ROWS = 3
ROBOTS = ('six_axis_arm.urdf', 'puma560_modified_dh.yaml', 'tree of 5 joints', 'tree of 14 joints')
COMPILED_ROBOTS = ('six_axis_arm.urdf', 'tree of 5 joints')

pytestmark = pytest.mark.parametrize(
    ('backend', 'robot'), backend_cases(ROBOTS, COMPILED_ROBOTS.__contains__), indirect=['backend']
)


def load(name):
    """Return a robot of the package or a random one, with a tip."""
    if name.endswith('.urdf'):
        return ned.load_urdf(CONFIG / name, tip_link='tcp')
    if name.endswith('.yaml'):
        return ned.load_dh(CONFIG / name)
    n_joints = int(name.split()[2])
    subject = random_tree(900 + n_joints, n_joints)
    return replace(ned.load_urdf(subject.urdf), tip_link=subject.tip)


@functools.cache
def loaded(name, backend):
    """Return the dynamics of a robot, built once."""
    return ned.Dynamics(load(name), gravity=GRAVITY, backend=backend)


@pytest.fixture
def dynamics(robot, backend):
    """Dynamics of a robot of the list."""
    return loaded(robot, backend)


@pytest.fixture
def sample(dynamics):
    """Three random motions of the robot."""
    return random_motion(31, ROWS, dynamics.n)


@pytest.mark.parametrize('under_wrench', [False, True], ids=['free', 'wrench'])
def test_forward_dynamics_inverts_inverse_dynamics(dynamics, sample, under_wrench, assert_agree):
    """RNE(q, qd, FD(q, qd, tau)) = tau, with and without a tip wrench."""
    rng = np.random.default_rng(32)
    for q, qd, wrench in zip(sample.q, sample.qd, sample.wrench, strict=True):
        tau = rng.uniform(-10.0, 10.0, dynamics.n)
        wrench = wrench if under_wrench else None
        qdd = dynamics.forward_dynamics(q, qd, tau, wrench=wrench)
        computed = dynamics.inverse_dynamics(q, qd, qdd, wrench=wrench)
        rest = dynamics.inverse_dynamics(q, qd, np.zeros(dynamics.n), wrench=wrench)
        scale = max(np.abs(tau).max(), np.abs(rest).max())
        assert_agree('identities', 'forward inverts', computed, tau, scale)


BATCHED = {
    'gravity_torque': ('q',),
    'friction_torque': ('qd',),
    'mass_matrix': ('q',),
    'coriolis_matrix': ('q', 'qd'),
    'forward_dynamics': ('q', 'qd', 'qdd'),
    'forward_kinematics': ('q',),
    'jacobian': ('q',),
    'regressor': ('q', 'qd', 'qdd'),
}


def test_every_function_takes_batches(dynamics, sample, assert_agree):
    """A batch gives the stacked results of single calls; one of no row gives none."""
    for function, names in BATCHED.items():
        call = getattr(dynamics, function)
        arrays = [getattr(sample, name) for name in names]
        rows = np.array([call(*row) for row in zip(*arrays, strict=True)])
        assert_agree('identities', f'batch of {function}', call(*arrays), rows)
        assert call(*(array[:0] for array in arrays)).shape == (0, *rows.shape[1:])
