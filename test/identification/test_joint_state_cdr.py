"""Messages that are decoded where they lie say what the library says."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.identification.joint_state_cdr import JointStateDecoder

pytest.importorskip('rosbags', reason='rosbags is missing')

from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPE = 'sensor_msgs/msg/JointState'


class Library:
    """What a reader of a bag does, counted."""

    def __init__(self):
        self.calls = 0

    def deserialize(self, data, message_type):
        self.calls += 1
        return STORE.deserialize_cdr(data, message_type)


def encode(seed, *, frame='', names=('a', 'joint_2', 'ä'), counts=(3, 3, 3), little=True):
    """Return a message with random numbers, and these."""
    rng = np.random.default_rng(seed)
    rows = [rng.standard_normal(count) for count in counts]
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](-seed, seed + 7)
    header = types['std_msgs/msg/Header'](stamp=stamp, frame_id=frame)
    message = types[TYPE](header, list(names), *rows)
    return bytes(STORE.serialize_cdr(message, TYPE, little_endian=little)), rows


@pytest.mark.parametrize('counts', [(3, 3, 3), (3, 0, 3), (3, 3, 0), (0, 0, 0), (2, 1, 5)])
@pytest.mark.parametrize('frame', ['', 'base', 'base_link'])
def test_messages_of_one_layout_are_read_without_the_library(frame, counts):
    """The first one is decoded by the library, the others where they lie, number by number."""
    library = Library()
    decoder = JointStateDecoder(library)
    for seed in range(4):
        data, rows = encode(seed, frame=frame, counts=counts)
        found = decoder.decode(data, TYPE)
        assert found.name == ('a', 'joint_2', 'ä')
        assert found.time == pytest.approx(-seed + 1e-9 * (seed + 7), abs=1e-15)
        for row, wanted in zip((found.position, found.velocity, found.effort), rows, strict=True):
            np.testing.assert_array_equal(row, wanted)
    assert library.calls == 1


def test_other_names_of_the_same_length_are_not_mistaken():
    """Joints in another order, another split of the numbers and other bytes go to the library."""
    library = Library()
    decoder = JointStateDecoder(library)
    for names, counts in (
        (('a', 'b', 'c'), (3, 3, 3)),
        (('c', 'b', 'a'), (3, 3, 3)),
        (('a', 'b', 'c'), (3, 2, 4)),
        (('a', 'b', 'c'), (3, 3, 3)),
    ):
        for little in (True, False):
            data, rows = encode(5, names=names, counts=counts, little=little)
            found = decoder.decode(data, TYPE)
            assert found.name == names
            np.testing.assert_array_equal(found.effort, rows[2])
            np.testing.assert_array_equal(found.velocity, rows[1])
    with pytest.raises(Exception, match=r'.'):
        decoder.decode(encode(5)[0][:30], TYPE)
