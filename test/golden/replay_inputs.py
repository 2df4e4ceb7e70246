"""What a node was told, in order of arrival: kept small, and read back to the last bit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

RESOLUTION = {'position': 2.0**-20, 'velocity': 2.0**-14, 'effort': 2.0**-10}
"""Steps of what the joint states carry [rad or m, rad/s or m/s, N m or N]: powers of two, so that
a whole number of them is exact. An encoder of 22 bits has 1.5e-6 rad."""

SENSOR_RESOLUTION = {'wrench': 2.0**-10, 'imu': 2.0**-16}
"""Of the readings [N, N m; 1, rad/s, m/s^2]."""

STATE, WRENCH, IMU, EVENT = range(4)
"""Kinds of what is told."""

DIFFERENCES = {'position': 2, 'velocity': 1, 'effort': 1, 'wrench': 1, 'imu': 1, 'stamp': 2}
"""How often a column is differenced before it is packed: small numbers pack well."""


class Told(NamedTuple):
    """One thing that the node is told.

    Attributes
    ----------
    arrival : int
        When [ns].
    kind : int
        `STATE`, `WRENCH`, `IMU` or `EVENT`.
    content : dict
        Of states and readings: `stamp` [ns] and whole numbers of steps by field. Of events: what
        JSON can hold, see :mod:`node_session`.
    """

    arrival: int
    kind: int
    content: dict[str, Any]


def steps_of(values: Any, step: float) -> np.ndarray:
    """Return values as whole numbers of steps."""
    return np.round(np.asarray(values) / step).astype(np.int64)


def pack(whole: np.ndarray, order: int) -> np.ndarray:
    """Return whole numbers, shape (N, n), as bytes that compress well."""
    for _ in range(order):
        whole = np.diff(whole, axis=0, prepend=np.zeros_like(whole[:1]))
    folded = ((whole << 1) ^ (whole >> 63)).astype('<u8')
    planes = np.ascontiguousarray(folded.T).view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(planes.T)


def unpack(planes: np.ndarray, order: int, columns: int) -> np.ndarray:
    """Return the whole numbers that were packed, shape (N, columns)."""
    folded = np.ascontiguousarray(planes.T).view('<u8').reshape(columns, -1).T
    whole = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    for _ in range(order):
        whole = np.cumsum(whole, axis=0)
    return whole


def to_arrays(told: Iterable[Told]) -> dict[str, np.ndarray]:
    """Return all that was told as arrays, by name."""
    told = list(told)
    arrays = {
        'kind': np.array([one.kind for one in told], np.uint8),
        'arrival': pack(np.array([[one.arrival] for one in told], np.int64), 2),
        'events': as_bytes([one.content for one in told if one.kind == EVENT]),
    }
    for kind, prefix in ((STATE, 'state'), (WRENCH, 'wrench'), (IMU, 'imu')):
        rows = [one.content for one in told if one.kind == kind]
        for field in rows[0] if rows else ():
            table = np.array([row[field] for row in rows], np.int64).reshape(len(rows), -1)
            arrays[f'{prefix}.{field}'] = pack(table, DIFFERENCES[field])
    return arrays


def from_arrays(arrays: Any) -> Iterator[Told]:
    """Yield what was told, from the arrays that were made of it."""
    tables: dict[int, list[dict[str, Any]]] = {EVENT: from_bytes(arrays['events'])}
    kinds = arrays['kind'].tolist()
    for kind, prefix in ((STATE, 'state'), (WRENCH, 'wrench'), (IMU, 'imu')):
        count = kinds.count(kind)
        fields = [name.partition('.')[2] for name in arrays if name.startswith(f'{prefix}.')]
        columns: dict[str, Any] = {}
        for field in fields:
            planes = arrays[f'{prefix}.{field}']
            width = planes.shape[1] // count
            columns[field] = unpack(planes, DIFFERENCES[field], width)
        tables[kind] = [
            {field: table[row] for field, table in columns.items()} for row in range(count)
        ]
    rows = {kind: iter(table) for kind, table in tables.items()}
    for kind, arrival in zip(kinds, unpack(arrays['arrival'], 2, 1)[:, 0].tolist(), strict=True):
        yield Told(arrival, kind, next(rows[kind]))


def as_bytes(content: Any) -> np.ndarray:
    """Return what JSON can hold as an array of bytes."""
    return np.frombuffer(json.dumps(content, separators=(',', ':')).encode(), np.uint8)


def from_bytes(data: np.ndarray) -> Any:
    """Return what an array of bytes holds."""
    return json.loads(data.tobytes().decode())
