"""Motions of all joints: piecewise polynomials of the time.

A :class:`Motion` is what waypoints (:class:`~ne_dynamics.motion.waypoints.Waypoints`) become when
they are placed in time: it starts from the desired state of the moment it was accepted, passes the
waypoints that are still to come, and holds the last one.

A segment is linear, cubic or quintic by what both its ends carry: positions; positions and
velocities; positions, velocities and accelerations. Points with positions alone may be given
velocities and accelerations first; see :mod:`ne_dynamics.motion.position_spline`.
"""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.joined_states import evaluate_segments, join, join_finite
from ne_dynamics.motion.placed_waypoints import place_waypoints
from ne_dynamics.motion.position_spline import Interpolation
from ne_dynamics.motion.segments import DEGREE, Segments, find_roots
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState, Waypoints, resting_state

_POWERS = np.arange(DEGREE + 1.0)
_set_powers = Struct('18d').pack_into


class Motion:
    """Piecewise polynomial motion of all joints over time; immutable.

    Build one with :meth:`through`, :meth:`between`, :meth:`rest_to_rest` or :meth:`hold`.

    Parameters
    ----------
    knots : array-like, shape (s + 1,)
        Start times of the s segments, and the end time of the last, by the caller's clock [s].
    coefficients : array-like, shape (s, 6, n)
        Position [rad or m] as ascending powers of the time since the segment's start [s].
    initial : DesiredState
        State before the first knot.
    final : DesiredState
        State from the last knot on.
    steps : array-like, shape (k, 3, n), optional
        Position, velocity and acceleration of the first k segments, constant over each: a motion
        that steps from point to point.
    before : Motion, optional
        Motion before the first knot, instead of `initial`.

    Attributes
    ----------
    knots : array, shape (s + 1,)
    coefficients : array, shape (s, 6, n)
    initial, final : DesiredState
        As given; the arrays are read-only.
    """

    __slots__ = (
        '_before',
        '_buffer',
        '_powers',
        '_segment',
        '_steps',
        '_times',
        'coefficients',
        'final',
        'initial',
        'knots',
    )

    def __init__(
        self,
        knots: ArrayLike,
        coefficients: ArrayLike,
        initial: DesiredState,
        final: DesiredState,
        steps: ArrayLike = (),
        before: Motion | None = None,
    ) -> None:
        self.knots = _read_only(knots)
        self.coefficients = _read_only(coefficients)
        self.initial = DesiredState(*map(_read_only, initial))
        self.final = DesiredState(*map(_read_only, final))
        self._steps = _read_only(steps)
        self._before = before
        # For one instant: a list is searched faster, and a product takes powers from a buffer.
        self._times: list[float] = self.knots.tolist()
        self._segment = 0
        self._powers = np.zeros((3, DEGREE + 1))
        self._buffer = self._powers.data

    def __reduce__(self) -> tuple[object, ...]:
        given = self.knots, self.coefficients, self.initial, self.final, self._steps, self._before
        return Motion, given

    def _with(self, **arguments: Any) -> Motion:
        """Return the same motion but for some of its arguments."""
        given = {
            name: getattr(self, name) for name in ('knots', 'coefficients', 'initial', 'final')
        }
        return Motion(**{**given, 'steps': self._steps, 'before': self._before, **arguments})

    # ---- makers

    @classmethod
    def hold(cls, position: ArrayLike, *, now: float = 0.0) -> Motion:
        """Return the motion that stays at a position, shape (n,) [rad or m].

        `now`: time of its only knot [s].
        """
        state = resting_state(position)
        return cls([now], np.zeros((0, DEGREE + 1, state.position.size)), state, state)

    @classmethod
    def rest_to_rest(
        cls, begin: ArrayLike, end: ArrayLike, duration: float, *, now: float = 0.0
    ) -> Motion:
        """Return the quintic motion from rest to rest, with zero acceleration at both ends.

        Parameters are those of :meth:`to_rest`, but `begin` is array-like, shape (n,).
        """
        return cls.to_rest(resting_state(begin), end, duration, now=now)

    @classmethod
    def to_rest(
        cls, begin: DesiredState, end: ArrayLike, duration: float, *, now: float = 0.0
    ) -> Motion:
        """Return the quintic motion from a state to rest, with zero acceleration at the end.

        Parameters
        ----------
        begin : DesiredState
            State at `now`; its position is held before that.
        end : array-like, shape (n,)
            [rad or m]
        duration : float
            [s]
        now : float
            Start time [s].
        """
        final = resting_state(end)
        coefficients = join([duration], (2, 2), np.stack((begin, final), axis=1))
        return cls([now, now + duration], coefficients, resting_state(begin.position), final)

    @classmethod
    def between(cls, waypoints: Waypoints) -> Motion:
        """Return the motion between waypoints, at their times; overflow gives inf or nan."""
        with np.errstate(over='ignore', invalid='ignore'):
            states = np.array(waypoints.states)
            coefficients = join(np.diff(waypoints.times), waypoints.orders, states)
        begin, end = (resting_state(waypoints.positions[index]) for index in (0, -1))
        return cls(waypoints.times, coefficients, begin, end)

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
    ) -> Motion:
        """Return the motion through waypoints, starting from the present desired state.

        Waypoints in the past are left out. The motion goes from the start state to the first
        waypoint that is left, with a polynomial of the degree that this waypoint determines.
        Continuous joints are shifted by the full turns, the same for all waypoints, that bring
        this waypoint nearest to the start. A first waypoint at exactly `now` is jumped to, unless
        `jumps` is False or a spline begins in motion: then the start state replaces it.

        Parameters
        ----------
        waypoints : Waypoints
        now : float
            Present time [s].
        start_state : DesiredState
            Desired state at `now`.
        start_time : float, optional
            Time at which the waypoints' times begin [s]; default: `now`.
        interpolation : Interpolation
            Of waypoints that have positions only.
        jumps : bool
            Whether a first waypoint at exactly `now` is jumped to.
        goes_on : bool
            Whether a spline is to continue after its last waypoint, instead of ending at rest;
            see :func:`~ne_dynamics.control.desired.position_stream.going_on`.

        Raises
        ------
        TrajectoryError
            When all waypoints are in the past, two are too close in time, or the motion between
            them overflows.
        """
        knots, orders, states, has_way = place_waypoints(
            waypoints, now, start_state, start_time, interpolation, jumps=jumps, goes_on=goes_on
        )
        if interpolation is Interpolation.NONE:
            return cls._stepping(knots, states, start_state, has_way=has_way)
        coefficients = join_finite(np.diff(knots), orders, states)
        return cls(knots, coefficients, start_state, resting_state(states[0, -1]))

    @classmethod
    def _stepping(
        cls, knots: FloatArray, states: FloatArray, start_state: DesiredState, *, has_way: bool
    ) -> Motion:
        """Return the motion that goes from state to state, shape (3, s + 1, n), without a way.

        `has_way`: the first of them is the start; until the next is due it stands.
        """
        steps = states.swapaxes(0, 1)[1:].copy()
        if has_way:
            steps[0, 0], steps[0, 1:] = start_state.position, 0.0
        coefficients = np.zeros((len(steps), DEGREE + 1, steps.shape[2]))
        coefficients[:, 0] = steps[:, 0]
        final = resting_state(states[0, -1])
        return cls(knots, coefficients, start_state, final, steps=steps)

    # ---- other motions

    def shifted(self, duration: float) -> Motion:
        """Return the same motion, later by a duration [s]."""
        before = None if self._before is None else self._before.shifted(duration)
        return self._with(knots=self.knots + duration, before=before)

    def joined(self, end: Motion) -> Motion:
        """Return this motion, continued by another one that begins at its end."""
        return self._with(
            knots=np.concatenate((self.knots, end.knots[1:])),
            coefficients=np.concatenate((self.coefficients, end.coefficients)),
            final=end.final,
        )

    def part(self, begin: float, end: float) -> Motion:
        """Return the segments that cover two times [s]; between them the motion is the same."""
        if begin < self.start_time:
            return self
        first = min(max(bisect_right(self._times, begin) - 1, 0), len(self._times) - 1)
        last = max(bisect_right(self._times, end), first + 1)
        return self._with(
            knots=self.knots[first : last + 1],
            coefficients=self.coefficients[first:last],
            steps=self._steps[first:last],
            before=None,
        )

    def given_up(self) -> Motion:
        """Return a copy of the motion with an identity of its own: nobody waits for its end."""
        return self._with()

    def waiting_after(self, before: Motion, now: float) -> Motion:
        """Return this motion, preceded by another one until it begins.

        Times before `now` are not needed any more [s].

        Raises
        ------
        TrajectoryError
            When too many motions would wait.
        """
        # Of what is followed, that which this one takes the place of before it begins is over.
        while before._before is not None and before.start_time >= self.start_time:
            before = before._before
        chain = [before]
        while chain[-1]._before is not None and chain[-1].start_time > now:
            chain.append(chain[-1]._before)
        if len(chain) > MOTION.most_waiting_motions:
            raise TrajectoryError(
                f'header.stamp: {MOTION.most_waiting_motions} trajectories wait for their time '
                'already; expected fewer in the future at once',
                field='header.stamp',
            )
        earlier: Motion | None = None
        for motion in reversed(chain):
            earlier = motion if motion._before is earlier else motion._with(before=earlier)
        return self._with(before=earlier)

    # ---- what it is

    @property
    def start_time(self) -> float:
        """Time of the first knot [s]."""
        return self._times[0]

    @property
    def end_time(self) -> float:
        """Time from which the last position is held [s]."""
        return self._times[-1]

    @property
    def first_time(self) -> float:
        """First time at which the motion is defined, that of waiting motions included [s]."""
        return self.start_time if self._before is None else self._before.first_time

    @property
    def has_steps(self) -> bool:
        """Whether the motion steps from point to point."""
        return len(self._steps) > 0

    @property
    def last_moment(self) -> DesiredState:
        """The state at the end of the last segment, before the final state."""
        count = len(self.coefficients)
        if not count:
            return self.final
        state = self.sample_within(np.array([count - 1]), np.diff(self.knots[-2:]))
        return DesiredState(*(values[0] for values in state))

    def segments(self, some: slice = slice(None), origin: float = 0.0) -> Segments:
        """Return some of the segments; their times count from an origin [s]."""
        begins = self.knots[:-1][some]
        durations = self.knots[1:][some] - begins
        powers = durations ** _POWERS[:, np.newaxis]
        with np.errstate(over='ignore', invalid='ignore'):
            scaled = self.coefficients[some].swapaxes(0, 1) * powers[..., np.newaxis]
        return Segments(begins - origin, durations, scaled)

    def roots(self, order: int = 0, shafts: FloatArray | None = None) -> list[FloatArray]:
        """Return the times at which a derivative of each joint changes sign within segments [s].

        Parameters
        ----------
        order : int
            0 for the position, 1 for the velocity, 2 for the acceleration.
        shafts : array, shape (k, n), optional
            Weighted sums of the joints, whose times follow those of the joints.

        Returns
        -------
        list of n + k arrays
            Ascending.
        """
        segments = self.segments()
        if shafts is not None:
            scaled = segments.scaled
            segments = segments._replace(
                scaled=np.concatenate((scaled, scaled @ shafts.T), axis=-1)
            )
        return find_roots(segments, order)

    # ---- where it is when

    def sample(self, time: float) -> DesiredState:
        """Return the desired state at a time by the clock of the knots [s]; do not write to it."""
        times = self._times
        if time >= times[-1]:
            return self.final
        if time < times[0]:
            return self.initial if self._before is None else self._before.sample(time)
        i = self._segment
        if not times[i] <= time < times[i + 1]:
            i = self._segment = bisect_right(times, time) - 1
        if i < len(self._steps):
            return DesiredState(*self._steps[i])
        t = time - times[i]
        t2 = t * t
        t3 = t2 * t
        t4 = t2 * t2
        # One small product gives position, velocity and acceleration.
        # fmt: off
        _set_powers(
            self._buffer, 0,
            1.0, t, t2, t3, t4, t3 * t2,
            0.0, 1.0, 2.0 * t, 3.0 * t2, 4.0 * t3, 5.0 * t4,
            0.0, 0.0, 2.0, 6.0 * t, 12.0 * t2, 20.0 * t3,
        )
        # fmt: on
        state = self._powers.dot(self.coefficients[i])
        return DesiredState(state[0], state[1], state[2])

    def sample_many(self, times: ArrayLike) -> DesiredState:
        """Return the desired states, shape (N, n), at N times in any order [s]."""
        when = np.asarray(times, dtype=np.float64)
        found = np.empty((3, when.size, self.final.position.size))
        found[:] = np.array(self.final)[:, np.newaxis]
        is_early = when < self.start_time
        if self._before is None:
            found[:, is_early] = np.array(self.initial)[:, np.newaxis]
        elif is_early.any():
            found[:, is_early] = self._before.sample_many(when[is_early])
        inside = np.flatnonzero(~is_early & (when < self.end_time))
        if inside.size:
            which = np.searchsorted(self.knots, when[inside], side='right') - 1
            found[:, inside] = self.sample_within(which, when[inside] - self.knots[which])
        return DesiredState(*found)

    def sample_within(self, which: IndexArray, since: FloatArray) -> DesiredState:
        """Return states in given segments at times since their starts.

        Parameters
        ----------
        which : array, shape (k,), dtype int
            Indices of the segments.
        since : array, shape (k,) or (k, r)
            [s]

        Returns
        -------
        DesiredState
            Arrays of the shape of `since`, followed by n.
        """
        rows = since if since.ndim == 2 else since[:, np.newaxis]
        state = evaluate_segments(self.coefficients[which], rows)
        if self.has_steps:
            stays = np.flatnonzero(which < len(self._steps))
            for values, row in zip(state, self._steps[which[stays]].swapaxes(0, 1), strict=True):
                values[stays] = row[:, np.newaxis]
        shape = (*since.shape, self.coefficients.shape[2])
        return DesiredState(*(values.reshape(shape) for values in state))


def _read_only(values: ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64).view()
    array.setflags(write=False)
    return array
