"""Robots whose numbers are printed: a Puma 560, and the six links of JAERI-M 90-147."""

import numpy as np
import pytest
from motion_samples import random_motion

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

GRAVITY = (0.0, 0.0, -9.81)

POSES = {
    'A': ((2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731), (-0.1, 0.35, 1.63)),
    'B': ((10.4705, 8.7346, 44.3932, -17.1186, -51.8741, 13.6195), (-0.1, 0.35, 1.83)),
}
"""Printed joint positions [deg] and tip positions [m] of the six links."""


def load(name, backend):
    """Return the dynamics of a shipped DH file."""
    return ned.Dynamics(ned.load_dh(shipped_file(f'{name}_dh.yaml')), GRAVITY, backend)


@pytest.mark.parametrize('name', ['puma560_standard', 'puma560_modified'])
def test_published_gravity_load(name, backend):
    """The gravity load at qn is the one printed for Corke's parameters, to its last digit."""
    qn = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)
    printed = (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)
    found = load(name, backend).gravity_torque(qn)
    np.testing.assert_allclose(found, printed, rtol=0.0, atol=5e-5)


def test_robotics_toolbox(backend, assert_agree):
    """Torques without friction, mass matrix and pose are the toolbox's, rotors included."""
    rtb = pytest.importorskip(
        'roboticstoolbox', reason='needs Robotics Toolbox (pip install roboticstoolbox-python)'
    )
    toolbox = rtb.models.DH.Puma560().nofriction(coulomb=True, viscous=True)
    ours = load('puma560_standard', backend)
    np.testing.assert_allclose(toolbox.gravity, GRAVITY)
    sample = random_motion(25, 5, 6)
    for q, qd, qdd in zip(sample.q, sample.qd, sample.qdd, strict=True):
        computed = ours.inverse_dynamics(q, qd, qdd) - ours.friction_torque(qd)
        assert_agree('Puma 560 (toolbox)', 'torque', computed, toolbox.rne(q, qd, qdd))
    q = sample.q[0]
    assert_agree('Puma 560 (toolbox)', 'mass matrix', ours.mass_matrix(q), toolbox.inertia(q))
    assert_agree('Puma 560 (toolbox)', 'pose', ours.forward_kinematics(q), toolbox.fkine(q).A)


@pytest.mark.parametrize(('degrees', 'position'), POSES.values(), ids=POSES)
def test_printed_poses(degrees, position, backend):
    """The printed joint positions put the tip where the document says, within 1e-5 m."""
    found = load('six_link', backend).forward_kinematics(np.deg2rad(degrees))
    np.testing.assert_allclose(found[:3, 3], position, rtol=0.0, atol=1e-5)
    # Both are printed with n = (0, 0, 1), o = (1, 0, 0); angles with four decimals of a degree.
    np.testing.assert_allclose(found[:3, 0], (0.0, 0.0, 1.0), rtol=0.0, atol=2e-5)
    np.testing.assert_allclose(found[:3, 1], (1.0, 0.0, 0.0), rtol=0.0, atol=2e-5)


def test_printed_masses():
    bodies = load('six_link', 'python').robot.bodies
    assert [body.inertia.mass for body in bodies] == [20.0, 10.0, 2.0, 10.0, 10.0, 2.0]
