"""Messages to arrays, with stand-ins that have the fields: no ROS needed."""

from __future__ import annotations

import re
from array import array
from types import SimpleNamespace

import numpy as np
import pytest

from ne_dynamics.ros.messages.conversion import (
    JointStateReader,
    MessageError,
    imu_reading,
    stamp_nanoseconds,
    wrench_reading,
)

NAMES = ('a', 'b', 'c')


def joint_state(names, position, velocity=()):
    """Return what a JointState has."""
    return SimpleNamespace(
        name=list(names), position=array('d', position), velocity=array('d', velocity)
    )


def test_a_gripper_that_has_no_velocity_costs_the_arm_none() -> None:
    """Velocities and efforts that end before the names are used where those without one are not
    the robot's: a gripper that a driver has appended.
    """
    reader = JointStateReader(NAMES)
    names = [*reversed(NAMES), 'gripper', 'finger']
    for count in (3, 4, 5):
        message = joint_state(names, [3, 2, 1, 8, 9], [6, 5, 4, 0, 0][:count])
        message.effort = array('d', [9, 8, 7, 0, 0][:count])
        position, velocity = reader.read(message)
        np.testing.assert_array_equal(position, [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(velocity, [4.0, 5.0, 6.0])
        np.testing.assert_array_equal(reader.read_effort(message), [7.0, 8.0, 9.0])


def test_joints_of_the_robot_without_a_velocity_are_named() -> None:
    """Where a joint of the robot has no velocity, the message is dropped with all such joints by
    name; positions, and arrays that are too long, are dropped as ever.
    """
    reader = JointStateReader(NAMES)
    message = joint_state(['gripper', *NAMES], [9, 1, 2, 3], [0, 4])
    message.effort = array('d', [0, 4])
    named = re.escape(repr(list(NAMES[1:])))
    with pytest.raises(
        MessageError, match=f'velocity: got 2 values for 4 names: none for {named}'
    ):
        reader.read(message)
    assert reader.read_effort(message) is None
    for given in (
        joint_state([*NAMES, 'gripper'], [1, 2, 3], [4, 5, 6]),
        joint_state(NAMES, [1, 2, 3], [4, 5, 6, 7]),
    ):
        with pytest.raises(MessageError, match='expected as many'):
            reader.read(given)


@pytest.mark.parametrize(
    ('message', 'field', 'match'),
    [
        (joint_state('ab', [1, 2]), 'name', r"name: \['c'\] missing"),
        (joint_state('', []), 'name', r"\['a', 'b', 'c'\] missing"),
        (joint_state('abca', [1, 2, 3, 4]), 'name', "'a' is there twice"),
        (joint_state('abc', [1, 2]), 'position', 'got 2 values for 3 names'),
        (joint_state('abc', []), 'position', 'got 0 values for 3 names'),
        (joint_state('abc', [1, 2, 3], [1]), 'velocity', 'got 1 values for 3 names'),
        (joint_state('cba', [1, np.nan, 3]), 'position', "position: joint 'b': .*nan"),
        (joint_state('abc', [1, 2, 3], [1, 2, -np.inf]), 'velocity', "joint 'c': .*-inf"),
        (joint_state('abc', [np.inf, -np.inf, 3]), 'position', "joint 'a'"),
        (joint_state('abc', [1, 1.7e308, 3]), 'position', "joint 'b': .*of at most 1e.09, got"),
        (joint_state('bac', [1, -1.1e9, 3]), 'position', "joint 'a': .*of at most 1e.09, got"),
    ],
)
def test_what_cannot_be_used_is_refused(message, field: str, match: str) -> None:
    reader = JointStateReader(NAMES)
    with pytest.raises(MessageError, match=match) as refused:
        reader.read(message)
    assert refused.value.field == field
    reader.read(joint_state(NAMES, [1, 2, 3]))


def test_stamps_and_durations_are_exact() -> None:
    """Nanoseconds of an epoch stamp are not rounded; durations may be negative."""
    assert (
        stamp_nanoseconds(SimpleNamespace(sec=1_700_000_000, nanosec=1))
        == 1_700_000_000 * 10**9 + 1
    )
    assert stamp_nanoseconds(SimpleNamespace(sec=-1, nanosec=500_000_000)) == -500_000_000


def test_wrench_is_force_then_torque() -> None:
    """The six numbers of a wrench come in the order force, torque."""
    vector = SimpleNamespace
    message = vector(
        wrench=vector(force=vector(x=1.0, y=2.0, z=3.0), torque=vector(x=4.0, y=5.0, z=6.0))
    )
    np.testing.assert_array_equal(wrench_reading(message), [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize('missing', range(3))
def test_what_an_imu_does_not_give_begins_its_covariance_with_minus_one(missing: int) -> None:
    vector, covariances = SimpleNamespace, np.zeros((3, 9))
    covariances[missing, 0], covariances[missing - 1, 1] = -1.0, -1.0
    found = imu_reading(
        vector(
            angular_velocity=vector(x=1.0, y=2.0, z=3.0),
            linear_acceleration=vector(x=4.0, y=5.0, z=6.0),
            orientation=vector(x=0.1, y=0.2, z=0.3, w=0.4),
            angular_velocity_covariance=covariances[0],
            linear_acceleration_covariance=covariances[1],
            orientation_covariance=covariances[2],
        )
    )
    expected = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.1, 0.2, 0.3, 0.4]
    for index, (value, right) in enumerate(zip(found, expected, strict=True)):
        assert (value is None) == (index == missing)
        assert value is None or value.tolist() == right
