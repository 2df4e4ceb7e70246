"""Serialized joint states are read as rclpy reads them, the second time without it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from ne_dynamics.ros.messages import serialized_joint_state
from ne_dynamics.ros.messages.conversion import MessageError
from ne_dynamics.ros.messages.serialized_joint_state import JointStateParser, ReadJointState

# No surrogates, which have no bytes, and no zero, which ends a text.
TEXTS = st.text(st.characters(min_codepoint=1, exclude_categories=['Cs']), max_size=9)
VALUES = st.lists(st.floats(), max_size=4)


@st.composite
def messages(draw: st.DrawFn) -> JointState:
    """Return a message that nothing says how to read."""
    message = JointState(name=draw(st.lists(TEXTS, max_size=4)))
    message.header.frame_id = draw(TEXTS)
    message.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    for field in ('position', 'velocity', 'effort'):
        setattr(message, field, draw(VALUES))
    return message


def content(message: JointState | ReadJointState) -> tuple:
    """Return what a message says, NaN by their bytes."""
    arrays = (message.position, message.velocity, message.effort)
    return message.header.stamp, list(message.name), *(array.tobytes() for array in arrays)


@given(st.lists(messages(), min_size=1, max_size=4), st.lists(VALUES, min_size=3, max_size=3))
def test_every_state_is_read_as_rclpy_reads_it(sent: list[JointState], values: list) -> None:
    """Whatever came before it, and whatever it has in common with that."""
    parser = JointStateParser()
    for message in (*sent, *sent):
        assert content(parser.read(serialize_message(message))) == content(message)
        # As many values in all, or other ones, after the same names.
        for field, other in zip(('position', 'velocity', 'effort'), values, strict=True):
            setattr(message, field, other)
        assert content(parser.read(serialize_message(message))) == content(message)


def test_the_second_state_of_a_publisher_is_read_without_rclpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser = JointStateParser()
    message = JointState(name=['a', 'elbow'], position=[1.0, 2.0], velocity=[3.0, 4.0])
    data = serialize_message(message)
    assert isinstance(parser.read(data), JointState)
    monkeypatch.delattr(serialized_joint_state, 'read_message')
    message.position[1], message.header.stamp.sec = -7.0, 12
    data = bytearray(serialize_message(message))
    # Behind the name of one letter there is a gap, with which nobody has to do.
    data[data.index(b'a\0') + 2] = 0xFF
    read = parser.read(bytes(data))
    assert isinstance(read, ReadJointState)
    assert content(read) == content(message)


@given(messages(), st.data())
def test_bytes_that_are_cut_or_changed_are_read_as_rclpy_reads_them(
    message: JointState, data: st.DataObject
) -> None:
    """After a whole message of the same publisher too."""
    parser = JointStateParser()
    whole = serialize_message(message)
    parser.read(whole)
    spoilt = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place in data.draw(st.lists(st.integers(0, max(0, len(spoilt) - 1)), max_size=2)):
        spoilt[place : place + 1] = data.draw(st.binary(min_size=1, max_size=1))
    try:
        expected = content(deserialize_message(bytes(spoilt), JointState))
    except Exception:
        with pytest.raises(MessageError, match='expected a serialized JointState, got'):
            parser.read(bytes(spoilt))
    else:
        assert content(parser.read(bytes(spoilt))) == expected
