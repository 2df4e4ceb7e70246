"""Messages of JointState, decoded where they lie.

Of a driver's messages only stamp and numbers change. Names, frame and the numbers of numbers are
the same bytes, so that where the numbers are is found once and read without a copy from then on. A
message with other bytes there is decoded by the library, and is what the next ones are compared
with.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray

HEAD = 12
"""Bytes before the name of the frame: which encoding it is, and the stamp."""

LITTLE_ENDIAN = b'\x00\x01'
MOST_LAYOUTS = 16


class JointSample(NamedTuple):
    """What a message says.

    Attributes
    ----------
    name : tuple of str
    time : float
        Of the stamp [s].
    position, velocity, effort : array
    """

    name: tuple[str, ...]
    time: float
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class _Layout:
    """Where the numbers of a message are: count and place of each of the three rows."""

    names: tuple[str, ...]
    constants: tuple[tuple[int, bytes], ...]
    rows: tuple[tuple[int, int], ...]

    @classmethod
    def find(cls, data: bytes, message: Any) -> _Layout | None:
        """Return the layout of a message; None when its bytes are not as expected."""
        counts = [len(message.position), len(message.velocity), len(message.effort)]
        # From the end: rows of doubles, each aligned by eight after the four bytes in front.
        place, rows, heads = 4 + _measure_names(message), [], []
        for count in counts:
            place += -place % 4
            heads.append(place)
            place += 4
            if count:
                place += (4 - place) % 8
            rows.append((count, place))
            place += 8 * count
        if data[:2] != LITTLE_ENDIAN or place != len(data):
            return None
        first = heads[0] + 4
        constants = [(HEAD, data[HEAD:first]), *((at, data[at : at + 4]) for at in heads[1:])]
        found = cls(tuple(message.name), tuple(constants), tuple(rows))
        same = all(
            np.array_equal(read, wanted, equal_nan=True)
            for read, wanted in zip(
                found.read(data)[2:],
                (message.position, message.velocity, message.effort),
                strict=True,
            )
        )
        return found if same else None

    def fits(self, data: bytes) -> bool:
        """Tell whether a message of the same length has its numbers there."""
        return all(data[at : at + len(part)] == part for at, part in self.constants)

    def read(self, data: bytes) -> JointSample:
        """Return what a message says."""
        seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
        return JointSample(
            self.names,
            seconds + 1e-9 * nanoseconds,
            *(np.frombuffer(data, '<f8', count, place) for count, place in self.rows),
        )


def _measure_names(message: Any) -> int:
    """Return how many bytes stamp, frame and names take."""
    size = 8
    for text in (message.header.frame_id, None, *message.name):
        size += -size % 4 + 4
        if text is not None:
            size += len(text.encode('utf-8')) + 1
    return size


class JointStateDecoder:
    """Decodes the messages of a bag.

    Parameters
    ----------
    reader : rosbags reader
        Of the bag.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._layouts: dict[int, _Layout] = {}

    def decode(self, data: Any, message_type: str) -> JointSample:
        """Return what a message says.

        Parameters
        ----------
        data : bytes-like
        message_type : str
        """
        raw = bytes(data)
        layout = self._layouts.get(len(raw))
        if layout is not None and raw[:2] == LITTLE_ENDIAN and layout.fits(raw):
            return layout.read(raw)
        message = self._reader.deserialize(data, message_type)
        found = _Layout.find(raw, message)
        if found is not None and len(self._layouts) < MOST_LAYOUTS:
            self._layouts[len(raw)] = found
        stamp = message.header.stamp
        rows = (message.position, message.velocity, message.effort)
        return JointSample(
            tuple(message.name),
            stamp.sec + 1e-9 * stamp.nanosec,
            *(np.asarray(row, dtype=np.float64) for row in rows),
        )
