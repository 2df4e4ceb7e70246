"""Messages to arrays and back, matched by name; serialized ones as rclpy reads them."""

from __future__ import annotations

import re
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from builtin_interfaces.msg import Duration, Time
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.ros.annotator.annotation import as_message
from ne_dynamics.ros.messages import serialized_joint_state
from ne_dynamics.ros.messages.conversion import (
    JointStateReader,
    MessageError,
    imu_reading,
    stamp_nanoseconds,
)
from ne_dynamics.ros.messages.serialized_joint_state import JointStateParser, ReadJointState
from ne_dynamics.ros.messages.serialized_trajectory import (
    named_fields,
    read_stamp,
    read_trajectory,
)

NAMES = ('a', 'b', 'c')


def joint_state(names, position, velocity=()) -> JointState:
    return JointState(
        name=list(names), position=array('d', position), velocity=array('d', velocity)
    )


# ---- joint states by name


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
    name.
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


@pytest.mark.parametrize(
    ('message', 'field', 'match'),
    [
        (joint_state('ab', [1, 2]), 'name', r"name: \['c'\] missing"),
        (joint_state('abca', [1, 2, 3, 4]), 'name', "'a' is there twice"),
        (joint_state('abcd', [1, 2, 3], [4, 5, 6]), 'position', 'got 3 values for 4 names'),
        (joint_state('abc', [1, 2, 3], [4, 5, 6, 7]), 'velocity', 'expected as many'),
        (joint_state('cba', [1, np.nan, 3]), 'position', "position: joint 'b': .*nan"),
        (joint_state('abc', [1, 2, 3], [1, 2, -np.inf]), 'velocity', "joint 'c': .*-inf"),
        (joint_state('abc', [np.inf, -np.inf, 3]), 'position', "joint 'a'"),
        (joint_state('bac', [1, -1.1e9, 3]), 'position', "joint 'a': .*of at most 1e.09, got"),
    ],
)
def test_what_cannot_be_used_is_refused(message, field: str, match: str) -> None:
    reader = JointStateReader(NAMES)
    with pytest.raises(MessageError, match=match) as refused:
        reader.read(message)
    assert refused.value.field == field
    reader.read(joint_state(NAMES, [1, 2, 3]))


@pytest.mark.parametrize('missing', range(3))
def test_what_an_imu_does_not_give_begins_its_covariance_with_minus_one(missing: int) -> None:
    message = Imu()
    rate, acceleration = message.angular_velocity, message.linear_acceleration
    rate.x, rate.y, rate.z = 1.0, 2.0, 3.0
    acceleration.x, acceleration.y, acceleration.z = 4.0, 5.0, 6.0
    quaternion = message.orientation
    quaternion.x, quaternion.y, quaternion.z, quaternion.w = 0.1, 0.2, 0.3, 0.4
    fields = ('angular_velocity', 'linear_acceleration', 'orientation')
    getattr(message, f'{fields[missing]}_covariance')[0] = -1.0
    getattr(message, f'{fields[missing - 1]}_covariance')[1] = -1.0
    found = [None if value is None else value.tolist() for value in imu_reading(message)]
    expected = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.1, 0.2, 0.3, 0.4]]
    expected[missing] = None
    assert found == expected


# ---- serialized messages

# No surrogates, which have no bytes, and no zero, which ends a text.
TEXTS = st.text(st.characters(min_codepoint=1, exclude_categories=['Cs']), max_size=9)
VALUES = st.lists(st.floats(), max_size=4)
SECONDS, NANOSECONDS = st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1)
HEADERS = st.builds(
    Header, frame_id=TEXTS, stamp=st.builds(Time, sec=SECONDS, nanosec=NANOSECONDS)
)
STATES = st.builds(
    JointState,
    header=HEADERS,
    name=st.lists(TEXTS, max_size=4),
    position=VALUES,
    velocity=VALUES,
    effort=VALUES,
)
KEYS = ('positions', 'velocities', 'accelerations', 'effort')


@st.composite
def trajectories(draw: st.DrawFn) -> JointTrajectory:
    """Return a trajectory whose points carry what comes, or nothing, for all joints."""
    names = draw(st.lists(TEXTS, min_size=1, max_size=4))
    values = st.lists(st.floats(-1e9, 1e9), min_size=len(names), max_size=len(names))
    fields = {key: st.just([]) | values for key in KEYS}
    times = st.builds(Duration, sec=st.integers(-5, 10_000), nanosec=st.integers(0, 10**9 - 1))
    points = st.builds(JointTrajectoryPoint, time_from_start=times, **fields)
    return JointTrajectory(
        header=draw(HEADERS), joint_names=names, points=draw(st.lists(points, max_size=5))
    )


def content(message: JointState | ReadJointState) -> tuple:
    """Return what a message says, NaN by their bytes."""
    arrays = (message.position, message.velocity, message.effort)
    return message.header.stamp, list(message.name), *(array.tobytes() for array in arrays)


@given(st.lists(STATES, min_size=1, max_size=4), st.lists(VALUES, min_size=3, max_size=3))
def test_every_state_is_read_as_rclpy_reads_it(sent: list[JointState], values: list) -> None:
    """Whatever came before it, and whatever it has in common with that."""
    parser = JointStateParser()
    for message in (*sent, *sent):
        assert content(parser.read(serialize_message(message))) == content(message)
        # As many values in all, or other ones, after the same names.
        for field, other in zip(('position', 'velocity', 'effort'), values, strict=True):
            setattr(message, field, other)
        assert content(parser.read(serialize_message(message))) == content(message)


def test_the_second_state_of_a_publisher_is_read_without_rclpy(monkeypatch) -> None:
    parser = JointStateParser()
    message = joint_state(['a', 'elbow'], [1.0, 2.0], [3.0, 4.0])
    assert isinstance(parser.read(serialize_message(message)), JointState)
    monkeypatch.delattr(serialized_joint_state, 'read_message')
    message.position[1], message.header.stamp.sec = -7.0, 12
    data = bytearray(serialize_message(message))
    # Behind the name of one letter there is a gap, with which nobody has to do.
    data[data.index(b'a\0') + 2] = 0xFF
    read = parser.read(bytes(data))
    assert isinstance(read, ReadJointState)
    assert content(read) == content(message)


@given(STATES, st.data())
def test_bytes_that_are_cut_or_changed_are_read_as_rclpy_reads_them(
    message: JointState, data: st.DataObject
) -> None:
    """After a whole message of the same publisher too."""
    parser = JointStateParser()
    whole = serialize_message(message)
    parser.read(whole)
    spoilt = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place in data.draw(st.lists(st.integers(0, max(0, len(spoilt) - 1)), max_size=2)):
        spoilt[place : place + 1] = data.draw(st.binary(min_size=1, max_size=1))
    try:
        expected = content(deserialize_message(bytes(spoilt), JointState))
    except Exception:
        with pytest.raises(MessageError, match='expected a serialized JointState, got'):
            parser.read(bytes(spoilt))
    else:
        assert content(parser.read(bytes(spoilt))) == expected


@given(trajectories())
def test_everything_that_a_trajectory_has_is_read(sent: JointTrajectory) -> None:
    """Every field of a message comes back as arrays, whatever its points carry."""
    data = bytes(serialize_message(sent))
    message = read_trajectory(data, len(sent.points))
    joint_names, fields = named_fields(message)
    assert message.header == sent.header
    assert read_stamp(data) == stamp_nanoseconds(sent.header.stamp)
    assert joint_names == tuple(sent.joint_names)
    times = [point.time_from_start for point in sent.points]
    expected = [time.sec + 1e-9 * time.nanosec for time in times]
    assert fields.times.tolist() == pytest.approx(expected, rel=1e-15)
    for key in KEYS:
        rows, values = getattr(fields, key)
        there = [(i, getattr(p, key)) for i, p in enumerate(sent.points) if getattr(p, key)]
        assert rows.tolist() == [i for i, _ in there]
        assert values.tolist() == [list(row) for _, row in there]


def test_a_trajectory_that_is_cut_off_is_refused() -> None:
    """Wherever the bytes end: behind the last point a writer may leave what was there."""
    values = np.random.default_rng(3).normal(size=(3, 4, 2)).tolist()
    points = [JointTrajectoryPoint(**dict(zip(KEYS, rows, strict=True))) for rows in values]
    sent = JointTrajectory(joint_names=['a', 'elbow'], points=points)
    points[-1].time_from_start.nanosec = 10**9 - 1
    data, read = bytes(serialize_message(sent)), 0
    for end in range(len(data)):
        try:
            message = read_trajectory(data[:end])
        except MessageError:
            continue
        assert message == sent
        read += 1
    assert read <= 8
    assert len(data) > 250


def random_trajectory(names: tuple[str, ...], count: int) -> AnnotatedTrajectory:
    """Return a result that no annotation would give, but any message can hold."""
    rng = np.random.default_rng(count)
    arrays = rng.normal(size=(4, count, len(names)))
    times = np.sort(rng.integers(0, 10**13, count))
    orders = rng.integers(0, 3, count)
    return AnnotatedTrajectory(
        names, times, *arrays[:3], orders, arrays[3], np.zeros(len(names)), 0
    )


def test_an_annotated_trajectory_is_a_message() -> None:
    """Its points carry what they have, to the nanosecond and to the bit."""
    names = ('x' * 5, 'y' * 6, 'ü', '', 'w' * 300)
    trajectory = random_trajectory(names, 80)
    header = Header(frame_id='base_link', stamp=Time(sec=7, nanosec=8))
    message = deserialize_message(
        serialize_message(as_message(trajectory, header)), JointTrajectory
    )
    assert message.header == header
    assert tuple(message.joint_names) == names
    for i, point in enumerate(message.points):
        assert stamp_nanoseconds(point.time_from_start) == trajectory.nanoseconds[i]
        for order, key in enumerate(KEYS[:3]):
            values = getattr(trajectory, key)[i].tolist()
            assert list(getattr(point, key)) == (values if order <= trajectory.orders[i] else [])
        assert list(point.effort) == trajectory.efforts[i].tolist()


def test_what_no_message_carries_is_refused() -> None:
    """A point later than a Duration can say, and one with too few values, by index and field."""
    trajectory = random_trajectory(('a',), 3)
    trajectory.nanoseconds[-1] = 2**31 * 10**9
    with pytest.raises(
        TrajectoryError, match=r'time_from_start: expected at most 2147483647\d+ ns'
    ):
        as_message(trajectory, Header())
    rows = ([0.0, 0.0], [0.0, 0.0], [1.0])
    message = JointTrajectory(joint_names=['a', 'b'])
    message.points = [JointTrajectoryPoint(velocities=row) for row in rows]
    with pytest.raises(TrajectoryError, match=r'point 2: velocities: expected 2 values.*got 1'):
        named_fields(message)
