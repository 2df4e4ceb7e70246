"""A serialized trajectory_msgs JointTrajectory to arrays and back, by rclpy.

rclpy makes a Python object of every point: five thousand take some ten milliseconds in one call.
So a node takes large ones as bytes, and has them read where nothing waits for it; see
:mod:`ne_dynamics.ros.trajectory_planning`.
"""

from __future__ import annotations

import struct

from ne_dynamics.errors import optional_dependency
from ne_dynamics.motion.partial_goal import NamedFields
from ne_dynamics.motion.waypoints import NANO, PointFields, TrajectoryPoint
from ne_dynamics.ros.messages.conversion import MessageError, stamp_nanoseconds
from ne_dynamics.ros.messages.serialized_message import read_message
from ne_dynamics.ros.thresholds import NODE

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from trajectory_msgs.msg import JointTrajectory

LONGEST_DURATION = (2**31 - 1) * NANO + NANO - 1
"""The longest time that a builtin_interfaces Duration carries [ns]."""


def read_stamp(data: bytes) -> int:
    """Return the stamp of a message without reading more of it [ns]; 0 where it has none.

    It comes first, after four bytes that name the encoding.
    """
    if len(data) < 12:
        return 0
    seconds, nanoseconds = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, 4)
    return int(seconds) * NANO + int(nanoseconds)


def read_trajectory(data: bytes, most_points: int | None = None) -> JointTrajectory:
    """Return a message from its bytes, as a raw subscription hands them over.

    Raises
    ------
    MessageError
        When they are no such message, or there are more points than `most_points`.
    """
    if len(data) > NODE.most_bytes:
        raise MessageError('data', f'expected at most {NODE.most_bytes} bytes, got {len(data)}')
    message: JointTrajectory = read_message(data, JointTrajectory)
    _check_end(data, message)
    count = len(message.points)
    if most_points is not None and count > most_points:
        raise MessageError('points', f'expected at most {most_points}, got {count}')
    return message


def named_fields(message: JointTrajectory) -> NamedFields:
    """Return the points of a message as arrays.

    Raises
    ------
    TrajectoryError
        When a point has a number of values that is not that of the joint names.
    """
    names = tuple(message.joint_names)
    points = [
        TrajectoryPoint(
            1e-9 * stamp_nanoseconds(point.time_from_start),
            point.positions,
            point.velocities,
            point.accelerations,
            point.effort,
        )
        for point in message.points
    ]
    return NamedFields(names, PointFields.of(points, len(names)))


def _check_end(data: bytes, message: JointTrajectory) -> None:
    """Refuse a message that is cut off: rclpy leaves out what is missing, and says nothing.

    What was read is of a length, by the Common Data Representation, and ends with the time of the
    last point; what follows it has no meaning.
    """
    if not message.points:
        return
    size = 8
    for text in (message.header.frame_id, None, *message.joint_names, None):
        size = (size + 3) // 4 * 4 + 4 + (0 if text is None else len(text.encode()) + 1)
    for point in message.points:
        for values in (point.positions, point.velocities, point.accelerations, point.effort):
            size = (size + 3) // 4 * 4 + 4
            if values:
                size = (size + 7) // 8 * 8 + 8 * len(values)
        size += 8
    time, end = message.points[-1].time_from_start, size + 4
    order = '<iI' if data[1] & 1 else '>iI'
    is_whole = end <= len(data) and struct.unpack_from(order, data, end - 8) == (
        time.sec,
        time.nanosec,
    )
    if not is_whole:
        raise MessageError(
            'data', f'expected a whole JointTrajectory, got {len(data)} bytes that end before it'
        )
