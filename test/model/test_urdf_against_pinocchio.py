"""What is read from URDFs in the field is what Pinocchio reads: frames, axes, inertias, limits."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.model.rigid_body import Transform, axis_angle_rotation
from ne_dynamics.model.urdf.tree import load_urdf

pin = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')

ROBOTS = (
    'allegro_hand_description/urdf/allegro_right_hand.urdf',
    'anymal_b_simple_description/robots/anymal-kinova.urdf',
    'baxter_description/urdf/baxter.urdf',
    'icub_description/robots/icub.urdf',
    'kinova_description/robots/kinova.urdf',
    'panda_description/urdf/panda.urdf',
    'pr2_description/urdf/pr2.urdf',
    'romeo_description/urdf/romeo.urdf',
    'romeo_description/urdf/romeo_laas_small.urdf',
    'so_arm_description/urdf/so101.urdf',
    'talos_data/robots/talos_full_v2.urdf',
    'tiago_description/robots/tiago.urdf',
    'ur_description/urdf/ur10_robot.urdf',
    'xarm_description/urdf/xarm7.urdf',
    'z1_description/urdf/z1.urdf',
)


def example_file(name):
    """Return a file of example-robot-data; skips the test when it is not installed."""
    for prefix in map(Path, sys.path):
        path = prefix / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots' / name
        if path.is_file():
            return path
    return pytest.skip(f'example-robot-data is not installed (no {name})')


def joint_position(robot, body, positions):
    """Return the position of a body's own joint."""
    return body.multiplier * positions[body.coordinate] + body.offset


@pytest.mark.parametrize('name', ROBOTS)
def test_same_robot_as_pinocchio(name):
    """Tree, placements, axes, lumped inertias, link frames and limits are Pinocchio's."""
    path = example_file(name)
    robot = load_urdf(path)
    model = pin.buildModelFromUrdf(str(path))
    assert {body.joint_name for body in robot.bodies} == set(model.names[1:])
    for body in robot.bodies:
        index = model.getJointId(body.joint_name)
        parent = 'universe' if body.parent < 0 else robot.bodies[body.parent].joint_name
        assert model.names[model.parents[index]] == parent
        placement = model.jointPlacements[index].homogeneous
        np.testing.assert_allclose(body.pose_in_parent.matrix, placement, atol=1e-12)
        expected = model.inertias[index].toDynamicParameters()
        tensor = body.inertia.inertia_about_origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        found = np.hstack([body.inertia.mass, body.inertia.first_moment, tensor])
        scale = max(1e-6, abs(expected).max())
        np.testing.assert_allclose(found, expected, atol=1e-12 * scale)
        joint = robot.joints[body.coordinate]
        if joint.name == body.joint_name:
            at = model.joints[index].idx_v
            assert joint.effort_limit == model.upperEffortLimit[at]
            assert joint.velocity_limit == model.upperVelocityLimit[at]

    positions = np.random.default_rng(8).uniform(-1, 1, robot.n)
    configuration = pin.neutral(model)
    poses = []
    for body in robot.bodies:
        value = joint_position(robot, body, positions)
        index = model.getJointId(body.joint_name)
        at = model.joints[index].idx_q
        if model.joints[index].nq == 2:
            configuration[at : at + 2] = np.cos(value), np.sin(value)
        else:
            configuration[at] = value
        motion = (
            Transform.from_translation(body.axis * value)
            if body.joint_type.is_prismatic
            else Transform.from_rotation(axis_angle_rotation(body.axis, value))
        )
        parent = poses[body.parent] if body.parent >= 0 else Transform.identity()
        poses.append(parent @ body.pose_in_parent @ motion)
    data = model.createData()
    pin.framesForwardKinematics(model, data, configuration)
    for link in robot.links:
        frame = model.getFrameId(link.name, pin.FrameType.BODY)
        pose = poses[link.body] if link.body >= 0 else Transform.identity()
        np.testing.assert_allclose(
            (pose @ link.pose_in_body).matrix, data.oMf[frame].homogeneous, atol=1e-10
        )


@pytest.mark.parametrize(
    ('name', 'base', 'tip'),
    [
        ('tiago_description/robots/tiago.urdf', None, 'arm_tool_link'),
        ('baxter_description/urdf/baxter.urdf', None, 'left_gripper'),
        ('panda_description/urdf/panda.urdf', None, 'panda_hand'),
    ],
)
def test_lumping_is_that_of_pinocchios_reduced_model(name, base, tip):
    """Locking what is off the way to the tip gives the inertias of Pinocchio's reduced model."""
    path = example_file(name)
    robot = load_urdf(path, base, tip)
    model = pin.buildModelFromUrdf(str(path))
    locked = [model.getJointId(item) for item in model.names[1:] if item not in robot.joint_names]
    reduced = pin.buildReducedModel(model, locked, pin.neutral(model))
    assert list(reduced.names[1:]) == list(robot.joint_names)
    for index, body in enumerate(robot.bodies, start=1):
        expected = reduced.inertias[index].toDynamicParameters()
        tensor = body.inertia.inertia_about_origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
        found = np.hstack([body.inertia.mass, body.inertia.first_moment, tensor])
        np.testing.assert_allclose(found, expected, atol=1e-12 * abs(expected).max())
