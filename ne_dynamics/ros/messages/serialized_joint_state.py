"""Serialized sensor_msgs JointStates, read without making a Python object of each name.

rclpy turns every name of a message into a text, every time: for an arm of six joints that takes
longer than to compute its command. The names of a publisher stay the same, so their bytes are
compared with those of messages that were read before, and the numbers taken from where they were
found in those.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import NamedTuple

from ne_dynamics.errors import optional_dependency
from ne_dynamics.ros.messages.serialized_message import read_message
from ne_dynamics.ros.thresholds import NODE

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from builtin_interfaces.msg import Time
    from sensor_msgs.msg import JointState

ENCODING = b'\0\1\0\0'
"""First bytes of a message in plain little-endian CDR, which is all that is written today."""

STAMP = struct.Struct('<iI')
COUNT = struct.Struct('<I')
FIELDS = ('position', 'velocity', 'effort')


class StampedHeader(NamedTuple):
    """Header of a state: all that is read of it."""

    stamp: Time


class ReadJointState(NamedTuple):
    """What a JointState says, under the same names.

    Attributes
    ----------
    header : StampedHeader
    name : list of str
    position, velocity, effort : array of float
        As many as the message carries [rad or m], [rad/s or m/s], [N m or N].
    """

    header: StampedHeader
    name: list[str]
    position: array[float]
    velocity: array[float]
    effort: array[float]


class _Layout(NamedTuple):
    """Where a message has what, by its bytes that are always the same.

    Attributes
    ----------
    fixed : tuple of (slice, bytes)
        Frame and names, and the number of values of each field; what fills the gaps between them
        may be anything.
    values : tuple of slice
        Of position, velocity and effort.
    end : int
        Length of the message.
    name : list of str
    """

    fixed: tuple[tuple[slice, bytes], ...]
    values: tuple[slice, ...]
    end: int
    name: list[str]

    def read(self, data: bytes) -> ReadJointState | None:
        """Return what a message says; None where it is laid out otherwise."""
        if len(data) < self.end:
            return None
        for place, content in self.fixed:
            if data[place] != content:
                return None
        seconds, nanoseconds = STAMP.unpack_from(data, len(ENCODING))
        position, velocity, effort = [array('d', data[place]) for place in self.values]
        header = StampedHeader(Time(sec=seconds, nanosec=nanoseconds))
        return ReadJointState(header, self.name, position, velocity, effort)


class JointStateParser:
    """Reads serialized JointStates; remembers how the last ones were laid out."""

    def __init__(self) -> None:
        self._layouts: list[_Layout] = []

    def read(self, data: bytes) -> ReadJointState | JointState:
        """Return what a message says.

        Parameters
        ----------
        data : bytes
            As a raw subscription hands it over.

        Returns
        -------
        ReadJointState or sensor_msgs.msg.JointState
            The second one where no message before it was laid out like this one.

        Raises
        ------
        MessageError
            When the bytes are no such message.
        """
        for layout in self._layouts:
            read = layout.read(data)
            if read is not None:
                return read
        message: JointState = read_message(data, JointState)
        found = _find_layout(data, message)
        if found is not None:
            self._layouts = [found, *self._layouts[: NODE.remembered_names - 1]]
        return message


def _find_layout(data: bytes, message: JointState) -> _Layout | None:
    """Return where a message has what; None where that is not as expected."""
    if data[: len(ENCODING)] != ENCODING or sys.byteorder != 'little':
        return None
    end = len(ENCODING) + STAMP.size
    places, values = [slice(0, len(ENCODING))], []
    # A text ends with a zero that its length counts; texts and counts begin at multiples of four.
    for text in (message.header.frame_id, None, *message.name):
        begin = _align(end, COUNT.size)
        end = begin + COUNT.size + (0 if text is None else len(text.encode()) + 1)
        places.append(slice(begin, end))
    for field in FIELDS:
        count = len(getattr(message, field))
        end = _align(end, COUNT.size)
        places.append(slice(end, end + COUNT.size))
        end = _align(end + COUNT.size, 8) if count else end + COUNT.size
        values.append(slice(end, end + 8 * count))
        end += 8 * count
    layout = _Layout(
        tuple((place, data[place]) for place in places), tuple(values), end, list(message.name)
    )
    return layout if _agrees(layout.read(data), message) else None


def _align(place: int, size: int) -> int:
    """Return the next multiple of a size, counted from behind the encoding."""
    return -(-(place - len(ENCODING)) // size) * size + len(ENCODING)


def _agrees(read: ReadJointState | None, message: JointState) -> bool:
    return (
        read is not None
        and read.header.stamp == message.header.stamp
        and all(
            getattr(read, field).tobytes() == getattr(message, field).tobytes() for field in FIELDS
        )
    )
