"""Efforts for a trajectory that somebody else follows, as feed-forward.

ros2_controllers' joint trajectory controller (JTC) interpolates the positions of a trajectory by
splines and its efforts linearly, between the same points. The inverse dynamics along a spline
are no straight line: here inner points are added, on the motion itself, until the line is within
a tolerance of them.

**The motion stays the same.** A polynomial is determined by what two points on it carry, so an
inner point carries what its segment is made of: position in a linear segment, velocity too in a
cubic one, acceleration too in a quintic one. The sender's points keep what they carry. What is
interpolated between the new points is then the segment they are on, to rounding.

**Nothing between the samples is missed.** The inverse dynamics of a tree are a trigonometric
polynomial in the joint angles, of degree two at most in each, times polynomials in time. They
are sampled so densely that (1) all joint angles together change by at most :data:`LARGEST_TURN`
from sample to sample, a small part of the shortest period there is, (2) each stretch between two
points of the sender has :data:`CELLS` intervals at least, and (3) what a straight line between
two samples leaves out is below :data:`RESOLUTION` of the tolerance, by the second difference
and its change. Chords are then drawn as long as the samples allow.

**Steps.** Where the motion itself jumps in acceleration (between two cubic segments), in
velocity (between two linear ones) or passes a reversal under Coulomb friction, the effort has a
step, which no continuous line follows: it is ramped in the last :data:`RAMP` seconds before.
At the jump of velocity of a linear segment an infinite effort would be due: it is left out, and
said in :attr:`AnnotatedTrajectory.remarks`.

**The end.** JTC goes on sending the effort of the last point. The last point is therefore at
rest and carries what holds the arm there. Where the sender's last point moves or accelerates, a
point at rest follows :data:`RAMP` seconds later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.dynamics.compensation import (
    Base,
    Compensation,
    InverseDynamics,
    Terms,
    changes_sign,
)
from ne_dynamics.errors import InputError, ParameterError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.model.robot import Joint
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.check import check_motion
from ne_dynamics.motion.joint_limits import DemandLimits, per_joint
from ne_dynamics.motion.limit_violation import InfeasibleMotionError
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.waypoints import NANO, DesiredState, IntArray, Waypoints

RAMP = 1e-4
"""Duration of the ramp in place of a step of the effort [s]; shorter in short segments."""

CELLS = 16
"""Intervals into which a stretch is divided at first."""

LARGEST_TURN = 0.25
"""Largest change of all joint angles together from sample to sample [rad]."""

RESOLUTION = 0.1
"""Part of the tolerance that may be missed between samples."""

CHORD = 0.85
"""Part of the tolerance that a chord may be away from the samples."""

STEP = 0.05
"""Part of the tolerance from which a jump of the effort is a step that is ramped."""

MAX_POINTS = 100_000
"""Default for the largest number of points."""

BATCH = 1000
"""Stretches that are refined at once."""

SHORTEST = 1e-6
"""Nothing is resolved that is shorter than this [s]."""

_RAMP_NS, _SHORTEST_NS = round(RAMP * NANO), round(SHORTEST * NANO)


def annotate(
    dynamics: InverseDynamics,
    joint_names: Sequence[str],
    waypoints: Waypoints,
    *,
    effort_tolerance: ArrayLike = 0.1,
    terms: Terms | None = None,
    payload: FloatArray | None = None,
    base_motion: FloatArray | None = None,
    smoothing_velocity: float = 0.0,
    start: DesiredState | None = None,
    max_points: int = MAX_POINTS,
) -> AnnotatedTrajectory:
    """Return the same motion with efforts, dense enough for linear interpolation.

    Parameters
    ----------
    dynamics : InverseDynamics
        :class:`ne_dynamics.Dynamics` of the arm with everything that it carries: what follows
        the trajectory knows of no wrist sensor.
    joint_names : sequence of str
        All of the robot's joints, in the order in which the result has them.
    waypoints : Waypoints
        Times are rounded to nanoseconds, which is what messages carry.
    effort_tolerance : array-like, scalar, shape (1,) or (n,)
        In the order of the robot's joints [N m or N].
    terms : Terms, optional
        Parts of the model that are used; all when omitted. As for
        :class:`~ne_dynamics.control.laws.ControlLaw`.
    payload : array, shape (10,), optional
        As :meth:`ne_dynamics.Dynamics.inverse_dynamics` takes it.
    base_motion : array, shape (9,), optional
        Of a base that is tilted, and stays so; as
        :meth:`ne_dynamics.Dynamics.inverse_dynamics` takes it.
    smoothing_velocity : float
        See :class:`~ne_dynamics.dynamics.compensation.Compensation` [rad/s or m/s].
    start : DesiredState, optional
        State at time 0, in the order of the robot's joints, for waypoints that begin later. It
        becomes the first point, continuous joints by the nearest turn. Without it the motion
        before the first waypoint is unknown, and the result begins there. Waypoints that begin
        at time 0 do not use it: they are jumped to.
    max_points : int
        Most points that the result may have.

    Returns
    -------
    AnnotatedTrajectory

    Raises
    ------
    TrajectoryError
        When two points are less than a nanosecond apart, the effort is not finite, or the
        tolerance takes more points than allowed or points closer than one can tell.
    ParameterError
        When the tolerance is not positive, or not one for all or one per joint.
    InputError
        When `joint_names` are not the robot's.
    """
    known = [joint.name for joint in dynamics.robot.joints]
    if sorted(joint_names) != sorted(known):
        raise InputError(f'joint_names: expected {known} in any order, got {list(joint_names)}')
    tolerance = per_joint(effort_tolerance, len(known), 'effort_tolerance')
    if not ((tolerance > 0.0) & np.isfinite(tolerance)).all():
        raise ParameterError(
            f'effort_tolerance: expected finite numbers > 0, got {tolerance.tolist()}'
        )
    compensation = Compensation(dynamics, terms or Terms(), payload, smoothing_velocity)
    base = None if base_motion is None else Base(base_motion, base_motion)
    waypoints = waypoints.in_nanoseconds(start)
    work = _Annotation(compensation, base, waypoints, tolerance, max_points)
    return work.result([known.index(name) for name in joint_names], tuple(joint_names))


def check_positions(
    joints: Sequence[Joint],
    waypoints: Waypoints,
    *,
    start: DesiredState | None = None,
) -> None:
    """Refuse waypoints between which the motion leaves the limits of positions.

    Parameters
    ----------
    joints : sequence of n Joint
        Of the robot.
    waypoints : Waypoints
    start : DesiredState, optional
        As for :func:`annotate`. Where it is beyond limits, the motion may be as far beyond them.

    Raises
    ------
    InfeasibleMotionError
        With joint, time, position and limit of the worst.
    TrajectoryError
        When two points are less than a nanosecond apart.
    """
    waypoints = waypoints.in_nanoseconds(start)
    unlimited = np.full(len(joints), np.inf)
    limits = DemandLimits.of(joints, unlimited)
    limits = replace(limits, velocity=unlimited, acceleration=unlimited, deceleration=unlimited)
    if start is not None:
        first = DesiredState(*(rows[0] for rows in waypoints.states))
        limits = limits.widened_to(first, np.zeros(len(joints)))
    segments = Motion.between(waypoints).segments()
    # What is not finite is refused for its efforts.
    finite = np.flatnonzero(np.isfinite(segments.scaled).all(axis=(0, 2)))
    found = check_motion(segments.choose(finite), limits)
    if found:
        raise InfeasibleMotionError(found)


class _Annotation:
    """The work on one trajectory; see :func:`annotate`.

    It goes by stretches: parts of segments, from `_begin` to `_end` [ns], along which no friction
    changes its sign. `_direction` is that of the velocity, of joints with friction that has one;
    else 0. `_origin` and `_hysteresis` are the positions and the states of the hysteresis at the
    begins, and at the end of the last one; None without hysteresis.
    """

    def __init__(
        self,
        compensation: Compensation,
        base: Base | None,
        waypoints: Waypoints,
        tolerance: FloatArray,
        max_points: int,
    ) -> None:
        self._compensation, self._base = compensation, base
        self._joints = joints = compensation.dynamics.robot.joints
        self._waypoints = waypoints
        self._motion = Motion.between(waypoints)
        self._knots = waypoints.nanoseconds
        self._knot_orders = np.array(waypoints.orders)
        self._orders = np.minimum(self._knot_orders[:-1], self._knot_orders[1:])
        self._tolerance = tolerance
        self._max_points = max_points
        self._turning = np.array([not joint.type.is_prismatic for joint in joints], dtype=float)
        self._deviation = np.zeros(len(joints))
        self._count = 0
        self._steps = 0
        self._largest_step = (0.0, 0, 0)
        # Times, orders, positions, velocities, accelerations, efforts: one tuple a batch.
        self._points: list[tuple[NDArray[Any], ...]] = []
        self._check_count(self._knots.size)
        self._divide()

    # ---- the whole

    def result(self, columns: list[int], joint_names: tuple[str, ...]) -> AnnotatedTrajectory:
        """Do the work, and return what came of it, its joints in the order of `columns`."""
        last = DesiredState(*(rows[-1:] for rows in self._waypoints.states))
        rest = np.zeros_like(last.position)
        resting = DesiredState(last.position, rest, rest)
        reached = None if self._hysteresis is None else self._hysteresis[-1:]
        final = hold = self._efforts(resting, rest, reached, self._knots[-1:])
        order = int(self._knot_orders[-1])
        is_moving_at_end = any(values.any() for values in last[1 : order + 1])
        if self._begin.size:
            stretches = np.arange(self._begin.size)
            limits, _ = self._evaluated(stretches, np.column_stack((self._begin, self._end)))
            first, end = limits[:, 0], limits[:, 1]
            if is_moving_at_end:
                final = end[-1:]
            self._refine_all(np.abs(np.vstack((first[1:], final)) - end))
        self._add(self._knots[-1:], self._knot_orders[-1:], last, final)
        if is_moving_at_end:
            self._add(self._knots[-1:] + _RAMP_NS, np.array((2,)), resting, hold)
        times, orders, *values = map(np.concatenate, zip(*self._points, strict=True))
        largest = np.abs(values[-1]).max(axis=0)
        position, velocity, acceleration, efforts = (array[:, columns] for array in values)
        for array in (times, orders, position, velocity, acceleration, efforts):
            array.setflags(write=False)
        return AnnotatedTrajectory(
            joint_names,
            times,
            position,
            velocity,
            acceleration,
            orders,
            efforts,
            self._deviation[columns],
            self._steps,
            tuple(self._remarks(largest, is_moving_at_end)),
        )

    def _remarks(self, largest: FloatArray, is_moving_at_end: bool) -> Iterator[str]:
        joints = self._joints
        if self._knots[0] > 0:
            yield (
                f'the first point is at {self._knots[0] / NANO:.9g} s and no start was given: '
                'the motion up to it is unknown and has no efforts'
            )
        linear = (self._orders == 0) & self._motion.coefficients[:, 1].any(axis=1)
        if linear.any():
            yield (
                f'linear segments: {int(linear.sum())} of {linear.size}, for want of velocities: '
                'the velocity jumps at their ends, and the efforts are those of constant velocity'
            )
        if self._steps:
            size, index, time = self._largest_step
            yield (
                f'steps of the effort: {self._steps}, where acceleration or velocity jump or '
                f'Coulomb friction changes its sign, the largest of {size:.3g} at joint '
                f'{joints[index].name!r} at {time / NANO:.9g} s: each is ramped in {RAMP:g} s'
            )
        if is_moving_at_end:
            yield (
                f'the last point moves or accelerates: a point at rest follows it after {RAMP:g} s'
            )
        if self._waypoints.has_effort:
            yield 'the efforts that the points had are replaced'
        for joint, value in zip(joints, largest.tolist(), strict=True):
            if value > joint.effort_limit:
                yield (
                    f'joint {joint.name!r}: the motion takes {value:.4g}, more than its effort '
                    f'limit of {joint.effort_limit:g}'
                )

    # ---- stretches

    def _divide(self) -> None:
        """Divide the segments into stretches."""
        compensation, knots = self._compensation, self._knots
        adds_friction = compensation.terms.friction
        rubbing = np.array(
            [
                adds_friction and changes_sign(friction, joint.coulomb_friction)
                for friction, joint in zip(compensation.friction, self._joints, strict=True)
            ]
        )
        begin = np.sort(np.concatenate((knots[:-1], self._reversals(rubbing))))
        end = np.append(begin, knots[-1])[1:]
        self._begin, self._end = begin, end
        self._segments = np.searchsorted(knots, begin, side='right') - 1
        middle = self._states_at(self._segments, begin + (end - begin) // 2)
        self._direction = np.where(rubbing, np.sign(middle.velocity), 0.0)
        self._hysteresis: FloatArray | None = None
        if adds_friction and compensation.has_hysteresis:
            positions = self._states_at(self._segments, begin).position
            self._origin = np.concatenate((positions, self._waypoints.positions[-1:]))
            self._hysteresis = np.zeros_like(self._origin)
            for index, way in enumerate(np.diff(self._origin, axis=0)):
                state = compensation.move_hysteresis(self._hysteresis[index], way)
                self._hysteresis[index + 1] = state

    def _reversals(self, rubbing: NDArray[np.bool_]) -> IntArray:
        """Return when joints with friction turn inside of segments, apart from each other [ns]."""
        roots = self._motion.roots(1) if rubbing.any() else []
        turning = [each for each, rubs in zip(roots, rubbing, strict=False) if rubs]
        times = np.unique(np.rint(np.concatenate([*turning, []]) * NANO)).astype(np.int64)
        kept: list[int] = []
        before = int(self._knots[0])
        for time in times.tolist():
            segment = int(np.searchsorted(self._knots[1:-1], time, side='right'))
            begin, end = self._knots[segment : segment + 2].tolist()
            if min(time - max(before, begin), end - time) > _SHORTEST_NS:
                kept.append(time)
                before = time
        return np.array(kept, dtype=np.int64)

    def _states_at(self, segments: IndexArray, times: IntArray) -> DesiredState:
        """Return states of segments, shapes (k,), at times of shape (k,) or (k, r)."""
        begins = self._knots[segments]
        return self._motion.sample_within(segments, (times.T - begins).T / NANO)

    # ---- efforts

    def _evaluated(self, owners: IndexArray, times: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return efforts and velocities at times of stretches, seen from inside of these.

        Shapes (k,) and (k, r) to (k, r, n).
        """
        with np.errstate(all='ignore'):  # what overflows is found, and named
            state = self._states_at(self._segments[owners], times)
            shape = state.position.shape
            flat = DesiredState(*(rows.reshape(-1, shape[2]) for rows in state))
            hysteresis = None
            if self._hysteresis is not None:
                moved = (state.position - self._origin[owners, np.newaxis]).reshape(-1, shape[2])
                before = np.repeat(self._hysteresis[owners], shape[1], axis=0)
                hysteresis = self._compensation.move_hysteresis(before, moved)
            direction = np.repeat(self._direction[owners], shape[1], axis=0)
            efforts = self._efforts(flat, direction, hysteresis, times.reshape(-1))
        return efforts.reshape(shape), state.velocity

    def _efforts(
        self,
        state: DesiredState,
        direction: FloatArray,
        hysteresis: FloatArray | None,
        times: IntArray,
    ) -> FloatArray:
        """Return the effort of states of shape (N, n), shape (N, n) [N m or N].

        `direction`, shape (N, n), is the sign of the velocity as friction sees it, `hysteresis`
        of the same shape what its path has come to, or None without.
        """
        compensation = self._compensation
        q, qd, qdd = state
        self._check_finite(np.hstack(state), times)
        if not compensation.terms.inertia:
            qdd = np.zeros_like(qdd)
        try:
            effort = compensation.effort(q, qd, qdd, qd, None, self._base, direction)
        except InputError:
            effort = np.full_like(q, np.nan)
            if times.size > 1:
                for row in range(times.size):  # the first of them is refused
                    one = slice(row, row + 1)
                    each = DesiredState(*(rows[one] for rows in state))
                    self._efforts(each, direction[one], None, times[one])
        if hysteresis is not None:
            effort = effort + compensation.hysteresis_effort(hysteresis, qd, direction)
        self._check_finite(effort, times)
        return effort

    def _check_finite(self, values: FloatArray, times: IntArray) -> None:
        finite = np.isfinite(values).all(axis=-1)
        if not finite.all():
            time = times[int(np.argmin(finite))]
            raise TrajectoryError(
                f'points: the effort at about {time / NANO:.9g} s is not finite: expected a '
                'motion that an arm can make'
            )

    # ---- chords

    def _refine_all(self, jumps: FloatArray) -> None:
        """Add the points of all stretches: where each begins, inside, and before its step.

        Parameters
        ----------
        jumps : array, shape (k, n)
            Of the effort at their ends [N m or N].
        """
        in_tolerances = jumps / self._tolerance
        is_step = in_tolerances.max(axis=1) > STEP
        lengths = self._end - self._begin
        # A stretch of a few nanoseconds is a ramp by itself.
        has_ramp = is_step & (lengths >= 8)
        ends = self._end - np.where(has_ramp, np.minimum(_RAMP_NS, lengths // 4), 0)
        self._steps = int(is_step.sum())
        if self._steps:
            row, joint = divmod(int(np.argmax(in_tolerances)), jumps.shape[1])
            self._largest_step = float(jumps[row, joint]), joint, int(self._end[row])
        stretches = np.arange(lengths.size)
        for some in np.split(stretches, stretches[BATCH::BATCH]):
            owners, times, efforts = self._sampled(some, ends[some])
            borders = np.searchsorted(owners, np.append(some, some[-1] + 1)).tolist()
            places = []
            for own, first, last in zip(some, borders[:-1], borders[1:], strict=True):
                kept = first + self._chords(times[first:last], efforts[first:last])
                places.append(kept if has_ramp[own] else kept[:-1])
            chosen = np.concatenate(places)
            self._add_between(self._segments[owners[chosen]], times[chosen], efforts[chosen])

    def _sampled(
        self, owners: IndexArray, ends: IntArray
    ) -> tuple[IndexArray, IntArray, FloatArray]:
        """Return samples so dense that what lies between them does not matter.

        Parameters
        ----------
        owners, ends : array, shape (k,), dtype int
            Indices of stretches, and until when they are sampled [ns].

        Returns
        -------
        owners, times : array, shape (m,), dtype int
            Indices of the stretches, ascending, and times in each, ascending [ns].
        efforts : array, shape (m, n)
        """
        found: list[tuple[IndexArray, IntArray, FloatArray]] = []
        begin, end, taken = self._begin[owners], ends, 0
        while owners.size:
            lengths = (end - begin)[:, np.newaxis]
            times = begin[:, np.newaxis] + lengths * np.arange(CELLS + 1) // CELLS
            taken += times.size
            # Few samples become points, but not so few.
            self._check_count((taken - 16_000) // 32)
            efforts, velocities = self._evaluated(owners, times)
            parts = self._count_parts(times, efforts, velocities)
            kept = np.repeat(parts[:, np.newaxis] == 1, CELLS + 1, axis=1)
            # Where samples would fall together the ends do.
            kept[:, 1:-1] &= lengths >= CELLS * _SHORTEST_NS
            which, _ = np.nonzero(kept)
            found.append((owners[which], times[kept], efforts[kept]))
            parts[parts == 1] = 0
            which, index = np.nonzero(np.arange(CELLS) < parts[:, np.newaxis])
            width = CELLS // parts[which]
            owners = owners[which]
            begin, end = times[which, index * width], times[which, (index + 1) * width]
        owner, time, effort = (np.concatenate(rows) for rows in zip(*found, strict=True))
        order = np.lexsort((time, owner))
        is_new = (np.diff(owner[order], prepend=-1) != 0) | (np.diff(time[order], prepend=-1) != 0)
        order = order[is_new]
        return owner[order], time[order], effort[order]

    def _count_parts(
        self, times: IntArray, efforts: FloatArray, velocities: FloatArray
    ) -> IndexArray:
        """Return into how many parts each stretch has to be divided: 1 when it is resolved."""
        second = np.abs(np.diff(efforts / self._tolerance, n=2, axis=1))
        bend = second.max(axis=(1, 2)) + np.abs(np.diff(second, axis=1)).max(axis=(1, 2))
        # A line between two samples is off by an eighth of the second difference.
        finer = np.sqrt(bend / (8.0 * RESOLUTION))
        cell = (times[:, 1:] - times[:, :-1]) / NANO
        speed = (np.abs(velocities) * self._turning).sum(axis=2)
        turn = (np.maximum(speed[:, 1:], speed[:, :-1]) * cell).max(axis=1)
        finer = np.maximum(np.maximum(finer, turn / LARGEST_TURN), 1.0)
        shortest = (times[:, -1] - times[:, 0]) / (NANO * CELLS)
        # What is no longer than a ramp is one.
        divides = (finer > 1.0) & (shortest * CELLS > RAMP)
        too_fine = divides & (shortest / finer < SHORTEST)
        if too_fine.any():
            raise TrajectoryError(
                f'effort_tolerance: cannot be kept at about {times[too_fine][0, 0] / NANO:.9g} s: '
                f'the effort changes within less than {SHORTEST:g} s; expected a larger tolerance '
                'or a slower motion'
            )
        parts = np.minimum(2.0 ** np.ceil(np.log2(finer)), CELLS)
        return np.where(divides, parts, 1.0).astype(np.intp)

    def _chords(self, times: IntArray, efforts: FloatArray) -> IndexArray:
        """Return which samples to keep, the first and the last among them."""
        seconds = (times - times[0]) / NANO
        scaled = (efforts - efforts[0]) / self._tolerance
        straight = scaled[-1] * (seconds / seconds[-1])[:, np.newaxis]
        distance = np.abs(scaled - straight).max(axis=0)
        kept = [0, times.size - 1]
        if (distance > CHORD).any():
            kept = [0]
            while kept[-1] < times.size - 1:
                kept.append(_farthest(seconds, scaled, kept[-1]))
                self._check_count(self._count + len(kept))
            for column, values in enumerate(scaled.T):
                line = np.interp(seconds, seconds[kept], values[kept])
                distance[column] = np.abs(values - line).max()
        self._deviation = np.maximum(self._deviation, distance * self._tolerance)
        return np.array(kept)

    def _add_between(self, segments: IndexArray, times: IntArray, efforts: FloatArray) -> None:
        """Add points of segments, at their begin or later."""
        state = self._states_at(segments, times)
        orders = self._orders[segments]
        state.velocity[orders < 1] = 0.0
        state.acceleration[orders < 2] = 0.0
        # The sender's points are taken over as they are.
        at_knots = np.flatnonzero(times == self._knots[segments])
        knots = segments[at_knots]
        orders[at_knots] = self._knot_orders[knots]
        for values, given in zip(state, self._waypoints.states, strict=True):
            values[at_knots] = given[knots]
        self._add(times, orders, state, efforts)

    def _add(
        self, times: IntArray, orders: IndexArray, state: DesiredState, efforts: FloatArray
    ) -> None:
        self._points.append((times, orders, *state, efforts))
        self._count += times.size
        self._check_count(self._count)

    def _check_count(self, count: int) -> None:
        if count > self._max_points:
            raise TrajectoryError(
                f'effort_tolerance: {np.min(self._tolerance):g} takes more than the '
                f'{self._max_points} points that are allowed; expected a larger tolerance or a '
                'shorter trajectory'
            )


def _farthest(seconds: FloatArray, values: FloatArray, begin: int) -> int:
    """Return the last sample to which a line from sample `begin` passes near all in between.

    Parameters
    ----------
    seconds : array, shape (k,)
    values : array, shape (k, n)
        In tolerances.
    begin : int
    """
    count, best = seconds.size, begin + 1
    upper, lower = np.full(values.shape[1], np.inf), np.full(values.shape[1], -np.inf)
    place, size = best, CELLS
    while place < count:
        stop = min(place + size, count)
        after = (seconds[place:stop] - seconds[begin])[:, np.newaxis]
        rise = values[place:stop] - values[begin]
        slope = rise / after
        # The slopes that pass near the samples before each one.
        uppers = np.minimum.accumulate(np.vstack((upper, (rise + CHORD) / after)))
        lowers = np.maximum.accumulate(np.vstack((lower, (rise - CHORD) / after)))
        passing = ((slope <= uppers[:-1]) & (slope >= lowers[:-1])).all(axis=1)
        if passing.any():
            best = place + int(np.flatnonzero(passing)[-1])
        upper, lower = uppers[-1], lowers[-1]
        if (lower > upper).any():
            break
        place, size = stop, 2 * size
    return best
