"""A serialized trajectory_msgs JointTrajectory to arrays and back. Imports no ROS.

rclpy makes a Python object of every point: for ten thousand points that is a tenth of a second
and more. Here all points that carry the same arrays, which lie at equal distances, are read at
once: in a few milliseconds.

The encoding is the OMG's Common Data Representation (CDR, version 1), as ROS 2 uses it: four bytes
that name the encoding, then the fields in order, each number aligned to its size, strings and
sequences led by their length as a 32 bit number.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.waypoints import NANO, PointFields
from ne_dynamics.ros.messages.conversion import MessageError

ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}
"""Byte orders by the first two bytes: CDR with the most significant byte first, and last."""

MOST_LAYOUTS = 64
"""What the points carry changes no more often in a message."""

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

    def numbers(self, what: str) -> tuple[int, int, int]:
        """Pass over doubles; return how many, where they begin, and where their number is."""
        count = self.length(8, what)
        place = self.place - 4
        return count, self._take(8 * count, 8, what) if count else 0, place

    def half_words(
        self,
    ) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.signedinteger[Any]]]:
        """Return all that was received as whole numbers of four bytes, for those that are."""
        count = len(self._data) // 4
        return (
            np.frombuffer(self._data, self.order + 'u4', count),
            np.frombuffer(self._data, self.order + 'i4', count),
        )

    def words(self) -> FloatArray:
        """Return all that was received as numbers, for those that are."""
        return np.frombuffer(self._data, self.order + 'f8', len(self._data) // 8)


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
    points = _Points(reader, len(names), count)
    layouts = 0
    while points.known < count:
        layouts += points.read_run()
        if layouts > MOST_LAYOUTS:
            raise MessageError(
                'points',
                f'expected at most {MOST_LAYOUTS} changes of which arrays the points carry, '
                f'got more up to point {points.known}',
            )
    gathered = []
    for begins in points.begins:
        rows = np.flatnonzero(begins >= 0)
        columns = begins[rows][:, np.newaxis] + np.arange(len(names))
        gathered.append((rows, reader.words()[columns].astype(np.float64)))
    return SerializedTrajectory(stamp, frame_id, names, PointFields(points.times, *gathered))


class _Layout(NamedTuple):
    """Where a point has what, in bytes from its begin.

    Attributes
    ----------
    lengths : tuple of int
        Where the length of each sequence is.
    sizes : tuple of int
        These lengths.
    values : tuple of int
        Where the values of each begin; -1 where there are none.
    time : int
    end : int
    """

    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    values: tuple[int, ...]
    time: int
    end: int


class _Points:
    """Reads points in runs: those of one layout come at equal distances, and are read at once.

    Parameters
    ----------
    reader : _Reader
        At the first point.
    width, count : int
        Numbers of joint names and of points.

    Attributes
    ----------
    known : int
        Points that have been read.
    times : array, shape (count,)
        [s]
    begins : array, shape (4, count), dtype int
        For each field and point, where its values begin, in words of eight bytes; -1 for none.
    """

    def __init__(self, reader: _Reader, width: int, count: int) -> None:
        self._reader = reader
        self._width = width
        self.known = 0
        self.times = np.empty(count)
        self.begins = np.full((len(_KEYS), count), -1, dtype=np.intp)
        self._words, self._signed = reader.half_words()

    def read_run(self) -> bool:
        """Read some of the next points; return whether the one after them has another layout."""
        reader, begin = self._reader, self._reader.place
        left = len(self.times) - self.known
        period = [self._read_layout()]
        # What is aligned to eight bytes lies elsewhere in a point that begins between two words.
        if (reader.place - begin) % 8 and left > 1:
            period.append(self._read_layout(1))
        stride = reader.place - begin
        if stride % 8:
            self._note(period[:1], begin, 1, stride)
            reader.place = begin + period[0].end
            return True
        most = min(left // len(period), 1 + reader.left // stride)
        starts = begin // 4 + np.arange(most) * (stride // 4)
        fits = np.ones(most, dtype=bool)
        place = 0
        for layout in period:
            for length, size in zip(layout.lengths, layout.sizes, strict=True):
                fits &= self._words[starts + (place + length) // 4] == size
            place += layout.end
        run = most if fits.all() else int(np.argmin(fits))
        self._note(period, begin, run, stride)
        reader.place = begin + run * stride
        return run < most

    def _read_layout(self, ahead: int = 0) -> _Layout:
        """Read where the next point has what."""
        reader = self._reader
        begin, index = reader.place, self.known + ahead
        lengths, sizes, values = [], [], []
        for key in _KEYS:
            size, first, place = reader.numbers(key)
            if size not in (0, self._width):
                raise TrajectoryError(
                    f'point {index}: {key}: expected {self._width} values, one per joint, '
                    f'got {size}',
                    field='points',
                )
            lengths.append(place - begin)
            sizes.append(size)
            values.append(first - begin if size else -1)
        reader.seconds_and_nanoseconds('time_from_start')
        end = reader.place - begin
        return _Layout(tuple(lengths), tuple(sizes), tuple(values), end - 8, end)

    def _note(self, period: Sequence[_Layout], begin: int, run: int, stride: int) -> None:
        """Take down where the points of a run have their values, and their times."""
        starts = begin + np.arange(run) * stride
        step = len(period)
        for offset, layout in enumerate(period):
            rows = slice(self.known + offset, self.known + run * step, step)
            for begins, place in zip(self.begins, layout.values, strict=True):
                if place >= 0:
                    begins[rows] = (starts + place) // 8
            times = (starts + layout.time) // 4
            seconds = self._signed[times].astype(np.int64)
            self.times[rows] = (seconds * NANO + self._words[times + 1]) / NANO
            starts = starts + layout.end
        self.known += run * step


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
