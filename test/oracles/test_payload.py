"""A load at run time is what the same load in the model is, here and in Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_samples import random_motion
from oracle_measure import GRAVITY

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.shipped import shipped_file

ROWS = 3


def random_payload(seed):
    """Return a real body with a full tensor, off the origin, as heavy as a link."""
    rng = np.random.default_rng([seed, 10])
    mass = rng.uniform(0.5, 5.0)
    x, y, z = mass * rng.uniform(0.05, 0.3, 3) ** 2
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = axes @ np.diag([y + z, x + z, x + y]) @ axes.T
    return Inertia(mass, rng.uniform(-0.3, 0.3, 3), 0.5 * (tensor + tensor.T))


def test_parameters_of_a_payload_on_any_rigid_link():
    """A payload given at another link of the tip's body is the same load at the tip."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    tip = robot.tip
    other = next(link for link in robot.links if link.body == tip.body and link.name != tip.name)
    payload = random_payload(4)
    to_tip = tip.pose_in_body.inverse() @ other.pose_in_body
    np.testing.assert_allclose(
        robot.payload_parameters(payload, other.name), payload.transformed(to_tip).parameters
    )
    np.testing.assert_array_equal(
        robot.payload_parameters(payload, tip.name), robot.payload_parameters(payload)
    )
    at_link = ned.Dynamics(
        robot.with_payload(payload, other.name), gravity=GRAVITY, backend='python'
    )
    ours = ned.Dynamics(robot, gravity=GRAVITY, backend='python')
    sample = random_motion(4, ROWS, robot.n)
    motion = sample.q, sample.qd, sample.qdd
    np.testing.assert_allclose(
        ours.inverse_dynamics(*motion, payload=robot.payload_parameters(payload, other.name)),
        at_link.inverse_dynamics(*motion),
        rtol=1e-11,
        atol=1e-11,
    )


def test_a_payload_beyond_a_joint_is_refused_by_name():
    """A link that moves against the tip, an unknown one, or no tip at all is a model error."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'))
    payload = random_payload(4)
    moving = next(link.name for link in robot.links if link.body == 1)
    with pytest.raises(ModelError, match=f'{moving}.*{robot.tip_link}'):
        robot.payload_parameters(payload, moving)
    with pytest.raises(ModelError, match='nowhere'):
        robot.payload_parameters(payload, 'nowhere')
    with pytest.raises(ModelError, match='tip'):
        replace(robot, tip_link=None).payload_parameters(payload)


def test_parameters_are_moments_about_the_origin():
    """The ten parameters of a body are the sums over its mass points."""
    rng = np.random.default_rng(6)
    masses, points = rng.uniform(0.1, 1.0, 20), rng.uniform(-0.5, 0.5, (20, 3))
    com = masses @ points / masses.sum()

    def tensor(offsets):
        squares = (offsets**2).sum(axis=1)
        return np.einsum('k,kij->ij', masses, squares[:, None, None] * np.eye(3)) - np.einsum(
            'k,ki,kj->ij', masses, offsets, offsets
        )

    body = Inertia(masses.sum(), com, tensor(points - com))
    about_origin = tensor(points)
    rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
    expected = [masses.sum(), *(masses @ points), *about_origin[rows, columns]]
    np.testing.assert_allclose(body.parameters, expected, rtol=1e-12)
    pose = Transform.from_xyz_rpy([0.1, -0.2, 0.3], [0.4, 0.5, -0.6])
    moved = points @ pose.rotation.T + pose.translation
    np.testing.assert_allclose(
        body.transformed(pose).parameters[4:], tensor(moved)[rows, columns], rtol=1e-11
    )
