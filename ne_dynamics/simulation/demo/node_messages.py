"""What is sent to the node, and how it is heard, by whoever drives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ne_dynamics.errors import optional_dependency
from ne_dynamics.motion import NANO

with optional_dependency('messages need ROS 2 for Python', 'ros'):
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

# Deep: who records may lag behind on a busy machine, but must not lose a state.
RECORDING = QoSProfile(depth=20000, reliability=ReliabilityPolicy.RELIABLE)
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


def read_stamp(message: Any) -> int:
    """Return the stamp of a message [ns]."""
    stamp = message.header.stamp
    return int(stamp.sec) * NANO + int(stamp.nanosec)


def set_stamp(stamp: Any, seconds: float) -> None:
    """Write seconds into a stamp or a duration."""
    stamp.sec, stamp.nanosec = divmod(round(seconds * 1e9), NANO)


def trajectory_message(
    joint_names: Iterable[str], points: Iterable[tuple[Any, ...]]
) -> JointTrajectory:
    """Return a trajectory.

    Parameters
    ----------
    joint_names : iterable of str
    points : iterable of tuple
        Time from the start [s], positions, and if wanted velocities, accelerations, efforts.
    """
    message = JointTrajectory(joint_names=list(joint_names))
    for seconds, *rows in points:
        point = JointTrajectoryPoint()
        set_stamp(point.time_from_start, seconds)
        for field, row in zip(
            ('positions', 'velocities', 'accelerations', 'effort'), rows, strict=False
        ):
            setattr(point, field, [float(value) for value in row])
        message.points.append(point)
    return message


def parameter_of(name: str, value: Any) -> Parameter:
    """Return a parameter; empty lists are of strings."""
    if isinstance(value, (list, tuple)):
        value = list(value)
        if not value:
            return Parameter(name, Parameter.Type.STRING_ARRAY, value)
    return Parameter(name, value=value)


def parameters_request(values: Mapping[str, Any]) -> SetParametersAtomically.Request:
    """Return the request that sets parameters all at once."""
    parameters = [parameter_of(name, value).to_parameter_msg() for name, value in values.items()]
    return SetParametersAtomically.Request(parameters=parameters)
