"""Bytes of a message to the message, by rclpy."""

from __future__ import annotations

from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.ros.messages.conversion import MessageError

with optional_dependency('the node needs ROS 2 for Python', 'ros'):
    from rclpy.serialization import deserialize_message


def read_message(data: bytes, message_type: type) -> Any:
    """Return a message from its bytes, as a raw subscription hands them over.

    Raises
    ------
    MessageError
        When the bytes are no such message.
    """
    try:
        return deserialize_message(data, message_type)
    except Exception as error:
        name = message_type.__name__
        raise MessageError(
            'data', f'expected a serialized {name}, got {len(data)} bytes: {error}'
        ) from error
