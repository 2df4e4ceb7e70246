"""Efforts for a trajectory that somebody else follows, as feed-forward.

ros2_controllers' joint trajectory controller (JTC) interpolates the positions of a trajectory by
splines and its efforts linearly, between the same points. The inverse dynamics along a spline
are no straight line: here inner points are added, on the motion itself, until the line is within
a tolerance of them.

**The motion stays the same.** A polynomial is determined by what two points on it carry, so an
inner point carries what its segment is made of: position in a linear segment, velocity too in a
cubic one, acceleration too in a quintic one. The sender's points keep what they carry. What is
interpolated between the new points is then the segment they are on, to rounding.

**How they are found.** Each stretch between two points of the sender is halved, and each half
again, until in every part a straight line from end to end is near the inverse dynamics. They are
sampled at the ends of 16 intervals of the part, and nothing between the samples is
missed: (1) the inverse dynamics of a tree are a trigonometric polynomial in the joint angles, of
degree two at most in each, times polynomials in time, and all joints together move by at most
`annotation_largest_turn` from sample to sample, a sixth of the shortest period there is; (2) the
tolerance holds for the distance from the line and the largest second difference together: as much
as a step between two samples leaves out, and eight times what an even curve does. These are not
the fewest points that would do.

**Steps.** Where the motion itself jumps in acceleration (between two cubic segments), in
velocity (between two linear ones) or passes a reversal under Coulomb friction, the effort has a
step, which no continuous line follows: it is ramped in the last `ramp_time` seconds before.
At the jump of velocity of a linear segment an infinite effort would be due: it is left out, and
said in :attr:`AnnotatedTrajectory.remarks`.

**The end.** JTC goes on sending the effort of the last point. The last point is therefore at
rest and carries what holds the arm there. Where the sender's last point moves or accelerates, a
point at rest follows `ramp_time` seconds later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.dynamics.compensation import (
    Base,
    Compensation,
    Terms,
    changes_sign,
)
from ne_dynamics.errors import InputError, ParameterError, TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.joint_limits import per_joint
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import NANO, DesiredState, IntArray, Waypoints


def annotate(
    dynamics: Dynamics,
    joint_names: Sequence[str],
    waypoints: Waypoints,
    *,
    effort_tolerance: ArrayLike = 0.1,
    terms: Terms | None = None,
    payload: FloatArray | None = None,
    base_motion: FloatArray | None = None,
    smoothing_velocity: float = 0.0,
    start: DesiredState | None = None,
    max_points: int = 100_000,
) -> AnnotatedTrajectory:
    """Return a trajectory with efforts, dense enough for linear interpolation of the efforts.

    Parameters
    ----------
    dynamics : Dynamics
        :class:`ne_dynamics.Dynamics` of the arm with everything that it carries; no wrist sensor
        is used.
    joint_names : sequence of str
        All of the robot's joints, in the order of the result.
    waypoints : Waypoints
        Times are rounded to nanoseconds, as in ROS messages.
    effort_tolerance : array-like, scalar, shape (1,) or (n,)
        Largest error of the linear interpolation, in the order of the robot's joints [N m or N].
    terms : Terms, optional
        Parts of the model to use, as in :class:`~ne_dynamics.control.laws.ControlLaw`; default:
        all.
    payload : array, shape (10,), optional
        As in :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    base_motion : array, shape (9,), optional
        Constant tilt of the base, as in :meth:`ne_dynamics.Dynamics.inverse_dynamics`.
    smoothing_velocity : float
        See :class:`~ne_dynamics.dynamics.compensation.Compensation` [rad/s or m/s].
    start : DesiredState, optional
        State at time 0, in the order of the robot's joints, for waypoints that begin later. It
        becomes the first point; continuous joints are shifted by the nearest full turns. Without
        it the result begins at the first waypoint. It is not used if the waypoints begin at
        time 0: the motion jumps to the first one.
    max_points : int
        Largest number of points of the result.

    Raises
    ------
    TrajectoryError
        When two points are less than a nanosecond apart, the effort is not finite, or the
        tolerance needs more than `max_points` points or points less than a nanosecond apart.
    ParameterError
        When the tolerance is not positive, or has a wrong shape.
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


def _sorted(found: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    """Return times and efforts, ascending."""
    times, efforts = map(np.concatenate, zip(*found, strict=True))
    ascending = np.argsort(times)
    return times[ascending], efforts[ascending]


class _Annotation:
    """The work on one trajectory; see :func:`annotate`.

    It goes by stretches: parts of segments, from `_begin` to `_end` [ns], along which no friction
    changes its sign. `_direction` is that of the velocity, of joints and of the shafts of coupled
    drives with friction that has one; else 0. `_shafts` are the rows of their velocities by those
    of the joints. `_origin` and `_hysteresis` are the positions and the states of the hysteresis
    at the begins, and at the end of the last one; None without hysteresis.
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
        self._ramp = round(MOTION.ramp_time * NANO)
        self._shortest = 1000  # [ns]: no stretch is halved into parts that are shorter
        self._joints = joints = compensation.dynamics.robot.joints
        self._waypoints = waypoints
        self._motion = Motion.between(waypoints)
        self._knots = waypoints.nanoseconds
        self._orders = np.minimum(waypoints.orders[:-1], waypoints.orders[1:])
        self._tolerance = tolerance
        self._max_points = max_points
        self._deviation = np.zeros(len(joints))
        self._shafts = np.zeros((0, len(joints)))
        self._steps = 0
        self._largest_step = (0.0, 0, 0)
        self._divide()

    # ---- the whole

    def result(self, columns: list[int], joint_names: tuple[str, ...]) -> AnnotatedTrajectory:
        """Do the work, and return what came of it, its joints in the order of `columns`."""
        given, end = self._waypoints.states, self._knots[-1:]
        last, order = given.position[-1:], self._waypoints.orders[-1]
        is_moving_at_end = any(rows[-1].any() for rows in given[1 : order + 1])
        rest = np.zeros_like(last)
        resting = DesiredState(last, rest, rest)
        reached = None if self._hysteresis is None else self._hysteresis[-1:]
        final = hold = self._efforts(resting, self._add_shafts(rest), reached, end / NANO)
        found: list[tuple[IntArray, FloatArray]] = []
        if self._begin.size:
            stretches = np.arange(self._begin.size)
            limits, _ = self._evaluated(stretches, self._begin, self._end, 1)
            if is_moving_at_end:
                final = limits[-1:, 1]
            jumps = np.abs(np.vstack((limits[1:, 0], final)) - limits[:, 1])
            found = self._refine(self._find_ramps(jumps))
        times, efforts = _sorted([*found, (end, final)])
        orders, state = self._find_states(times)
        if is_moving_at_end:
            times, orders = np.append(times, end + self._ramp), np.append(orders, 2)
            state = np.concatenate((state, resting), axis=1)
            efforts = np.vstack((efforts, hold))
        self._check_count(times.size)
        largest = np.abs(efforts).max(axis=0)
        state, efforts = state[..., columns], efforts[:, columns]
        for array in (times, state, orders, efforts):
            array.setflags(write=False)
        return AnnotatedTrajectory(
            joint_names,
            times,
            state[0],
            state[1],
            state[2],
            orders,
            efforts,
            self._deviation[columns],
            self._steps,
            tuple(self._remarks(largest, is_moving_at_end)),
        )

    def _find_states(self, times: IntArray) -> tuple[IndexArray, FloatArray]:
        """Return what points carry, shape (m,), and their states, shape (3, m, n).

        The last of the times, shape (m,), is the end.
        """
        segments = np.searchsorted(self._knots, times[:-1], side='right') - 1
        orders = np.append(self._orders[segments], 0)
        state = np.zeros((3, times.size, len(self._joints)))
        state[:, :-1] = self._states_at(segments, times[:-1])
        state[1, orders < 1] = state[2, orders < 2] = 0.0
        # The sender's points are taken over as they are.
        is_given = np.isin(times, self._knots)
        orders[is_given] = self._waypoints.orders
        state[:, is_given] = self._waypoints.states
        return orders, state

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
                f'{joints[index].name!r} at {time / NANO:.9g} s: each is ramped in '
                f'{MOTION.ramp_time:g} s'
            )
        if is_moving_at_end:
            yield (
                'the last point moves or accelerates: a point at rest follows it after '
                f'{MOTION.ramp_time:g} s'
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
        drives = compensation.drives if adds_friction else None
        if drives is not None:
            rubbing = np.append(rubbing, drives.changes_sign)
            self._shafts = drives.rows
        self._begin = begin = np.sort(np.concatenate((knots[:-1], self._reversals(rubbing))))
        self._end = end = np.append(begin, knots[-1])[1:]
        self._segments = np.searchsorted(knots, begin, side='right') - 1
        middle = self._states_at(self._segments, begin + (end - begin) // 2)
        self._direction = np.where(rubbing, np.sign(self._add_shafts(middle.velocity)), 0.0)
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
        roots = self._motion.roots(1, self._shafts) if rubbing.any() else []
        turning = [each for each, rubs in zip(roots, rubbing, strict=False) if rubs]
        times = np.unique(np.rint(np.concatenate([*turning, []]) * NANO)).astype(np.int64)
        kept: list[int] = []
        before = int(self._knots[0])
        for time in times.tolist():
            segment = int(np.searchsorted(self._knots[1:-1], time, side='right'))
            begin, end = self._knots[segment : segment + 2].tolist()
            if min(time - max(before, begin), end - time) > self._shortest:
                kept.append(time)
                before = time
        return np.array(kept, dtype=np.int64)

    def _add_shafts(self, values: FloatArray) -> FloatArray:
        """Return values of the joints, and after them those of the coupled drives' shafts."""
        return np.concatenate((values, values @ self._shafts.T), axis=-1)

    def _states_at(self, segments: IndexArray, times: IntArray) -> DesiredState:
        """Return the states of segments at times, shapes (k,)."""
        return self._motion.sample_within(segments, (times - self._knots[segments]) / NANO)

    # ---- efforts

    def _evaluated(
        self, owners: IndexArray, begin: IntArray, end: IntArray, count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return efforts and positions in parts of stretches, seen from inside of these.

        The stretches have the indices `owners`, the parts go from `begin` to `end`, all of shape
        (k,) [ns], and are evaluated at the ends of `count` intervals. Efforts [N m or N] and
        positions [rad or m] have shape (k, count + 1, n).
        """
        segments = self._segments[owners]
        knots, lengths = self._knots[segments, np.newaxis], (end - begin)[:, np.newaxis]
        since = begin[:, np.newaxis] - knots + lengths * np.linspace(0.0, 1.0, count + 1)
        with np.errstate(all='ignore'):  # what overflows is found, and named
            state = self._motion.sample_within(segments, since / NANO)
            shape = state.position.shape
            flat = DesiredState(*(rows.reshape(-1, shape[2]) for rows in state))
            hysteresis = None
            if self._hysteresis is not None:
                moved = (state.position - self._origin[owners, np.newaxis]).reshape(-1, shape[2])
                before = np.repeat(self._hysteresis[owners], shape[1], axis=0)
                hysteresis = self._compensation.move_hysteresis(before, moved)
            direction = np.repeat(self._direction[owners], shape[1], axis=0)
            times = (knots + since).reshape(-1) / NANO
            efforts = self._efforts(flat, direction, hysteresis, times)
        return efforts.reshape(shape), state.position

    def _efforts(
        self,
        state: DesiredState,
        direction: FloatArray,
        hysteresis: FloatArray | None,
        times: FloatArray,
    ) -> FloatArray:
        """Return the effort of states of shape (N, n), shape (N, n) [N m or N].

        `direction`, shape (N, n + k), is the sign of the velocity as friction of the joints and
        of k shafts sees it, `hysteresis`, shape (N, n), what its path has come to, or None.
        """
        compensation = self._compensation
        q, qd, qdd = state
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
            effort = effort + compensation.hysteresis_effort(
                hysteresis, qd, direction[:, : q.shape[1]]
            )
        finite = np.isfinite(np.hstack((*state, effort))).all(axis=1)
        if not finite.all():
            raise TrajectoryError(
                f'points: the effort at about {times[np.argmin(finite)]:.9g} s is not finite: '
                'expected a motion that an arm can make'
            )
        return effort

    # ---- parts

    def _find_ramps(self, jumps: FloatArray) -> IntArray:
        """Return when the ramps at the ends of the stretches begin, shape (k,) [ns].

        The end where there is none. `jumps` of the effort there: shape (k, n) [N m or N].
        """
        in_tolerances = jumps / self._tolerance
        is_step = in_tolerances.max(axis=1) > MOTION.step_share
        self._steps = int(is_step.sum())
        if self._steps:
            row, joint = divmod(int(np.argmax(in_tolerances)), jumps.shape[1])
            self._largest_step = float(jumps[row, joint]), joint, int(self._end[row])
        lengths = self._end - self._begin
        # A stretch of a few nanoseconds is a ramp by itself.
        has_ramp = is_step & (lengths >= 8)
        return self._end - np.where(has_ramp, np.minimum(self._ramp, lengths // 4), 0)

    def _refine(self, ends: IntArray) -> list[tuple[IntArray, FloatArray]]:
        """Halve the stretches until a straight line is near the efforts of each part.

        They are halved until `ends`, shape (k,) [ns]: what is left is a ramp. Where parts and
        ramps begin is returned, shapes (m,) [ns] and (m, n) [N m or N].
        """
        found: list[tuple[IntArray, FloatArray]] = []
        count = int((ends < self._end).sum()) + 1
        waiting = np.array((np.arange(ends.size), self._begin, ends))
        while waiting.size:
            self._check_count(count + waiting.shape[1])
            some, waiting = waiting[:, :1000], waiting[:, 1000:]
            owners, begin, end = some
            efforts, positions = self._evaluated(owners, begin, end, 16)
            is_near = self._is_near(efforts, positions)
            is_short = end - begin < 2 * self._shortest
            # What is no longer than a ramp is one.
            is_ramp = (self._end - self._begin)[owners] <= self._ramp
            fails = is_short & ~is_near & ~is_ramp
            if fails.any():
                raise TrajectoryError(
                    f'effort_tolerance: cannot be kept at about {begin[fails][0] / NANO:.9g} s: '
                    'the effort changes within less than a microsecond; '
                    'expected a larger tolerance or a slower motion'
                )
            is_done = is_near | is_short
            is_before_ramp = is_done & (end == ends[owners]) & (end < self._end[owners])
            found.append((begin[is_done], efforts[is_done, 0]))
            found.append((end[is_before_ramp], efforts[is_before_ramp, -1]))
            count += int(is_done.sum())
            owners, begin, end = some[:, ~is_done]
            middle = begin + (end - begin) // 2
            halves = (owners, begin, middle), (owners, middle, end)
            waiting = np.concatenate((waiting, *halves), axis=1)
        return found

    def _is_near(self, efforts: FloatArray, positions: FloatArray) -> NDArray[np.bool_]:
        """Return where a straight line is near the efforts, shape (k,), and note how near it is.

        Parameters are what :meth:`_evaluated` returns.
        """
        shares = np.linspace(0.0, 1.0, efforts.shape[1])[:, np.newaxis]
        first, last = efforts[:, :1], efforts[:, -1:]
        distance = np.abs(efforts - first - (last - first) * shares).max(axis=1)
        bend = np.abs(np.diff(efforts, n=2, axis=1)).max(axis=1)
        turn = np.abs(np.diff(positions, axis=1)).sum(axis=2).max(axis=1)
        # A jump that is too small for a ramp leaves the line, too.
        allowed = (1.0 - MOTION.step_share) * self._tolerance
        is_near: NDArray[np.bool_] = (distance + bend <= allowed).all(axis=1)
        is_near &= turn <= MOTION.annotation_largest_turn
        found = distance[is_near].max(axis=0, initial=0.0)
        self._deviation = np.maximum(self._deviation, found)
        return is_near

    def _check_count(self, count: int) -> None:
        if count > self._max_points:
            raise TrajectoryError(
                f'effort_tolerance: {np.min(self._tolerance):g} takes more than the '
                f'{self._max_points} points that are allowed; expected a larger tolerance or a '
                'shorter trajectory'
            )
