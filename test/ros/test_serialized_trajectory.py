"""Bytes of JointTrajectory messages, read and written by rclpy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.ros.annotator.annotation import as_message
from ne_dynamics.ros.messages.conversion import MessageError
from ne_dynamics.ros.messages.serialized_trajectory import (
    named_fields,
    read_stamp,
    read_trajectory,
)

NAMES = (('a',), ('joint_1', 'shoulder', 'j'), ('x' * 5, 'y' * 6, 'z' * 7, 'ü', '', 'w' * 300))
KEYS = ('positions', 'velocities', 'accelerations', 'effort')


def random_message(rng, names, count):
    """Return a message whose points carry what comes."""
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
    return message


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
def test_everything_that_a_message_has_is_read(names, count: int) -> None:
    """Every field of a message comes back as arrays, whatever its points carry."""
    rng = np.random.default_rng(count)
    for _ in range(10):
        sent = random_message(rng, names, count)
        data = bytes(serialize_message(sent))
        message = read_trajectory(data, count)
        joint_names, fields = named_fields(message)
        assert message.header == sent.header
        assert read_stamp(data) == sent.header.stamp.sec * 10**9 + sent.header.stamp.nanosec
        assert joint_names == names
        assert fields.times.tolist() == pytest.approx(
            [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in sent.points],
            rel=1e-15,
        )
        for key in KEYS:
            rows, values = getattr(fields, key)
            given = [(i, getattr(p, key)) for i, p in enumerate(sent.points) if getattr(p, key)]
            assert rows.tolist() == [i for i, _ in given]
            assert values.tolist() == [list(row) for _, row in given]


@pytest.mark.parametrize('names', NAMES)
def test_an_annotated_trajectory_is_a_message(names) -> None:
    """Its points carry what they have, to the nanosecond and to the bit."""
    trajectory = random_trajectory(np.random.default_rng(1), names, 80)
    arrays = (trajectory.positions, trajectory.velocities, trajectory.accelerations)
    header = Header(frame_id='base_link')
    header.stamp.sec, header.stamp.nanosec = 7, 8
    message = deserialize_message(
        serialize_message(as_message(trajectory, header)), JointTrajectory
    )
    assert message.header == header
    assert tuple(message.joint_names) == names
    for i, point in enumerate(message.points):
        time = point.time_from_start
        assert time.sec * 10**9 + time.nanosec == trajectory.nanoseconds[i]
        for order, key in enumerate(('positions', 'velocities', 'accelerations')):
            expected = arrays[order][i].tolist() if order <= trajectory.orders[i] else []
            assert list(getattr(point, key)) == expected
        assert list(point.effort) == trajectory.efforts[i].tolist()


def test_what_is_cut_off_is_refused() -> None:
    """Wherever the bytes end, no point is made up: a message is whole, or none."""
    sent = random_message(np.random.default_rng(3), ('a', 'elbow'), 3)
    data = bytes(serialize_message(sent))
    # Behind the last point a writer may leave what was there.
    ends = [end for end in range(len(data)) if is_read(data[:end], sent)]
    assert len(data) - len(ends) > 250


def is_read(data: bytes, sent: JointTrajectory) -> bool:
    """Return whether bytes are a message, which is then what was sent."""
    try:
        message = read_trajectory(data)
    except MessageError:
        return False
    assert message == sent
    return True


def test_points_of_another_length_are_named() -> None:
    """A point with too few values is refused by its index and field."""
    message = random_message(np.random.default_rng(2), ('a', 'b'), 3)
    for point in message.points:
        point.velocities = [0.0, 0.0]
    message.points[2].velocities = [1.0]
    with pytest.raises(TrajectoryError, match=r'point 2: velocities: expected 2 values.*got 1'):
        named_fields(read_trajectory(bytes(serialize_message(message))))


def test_a_time_that_no_message_carries_is_refused() -> None:
    """A point later than a Duration can say is an error that names the time."""
    trajectory = random_trajectory(np.random.default_rng(2), ('a',), 3)
    trajectory.nanoseconds[-1] = 2**31 * 10**9
    with pytest.raises(
        TrajectoryError, match='time_from_start: expected at most 2147483647999999999 ns'
    ):
        as_message(trajectory, Header())
