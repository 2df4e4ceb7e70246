"""Bags of joint states, written by the library that reads them."""

import numpy as np
import pytest


def write_bag(folder, messages, *, plugin='SQLITE3', topics=('/joint_states',), commands=()):
    """Write a bag and return its path.

    Parameters
    ----------
    folder : Path
    messages : iterable of (float, float, list of str, array-like, array-like)
        Times of reception and stamps [s], names, positions and efforts.
    plugin : str
        SQLITE3 or MCAP.
    topics : tuple of str
        Each has all messages.
    commands : iterable of (float, array-like)
        Times of reception [s], and efforts, under `/commands`.
    """
    pytest.importorskip('rosbags', reason='rosbags is missing')
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    kind = 'sensor_msgs/msg/JointState'
    state, header, time = (
        store.types[name] for name in (kind, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    )
    with Writer(folder, version=9, storage_plugin=StoragePlugin[plugin]) as writer:
        connections = [writer.add_connection(topic, kind, typestore=store) for topic in topics]
        for received, stamp, names, positions, efforts in messages:
            message = state(
                header=header(stamp=time(*divmod(round(1e9 * stamp), 10**9)), frame_id=''),
                name=names,
                position=np.array(positions, dtype=np.float64),
                velocity=np.array([]),
                effort=np.array(efforts, dtype=np.float64),
            )
            data = store.serialize_cdr(message, kind)
            for connection in connections:
                writer.write(connection, round(1e9 * received), data)
        if commands:
            kind = 'std_msgs/msg/Float64MultiArray'
            layout = store.types['std_msgs/msg/MultiArrayLayout'](dim=[], data_offset=0)
            connection = writer.add_connection('/commands', kind, typestore=store)
            for received, efforts in commands:
                message = store.types[kind](layout=layout, data=np.array(efforts))
                writer.write(connection, round(1e9 * received), store.serialize_cdr(message, kind))
    return folder
