"""Messages of JointState, decoded where they lie.

Of a driver's messages only stamp and numbers change. Names, frame and the numbers of numbers are
the same bytes, so that where the numbers are is found once and read without a copy from then on,
of many messages at once. A message with other bytes there is decoded by the library, and is what
the next ones are compared with.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.model.rigid_body import FloatArray

JOINT_STATE = 'sensor_msgs/msg/JointState'

HEAD = 12
"""Bytes before the name of the frame: which encoding it is, and the stamp."""

LITTLE_ENDIAN = b'\x00\x01'


JOINTS_MISSING = 'joints missing'
SHORT = 'short'
REASONS = ('', JOINTS_MISSING, SHORT)
"""Why a message cannot be used, by its number."""


@dataclass(frozen=True, eq=False)
class JointRows:
    """What messages say of some joints.

    Attributes
    ----------
    received : int array, shape (M,)
        Times of reception [ns].
    stamps : array, shape (M,)
        [s]
    values : array, shape (M, 3 n)
        Positions, efforts and velocities; NaN for velocities that a message does not have, and for
        all of a message that cannot be used.
    reasons : int array, shape (M,)
        Why it cannot, as a place in :data:`REASONS`; 0 where it can.
    """

    received: NDArray[np.int64]
    stamps: FloatArray
    values: FloatArray
    reasons: NDArray[np.int8]

    def count_dropped(self, chosen: NDArray[np.bool_]) -> dict[str, int]:
        """Return how many of the chosen messages cannot be used, by reason, as they come."""
        numbers, first, counts = np.unique(
            self.reasons[chosen], return_index=True, return_counts=True
        )
        order = np.argsort(first)
        return {REASONS[numbers[i]]: int(counts[i]) for i in order.tolist() if numbers[i]}


@dataclass(frozen=True)
class _MessageLayout:
    """Where the numbers of a message are: count and place of each of the three rows."""

    names: tuple[str, ...]
    constants: tuple[tuple[int, bytes], ...]
    rows: tuple[tuple[int, int], ...]

    @classmethod
    def find(cls, data: bytes, message: Any) -> _MessageLayout | None:
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
        _, read = found.read_all(np.frombuffer(data, np.uint8)[np.newaxis])
        wanted = (message.position, message.velocity, message.effort)
        same = all(
            np.array_equal(row[0], other, equal_nan=True)
            for row, other in zip(read, wanted, strict=True)
        )
        return found if same else None

    def find_fitting(self, table: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Tell which messages of the same length, shape (M, length), have their numbers there."""
        fits = np.ones(table.shape[0], dtype=bool)
        for at, part in ((0, LITTLE_ENDIAN), *self.constants):
            fits &= (table[:, at : at + len(part)] == np.frombuffer(part, np.uint8)).all(axis=1)
        return fits

    def read_all(self, table: NDArray[np.uint8]) -> tuple[FloatArray, list[FloatArray]]:
        """Return stamps [s], and the three rows of numbers of messages, shape (M, count) each."""
        total, length = table.shape

        def view(kind: str, count: int, place: int) -> Any:
            width = np.dtype(kind).itemsize
            return np.ndarray((total, count), kind, table, place, (length, width))

        seconds, nanoseconds = (view(kind, 1, at)[:, 0] for kind, at in (('<i4', 4), ('<u4', 8)))
        stamps = seconds + 1e-9 * nanoseconds
        return stamps, [view('<f8', count, place) for count, place in self.rows]


def find_by_name(message: Any, joints: tuple[str, ...]) -> tuple[list[FloatArray], str]:
    """Return position, effort and velocity in the order of the joints, or why not."""
    rows = message.position, message.velocity, message.effort
    chosen, reason = _choose(tuple(message.name), joints, *(len(row) for row in rows))
    if reason:
        return [], reason
    rates = message.velocity if len(message.velocity) > max(chosen) else None
    absent = np.full(len(chosen), np.nan)
    return [
        message.position[chosen],
        message.effort[chosen],
        absent if rates is None else rates[chosen],
    ], ''


@lru_cache(maxsize=64)
def _choose(
    names: tuple[str, ...], joints: tuple[str, ...], positions: int, velocities: int, efforts: int
) -> tuple[list[int], str]:
    """Return where joints are among the names of a message with so many numbers, or why not."""
    places = {name: index for index, name in enumerate(names)}
    if any(joint not in places for joint in joints):
        return [], JOINTS_MISSING
    chosen = [places[joint] for joint in joints]
    if min(positions, efforts) <= max(chosen):
        return [], SHORT
    return chosen, ''


def _measure_names(message: Any) -> int:
    """Return how many bytes stamp, frame and names take."""
    size = 8
    for text in (message.header.frame_id, None, *message.name):
        size += -size % 4 + 4
        if text is not None:
            size += len(text.encode('utf-8')) + 1
    return size


class JointStateDecoder:
    """Decodes the messages of a bag, of a reader of rosbags."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._layouts: dict[int, _MessageLayout] = {}

    def decode_all(
        self, messages: Sequence[Any], received: Sequence[int], joints: tuple[str, ...]
    ) -> JointRows:
        """Return what messages, received at some times [ns], say of some joints."""
        total = len(messages)
        found = JointRows(
            np.array(received, dtype=np.int64),
            np.zeros(total),
            np.full((total, 3 * len(joints)), np.nan),
            np.zeros(total, dtype=np.int8),
        )
        raw = [bytes(data) for data in messages]
        lengths = np.array([len(data) for data in raw], dtype=np.intp)
        for length in np.unique(lengths).tolist():
            self._fill(found, raw, np.flatnonzero(lengths == length), joints)
        return found

    def _fill(
        self,
        found: JointRows,
        raw: Sequence[bytes],
        places: NDArray[np.intp],
        joints: tuple[str, ...],
    ) -> None:
        """Decode messages of one length."""
        length, tried = len(raw[places[0]]), 0
        compared: _MessageLayout | None = None
        while places.size:
            layout = self._layouts.get(length)
            # As many publishers as there are layouts; beyond that one by one.
            if layout is not None and layout is not compared and tried < LOGS.layouts:
                compared, tried = layout, tried + 1
                data = b''.join([raw[place] for place in places.tolist()])
                table = np.frombuffer(data, np.uint8).reshape(places.size, length)
                fits = layout.find_fitting(table)
                _put(found, places[fits], layout, table if fits.all() else table[fits], joints)
                places = places[~fits]
                continue
            first, places = places[0], places[1:]
            message = self._reader.deserialize(raw[first], JOINT_STATE)
            fitting = _MessageLayout.find(raw[first], message)
            if fitting is not None and len(self._layouts) < LOGS.layouts:
                self._layouts[length] = fitting
            stamp = message.header.stamp
            found.stamps[first] = stamp.sec + 1e-9 * stamp.nanosec
            values, reason = find_by_name(message, joints)
            if reason:
                found.reasons[first] = REASONS.index(reason)
            else:
                found.values[first] = np.concatenate(values)


def _put(
    found: JointRows,
    places: NDArray[np.intp],
    layout: _MessageLayout,
    table: NDArray[np.uint8],
    joints: tuple[str, ...],
) -> None:
    """Write what messages of one layout say where it belongs."""
    if not places.size:
        return
    stamps, rows = layout.read_all(table)
    found.stamps[places] = stamps
    chosen, reason = _choose(layout.names, joints, *(count for count, _ in layout.rows))
    if reason:
        found.reasons[places] = REASONS.index(reason)
        return
    position, velocity, effort = rows
    n = len(joints)
    values = np.full((places.size, 3 * n), np.nan)
    values[:, :n], values[:, n : 2 * n] = position[:, chosen], effort[:, chosen]
    if velocity.shape[1] > max(chosen):
        values[:, 2 * n :] = velocity[:, chosen]
    found.values[places] = values


def generate_rows(
    reader: Any, connections: list[Any], joints: tuple[str, ...]
) -> Iterator[JointRows]:
    """Yield what messages say of some joints, many at once."""
    decoder = JointStateDecoder(reader)
    messages = iter(reader.messages(connections))
    while batch := list(itertools.islice(messages, LOGS.messages_at_once)):
        _, received, data = zip(*batch, strict=True)
        yield decoder.decode_all(data, received, joints)
