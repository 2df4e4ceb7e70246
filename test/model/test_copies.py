"""Copies of a model are as frozen as the model, and equal to the last bit."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from random_robots import random_tree

import ne_dynamics as ned
from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import checked_number, frozen_array
from ne_dynamics.model.rigid_body import Transform
from ne_dynamics.model.robot import ModelFinding, Robot

CONFIG = Path(__file__).resolve().parents[2] / 'config'

WAYS = {
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
    'pickle': lambda value: pickle.loads(pickle.dumps(value)),
}


@dataclasses.dataclass(frozen=True, eq=False)
class NumberedArm(Robot):
    """A robot with a field of its own."""

    serial: str = ''


class Flange(Transform):
    """A pose of another name."""


def random_robot(seed):
    """Return a random tree, with rotated frames and full tensors, and with a finding."""
    finding = ModelFinding('info', 'made-up', 'robot', 'of a test')
    robot = ned.load_urdf(random_tree(seed, 5).urdf)
    return dataclasses.replace(robot, findings=(finding,), source='nowhere')


def assert_same_and_frozen(left, right):
    """Compare two values, field by field, bit by bit, and want every array read-only."""
    assert type(left) is type(right)
    if dataclasses.is_dataclass(left):
        for item in dataclasses.fields(left):
            assert_same_and_frozen(getattr(left, item.name), getattr(right, item.name))
    elif isinstance(left, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same_and_frozen(one, other)
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes()
        assert not right.flags.writeable
        with pytest.raises(ValueError, match='read-only'):
            right[...] = 0.0
    else:
        assert left == right


def list_robots():
    """Return robots built by hand, of subclasses, and as the loaders return them."""
    robot = random_robot(3)
    values = {item.name: getattr(robot, item.name) for item in dataclasses.fields(robot)}
    pose = robot.links[1].pose_in_body
    values['links'] = (
        *robot.links[:-1],
        dataclasses.replace(robot.links[-1], pose_in_body=Flange(pose.rotation, pose.translation)),
    )
    loaded = [ned.load_model(CONFIG / name) for name in ('six_axis_arm.urdf', 'six_link_dh.yaml')]
    return robot, NumberedArm(**values, serial='n 5'), *loaded


@pytest.mark.parametrize('way', WAYS)
def test_copies_of_robots_and_their_parts_are_frozen_and_equal(way):
    for robot in list_robots():
        copied = WAYS[way](robot)
        assert copied is not robot
        assert_same_and_frozen(robot, copied)
        name = robot.links[3].name
        assert copied.link(name) is copied.links[3]
    robot = random_robot(7)
    for part in (
        robot.links[1].pose_in_body,
        robot.links[1].inertia,
        robot.joints[1],
        robot.bodies[2],
        robot.links[2],
        robot.findings[0],
    ):
        assert_same_and_frozen(part, WAYS[way](part))


def test_array_that_is_given_stays_its_owners():
    """The array handed to a constructor stays writeable; what happens to it is not the robot's."""
    translation = np.array([1.0, 2.0, 3.0])
    pose = Transform(np.eye(3), translation)
    translation[0] = 9.0
    assert pose.translation.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    'value', [10**400, 'x', None, [1.0, [2.0]], np.ones(4), 1j, [float('inf')] * 3]
)
def test_values_that_are_no_numbers_are_refused(value):
    with pytest.raises(ModelError, match=r'^thing: expected'):
        frozen_array(value, (3,), 'thing')
    with pytest.raises(ModelError, match=r'^thing: expected'):
        checked_number(value, 'thing')
