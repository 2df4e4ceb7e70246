"""Files of recordings of drivers: CSV, and bags with states and commands."""

import numpy as np
import pytest


def write_bag(folder, recording, *, topics=('/joint_states',)):
    """Write a recording as a bag, its states under each of some topics, and its commands."""
    writing = pytest.importorskip('rosbags.rosbag2', reason='rosbags is missing')
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    state_type, array_type = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'
    layout = types['std_msgs/msg/MultiArrayLayout'](dim=[], data_offset=0)

    def stamp(seconds):
        nanoseconds = round(seconds * 1e9)
        time = types['builtin_interfaces/msg/Time'](*divmod(nanoseconds, 10**9))
        return types['std_msgs/msg/Header'](stamp=time, frame_id='')

    empty = np.zeros(0)
    with writing.Writer(folder, version=9) as writer:
        states = [writer.add_connection(name, state_type, typestore=store) for name in topics]
        for index, moment in enumerate(recording.stamps):
            message = types[state_type](
                header=stamp(moment + 1e3),
                name=list(recording.joint_names),
                position=np.array(recording.position[index]),
                velocity=empty,
                effort=empty if recording.effort is None else np.array(recording.effort[index]),
            )
            data = store.serialize_cdr(message, state_type)
            for state in states:
                writer.write(state, round((moment + 1e3) * 1e9), data)
        if recording.commands is not None:
            commands = writer.add_connection('/commands', array_type, typestore=store)
            rows = zip(recording.commands.times, recording.commands.effort, strict=True)
            for moment, efforts in rows:
                message = types[array_type](layout=layout, data=np.array(efforts))
                data = store.serialize_cdr(message, array_type)
                writer.write(commands, round((moment + 1e3) * 1e9), data)
