"""Messages that are decoded where they lie say what the library says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.logs.readers import joint_state_cdr
from ne_dynamics.logs.readers.joint_state_cdr import (
    REASONS,
    JointStateDecoder,
    find_by_name,
    generate_rows,
)
from ne_dynamics.logs.thresholds import LOGS

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


JOINTS = ('b', 'a')
FULL = {'names': ('a', 'b', 'c')}
OTHERS = (
    FULL,
    {**FULL, 'little': False},
    {'names': ('c', 'a', 'b')},
    {**FULL, 'counts': (3, 0, 3)},
    {**FULL, 'counts': (3, 2, 4)},
    {**FULL, 'counts': (3, 3, 0)},
    {**FULL, 'counts': (1, 3, 5)},
    {'names': ('a', 'x', 'y')},
    {'names': ('finger',), 'counts': (1, 1, 1)},
    {'names': (), 'counts': (0, 0, 0)},
    {**FULL, 'frame': 'base'},
    {**FULL, 'frame': 'tool'},
)


def list_mixed(kind):
    """Return messages: of a driver, of several that take turns, and of all sorts."""
    rng = np.random.default_rng(3)
    options = {
        'one': [FULL] * 40,
        'turns': [FULL, {'names': ('b', 'a', 'c')}] * 20,
        'mixed': [OTHERS[i] for i in rng.integers(0, len(OTHERS), 300)],
        'all different': [{'names': ('a', 'b', f'{i:03d}')} for i in range(60)],
    }[kind]
    messages = [encode(seed, **item)[0] for seed, item in enumerate(options)]
    if kind == 'mixed':
        # What a number says is no matter: infinite ones and any NaN are handed on, bit by bit.
        full, rows = encode(0, **FULL)
        at = full.find(rows[0][:1].tobytes())
        for index, bits in ((0, 0x7FF0000000000000), (4, 0x7FF800000000BEEF)):
            data = bytearray(full)
            data[at : at + 8] = bits.to_bytes(8, 'little')
            messages.insert(index, bytes(data))
    return messages


@pytest.mark.parametrize('kind', ['one', 'turns', 'mixed', 'all different'])
@pytest.mark.parametrize('at_once', [1, 7, 1000])
def test_messages_at_once_are_messages_one_by_one(monkeypatch, kind, at_once):
    """However many are decoded at once, each number, stamp and reason is the same to the bit."""
    messages = list_mixed(kind)
    received = [10**18 + 7 * index for index in range(len(messages))]

    class Reader(Library):
        def messages(self, connections):
            assert connections == ['one']
            return zip(['one'] * len(messages), received, messages, strict=True)

    monkeypatch.setattr(joint_state_cdr, 'LOGS', replace(LOGS, messages_at_once=at_once))
    parts = list(generate_rows(Reader(), ['one'], JOINTS))
    assert len(parts) == -(-len(messages) // at_once)
    stamps, values, reasons = [], [], []
    for data in messages:
        sample = Library().deserialize(data, TYPE)
        found, reason = find_by_name(sample, JOINTS)
        stamps.append(sample.header.stamp.sec + 1e-9 * sample.header.stamp.nanosec)
        values.append(np.full(6, np.nan) if reason else np.concatenate(found))
        reasons.append(REASONS.index(reason))
    for key, wanted in (('stamps', stamps), ('values', values), ('received', received)):
        joined = np.concatenate([getattr(part, key) for part in parts])
        assert joined.tobytes() == np.array(wanted).tobytes()
    assert np.concatenate([part.reasons for part in parts]).tolist() == reasons
    counted = {}
    for part in parts:
        for reason, number in part.count_dropped(part.received > 0).items():
            counted[reason] = counted.get(reason, 0) + number
    wanted = [REASONS[number] for number in reasons if number]
    assert list(counted.items()) == [(key, wanted.count(key)) for key in dict.fromkeys(wanted)]


def test_a_driver_asks_the_library_once(monkeypatch):
    """Messages that take turns ask it once for each sort, and a cut one is an error."""
    for kind, calls in (('one', 1), ('turns', 2)):
        library = Library()
        messages = list_mixed(kind)
        JointStateDecoder(library).decode_all(messages, range(len(messages)), JOINTS)
        assert library.calls == calls
    cut = [*messages, messages[0][:-9]]
    with pytest.raises(Exception, match=r'.'):
        JointStateDecoder(library).decode_all(cut, range(len(cut)), JOINTS)
