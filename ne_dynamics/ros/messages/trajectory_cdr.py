"""A serialized trajectory_msgs JointTrajectory to arrays and back. Imports no ROS.

The encoding is the OMG's Common Data Representation (CDR, version 1), as ROS 2 uses it: four bytes
that name the encoding, then the fields in order, each number aligned to its size, strings and
sequences led by their length as a 32 bit number.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.waypoints import NANO, PointFields
from ne_dynamics.ros.messages.conversion import MessageError

ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}
"""Byte orders by the first two bytes: CDR with the most significant byte first, and last."""

_KEYS = ('positions', 'velocities', 'accelerations', 'effort')
LONGEST_DURATION = (2**31 - 1) * NANO + NANO - 1
"""The longest time that a builtin_interfaces Duration carries [ns]."""

_SMALLEST_POINT = 24
"""Bytes of a point without any values."""


@dataclass(frozen=True, eq=False)
class SerializedTrajectory:
    """What a message says.

    Attributes
    ----------
    stamp : tuple of int
        Seconds and nanoseconds.
    frame_id : str
    joint_names : tuple of str
    fields : PointFields
    """

    stamp: tuple[int, int]
    frame_id: str
    joint_names: tuple[str, ...]
    fields: PointFields


class _Reader:
    """Reads numbers and strings one after the other; positions count from the fifth byte."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 4 or data[:2] not in ORDERS:
            raise MessageError(
                'data', f'expected the encoding CDR, got {data[:4].hex() or "none"}'
            )
        self._data = memoryview(data)[4:]
        self.order = ORDERS[data[:2]]
        self._unsigned = struct.Struct(self.order + 'I')
        self._pair = struct.Struct(self.order + 'iI')
        self.place = 0

    @property
    def left(self) -> int:
        """Bytes that have not been read."""
        return len(self._data) - self.place

    def _take(self, size: int, alignment: int, what: str) -> int:
        begin = (self.place + alignment - 1) // alignment * alignment
        if begin + size > len(self._data):
            raise MessageError(what, f'expected {size} bytes more, got the end of the message')
        self.place = begin + size
        return begin

    def length(self, smallest: int, what: str) -> int:
        """Return the length of a sequence whose items take so many bytes at least."""
        (count,) = self._unsigned.unpack_from(self._data, self._take(4, 4, what))
        if count * smallest > self.left:
            raise MessageError(
                what,
                f'expected at most {self.left // smallest} of them in what follows, got {count}',
            )
        return int(count)

    def seconds_and_nanoseconds(self, what: str) -> tuple[int, int]:
        """Return a Time or Duration."""
        seconds, nanoseconds = self._pair.unpack_from(self._data, self._take(8, 4, what))
        return int(seconds), int(nanoseconds)

    def text(self, what: str) -> str:
        """Return a string."""
        size = self.length(1, what)
        begin = self._take(size, 1, what)
        raw = bytes(self._data[begin : begin + size])
        try:
            return raw.removesuffix(b'\x00').decode()
        except UnicodeDecodeError:
            raise MessageError(what, f'expected UTF-8, got {raw!r}') from None

    def numbers(self, what: str) -> tuple[float, ...]:
        """Return a sequence of doubles."""
        count = self.length(8, what)
        if not count:
            return ()
        begin = self._take(8 * count, 8, what)
        return struct.unpack_from(f'{self.order}{count}d', self._data, begin)


def read_stamp(data: bytes) -> int:
    """Return the stamp of a message [ns]; 0 where it has none, or where it is none."""
    order = ORDERS.get(data[:2])
    if order is None or len(data) < 12:
        return 0
    seconds, nanoseconds = struct.unpack_from(order + 'iI', data, 4)
    return int(seconds) * NANO + int(nanoseconds)


def read_trajectory(data: bytes, most_points: int | None = None) -> SerializedTrajectory:
    """Read a message.

    Parameters
    ----------
    data : bytes
        As a raw subscription hands it over.
    most_points : int, optional
        More than these are refused.

    Returns
    -------
    SerializedTrajectory

    Raises
    ------
    MessageError
        When the bytes are no such message; it names the field.
    TrajectoryError
        When a point has a number of values that is not that of the joint names.
    """
    reader = _Reader(data)
    stamp = reader.seconds_and_nanoseconds('header.stamp')
    frame_id = reader.text('header.frame_id')
    names = tuple(reader.text('joint_names') for _ in range(reader.length(4, 'joint_names')))
    count = reader.length(_SMALLEST_POINT, 'points')
    if most_points is not None and count > most_points:
        raise MessageError('points', f'expected at most {most_points}, got {count}')
    times = np.empty(count)
    given: dict[str, dict[int, tuple[float, ...]]] = {key: {} for key in _KEYS}
    for index in range(count):
        for key, rows in given.items():
            values = reader.numbers(key)
            if len(values) not in (0, len(names)):
                raise TrajectoryError(
                    f'point {index}: {key}: expected {len(names)} values, one per joint, '
                    f'got {len(values)}',
                    field='points',
                )
            if values:
                rows[index] = values
        seconds, nanoseconds = reader.seconds_and_nanoseconds('time_from_start')
        times[index] = (seconds * NANO + nanoseconds) / NANO
    gathered = (
        (
            np.array(list(rows), dtype=np.intp),
            np.reshape(list(rows.values()), (len(rows), len(names))),
        )
        for rows in given.values()
    )
    return SerializedTrajectory(stamp, frame_id, names, PointFields(times, *gathered))


def write_trajectory(
    trajectory: AnnotatedTrajectory, stamp: tuple[int, int], frame_id: str
) -> bytes:
    """Return the message of an annotated trajectory, for a publisher that takes bytes.

    Parameters
    ----------
    trajectory : AnnotatedTrajectory
    stamp : tuple of int
        Seconds and nanoseconds of the header.
    frame_id : str

    Raises
    ------
    TrajectoryError
        When a time is longer than a message can say.
    """
    latest = int(trajectory.nanoseconds.max())
    if latest > LONGEST_DURATION:
        raise TrajectoryError(
            f'time_from_start: expected at most {LONGEST_DURATION} ns, got {latest} ns',
            field='points',
        )
    # Four bytes that name the encoding keep the alignment to four, and shift that to eight.
    data = bytearray(b'\x00\x01\x00\x00' + struct.pack('<iI', *stamp))
    _append_text(data, frame_id)
    _append_length(data, len(trajectory.joint_names))
    for name in trajectory.joint_names:
        _append_text(data, name)
    _append_length(data, len(trajectory))
    width = len(trajectory.joint_names)
    parts = (
        (trajectory.positions, 0),
        (trajectory.velocities, 1),
        (trajectory.accelerations, 2),
        (trajectory.efforts, 0),
    )
    for index, (nanoseconds, order) in enumerate(
        zip(trajectory.nanoseconds.tolist(), trajectory.orders.tolist(), strict=True)
    ):
        for values, lowest in parts:
            if order < lowest:
                _append_length(data, 0)
                continue
            _append_length(data, width)
            data += b'\x00' * ((4 - len(data)) % 8)
            data += values[index].astype('<f8', copy=False).tobytes()
        data += struct.pack('<iI', *divmod(nanoseconds, NANO))
    return bytes(data)


def _append_length(data: bytearray, length: int) -> None:
    data += b'\x00' * (-len(data) % 4) + struct.pack('<I', length)


def _append_text(data: bytearray, text: str) -> None:
    raw = text.encode() + b'\x00'
    _append_length(data, len(raw))
    data += raw
