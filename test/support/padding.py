"""Serialised messages without what happened to be in memory between their fields.

A writer of CDR skips the bytes that align a field, and leaves in them what was there: two
serialisations of one message need not be the same bytes.
"""

from __future__ import annotations

from typing import Any

from rclpy.serialization import serialize_message
from rosidl_parser.definition import AbstractNestedType, AbstractString, Array, BasicType

SIZES = {
    **dict.fromkeys(('boolean', 'octet', 'uint8', 'int8', 'char'), 1),
    **dict.fromkeys(('uint16', 'int16'), 2),
    **dict.fromkeys(('uint32', 'int32', 'float'), 4),
    **dict.fromkeys(('uint64', 'int64', 'double'), 8),
}
HEADER = 4
"""Bytes before the first field, from which alignment counts."""


def serialize(message: Any) -> bytearray:
    """Return a message as CDR, the same bytes every time."""
    data = bytearray(serialize_message(message))
    end = _walk(data, HEADER, message)
    # The end is filled up to four bytes by some writers.
    data[end:] = bytes(len(data) - end)
    return data


def _align(data: bytearray, place: int, size: int) -> int:
    skipped = -(place - HEADER) % size
    data[place : place + skipped] = bytes(skipped)
    return place + skipped


def _walk(data: bytearray, place: int, message: Any) -> int:
    """Blank what is between the fields of a message, and return where it ends."""
    for name, kind in zip(message.__slots__, message.SLOT_TYPES, strict=False):
        place = _pass(data, place, getattr(message, name), kind)
    return place


def _pass(data: bytearray, place: int, value: Any, kind: Any) -> int:
    if isinstance(kind, BasicType):
        size = SIZES[kind.typename]
        return _align(data, place, size) + size
    if isinstance(kind, AbstractString):
        return _align(data, place, 4) + 4 + len(value.encode()) + 1
    if isinstance(kind, AbstractNestedType):
        if not isinstance(kind, Array):
            place = _align(data, place, 4) + 4
        for item in value:
            place = _pass(data, place, item, kind.value_type)
        return place
    return _walk(data, place, value)
