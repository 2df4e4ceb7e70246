"""The robots in config/ are what their comments say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.files import load_model
from ne_dynamics.model.rigid_body import Transform, axis_angle_rotation

CONFIG = Path(__file__).resolve().parents[2] / 'config'

SIX_LINK_POSES = {
    'A': ((2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731), (-0.1, 0.35, 1.63)),
    'B': ((10.4705, 8.7346, 44.3932, -17.1186, -51.8741, 13.6195), (-0.1, 0.35, 1.83)),
}
"""Joint positions [deg] and tip positions [m] printed in JAERI-M 90-147."""


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


def potential_energy(robot, positions, gravity):
    """Return the sum of m g h [J]."""
    return sum(
        body.inertia.mass
        * gravity
        * (pose.rotation @ body.inertia.center_of_mass + pose.translation)[2]
        for body, pose in zip(robot.bodies, body_poses(robot, positions), strict=True)
    )


def gravity_load(robot, positions, gravity):
    """Return the gradient of the potential energy by central differences [N m]."""
    step = 1e-5
    return np.array(
        [
            potential_energy(robot, positions + step * unit, gravity)
            - potential_energy(robot, positions - step * unit, gravity)
            for unit in np.eye(robot.n)
        ]
    ) / (2.0 * step)


@pytest.mark.parametrize('path', sorted(CONFIG.glob('*.urdf')) + sorted(CONFIG.glob('*_dh.yaml')))
def test_no_shipped_model_has_an_error(path):
    """Every robot we ship passes our own checker without errors."""
    findings = check_robot(load_model(path))
    assert [finding for finding in findings if finding.severity == 'error'] == []


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_puma_gravity_load_is_the_published_one(convention):
    """The gravity load at qn is the one printed for Corke's parameters (g = 9.81)."""
    robot = load_model(CONFIG / f'puma560_{convention}_dh.yaml')
    qn = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
    np.testing.assert_allclose(
        gravity_load(robot, qn, 9.81), (0, 31.6399, 6.0351, 0, 0.0283, 0), atol=6e-5
    )


def test_puma_in_both_conventions_is_one_robot():
    """Joint axes, inertias about them and the tip are the same in both conventions."""
    standard = load_model(CONFIG / 'puma560_standard_dh.yaml')
    modified = load_model(CONFIG / 'puma560_modified_dh.yaml')
    assert standard.joint_names == modified.joint_names
    for first, second in zip(standard.joints, modified.joints, strict=True):
        for key in vars(first):
            assert getattr(first, key) == getattr(second, key)
    for q in np.random.default_rng(4).uniform(-3, 3, (20, 6)):
        np.testing.assert_allclose(
            tip_pose(standard, q).matrix, tip_pose(modified, q).matrix, atol=1e-13
        )
        for one, two, at, there in zip(
            standard.bodies,
            modified.bodies,
            body_poses(standard, q),
            body_poses(modified, q),
            strict=True,
        ):
            np.testing.assert_allclose(
                at.rotation @ one.axis, there.rotation @ two.axis, atol=1e-13
            )
            inertia, same = one.inertia.transformed(at), two.inertia.transformed(there)
            assert inertia.mass == same.mass
            np.testing.assert_allclose(inertia.center_of_mass, same.center_of_mass, atol=1e-13)
            np.testing.assert_allclose(
                inertia.inertia_about_com, same.inertia_about_com, atol=1e-13
            )


def test_puma_figures_are_those_of_the_robotics_toolbox():
    """Kinematics, inertia, motors and friction are the Robotics Toolbox's Puma 560."""
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


@pytest.mark.parametrize('pose', SIX_LINK_POSES)
def test_six_link_poses_are_the_printed_ones(pose):
    """The printed joint angles put the tip within 1e-5 m of the printed position."""
    degrees, position = SIX_LINK_POSES[pose]
    found = tip_pose(load_model(CONFIG / 'six_link_dh.yaml'), np.radians(degrees))
    np.testing.assert_allclose(found.translation, position, atol=1e-5)
    np.testing.assert_allclose(found.rotation[:, :2].T, [(0, 0, 1), (1, 0, 0)], atol=1e-5)


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
    assert robot.link('ft_sensor').parent == 'flange'
    assert robot.link('ft_sensor').inertia.mass == 0.3
    assert robot.link('tool').parent == 'ft_sensor'
    assert robot.link('tool').inertia.mass == 1.2
    assert abs(robot.link('tool').inertia.center_of_mass[:2]).min() > 0.005
    assert robot.tip.parent == 'tool'
    assert 35.0 <= sum(link.inertia.mass for link in robot.links) <= 45.0
    for key in ('lower', 'upper', 'velocity_limit', 'effort_limit'):
        assert np.isfinite(robot.limits(key)).all()
    cut = robot.cut_beyond('ft_sensor')
    assert cut.bodies[-1].inertia.mass == pytest.approx(1.3)
    heavy = robot.with_payload(robot.link('ft_sensor').inertia).with_payload(
        type(robot.tip.inertia)(2.7, np.zeros(3), np.zeros((3, 3)))
    )
    worst = np.zeros(6)
    for q in np.random.default_rng(6).uniform(-3, 3, (200, 6)):
        worst = np.maximum(worst, np.abs(gravity_load(heavy, q, 9.81)))
    assert (worst < 0.7 * robot.limits('effort_limit')).all()
