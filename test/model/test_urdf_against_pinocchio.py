"""What is read from URDFs in the field is what Pinocchio reads: frames, axes, inertias, limits."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ne_dynamics.model.urdf.tree import load_urdf

pin = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')

ROBOTS = (
    'baxter_description/urdf/baxter.urdf',
    'panda_description/urdf/panda.urdf',
    'pr2_description/urdf/pr2.urdf',
    'tiago_description/robots/tiago.urdf',
    'ur_description/urdf/ur10_robot.urdf',
)


def example_file(name):
    """Return a file of example-robot-data; skips the test when it is not installed."""
    for prefix in map(Path, sys.path):
        path = prefix / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots' / name
        if path.is_file():
            return path
    return pytest.skip(f'example-robot-data is not installed (no {name})')


@pytest.mark.parametrize('name', ROBOTS)
def test_same_robot_as_pinocchio(name):
    """Tree, placements, lumped inertias and limits; test/oracles compares poses and dynamics."""
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
