"""The robots in config/ are what their comments say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import Inertia, Transform, axis_angle_rotation

CONFIG = Path(__file__).resolve().parents[2] / 'config'


def body_poses(robot, positions):
    """Return the poses of the bodies in the base frame."""
    poses = []
    for body in robot.bodies:
        position = body.multiplier * positions[body.coordinate] + body.offset
        turn = Transform.from_rotation(axis_angle_rotation(body.axis, position))
        parent = poses[body.parent] if body.parent >= 0 else Transform.identity()
        poses.append(parent @ body.pose_in_parent @ turn)
    return poses


def tip_pose(robot, positions):
    """Return the pose of the tip in the base frame."""
    return body_poses(robot, positions)[robot.tip.body] @ robot.tip.pose_in_body


@pytest.mark.parametrize('path', sorted(CONFIG.glob('*.urdf')) + sorted(CONFIG.glob('*_dh.yaml')))
def test_no_shipped_model_has_an_error(path):
    """Every robot we ship passes our own checker without errors."""
    findings = check_robot(load_model(path))
    assert [finding for finding in findings if finding.severity == 'error'] == []


def test_puma_figures_are_those_of_the_robotics_toolbox():
    rtb = pytest.importorskip('roboticstoolbox', reason='the Robotics Toolbox is not installed')
    oracle = rtb.models.DH.Puma560()
    robot = load_model(CONFIG / 'puma560_standard_dh.yaml')
    for q in np.random.default_rng(5).uniform(-3, 3, (20, 6)):
        np.testing.assert_allclose(tip_pose(robot, q).matrix, oracle.fkine(q).A, atol=1e-12)
    for index, (joint, link) in enumerate(zip(robot.joints, oracle.links, strict=True)):
        inertia = robot.link(f'link_{index + 1}').inertia
        assert joint.reflected_inertia == pytest.approx(link.G**2 * link.Jm, rel=1e-12)
        assert joint.viscous_friction == pytest.approx(link.G**2 * link.B, rel=1e-12)
        mean = (abs(link.Tc[0]) + abs(link.Tc[1])) / 2.0
        assert joint.coulomb_friction == pytest.approx(abs(link.G) * mean, rel=1e-12)
        np.testing.assert_allclose((joint.lower, joint.upper), link.qlim, rtol=1e-12)
        np.testing.assert_allclose(inertia.center_of_mass, link.r, atol=0)
        if index > 0:
            assert inertia.mass == link.m
            np.testing.assert_allclose(inertia.inertia_about_com, link.I, atol=0)
    assert robot.link('link_1').inertia.inertia_about_com[1, 1] == oracle.links[0].I[1, 1]


def test_six_link_inertias_are_those_of_rods():
    """Centres of mass lie half-way back along the link vectors, and rods have m L^2 / 12."""
    robot = load_model(CONFIG / 'six_link_dh.yaml')
    masses = []
    for index, body in enumerate(robot.bodies):
        link = robot.link(f'link_{index + 1}')
        vector = link.pose_in_body.rotation.T @ link.pose_in_body.translation
        mass, length = link.inertia.mass, np.linalg.norm(vector)
        masses.append(mass)
        np.testing.assert_allclose(link.inertia.center_of_mass, -vector / 2.0, atol=1e-15)
        if length == 0.0:
            expected = 0.4 * mass * 0.05**2 * np.eye(3)
        else:
            along = np.outer(vector, vector) / length**2
            expected = mass * length**2 / 12.0 * (np.eye(3) - along) + mass * 0.02**2 / 2.0 * along
        np.testing.assert_allclose(link.inertia.inertia_about_com, expected, atol=1e-15)
        assert body.name == link.name
    assert masses == [20.0, 10.0, 2.0, 10.0, 10.0, 2.0]


def test_six_axis_arm_is_what_the_demonstration_needs():
    """The arm has limits, a sensor with a tool beyond it, and carries 3 kg with margin."""
    robot = load_model(CONFIG / 'six_axis_arm.urdf', base_link='base_link', tip_link='tcp')
    assert robot.joint_names == tuple(f'joint_{i}' for i in range(1, 7))
    assert check_robot(robot) == ()
    assert [robot.link(name).parent for name in ('ft_sensor', 'tool', 'tcp')] == [
        'flange',
        'ft_sensor',
        'tool',
    ]
    assert robot.link('tool').inertia.mass == 1.2
    assert abs(robot.link('tool').inertia.center_of_mass[:2]).min() > 0.005
    for key in ('lower', 'upper', 'velocity_limit', 'effort_limit'):
        assert np.isfinite(robot.limits(key)).all()
    assert robot.cut_beyond('ft_sensor').bodies[-1].inertia.mass == pytest.approx(1.3)
    heavy = robot.with_payload(Inertia(3.0, np.zeros(3), np.zeros((3, 3))))
    poses = np.random.default_rng(6).uniform(-3, 3, (200, 6))
    worst = np.abs(Dynamics(heavy, backend='python').gravity_torque(poses)).max(axis=0)
    assert (worst < 0.7 * robot.limits('effort_limit')).all()
