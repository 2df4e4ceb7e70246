"""Desired motion from waypoints, by the rules of ros2_controllers' joint trajectory controller.

Two steps. :class:`Waypoints` is what a sender asked for: matched by joint name, checked, frozen,
independent of time and state. :class:`Trajectory` is that request laid into time: it starts from
the desired state of the moment it was accepted, passes the waypoints that are still to come, and
holds the last one.

A segment is linear, cubic or quintic by what both its ends carry: positions; positions and
velocities; positions, velocities and accelerations. Points with positions alone may be given
velocities and accelerations first; see :mod:`ne_dynamics.motion.position_spline`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.algorithms.profiles import cubic_coefficients, quintic_coefficients
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.position_spline import (
    Interpolation,
    passes_over_first,
    spline_derivatives,
)

SHORTEST_SEGMENT = 1e-6
"""Two waypoints are at least this far apart [s]."""

LONGEST_MOTION = 1e10
"""A waypoint is at most this far from the start [s]: longer than any message can say."""

LARGEST_POSITION = 1e9
"""No waypoint is farther from zero [rad or m], though a joint may turn without end: what gains
make of it stays finite, and an arm that is asked for it has a fault that somebody sees."""

POSITION_TOLERANCE = 1e-6
"""Waypoints may lie this far outside the position limits [rad or m]: planners round."""

REST_TOLERANCE = float(np.finfo(np.float32).eps)
"""Velocities up to this count as rest at the end [rad/s or m/s], as in ros2_controllers."""

TURN = 2.0 * np.pi

SEGMENTS_AT_ONCE = 16
"""Polynomials that are computed when the first of them is needed."""

LARGEST_BOUND = 1e300

MOST_WAITING = 100
"""Motions that wait for their time, one after the other; each costs a little at every state."""


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
    """One waypoint as a sender gives it; arrays follow the sender's joint names.

    Attributes
    ----------
    time_from_start : float
        [s]
    positions : array-like, shape (m,)
        [rad or m]
    velocities, accelerations : array-like, shape (m,) or (0,)
        [rad/s or m/s], [rad/s^2 or m/s^2]; empty when not given.
    effort : array-like, shape (m,) or (0,)
        Checked for length and finiteness, not used: the effort is computed from the model.
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
        """Return points as arrays.

        Parameters
        ----------
        points : sequence of TrajectoryPoint
        width : int
            Number of joint names.

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


def resting_state(position: ArrayLike) -> DesiredState:
    """Return a position held at rest.

    Parameters
    ----------
    position : array-like, shape (n,)
        [rad or m]

    Returns
    -------
    DesiredState
        With read-only arrays.
    """
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
    """Checked waypoints in the order of the robot's joints; nothing says yet when they start.

    Attributes
    ----------
    times : tuple of float
        Times from the start [s], not negative, strictly increasing.
    positions : array, shape (m, n)
        [rad or m]
    velocities, accelerations : array, shape (m, n)
        [rad/s or m/s], [rad/s^2 or m/s^2]; zero where the sender gave none.
    orders : tuple of int
        Derivatives that each point carries: 0, 1 or 2.
    continuous : array, shape (k,), dtype int
        Joints that may be shifted by whole turns.
    has_effort : bool
        Whether the sender gave efforts, which are not used.
    carried : CarriedFields or None
        What the points carry, where some carry no positions; these are zero until they are
        :func:`~ne_dynamics.motion.integrated_points.integrated`.
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
        """Match, check and freeze what a sender gave.

        Parameters
        ----------
        joints : sequence of Joint
            The robot's joints; their names, types and position limits are used.
        joint_names : sequence of str
            The sender's names, in any order; all of the robot's joints, and no other.
        points : sequence of TrajectoryPoint
            At least one.
        allow_nonzero_velocity_at_end : bool
            Accept a last point that still moves.
        allow_integration : bool
            Accept points without positions.

        Returns
        -------
        Waypoints

        Raises
        ------
        TrajectoryError
            When a joint is missing, unknown or named twice; when there is no point; when an
            array has a wrong length or a value that is not finite; when times are negative or
            do not strictly increase; when a position is outside the joint's limits; when the
            last point moves and may not.
        """
        _columns(joints, joint_names)  # wrong names first: lengths are judged by them
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
        """Match, check and freeze points that are arrays already; see :meth:`from_points`."""
        columns = _columns(joints, joint_names)
        if not fields.times.size:
            raise TrajectoryError('points: expected at least one, got none', field='points')
        _check_times(fields.times)
        count = fields.times.size
        has = _carried(fields, len(joint_names), allow_integration=allow_integration)
        arrays = np.zeros((3, count, len(joints)))
        for derivative, key in enumerate(('positions', 'velocities', 'accelerations')):
            rows, values = getattr(fields, key)
            _check_finite(key, rows, values, joint_names)
            if rows.size:
                arrays[derivative, rows] = values[:, columns]
        efforts, values = fields.effort
        _check_finite('effort', efforts, values, joint_names)
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
            efforts.size > 0,
            carried,
        )


def _carried(fields: PointFields, width: int, *, allow_integration: bool) -> NDArray[np.bool_]:
    """Return which points carry positions, velocities, accelerations, shape (3, p)."""
    has = np.zeros((3, fields.times.size), dtype=bool)
    for row, (points, _) in zip(has, (fields[1], fields[2], fields[3]), strict=True):
        row[points] = True
    lacking = ~has.any(axis=0) if allow_integration else ~has[0]
    if lacking.any():
        expected = (
            'positions, velocities or accelerations: expected at least one of them, got none'
            if allow_integration
            else f'positions: expected {width} values, one per joint, got 0 (see '
            'allow_integration_in_goal_trajectories)'
        )
        raise TrajectoryError(f'point {int(np.argmax(lacking))}: {expected}', field='points')
    without = has[0] & has[2] & ~has[1]
    if without.any():
        raise TrajectoryError(
            f'point {int(np.argmax(without))}: accelerations without velocities: '
            'expected both, or no accelerations',
            field='points',
        )
    return has


def _columns(joints: Sequence[Joint], joint_names: Sequence[str]) -> list[int]:
    """Return, for each of the robot's joints, its place among the sender's names."""
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


def _check_times(times: FloatArray) -> None:
    finite = np.isfinite(times)
    if not finite.all():
        index = int(np.argmin(finite))
        raise TrajectoryError(
            f'point {index}: time_from_start: expected a finite number, got {times[index]}',
            field='points',
        )
    if times[0] < 0.0:
        raise TrajectoryError(
            f'point 0: time_from_start: expected >= 0 s, got {times[0]:g} s', field='points'
        )
    if times.max() > LONGEST_MOTION:
        index = int(np.argmax(times > LONGEST_MOTION))
        raise TrajectoryError(
            f'point {index}: time_from_start: expected <= {LONGEST_MOTION:g} s, got '
            f'{times[index]:g} s',
            field='points',
        )
    steps = np.diff(times)
    if (steps <= 0.0).any():
        index = int(np.argmax(steps <= 0.0)) + 1
        raise TrajectoryError(
            f'point {index}: time_from_start: expected more than the {times[index - 1]:.9g} s of '
            f'the point before, got {times[index]:.9g} s',
            field='points',
        )


def _field(
    key: str, fields: list[Sequence[float] | FloatArray], count: int
) -> tuple[IndexArray, FloatArray]:
    """Return which points carry a field and its values there, shapes (k,) and (k, count)."""
    sizes = np.array([len(field) for field in fields], dtype=np.intp)
    wrong = (sizes != count) & (sizes != 0)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise TrajectoryError(
            f'point {index}: {key}: expected {count} values, one per joint, got {sizes[index]}',
            field='points',
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
    largest = LARGEST_POSITION if key == 'positions' else np.finfo(np.float64).max
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
    for column, joint in enumerate(joints):
        if joint.type is JointType.CONTINUOUS:
            continue
        values = positions[rows, column]
        outside = (values < joint.lower - POSITION_TOLERANCE) | (
            values > joint.upper + POSITION_TOLERANCE
        )
        if outside.any():
            index = int(np.argmax(outside))
            raise TrajectoryError(
                f'point {rows[index]}: positions: joint {joint.name!r}: expected '
                f'{joint.lower:g} to {joint.upper:g}, got {values[index]:g}',
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


def with_derivatives(coefficients: FloatArray) -> FloatArray:
    """Return polynomials beside their first two derivatives, shape (s, 6, 3 n)."""
    derivatives = np.zeros((*coefficients.shape, 3))
    derivatives[..., 0] = coefficients
    for order in (1, 2):
        powers = np.arange(1.0, 6.0)[:, np.newaxis]
        derivatives[:, :5, :, order] = powers * derivatives[:, 1:, :, order - 1]
    segments, _, n = coefficients.shape
    return derivatives.swapaxes(2, 3).reshape(segments, 6, 3 * n)


class _Segments:
    """The segments between states, whose polynomials are computed when they are asked for.

    Parameters
    ----------
    orders : array, shape (s + 1,), dtype int
        Derivatives that each state carries.
    durations : array, shape (s,)
        Positive [s].
    states : DesiredState
        Arrays of shape (s + 1, n).
    """

    def __init__(
        self, orders: NDArray[np.int_], durations: FloatArray, states: DesiredState
    ) -> None:
        self._orders = np.minimum(orders[:-1], orders[1:])
        self._durations = durations
        self._states = states

    def coefficients(self, some: slice) -> FloatArray:
        """Return the polynomials of some segments; see :func:`segment_coefficients`."""
        begin = DesiredState(*(values[:-1][some] for values in self._states))
        end = DesiredState(*(values[1:][some] for values in self._states))
        with np.errstate(over='ignore', invalid='ignore'):
            return segment_coefficients(self._orders[some], self._durations[some], begin, end)

    def rows(self, some: slice) -> FloatArray:
        """Return the same beside their first two derivatives, shape (s, 6, 3 n)."""
        return with_derivatives(self.coefficients(some))

    def are_finite(self) -> bool:
        """Return whether all polynomials have finite coefficients."""
        if not self._durations.size:
            return True
        longest, shortest = float(self._durations.max()), float(self._durations.min())
        largest = [max(abs(float(v.max())), abs(float(v.min()))) for v in self._states]
        with np.errstate(over='ignore'):
            size = largest[0] + largest[1] * longest + largest[2] * longest * longest
            # No coefficient is a larger multiple of it; see `quintic_coefficients`.
            bound = np.float64(100.0 * size) / np.float64(min(shortest, 1.0)) ** 5
        return bool(bound < LARGEST_BOUND) or bool(
            np.isfinite(self.coefficients(slice(None))).all()
        )


class _Steps(_Segments):
    """No way between states: each counts from the time of the one before it on."""

    def rows(self, some: slice) -> FloatArray:
        """Return what counts for a while, in the form of polynomials, shape (s, 6, 3 n)."""
        states = np.hstack([values[1:][some] for values in self._states])
        rows = np.zeros((len(states), 6, states.shape[1]))
        rows[:, 0] = states
        return rows


class Trajectory:
    """Piecewise polynomial motion of all joints, in seconds of the caller's clock.

    Build one with :meth:`through` or :meth:`hold`.

    Parameters
    ----------
    knots : sequence of float, length s + 1
        Times at which segments begin, and the time at which the last one ends [s].
    coefficients : array, shape (s, 6, n)
        Of ascending powers of the time since the segment's begin.
    initial : DesiredState
        Before the first knot.
    final : DesiredState
        From the last knot on, at rest.
    """

    __slots__ = (
        '_before',
        '_final',
        '_initial',
        '_knots',
        '_n',
        '_powers',
        '_rows',
        '_segment',
        '_segments',
    )

    def __init__(
        self,
        knots: Sequence[float],
        coefficients: FloatArray | _Segments,
        initial: DesiredState,
        final: DesiredState,
    ) -> None:
        self._knots = list(knots)
        self._n = initial.position.size
        # Position, velocity and acceleration side by side: one small product gives all three.
        self._rows: list[FloatArray | None]
        self._segments: _Segments | None = None
        if isinstance(coefficients, _Segments):
            self._rows, self._segments = [None] * (len(self._knots) - 1), coefficients
        else:
            self._rows = list(with_derivatives(coefficients))
        self._initial = initial
        self._final = final
        self._before: Trajectory | None = None
        self._segment = 0
        self._powers = np.zeros(6)

    def _row(self, index: int) -> FloatArray:
        row = self._rows[index]
        if row is None:
            # Thousands of segments are no work for the moment in which they are accepted.
            assert self._segments is not None
            some = slice(index, index + SEGMENTS_AT_ONCE)
            rows = self._segments.rows(some)
            self._rows[index : index + len(rows)] = rows
            row = rows[0]
        return row

    @classmethod
    def hold(cls, position: ArrayLike, *, now: float = 0.0) -> Trajectory:
        """Return the motion that stays at a position.

        Parameters
        ----------
        position : array-like, shape (n,)
            [rad or m]
        now : float
            [s]
        """
        state = resting_state(position)
        return cls([now], np.zeros((0, 6, state.position.size)), state, state)

    @classmethod
    def moving_on(
        cls, begin: FloatArray, coefficients: FloatArray, duration: float, *, now: float
    ) -> Trajectory:
        """Return the motion of one polynomial, which ends at rest.

        Parameters
        ----------
        begin : array, shape (n,)
            Position at `now` [rad or m].
        coefficients : array, shape (6, n)
            Of ascending powers of the time since `now`.
        duration : float
            [s]
        now : float
            [s]
        """
        end = duration ** np.arange(6.0) @ coefficients
        return cls(
            [now, now + duration],
            coefficients[np.newaxis],
            resting_state(begin),
            resting_state(end),
        )

    def ended_by(self, end: Trajectory) -> Trajectory:
        """Return this motion with another one in place of its rest; `end` begins at its end."""
        joined = copy(self)
        joined._knots = self._knots + end._knots[1:]
        joined._rows = self._rows + end._rows
        joined._final = end._final
        return joined

    def given_up(self) -> Trajectory:
        """Return the same motion as another one: nobody waits for its end."""
        return copy(self)

    def shifted(self, duration: float) -> Trajectory:
        """Return the same motion, later by so many seconds; before it begins, likewise."""
        later = copy(self)
        later._knots = [knot + duration for knot in self._knots]
        later._powers = np.zeros(6)
        if self._before is not None:
            later._before = self._before.shifted(duration)
        return later

    @property
    def has_steps(self) -> bool:
        """Whether it goes from point to point without a way between them."""
        return isinstance(self._segments, _Steps)

    def waiting_after(self, before: Trajectory, now: float) -> Trajectory:
        """Return this motion with another one in place of its state before it begins.

        Parameters
        ----------
        before : Trajectory
            Followed until then.
        now : float
            Nobody asks for a time before it any more [s].

        Raises
        ------
        TrajectoryError
            When more motions would wait than may.
        """
        waiting = copy(self)
        # Of what is followed, that which this one takes the place of before it begins is over.
        while before._before is not None and before.start_time >= self.start_time:
            before = before._before
        waiting._before = before
        last, count = before, 1
        while last._before is not None and last.start_time > now:
            last, count = last._before, count + 1
        last._before = None
        if count > MOST_WAITING:
            raise TrajectoryError(
                f'header.stamp: {MOST_WAITING} trajectories wait for their time already; '
                'expected fewer in the future at once',
                field='header.stamp',
            )
        return waiting

    @property
    def last_moment(self) -> DesiredState:
        """The state in which the last segment ends, before what is held from then on."""
        if not self._rows:
            return self._final
        duration = self._knots[-1] - self._knots[-2]
        state = duration ** np.arange(6.0) @ self._row(len(self._rows) - 1)
        return DesiredState(*state.reshape(3, self._n))

    @classmethod
    def through(
        cls,
        waypoints: Waypoints,
        *,
        now: float,
        start_state: DesiredState,
        start_time: float | None = None,
        interpolation: Interpolation = Interpolation.LINEAR,
        jumps: bool = True,
        goes_on: bool = False,
    ) -> Trajectory:
        """Lay waypoints into time, beginning with the present desired state.

        Waypoints that are past are left out; the motion goes from the start state to the first
        that is left, by the degree that this one carries, and on from there. Continuous joints
        are shifted, the whole trajectory alike, by the turns that bring that first waypoint
        nearest to the start. A first waypoint at exactly `now` is jumped to, but for one of a
        spline that goes on: the start state is in its place.

        Parameters
        ----------
        waypoints : Waypoints
        now : float
            Present time [s].
        start_state : DesiredState
            Desired state at `now`.
        start_time : float, optional
            Time from which the waypoints' times count [s]; `now` when None.
        interpolation : Interpolation
            Of positions alone.
        jumps : bool
            False: the start state is in the place of any such waypoint.
        goes_on : bool
            Whether the last two waypoints of a spline carry the states that it passes, instead
            of a rest at its end; see
            :func:`~ne_dynamics.control.desired.position_stream.going_on`.

        Returns
        -------
        Trajectory

        Raises
        ------
        TrajectoryError
            When all waypoints are past; when two are too near in time, or the motion between
            them is beyond all numbers.
        """
        origin = now if start_time is None else start_time
        times = [origin + time for time in waypoints.times]
        first = next((i for i, time in enumerate(times) if time >= now), None)
        if first is None:
            raise TrajectoryError(
                f'header.stamp: the trajectory ended {now - times[-1]:.3g} s ago; '
                'expected an end in the future, or stamp 0 for now',
                field='header.stamp',
            )
        is_spline = interpolation is Interpolation.SPLINES and not any(waypoints.orders[first:])
        if is_spline or (not jumps and interpolation is not Interpolation.NONE):
            is_streamed = is_spline and bool(
                start_state.velocity.any() or start_state.acceleration.any()
            )
            first += passes_over_first(np.array(times[first:]), now, is_moving=is_streamed)
        turns = nearest_turns(
            start_state.position, waypoints.positions[first], waypoints.continuous
        )
        motion = DesiredState(
            waypoints.positions[first:] + turns,
            waypoints.velocities[first:],
            waypoints.accelerations[first:],
        )
        orders = np.array(waypoints.orders[first:])
        knots = times[first:]
        has_way = knots[0] > now
        if has_way:
            stacked = (np.vstack(values) for values in zip(start_state, motion, strict=True))
            motion = DesiredState(*stacked)
            orders = np.insert(orders, 0, 2)
            knots.insert(0, now)
        durations = np.diff(knots)
        if (durations < SHORTEST_SEGMENT).any():
            # Rounding has eaten what was between them.
            index = int(np.argmax(durations < SHORTEST_SEGMENT))
            raise TrajectoryError(
                f'time_from_start: expected {SHORTEST_SEGMENT:g} s between two points at the '
                f'least, got {durations[index]:.3g} s after {knots[index] - origin:.9g} s',
                field='points',
            )
        if interpolation is Interpolation.NONE:
            segments: _Segments = _Steps(orders, durations, _standing(motion, has_way=has_way))
        else:
            if is_spline and has_way:
                motion = _on_a_spline(np.array(knots), motion, goes_on=goes_on)
                orders = np.full(orders.size, 2)
            segments = _Segments(orders, durations, motion)
        if not segments.are_finite():
            raise TrajectoryError(
                'points: expected a motion of finite numbers, got an overflow', field='points'
            )
        return cls(knots, segments, start_state, resting_state(motion.position[-1]))

    @property
    def knots(self) -> Sequence[float]:
        """Times at which segments begin, and the last one ends [s]."""
        return self._knots

    def coefficients(self, index: int) -> FloatArray:
        """Return the polynomials of a segment, shape (6, n)."""
        return self._row(index)[:, : self._n]

    @property
    def start_time(self) -> float:
        """Time of the first knot [s]."""
        return self._knots[0]

    @property
    def first_time(self) -> float:
        """Time from which on it is known what is followed, until `start_time` too [s]."""
        motion = self
        while motion._before is not None:
            motion = motion._before
        return motion.start_time

    @property
    def end_time(self) -> float:
        """Time from which the last position is held [s]."""
        return self._knots[-1]

    def knots_after(self, time: float) -> list[float]:
        """Return the times after a time at which segments end [s]."""
        return self._knots[bisect_right(self._knots, time) :]

    @property
    def final(self) -> DesiredState:
        """What is held from `end_time` on."""
        return self._final

    def sample(self, time: float) -> DesiredState:
        """Return the desired state at a time.

        Parameters
        ----------
        time : float
            [s], of the clock that `now` was given in.

        Returns
        -------
        DesiredState
            Arrays of shape (n,); do not write to them.
        """
        knots = self._knots
        if time >= knots[-1]:
            return self._final
        if time < knots[0]:
            return self._initial if self._before is None else self._sample_before(time)
        i = self._segment
        if not knots[i] <= time < knots[i + 1]:
            i = self._segment = bisect_right(knots, time) - 1
        t = time - knots[i]
        t2 = t * t
        t3 = t2 * t
        row = self._rows[i]
        if row is None:
            row = self._row(i)
        powers = self._powers
        powers[:] = 1.0, t, t2, t3, t2 * t2, t3 * t2
        state = powers.dot(row)
        n = self._n
        return DesiredState(state[:n], state[n : 2 * n], state[2 * n :])

    def _sample_before(self, time: float) -> DesiredState:
        """Return the state of the motion that is followed until this one begins."""
        motion = self
        while motion._before is not None and time < motion.start_time:
            motion = motion._before
        return motion.sample(time)


def _standing(motion: DesiredState, *, has_way: bool) -> DesiredState:
    """Return what counts from each state on: until its first point is due a motion stands."""
    if not has_way:
        return motion
    standing = DesiredState(*(values.copy() for values in motion))
    standing.position[1] = motion.position[0]
    standing.velocity[1] = standing.acceleration[1] = 0.0
    return standing


def _on_a_spline(times: FloatArray, motion: DesiredState, *, goes_on: bool) -> DesiredState:
    """Return positions with the derivatives of a spline, and the ends as they are.

    The end is the last state, at rest; of a motion that goes on, the last but one.
    """
    inner = slice(-1) if goes_on else slice(None)
    position, velocity, acceleration = (values[inner] for values in motion)
    if len(position) < 3:
        return motion
    with np.errstate(over='ignore', invalid='ignore'):
        found = spline_derivatives(
            times[inner], position, velocity[0], velocity[-1] if goes_on else None
        )
    velocity[1:-1], acceleration[1:-1] = (values[1:-1] for values in found)
    return motion


def nearest_turns(start: FloatArray, first: FloatArray, continuous: IndexArray) -> FloatArray:
    """Return the shift by whole turns that brings one position nearest to another.

    Parameters
    ----------
    start, first : array, shape (n,)
        `first` is shifted.
    continuous : array, shape (k,), dtype int
        Joints that may be.

    Returns
    -------
    array, shape (n,)
        To be added to `first`; zero for the other joints [rad].
    """
    shift = np.zeros_like(first)
    for j in continuous:
        distance = first[j] - start[j]
        turns = np.round(distance / TURN)
        # Half a turn away both ways are equally near: keep the direction the sender wrote.
        if abs(abs(distance - TURN * turns) - np.pi) < 1e-9:
            turns = np.round((distance - np.copysign(np.pi, distance)) / TURN)
        shift[j] = -TURN * turns
    return shift


def segment_coefficients(
    orders: ArrayLike, durations: ArrayLike, begin: DesiredState, end: DesiredState
) -> FloatArray:
    """Return the polynomials that join pairs of states.

    Parameters
    ----------
    orders : array-like, shape (s,)
        Derivatives matched at both ends: 0 (linear), 1 (cubic) or 2 (quintic).
    durations : array-like, shape (s,)
        Positive [s].
    begin, end : DesiredState
        Arrays of shape (s, n); what exceeds the order is not used.

    Returns
    -------
    array, shape (s, 6, n)
        Coefficients of ascending powers of the time since the segment's begin.
    """
    scaled = scaled_coefficients(orders, durations, begin, end)
    powers = np.asarray(durations, dtype=np.float64) ** np.arange(6.0)[:, np.newaxis]
    return (scaled / powers[..., np.newaxis]).swapaxes(0, 1)


def scaled_coefficients(
    orders: ArrayLike, durations: ArrayLike, begin: DesiredState, end: DesiredState
) -> FloatArray:
    """Return the same polynomials, of the share of the duration that has passed.

    Parameters
    ----------
    orders, durations : array-like, shape (s,)
    begin, end : DesiredState
        As for :func:`segment_coefficients`.

    Returns
    -------
    array, shape (6, s, n)
        Coefficients of ascending powers of the share [rad or m].
    """
    order = np.asarray(orders)
    duration = np.asarray(durations, dtype=np.float64)[:, np.newaxis]
    # End conditions as distances from the state without them, all in units of position.
    p = end.position - begin.position
    scaled = np.zeros((6, *p.shape))
    scaled[0] = begin.position
    for degree in np.unique(order):
        some = slice(None) if (order == degree).all() else order == degree
        way, time = p[some], duration[some]
        if degree == 0:
            scaled[1, some] = way
            continue
        v0, v1 = begin.velocity[some] * time, end.velocity[some] * time
        if degree == 1:
            powers: tuple[FloatArray, ...] = cubic_coefficients(way, v0, v1)
        else:
            a0, a1 = begin.acceleration[some] * time**2, end.acceleration[some] * time**2
            powers = quintic_coefficients(way, v0, v1, a0, a1)
        for power, row in enumerate(powers, start=1):
            scaled[power, some] = row
    return scaled
