"""Principal axes, moments about lines and angular velocities, appendices A and B of 000."""

import numpy as np

import ne_dynamics as ned
from ne_dynamics.model import Inertia, angular_velocity_of_axes
from ne_dynamics.model.checks import check_robot

POINTS = np.random.default_rng(1).normal(size=(12, 3)) * [0.3, 0.2, 0.1]
MASSES = np.random.default_rng(2).uniform(0.1, 1.0, 12)


def inertia_of_points():
    """Return the inertia of points of mass, by the sums of 000 (A.14) and (A.15)."""
    center = MASSES @ POINTS / MASSES.sum()
    arms = POINTS - center
    tensor = sum(
        mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        for mass, arm in zip(MASSES, arms, strict=True)
    )
    return Inertia(MASSES.sum(), center, tensor)


def test_principal_axes_make_the_tensor_diagonal():
    body = inertia_of_points()
    axes, moments = body.principal_axes, body.principal_moments
    np.testing.assert_allclose(
        axes @ body.inertia_about_com @ axes.T, np.diag(moments), atol=1e-15
    )
    for axis, moment in zip(axes, moments, strict=True):
        along = body.moment_about_line(axis, body.center_of_mass)
        np.testing.assert_allclose(along, moment, rtol=1e-12)
        # A point of the ellipsoid (A.19), by its semi-axis.
        point = axis / np.sqrt(moment)
        np.testing.assert_allclose(point @ body.inertia_about_com @ point, 1.0, rtol=1e-12)


def test_the_angular_velocity_from_direction_cosines():
    """A turn about a known axis gives that axis times the rate, in the moving axes."""
    rate = np.array([0.3, -0.5, 0.7])
    cross = np.array([[0.0, -rate[2], rate[1]], [rate[2], 0.0, -rate[0]], [-rate[1], rate[0], 0]])
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    found = angular_velocity_of_axes(rotation, rotation @ cross)
    np.testing.assert_allclose(found, rate, atol=1e-15)
    fixed = angular_velocity_of_axes(rotation, cross @ rotation)
    np.testing.assert_allclose(rotation @ fixed, rate, atol=1e-15)


def test_check_names_the_principal_axes_of_a_link_that_cannot_be():
    """The finding names the three axes beside the moments, in the order of the moments."""
    text = (
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="9" iyy="1" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint>'
        '</robot>'
    )
    (finding,) = [each for each in check_robot(ned.load_urdf(text)) if 'triangle' in each.code]
    assert 'got 1, 2, 9 kg m^2 about (0 1 0), (0 0 1), (1 0 0) of the link frame' in str(finding)
