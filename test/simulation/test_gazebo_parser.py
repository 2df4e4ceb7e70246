"""Gazebo's own parser, sdformat, on what is given to Gazebo.

sdformat has no Python package: a small C++ program beside this file prints what it reads, and is
compiled here. Debian's version is older than that of Gazebo Harmonic (14); both read URDF by the
same rules.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.model.rigid_body import Inertia, Transform
from ne_dynamics.simulation.descriptions.gazebo_description import (
    gazebo_description,
)

ROOT = Path(__file__).resolve().parents[2]
ARM = ROOT / 'config' / 'six_axis_arm.urdf'
SENSOR_JOINT = 'ft_sensor_joint'
# The name of a link in the path: sdformat replaces names of links it dissolves.
CONTROLLERS = str(ROOT / 'pedestal' / 'tool' / 'tcp controllers.yaml')
MOUNT = {'mount_xyz': (0.1, -0.2, 0.3), 'mount_rpy': (0.4, -0.3, 0.2)}
TOLERANCE = 1e-12


def sdformat_flags():
    """Return the compiler's flags for the newest sdformat, or skip."""
    for tool in ('g++', 'pkg-config'):
        if shutil.which(tool) is None:
            pytest.skip(f'{tool} is missing (Debian package {tool})')
    listed = subprocess.run(
        ['pkg-config', '--list-all'], capture_output=True, text=True, check=True
    ).stdout
    versions = sorted(int(number) for number in re.findall(r'^sdformat(\d+)\s', listed, re.M))
    if not versions:
        pytest.skip("Gazebo's parser is missing (Debian package libsdformat-dev)")
    flags = ['pkg-config', '--cflags', '--libs', f'sdformat{versions[-1]}']
    return subprocess.run(flags, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope='module')
def read(tmp_path_factory):
    """Return a function that has Gazebo's parser read a text, and returns what it made of it."""
    folder = tmp_path_factory.mktemp('sdformat')
    program = folder / 'sdformat_report'
    source = Path(__file__).with_name('sdformat_report.cc')
    command = ['g++', '-std=c++17', '-O0', source, '-o', program, *sdformat_flags()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr

    def report(text, suffix):
        path = folder / f'description.{suffix}'
        path.write_text(text, encoding='utf-8')
        environment = {**os.environ, 'HOME': str(folder)}  # where it keeps its log
        result = subprocess.run(
            [program, path],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert result.stderr == ''
        content = json.loads(result.stdout)
        assert content['errors'] == []
        return content

    return report


@pytest.fixture(scope='module')
def description():
    """Return the completed description of the shipped arm, with the sensor, mounted askew."""
    return gazebo_description(
        ARM, CONTROLLERS, namespace='tool', sensor_joint=SENSOR_JOINT, **MOUNT
    )


@pytest.fixture(scope='module')
def model(read, description):
    """Return what Gazebo's parser makes of it."""
    (model,) = read(description, 'urdf')['models']
    return model


@pytest.fixture(scope='module')
def robot(description):
    """Return what we make of it."""
    return ned.load_urdf(description)


def pose(values):
    """Return the transform of [x, y, z, qw, qx, qy, qz]."""
    w, x, y, z = values[3:]
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return Transform(rotation, values[:3])


def inertia(link):
    """Return the inertia of a link of Gazebo, in the link's frame."""
    xx, yy, zz = link['diagonal']
    xy, xz, yz = link['off_diagonal']
    about_com = Inertia(link['mass'], np.zeros(3), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return about_com.transformed(pose(link['inertial_pose']))


def lumped(robot, name, names):
    """Return the inertia of several of our links of one body, in the frame of one of them."""
    to_link = robot.link(name).pose_in_body.inverse()
    total = Inertia.zero()
    for other in robot.links:
        if other.name in names:
            total += other.inertia.transformed(to_link @ other.pose_in_body)
    return total


def test_joints_and_their_properties_are_ours(model, robot):
    joints = {joint['name']: joint for joint in model['joints']}
    kinds = dict.fromkeys(robot.joint_names, 'revolute')
    kinds |= {'world_mount': 'fixed', SENSOR_JOINT: 'fixed'}
    assert {name: joint['type'] for name, joint in joints.items()} == kinds
    for joint in robot.joints:
        found = joints[joint.name]
        assert found['damping'] == joint.viscous_friction
        assert found['friction'] == joint.coulomb_friction
        assert (found['lower'], found['upper']) == (joint.lower, joint.upper)
        assert found['effort'] == joint.effort_limit
        assert found['velocity'] == joint.velocity_limit


def test_inertias_are_ours(model, robot):
    names = {link['name'] for link in model['links']}
    groups = {name: {name} for name in names}
    for link in robot.links:  # in Gazebo each link is part of the nearest one that is left
        nearest = link
        while nearest.name not in names and nearest.parent is not None:
            nearest = robot.link(nearest.parent)
        if nearest.name in names:
            groups[nearest.name].add(link.name)
    assert groups['ft_sensor'] == {'ft_sensor', 'tool', 'tcp'}
    for link in model['links']:
        found, expected = inertia(link), lumped(robot, link['name'], groups[link['name']])
        assert found.mass == pytest.approx(expected.mass, rel=TOLERANCE)
        np.testing.assert_allclose(found.parameters, expected.parameters, atol=TOLERANCE)


def test_sensor_measures_at_the_link_behind_it(model):
    (joint,) = (joint for joint in model['joints'] if joint['name'] == SENSOR_JOINT)
    assert (joint['parent'], joint['child']) == ('flange', 'ft_sensor')
    np.testing.assert_allclose(pose(joint['pose_in_child']).matrix, np.eye(4), atol=TOLERANCE)
    (sensor,) = joint['sensors']
    assert pose(sensor.pop('pose_in_joint')).matrix.tolist() == np.eye(4).tolist()
    assert sensor == {
        'name': 'ft_sensor',
        'type': 'force_torque',
        'rate': 500.0,
        'frame': 'child',
        'direction': 'child_to_parent',
    }
