"""The six-link manipulator of JAERI-M 90-147 against the poses printed there."""

from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned

SIX_LINK = Path(__file__).resolve().parents[2] / 'config' / 'six_link_dh.yaml'

POSES = {
    'A': ((2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731), (-0.1, 0.35, 1.63)),
    'B': ((10.4705, 8.7346, 44.3932, -17.1186, -51.8741, 13.6195), (-0.1, 0.35, 1.83)),
}
"""Printed joint positions [deg] and tip positions [m]."""


@pytest.mark.parametrize('pose', POSES)
def test_printed_poses(pose, backend):
    """The printed joint positions put the tip where the document says, within 1e-5 m."""
    dynamics = ned.Dynamics(ned.load_dh(SIX_LINK), backend=backend)
    degrees, position = POSES[pose]
    found = dynamics.forward_kinematics(np.deg2rad(degrees))
    np.testing.assert_allclose(found[:3, 3], position, rtol=0.0, atol=1e-5)
    # Both are printed with n = (0, 0, 1), o = (1, 0, 0); angles with four decimals of a degree.
    np.testing.assert_allclose(found[:3, 0], (0.0, 0.0, 1.0), rtol=0.0, atol=2e-5)
    np.testing.assert_allclose(found[:3, 1], (1.0, 0.0, 0.0), rtol=0.0, atol=2e-5)


def test_masses(backend):
    """The links weigh what the document prints: the regressor's parameters show it."""
    robot = ned.load_dh(SIX_LINK)
    masses = [body.inertia.mass for body in robot.bodies]
    np.testing.assert_allclose(masses, (20.0, 10.0, 2.0, 10.0, 10.0, 2.0))
    assert ned.Dynamics(robot, backend=backend).n == 6
