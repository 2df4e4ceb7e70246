"""Puma 560 from its two DH files: printed gravity load, each other, Robotics Toolbox."""

from pathlib import Path

import numpy as np
import pytest
from motion_samples import random_motion

import ne_dynamics as ned

CONFIG = Path(__file__).resolve().parents[2] / 'config'
STANDARD = CONFIG / 'puma560_standard_dh.yaml'
MODIFIED = CONFIG / 'puma560_modified_dh.yaml'
ROWS = 5


@pytest.fixture
def toolbox():
    """Robotics Toolbox's Puma 560 without friction, with its rotor inertias and gears."""
    rtb = pytest.importorskip(
        'roboticstoolbox', reason='needs Robotics Toolbox (pip install roboticstoolbox-python)'
    )
    return rtb.models.DH.Puma560().nofriction(coulomb=True, viscous=True)


@pytest.mark.parametrize('path', [STANDARD, MODIFIED], ids=lambda path: path.stem)
def test_published_gravity_load(path, backend):
    """The gravity load at qn is the one printed for Corke's parameters, to its last digit."""
    dynamics = ned.Dynamics(ned.load_dh(path), gravity=(0.0, 0.0, -9.81), backend=backend)
    qn = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)
    printed = (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)
    np.testing.assert_allclose(dynamics.gravity_torque(qn), printed, rtol=0.0, atol=5e-5)


def test_robotics_toolbox(toolbox, backend, assert_agree):
    """Torques without friction, mass matrix and pose are the toolbox's, rotors included."""
    gravity = (0.0, 0.0, -9.81)
    ours = ned.Dynamics(ned.load_dh(STANDARD), gravity=gravity, backend=backend)
    np.testing.assert_allclose(toolbox.gravity, gravity)
    sample = random_motion(25, ROWS, 6)
    for q, qd, qdd in zip(sample.q, sample.qd, sample.qdd, strict=True):
        computed = ours.inverse_dynamics(q, qd, qdd) - ours.friction_torque(qd)
        assert_agree('Puma 560 (toolbox)', 'torque', computed, toolbox.rne(q, qd, qdd))
    q = sample.q[0]
    assert_agree('Puma 560 (toolbox)', 'mass matrix', ours.mass_matrix(q), toolbox.inertia(q))
    assert_agree('Puma 560 (toolbox)', 'pose', ours.forward_kinematics(q), toolbox.fkine(q).A)
