"""Bytes of JointTrajectory messages, beside rclpy's own serialization."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from ne_dynamics.errors import NeDynamicsError, TrajectoryError
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.ros.messages.conversion import MessageError
from ne_dynamics.ros.messages.trajectory_cdr import (
    read_trajectory,
    write_trajectory,
)

NAMES = (('a',), ('joint_1', 'shoulder', 'j'), ('x' * 5, 'y' * 6, 'z' * 7, 'ü', '', 'w' * 300))


KEYS = ('positions', 'velocities', 'accelerations', 'effort')


def random_message(rng, names, count):
    """Return a message whose points carry what comes, and its serialization by rclpy."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    message = JointTrajectory(joint_names=list(names))
    message.header.frame_id = 'f' * int(rng.integers(0, 9))
    message.header.stamp.sec = int(rng.integers(-(2**31), 2**31))
    message.header.stamp.nanosec = int(rng.integers(0, 10**9))
    for _ in range(count):
        point = JointTrajectoryPoint()
        for key in KEYS:
            if rng.random() < 0.7:
                setattr(point, key, rng.normal(size=len(names)).tolist())
        point.time_from_start.sec = int(rng.integers(-5, 10_000))
        point.time_from_start.nanosec = int(rng.integers(0, 10**9))
        message.points.append(point)
    return message, serialize_message(message)


def random_trajectory(rng, names, count) -> AnnotatedTrajectory:
    """Return a result that no annotation would give, but any message can hold."""
    arrays = rng.normal(size=(4, count, len(names)))
    times = np.sort(rng.integers(0, 10**13, count))
    orders = rng.integers(0, 3, count)
    return AnnotatedTrajectory(
        names, times, *arrays[:3], orders, arrays[3], np.zeros(len(names)), 0
    )


@pytest.mark.parametrize('names', NAMES)
@pytest.mark.parametrize('count', [0, 1, 2, 70])
def test_reads_what_rclpy_has_written(names, count: int) -> None:
    """Every field of a message comes back, whatever its points carry and however it is padded."""
    rng = np.random.default_rng(count)
    for _ in range(10):
        message, data = random_message(rng, names, count)
        read = read_trajectory(data)
        assert read.stamp == (message.header.stamp.sec, message.header.stamp.nanosec)
        assert read.frame_id == message.header.frame_id
        assert read.joint_names == names
        check_read(message, read)


def check_read(message, read) -> None:
    """Check that everything a message has was read."""
    assert read.fields.times.tolist() == pytest.approx(
        [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points],
        rel=1e-15,
    )
    for key in KEYS:
        rows, values = getattr(read.fields, key)
        given = [(i, getattr(p, key)) for i, p in enumerate(message.points) if getattr(p, key)]
        assert rows.tolist() == [i for i, _ in given]
        expected = np.reshape([row for _, row in given], (-1, len(message.joint_names)))
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize('names', NAMES)
@pytest.mark.parametrize('carried', range(16))
def test_long_messages_are_read(names, carried: int) -> None:
    """Whatever thousands of points carry alike, but for the first, the last and one between."""
    rng = np.random.default_rng(carried)
    message, _ = random_message(rng, names, 0)
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectoryPoint

    count = 1100 + carried
    for index in range(count):
        point = JointTrajectoryPoint()
        for bit, key in enumerate(KEYS):
            if bool(carried & 1 << bit) != (index in (0, 700, count - 1)):
                setattr(point, key, rng.normal(size=len(names)).tolist())
        point.time_from_start.sec = int(rng.integers(-5, 10_000))
        point.time_from_start.nanosec = int(rng.integers(0, 10**9))
        message.points.append(point)
    check_read(message, read_trajectory(serialize_message(message)))


def test_too_many_points_are_refused_before_they_are_read() -> None:
    """A bound on the points is checked by their number alone."""
    _, data = random_message(np.random.default_rng(0), ('a',), 3)
    read_trajectory(data, 3)
    with pytest.raises(MessageError, match='points: expected at most 2, got 3'):
        read_trajectory(data, 2)


@pytest.mark.parametrize('names', NAMES)
def test_rclpy_reads_what_is_written(names) -> None:
    """An annotated trajectory is a message to rclpy, its points carrying what they have."""
    random_message(np.random.default_rng(0), names, 1)  # skips without rclpy
    from rclpy.serialization import deserialize_message
    from trajectory_msgs.msg import JointTrajectory

    trajectory = random_trajectory(np.random.default_rng(1), names, 80)
    arrays = (trajectory.positions, trajectory.velocities, trajectory.accelerations)
    for frame_id in ('', 'base', 'base_link'):
        data = write_trajectory(trajectory, (7, 8), frame_id)
        message = deserialize_message(data, JointTrajectory)
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (7, 8)
        assert message.header.frame_id == frame_id
        assert tuple(message.joint_names) == names
        for i, point in enumerate(message.points):
            time = point.time_from_start
            assert time.sec * 10**9 + time.nanosec == trajectory.nanoseconds[i]
            for order, key in enumerate(('positions', 'velocities', 'accelerations')):
                expected = arrays[order][i].tolist() if order <= trajectory.orders[i] else []
                assert list(getattr(point, key)) == expected
            assert list(point.effort) == trajectory.efforts[i].tolist()
        read = read_trajectory(data)
        np.testing.assert_array_equal(read.fields.effort[1], trajectory.efforts)


def test_reads_the_other_byte_order() -> None:
    """A message whose most significant bytes come first is read as well."""
    body = struct.pack('>iI I1s3x I I1sx2x I', 5, 6, 1, b'\0', 1, 2, b'a\0', 1)
    body += b'\0' * (-len(body) % 4) + struct.pack('>I', 1)
    body += b'\0' * (-len(body) % 8) + struct.pack('>d', 0.25)
    body += struct.pack('>III', 0, 0, 0) + struct.pack('>iI', 3, 500_000_000)
    read = read_trajectory(b'\x00\x00\x00\x00' + body)
    assert read.stamp == (5, 6)
    assert read.joint_names == ('a',)
    assert read.fields.times.tolist() == [3.5]
    assert read.fields.positions[1].tolist() == [[0.25]]
    assert read.fields.positions[1].dtype == np.float64


def test_points_of_another_length_are_named() -> None:
    """A point with too few values is refused by its index and field."""
    message, _ = random_message(np.random.default_rng(2), ('a', 'b'), 3)
    from rclpy.serialization import serialize_message

    for point in message.points:
        point.velocities = [0.0, 0.0]
    message.points[2].velocities = [1.0]
    with pytest.raises(TrajectoryError, match=r'point 2: velocities: expected 2 values.*got 1'):
        read_trajectory(serialize_message(message))


def test_damaged_messages_are_refused_and_nothing_worse() -> None:
    """Bytes cut off, changed or made up end in an error of ours, without large memory."""
    rng = np.random.default_rng(3)
    data = write_trajectory(random_trajectory(rng, NAMES[1], 5), (1, 2), 'base')
    for end in range(len(data)):
        with pytest.raises(MessageError):
            read_trajectory(data[:end])
    refused = 0
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            changed[rng.integers(0, len(changed))] = rng.integers(0, 256)
        try:
            read_trajectory(bytes(changed))
        except NeDynamicsError:
            refused += 1
    assert refused > 300
    for _ in range(500):
        made_up = b'\x00\x01\x00\x00' + rng.bytes(int(rng.integers(0, 200)))
        with pytest.raises(NeDynamicsError):
            read_trajectory(made_up)


@pytest.mark.parametrize('data', [b'', b'\x00', b'\x00\x07\x00\x00' + bytes(100)])
def test_other_encodings_are_refused(data: bytes) -> None:
    """What is not CDR of version 1 is not guessed at."""
    with pytest.raises(MessageError, match='encoding'):
        read_trajectory(data)


def test_a_time_that_no_message_carries_is_refused() -> None:
    """A point later than a Duration can say is an error that names the time, not of packing."""
    trajectory = random_trajectory(np.random.default_rng(2), ('a',), 3)
    trajectory.nanoseconds[-1] = 2**31 * 10**9
    with pytest.raises(
        TrajectoryError, match='time_from_start: expected at most 2147483647999999999 ns'
    ):
        write_trajectory(trajectory, (0, 0), '')
