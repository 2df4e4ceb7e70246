"""Waypoints: a JointTrajectory as it was sent, matched by joint name, checked and frozen.

They depend on no time and no state; :class:`~ne_dynamics.motion.motion.Motion` is what comes of
them. The rules are those of ros2_controllers' joint trajectory controller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.thresholds import MOTION

NANO = 1_000_000_000
"""Nanoseconds in a second: messages carry times in whole ones."""

IntArray = NDArray[np.int64]


REST_TOLERANCE = float(np.finfo(np.float32).eps)
"""Velocities up to this count as rest at the end [rad/s or m/s], as in ros2_controllers."""

TURN = 2.0 * np.pi


class DesiredState(NamedTuple):
    """Desired motion of all joints at one instant.

    Attributes
    ----------
    position : array, shape (n,)
        [rad or m]
    velocity : array, shape (n,)
        [rad/s or m/s]
    acceleration : array, shape (n,)
        [rad/s^2 or m/s^2]
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class TrajectoryPoint(NamedTuple):
    """One waypoint as a sender gives it, in the order of the sender's joint names.

    Attributes
    ----------
    time_from_start : float
        [s]
    positions : array-like, shape (m,)
        [rad or m]
    velocities, accelerations : array-like, shape (m,) or (0,)
        [rad/s or m/s], [rad/s^2 or m/s^2]; empty if not given.
    effort : array-like, shape (m,) or (0,)
        Length and finiteness are checked; the values are not used.
    """

    time_from_start: float
    positions: Sequence[float] | FloatArray
    velocities: Sequence[float] | FloatArray = ()
    accelerations: Sequence[float] | FloatArray = ()
    effort: Sequence[float] | FloatArray = ()


class PointFields(NamedTuple):
    """The points of a sender as arrays: which points carry a field, and its values there.

    Rows are indices of points, shape (k,); values have shape (k, m), in the order of the
    sender's m joint names.

    Attributes
    ----------
    times : array, shape (p,)
        From the start [s].
    positions, velocities, accelerations, effort : tuple of (rows, values)
    """

    times: FloatArray
    positions: tuple[IndexArray, FloatArray]
    velocities: tuple[IndexArray, FloatArray]
    accelerations: tuple[IndexArray, FloatArray]
    effort: tuple[IndexArray, FloatArray]

    @classmethod
    def of(cls, points: Sequence[TrajectoryPoint], width: int) -> PointFields:
        """Return points as arrays, of so many joint names.

        Raises
        ------
        TrajectoryError
            When an array has another length, or something that is no number.
        """
        return cls(
            np.array([point.time_from_start for point in points], dtype=np.float64),
            *(
                _field(key, [getattr(point, key) for point in points], width)
                for key in cls._fields[1:]
            ),
        )


def continuous_joints(joints: Sequence[Joint]) -> IndexArray:
    """Return the indices of the joints that turn without end, shape (k,), dtype int."""
    return np.array(
        [i for i, joint in enumerate(joints) if joint.type is JointType.CONTINUOUS], dtype=np.intp
    )


def wrap_turns(change: FloatArray, continuous: IndexArray) -> FloatArray:
    """Return changes of position by the nearest turn; they are changed in place.

    They have shape (..., n) [rad or m]; `continuous`, shape (k,), are the joints without end.
    """
    if continuous.size:
        turns = change[..., continuous]
        change[..., continuous] = turns - TURN * np.rint(turns * (1.0 / TURN))
    return change


def resting_state(position: ArrayLike) -> DesiredState:
    """Return the state at rest in a position, shape (n,) [rad or m], with read-only arrays."""
    held = np.array(position, dtype=np.float64)
    rest = np.zeros_like(held)
    for array in (held, rest):
        array.setflags(write=False)
    return DesiredState(held, rest, rest)


class CarriedFields(NamedTuple):
    """What points carry of which some carry no positions.

    Attributes
    ----------
    has : array, shape (3, m), dtype bool
        Positions, velocities, accelerations.
    must_rest : bool
        Whether the end must be at rest.
    joint_names : tuple of str
    """

    has: NDArray[np.bool_]
    must_rest: bool
    joint_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Waypoints:
    """Checked waypoints in the order of the robot's joints, with times relative to their start.

    Attributes
    ----------
    times : tuple of float
        Times from the start [s], not negative, strictly increasing.
    positions : array, shape (m, n)
        [rad or m]
    velocities, accelerations : array, shape (m, n)
        [rad/s or m/s], [rad/s^2 or m/s^2]; zero if the sender gave none.
    orders : tuple of int
        Highest derivative that each point has: 0, 1 or 2.
    continuous : array, shape (k,), dtype int
        Indices of joints that may be shifted by full turns.
    has_effort : bool
        Whether the sender gave efforts, which are not used.
    carried : CarriedFields or None
        The fields of the points, if some have no positions. `positions` are then zero until
        :func:`~ne_dynamics.motion.integrated_points.integrated` computes them.
    """

    times: tuple[float, ...]
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    orders: tuple[int, ...]
    continuous: IndexArray
    has_effort: bool = False
    carried: CarriedFields | None = None

    @property
    def states(self) -> DesiredState:
        """Positions, velocities and accelerations of all points, shapes (m, n)."""
        return DesiredState(self.positions, self.velocities, self.accelerations)

    @property
    def nanoseconds(self) -> IntArray:
        """Times of the points, shape (m,), dtype int [ns]."""
        times: IntArray = np.rint(np.array(self.times) * NANO).astype(np.int64)
        return times

    def in_nanoseconds(self, start: DesiredState | None = None) -> Waypoints:
        """Return the points at times rounded to nanoseconds, after a start state if needed.

        Parameters
        ----------
        start : DesiredState, optional
            State at time 0. It becomes the first point if the points begin later; continuous
            joints are shifted by the nearest full turns.

        Raises
        ------
        TrajectoryError
            When two points are less than a nanosecond apart.
        """
        times, states, orders = self.nanoseconds, self.states, self.orders
        if start is not None and times[0] > 0:
            turns = nearest_turns(start.position, self.positions[0], self.continuous)
            begin = start.position - turns, start.velocity, start.acceleration
            states = DesiredState(*np.insert(states, 0, begin, axis=1))
            times, orders = np.insert(times, 0, 0), (2, *orders)
        _refuse_first(
            np.diff(times, prepend=-1) <= 0,
            lambda index: (
                'time_from_start: expected at least 1 ns more than the point before, '
                f'got {times[index]} ns'
            ),
        )
        return self.with_points(tuple((times / NANO).tolist()), states, orders)

    def with_points(
        self,
        times: tuple[float, ...],
        states: Sequence[FloatArray] | FloatArray,
        orders: tuple[int, ...],
    ) -> Waypoints:
        """Return other points of the same joints; `states` in the form of :attr:`states`."""
        names = 'positions', 'velocities', 'accelerations'
        return replace(self, times=times, orders=orders, **dict(zip(names, states, strict=True)))

    @classmethod
    def from_points(
        cls,
        joints: Sequence[Joint],
        joint_names: Sequence[str],
        points: Sequence[TrajectoryPoint],
        *,
        allow_nonzero_velocity_at_end: bool = False,
        allow_integration: bool = False,
    ) -> Waypoints:
        """Return checked waypoints from a sender's points, in the order of the robot's joints.

        Parameters
        ----------
        joints : sequence of Joint
            The robot's joints; their names, types and position limits are used.
        joint_names : sequence of str
            The sender's names, in any order; exactly the robot's joints.
        points : sequence of TrajectoryPoint
            At least one.
        allow_nonzero_velocity_at_end : bool
            Accept a last point with a velocity.
        allow_integration : bool
            Accept points without positions.

        Raises
        ------
        TrajectoryError
            When a joint is missing, unknown or named twice; when there is no point; when an
            array has a wrong length or a value that is not finite; when times are negative or
            do not strictly increase; when a position is outside the joint's limits; when the
            last point has a velocity and may not.
        """
        find_columns(joints, joint_names)  # wrong names first: lengths are checked by them
        return cls.from_fields(
            joints,
            joint_names,
            PointFields.of(points, len(joint_names)),
            allow_nonzero_velocity_at_end=allow_nonzero_velocity_at_end,
            allow_integration=allow_integration,
        )

    @classmethod
    def from_fields(
        cls,
        joints: Sequence[Joint],
        joint_names: Sequence[str],
        fields: PointFields,
        *,
        allow_nonzero_velocity_at_end: bool = False,
        allow_integration: bool = False,
    ) -> Waypoints:
        """Return checked waypoints from points given as arrays; see :meth:`from_points`."""
        columns = find_columns(joints, joint_names)
        if not fields.times.size:
            raise TrajectoryError('points: expected at least one, got none', field='points')
        _check_times(fields.times)
        has = _carried(fields, len(joint_names), allow_integration=allow_integration)
        arrays = np.zeros((4, fields.times.size, len(joints)))
        for array, key in zip(arrays, PointFields._fields[1:], strict=True):
            rows, values = getattr(fields, key)
            _check_finite(key, rows, values, joint_names)
            if rows.size:
                array[rows] = values[:, columns]
        _check_position_limits(joints, fields.positions[0], arrays[0])
        if not allow_nonzero_velocity_at_end:
            _check_rest(joints, arrays[1, -1])
        arrays.setflags(write=False)
        carried = None
        if not has[0].all():
            names = tuple(joint.name for joint in joints)
            carried = CarriedFields(has, not allow_nonzero_velocity_at_end, names)
        return cls(
            tuple(fields.times.tolist()),
            arrays[0],
            arrays[1],
            arrays[2],
            tuple(np.where(has[2], 2, np.where(has[1], 1, 0)).tolist()),
            continuous_joints(joints),
            fields.effort[0].size > 0,
            carried,
        )


def _carried(fields: PointFields, width: int, *, allow_integration: bool) -> NDArray[np.bool_]:
    """Return which points carry positions, velocities, accelerations, shape (3, p)."""
    has = np.zeros((3, fields.times.size), dtype=bool)
    for row, (points, _) in zip(has, fields[1:4], strict=True):
        row[points] = True
    lacking = ~has.any(axis=0) if allow_integration else ~has[0]
    expected = (
        'positions, velocities or accelerations: expected at least one of them, got none'
        if allow_integration
        else f'positions: expected {width} values, one per joint, got 0 (see '
        'allow_integration_in_goal_trajectories)'
    )
    _refuse_first(lacking, lambda _: expected)
    _refuse_first(
        has[0] & has[2] & ~has[1],
        lambda _: 'accelerations without velocities: expected both, or no accelerations',
    )
    return has


def find_columns(joints: Sequence[Joint], joint_names: Sequence[str]) -> list[int]:
    """Return, for each of the robot's joints, its place among the sender's names.

    Raises
    ------
    TrajectoryError
        When a joint is missing, unknown or named twice.
    """
    known = [joint.name for joint in joints]
    place: dict[str, int] = {}
    for index, name in enumerate(joint_names):
        if name in place:
            raise TrajectoryError(f'joint_names: {name!r} is named twice', field='joint_names')
        place[name] = index
    unknown = [name for name in joint_names if name not in known]
    if unknown:
        raise TrajectoryError(
            f'joint_names: unknown {unknown}; the joints are {known}', field='joint_names'
        )
    missing = [name for name in known if name not in place]
    if missing:
        raise TrajectoryError(
            f'joint_names: {missing} missing; expected all of {known}: '
            'partial trajectories are not accepted (see allow_partial_joints_goal)',
            field='joint_names',
        )
    return [place[name] for name in known]


def _refuse_first(is_wrong: ArrayLike, describe: Callable[[int], str]) -> None:
    """Refuse the first of the points that are wrong, if any is; its index is described."""
    if np.any(is_wrong):
        index = int(np.argmax(is_wrong))
        raise TrajectoryError(f'point {index}: {describe(index)}', field='points')


def _check_times(times: FloatArray) -> None:
    key = 'time_from_start: expected'
    most = f'{MOTION.longest_motion:g} s'
    _refuse_first(~np.isfinite(times), lambda i: f'{key} a finite number, got {times[i]}')
    _refuse_first(times[:1] < 0.0, lambda i: f'{key} >= 0 s, got {times[i]:g} s')
    _refuse_first(times > MOTION.longest_motion, lambda i: f'{key} <= {most}, got {times[i]:g} s')
    _refuse_first(
        np.diff(times, prepend=-np.inf) <= 0.0,
        lambda i: (
            f'{key} more than the {times[i - 1]:.9g} s of the point before, got {times[i]:.9g} s'
        ),
    )


def _field(
    key: str, fields: list[Sequence[float] | FloatArray], count: int
) -> tuple[IndexArray, FloatArray]:
    """Return which points carry a field and its values there, shapes (k,) and (k, count)."""
    sizes = np.array([len(field) for field in fields], dtype=np.intp)
    _refuse_first(
        (sizes != count) & (sizes != 0),
        lambda i: f'{key}: expected {count} values, one per joint, got {sizes[i]}',
    )
    rows = np.flatnonzero(sizes)
    try:
        values = np.array([fields[row] for row in rows], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f'{key}: expected numbers, got {error}', field='points') from error
    if rows.size and values.shape != (rows.size, count):
        raise TrajectoryError(f'{key}: expected one row of numbers per point', field='points')
    return rows, values


def _check_finite(
    key: str, rows: IndexArray, values: FloatArray, joint_names: Sequence[str]
) -> None:
    largest = MOTION.largest_position if key == 'positions' else np.finfo(np.float64).max
    usable = np.abs(values) <= largest
    if not usable.all():
        row, column = np.argwhere(~usable)[0]
        got = values[row, column]
        most = f' of at most {largest:g}' if np.isfinite(got) else ''
        raise TrajectoryError(
            f'point {rows[row]}: {key}: joint {joint_names[column]!r}: '
            f'expected a finite number{most}, got {got}',
            field='points',
        )


def _check_position_limits(
    joints: Sequence[Joint], rows: IndexArray, positions: FloatArray
) -> None:
    lower, upper = np.array([(joint.lower, joint.upper) for joint in joints]).T
    turns = [joint.type is JointType.CONTINUOUS for joint in joints]
    values = positions[rows]
    outside = (values < lower - MOTION.position_tolerance) | (
        values > upper + MOTION.position_tolerance
    )
    outside[:, turns] = False
    if outside.any():
        column, row = np.argwhere(outside.T)[0]
        raise TrajectoryError(
            f'point {rows[row]}: positions: joint {joints[column].name!r}: expected '
            f'{lower[column]:g} to {upper[column]:g}, got {values[row, column]:g}',
            field='points',
        )


def _check_rest(joints: Sequence[Joint], velocity: FloatArray) -> None:
    for joint, value in zip(joints, velocity, strict=True):
        if abs(value) > REST_TOLERANCE:
            raise TrajectoryError(
                f'last point: velocities: joint {joint.name!r}: expected rest, got {value:g} '
                '(set allow_nonzero_velocity_at_trajectory_end to accept it)',
                field='points',
            )


def nearest_turns(start: FloatArray, first: FloatArray, continuous: IndexArray) -> FloatArray:
    """Return the shift by whole turns that brings a position `first` nearest to `start`.

    All of shape (n,) [rad or m]; zero for joints that are not among `continuous`, shape (k,).
    """
    shift = np.zeros_like(first)
    distance = first[continuous] - start[continuous]
    turns = np.round(distance / TURN)
    # Half a turn away both ways are equally near: keep the direction the sender wrote.
    is_half = np.abs(np.abs(distance - TURN * turns) - np.pi) < 1e-9
    kept = np.round((distance - np.copysign(np.pi, distance)) / TURN)
    shift[continuous] = -TURN * np.where(is_half, kept, turns)
    return shift
