"""Messages to arrays, matched by name. Works on anything with the fields; imports no ROS."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.ros.thresholds import NODE

LONGEST_ELAPSED = 2.0**31 - 1.0
"""The longest time that a builtin_interfaces Duration carries, in whole seconds [s]."""

NOT_GIVEN = -1.0
"""First covariance of a quantity that a sensor_msgs Imu does not carry."""


class MessageError(InputError):
    """A message cannot be used: its field at fault, what was found and what was expected."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f'{field}: {reason}', field=field)


class JointReading(NamedTuple):
    """A JointState in the order of the robot's joints; shapes (n,).

    Attributes
    ----------
    position : array
        [rad or m]
    velocity : array or None
        [rad/s or m/s]; None when the message carries none.
    """

    position: FloatArray
    velocity: FloatArray | None


class _Match(NamedTuple):
    names: list[str]
    order: NDArray[np.intp] | None


class JointStateReader:
    """Reads joint states by name, in any order, among any other joints.

    Parameters
    ----------
    joint_names : sequence of str
        The robot's joints, in the order of the arrays that come out.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = tuple(joint_names)
        self._matches: list[_Match] = []

    def read(self, message: Any) -> JointReading:
        """Return position and velocity of a sensor_msgs JointState.

        Joints that are not the robot's are passed over, whatever their values.

        Raises
        ------
        MessageError
            When a joint is missing or named twice, an array has not as many values as there are
            names (velocities may be missing for all joints, or for the last names where these
            are not the robot's), a value is not finite, or a position farther from zero than a
            waypoint may be: an arm that is held there is answered with no number.
        """
        match = self._match_of(message.name)
        position = self._field('position', message.position, match, MOTION.largest_position)
        velocity = message.velocity
        if len(velocity) == 0:
            return JointReading(position, None)
        return JointReading(position, self._field('velocity', velocity, match, may_end_early=True))

    def read_effort(self, message: Any) -> FloatArray | None:
        """Return the effort of a message that :meth:`read` accepts, shape (n,) [N m or N].

        As for velocities, the last names may have none. None when a joint of the robot has none,
        or it is not finite: nobody depends on it.
        """
        try:
            match = self._match_of(message.name)
            return self._field('effort', message.effort, match, may_end_early=True)
        except MessageError:
            return None

    def _match_of(self, names: Sequence[str]) -> _Match:
        for match in self._matches:
            if match.names == names:
                return match
        return self._match(names)

    def _match(self, names: Sequence[str]) -> _Match:
        place: dict[str, int] = {}
        wanted = set(self._joint_names)
        for index, name in enumerate(names):
            if name in place and name in wanted:
                raise MessageError('name', f'joint {name!r} is there twice')
            place[name] = index
        missing = [name for name in self._joint_names if name not in place]
        if missing:
            raise MessageError(
                'name', f'{missing} missing; expected all of {list(self._joint_names)}'
            )
        order = np.array([place[name] for name in self._joint_names], dtype=np.intp)
        in_order = len(names) == len(order) and (order == np.arange(len(order))).all()
        match = _Match(list(names), None if in_order else order)
        self._matches = [match, *self._matches[: NODE.remembered_names - 1]]
        return match

    def _field(
        self,
        field: str,
        values: Any,
        match: _Match,
        largest: float = inf,
        *,
        may_end_early: bool = False,
    ) -> FloatArray:
        if len(values) != len(match.names):
            self._require_enough(field, len(values), match, may_end_early=may_end_early)
        read: FloatArray
        if type(values) is array:
            read = np.frombuffer(values)
        else:
            read = np.array(values, dtype=np.float64)
            values = read.tolist()
        if match.order is not None:
            read = read[match.order]
            values = read.tolist()
        # Finite when all are, and quick; where it overflows the slow way decides, and names.
        if not (isfinite(sum(values)) and -largest <= min(values) and max(values) <= largest):
            most = '' if largest == inf else f' of at most {largest:g}'
            for name, value in zip(self._joint_names, read, strict=True):
                if not (isfinite(value) and abs(value) <= largest):
                    raise MessageError(
                        field, f'joint {name!r}: expected a finite number{most}, got {value}'
                    )
        return read

    def _require_enough(
        self, field: str, count: int, match: _Match, *, may_end_early: bool
    ) -> None:
        """Raise unless the values end before the names, and each joint of the robot has one."""
        if count > len(match.names):
            may_end_early = False
        order = range(len(self._joint_names)) if match.order is None else match.order
        lacking = [
            name for name, index in zip(self._joint_names, order, strict=True) if index >= count
        ]
        if may_end_early and not lacking:
            return
        without = f': none for {lacking}' if may_end_early else ''
        raise MessageError(
            field, f'got {count} values for {len(match.names)} names{without}; expected as many'
        )


def stamp_nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces Time or Duration in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def fill_point(
    point: Any,
    order: NDArray[np.intp],
    elapsed: float,
    positions: FloatArray | None,
    velocities: FloatArray | None,
    accelerations: FloatArray | None,
) -> None:
    """Write a trajectory_msgs JointTrajectoryPoint anew; its effort stays.

    Parameters
    ----------
    point : trajectory_msgs.msg.JointTrajectoryPoint
    order : array, shape (n,), dtype int
        Index of each joint of the message.
    elapsed : float
        Time from the start, not negative [s]; no more than a message can say is written.
    positions, velocities, accelerations : array, shape (n,), or None
        [rad or m], [rad/s or m/s], [rad/s^2 or m/s^2]; None leaves the field empty.
    """
    for field, values in (
        ('positions', positions),
        ('velocities', velocities),
        ('accelerations', accelerations),
    ):
        given = array('d') if values is None else array('d', values[order].tobytes())
        setattr(point, field, given)
    seconds, fraction = divmod(min(elapsed, LONGEST_ELAPSED), 1.0)
    point.time_from_start.sec = int(seconds)
    point.time_from_start.nanosec = min(round(fraction * 1e9), 999_999_999)


def wrench_reading(message: Any) -> FloatArray:
    """Return force [N] and torque [N m] of a geometry_msgs WrenchStamped, shape (6,)."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array((force.x, force.y, force.z, torque.x, torque.y, torque.z))


def imu_reading(message: Any) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    """Return angular velocity, linear acceleration and orientation of a sensor_msgs Imu.

    Each is None when its covariance begins with -1: not given.

    Returns
    -------
    angular_velocity : array, shape (3,), or None
        [rad/s]
    linear_acceleration : array, shape (3,), or None
        With gravity in it [m/s^2].
    orientation : array, shape (4,), or None
        Quaternion x, y, z, w.
    """
    rate, acceleration = message.angular_velocity, message.linear_acceleration
    orientation = message.orientation
    return (
        None
        if message.angular_velocity_covariance[0] == NOT_GIVEN
        else np.array((rate.x, rate.y, rate.z)),
        None
        if message.linear_acceleration_covariance[0] == NOT_GIVEN
        else np.array((acceleration.x, acceleration.y, acceleration.z)),
        None
        if message.orientation_covariance[0] == NOT_GIVEN
        else np.array((orientation.x, orientation.y, orientation.z, orientation.w)),
    )
