"""What a motion asks of the joints: where it leaves a limit, which joint, when and by how much.

Of a spline, not of its waypoints: between two of them a joint may go far beyond both, and a short
segment is fast. Every segment is bounded (see :mod:`ne_dynamics.motion.segment_bounds`), and what
the bounds leave in doubt is computed exactly, the most doubtful first, until nothing that is left
can be worse than what was found.

Where a linear segment meets another one the velocity has a step. It takes no time and counts for
nothing here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, JointType
from ne_dynamics.motion.joint_limits import position_limits, usual_velocities
from ne_dynamics.motion.segments import (
    Bounds,
    Candidates,
    Segments,
    bound_segments,
    evaluate,
    find_candidates,
)
from ne_dynamics.motion.waypoints import POSITION_TOLERANCE, DesiredState

VELOCITY_TOLERANCE = 0.1
"""Part of a velocity limit by which a motion may exceed it. A planner at the limits whose points
are 0.1 s apart has splines between them that exceed it by 0.06 at 10 rad/s^2."""

ACCELERATION_TOLERANCE = 0.4
"""The same of accelerations: such splines exceed them by 0.34 where the acceleration steps."""

EFFORT_TOLERANCE = 0.01
"""The same of efforts, which no planner gives away."""

STEP_TIME = 0.02
"""A first point at time zero may be as far from where the motion begins as the joint goes in this
time [s] at its velocity limit."""

PAIRS_AT_ONCE = 256
"""Polynomials whose extremes are found before it is asked which others may be worse."""

SHORTEST_STRETCH = 1e-6
"""Share of a segment for which a velocity has a sign at the least."""

MOST_NAMED = 3
"""Excesses that a message names."""


class WhenInfeasible(str, enum.Enum):
    """What becomes of a motion that asks for more than the arm can do."""

    REFUSE = 'refuse'
    """It is not followed, and what went before goes on."""
    SLOW_DOWN = 'slow_down'
    """Its path is followed as fast as the limits allow."""
    FOLLOW = 'follow'
    """It is followed as far as the motors do, and its sender is told."""

    def allows(self, quantity: Quantity) -> bool:
        """Return whether a motion that exceeds a quantity is followed all the same."""
        if self is WhenInfeasible.REFUSE:
            return False
        # No other speed makes a step smaller.
        is_hopeless = self is WhenInfeasible.SLOW_DOWN and quantity is Quantity.STEP
        return quantity.is_optional and not is_hopeless


class Quantity(enum.Enum):
    """What may be exceeded; those that are refused in every case first."""

    POSITION = 'position'
    HOLDING = 'effort to hold it there'
    SLOW = 'effort to move slowly there'
    STEP = 'step at its begin'
    VELOCITY = 'velocity'
    ACCELERATION = 'acceleration'
    DECELERATION = 'deceleration'
    EFFORT = 'effort'

    @property
    def is_optional(self) -> bool:
        """Whether a motion that exceeds it may be followed all the same."""
        return self not in (Quantity.POSITION, Quantity.HOLDING, Quantity.SLOW)

    def unit(self, joint: Joint) -> str:
        """Return the unit in which a joint has it."""
        is_sliding = joint.type is JointType.PRISMATIC
        if self in (Quantity.EFFORT, Quantity.HOLDING, Quantity.SLOW):
            return 'N' if is_sliding else 'N m'
        powers = {Quantity.VELOCITY: '/s', Quantity.ACCELERATION: '/s^2'}
        powers[Quantity.DECELERATION] = '/s^2'
        return ('m' if is_sliding else 'rad') + powers.get(self, '')


class Excess(NamedTuple):
    """One limit of one joint that a motion leaves, where it leaves it farthest.

    Attributes
    ----------
    quantity : Quantity
    joint : Joint
    column : int
        Index of the joint.
    time : float
        On the trajectory [s].
    value, limit : float
        With the sign of the value.
    """

    quantity: Quantity
    joint: Joint
    column: int
    time: float
    value: float
    limit: float

    @property
    def unit(self) -> str:
        """Unit of value and limit."""
        return self.quantity.unit(self.joint)

    @property
    def severity(self) -> float:
        """How bad it is: how far beyond a position [rad or m], of all else in limits."""
        beyond = abs(self.value - self.limit)
        if self.quantity is Quantity.POSITION or self.limit == 0.0:
            return beyond
        return beyond / abs(self.limit)

    def __str__(self) -> str:
        bound, value, limit = 'most', self.value, self.limit
        if self.quantity is not Quantity.POSITION:
            value, limit = abs(value), abs(limit)
        elif value < limit:
            bound = 'least'
        return (
            f'joint {self.joint.name!r}: {self.quantity.value} of {value:.5g} {self.unit} at '
            f'{self.time:.4g} s, expected at {bound} {limit:.5g} {self.unit}'
        )


class InfeasibleMotionError(TrajectoryError):
    """A motion leaves limits that it may not leave.

    Parameters
    ----------
    excesses : sequence of Excess
        The worst first.
    """

    def __init__(self, excesses: Sequence[Excess]) -> None:
        super().__init__(describe(excesses), field='points')
        self.excesses = tuple(excesses)


def describe(excesses: Sequence[Excess]) -> str:
    """Return what a motion exceeds, in words: the worst, and the worst of other quantities."""
    worst = {excess.quantity: excess for excess in reversed(excesses)}
    named = [excess for excess in excesses if excess is worst[excess.quantity]][:MOST_NAMED]
    text = '; '.join(str(excess) for excess in named)
    more = len(excesses) - len(named)
    return f'points: {text}' + (f'; and {more} more' if more else '')


def rank(excesses: Iterable[Excess]) -> list[Excess]:
    """Return the worst excess of each joint and quantity, the worst first."""
    worst: dict[tuple[Quantity, int], Excess] = {}
    for excess in excesses:
        key = excess.quantity, excess.column
        if key not in worst or excess.severity > worst[key].severity:
            worst[key] = excess
    order = list(Quantity)

    def key_of(excess: Excess) -> tuple[bool, float, int]:
        return excess.quantity.is_optional, -excess.severity, order.index(excess.quantity)

    return sorted(worst.values(), key=key_of)


@dataclass(frozen=True, eq=False)
class DemandLimits:
    """What a motion may ask of the joints; infinite where there is no limit.

    Attributes
    ----------
    joints : tuple of n Joint
    lower, upper : array, shape (n,)
        Positions [rad or m].
    velocity, acceleration, deceleration : array, shape (n,)
        [rad/s or m/s], [rad/s^2 or m/s^2]
    effort : array, shape (n,)
        [N m or N]
    step : array, shape (n,)
        Of a desired position [rad or m].
    """

    joints: tuple[Joint, ...]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray
    effort: FloatArray
    step: FloatArray

    @classmethod
    def of(cls, joints: Sequence[Joint], effort: FloatArray) -> DemandLimits:
        """Return the limits of a robot's joints, and those of its motors; 0 is no limit."""
        velocity, acceleration, deceleration = (
            np.array([getattr(joint, name) or np.inf for joint in joints])
            for name in ('velocity_limit', 'acceleration_limit', 'deceleration_limit')
        )
        return cls(
            tuple(joints),
            *position_limits(joints),
            velocity,
            acceleration,
            deceleration,
            effort,
            STEP_TIME * usual_velocities(joints),
        )

    def widened_to(self, state: DesiredState, effort: FloatArray) -> DemandLimits:
        """Return the limits for a motion away from a state, which may be beyond them already.

        Parameters
        ----------
        state : DesiredState
        effort : array, shape (n,)
            Of that state [N m or N].
        """
        position, velocity, acceleration = state
        return replace(
            self,
            lower=np.minimum(self.lower, position),
            upper=np.maximum(self.upper, position),
            velocity=np.maximum(self.velocity, np.abs(velocity)),
            acceleration=np.maximum(self.acceleration, np.abs(acceleration)),
            deceleration=np.maximum(self.deceleration, np.abs(acceleration)),
            effort=np.maximum(self.effort, np.abs(effort)),
        )

    def are(self, others: DemandLimits) -> bool:
        """Return whether others are the same."""
        return all(
            np.array_equal(getattr(self, name), getattr(others, name))
            for name in ('lower', 'upper', 'velocity', 'acceleration', 'deceleration', 'effort')
        )


_KINDS = (
    Quantity.POSITION,
    Quantity.POSITION,
    Quantity.VELOCITY,
    Quantity.ACCELERATION,
    Quantity.DECELERATION,
)
"""Rows of what is looked for: beyond the upper limit, beyond the lower one, too fast, ..."""


def survey_motion(segments: Segments, limits: DemandLimits, origin: float = 0.0) -> list[Excess]:
    """Return what positions, velocities and accelerations of a motion exceed.

    Parameters
    ----------
    segments : Segments
    limits : DemandLimits
    origin : float
        Time of the trajectory's begin, by that of the segments [s].

    Returns
    -------
    list of Excess
        The worst of each joint and quantity.
    """
    with np.errstate(over='ignore', invalid='ignore'):
        bounds = bound_segments(segments)
        extremes = Bounds(bounds.lower.min(axis=1), bounds.upper.max(axis=1))
        if (_bound_excess(extremes, limits) <= 0.0).all():
            return []
        excess = _bound_excess(bounds, limits)
    # What is not a number is beyond all.
    doubtful = ~(excess <= 0.0)
    worst = np.zeros((len(_KINDS), len(limits.joints)))
    best: dict[tuple[int, int], Excess] = {}
    remaining = np.argwhere(doubtful.any(axis=0))
    while len(remaining):
        at_most = excess[:, remaining[:, 0], remaining[:, 1]]
        is_open = ~(at_most <= worst[:, remaining[:, 1]])
        remaining, at_most = remaining[is_open.any(axis=0)], at_most[:, is_open.any(axis=0)]
        if not len(remaining):
            break
        order = np.argsort(-np.nan_to_num(at_most, nan=np.inf).max(axis=0), kind='stable')
        some = remaining[order[:PAIRS_AT_ONCE]]
        remaining = remaining[order[PAIRS_AT_ONCE:]]
        with np.errstate(over='ignore', invalid='ignore'):
            _find_exact(segments, some, limits, origin, worst, best)
    return list(best.values())


def _bound_excess(bounds: Bounds, limits: DemandLimits) -> FloatArray:
    """Return how far the bounds are beyond the limits at most, shape (5, ..., n).

    Positions in their unit, all others in limits, both beyond the tolerance.
    """
    (low, _, _), (high, _, _) = bounds
    fastest, hardest = (np.maximum(-bounds.lower[order], bounds.upper[order]) for order in (1, 2))
    return np.stack(
        (
            high - limits.upper - POSITION_TOLERANCE,
            limits.lower - low - POSITION_TOLERANCE,
            fastest / limits.velocity - 1.0 - VELOCITY_TOLERANCE,
            hardest / limits.acceleration - 1.0 - ACCELERATION_TOLERANCE,
            hardest / limits.deceleration - 1.0 - ACCELERATION_TOLERANCE,
        )
    )


def _find_exact(
    segments: Segments,
    pairs: np.ndarray,
    limits: DemandLimits,
    origin: float,
    worst: FloatArray,
    best: dict[tuple[int, int], Excess],
) -> None:
    """Find the extremes of some segments and joints, and keep what is worse than was known."""
    which, joints = pairs[:, 0], pairs[:, 1]
    durations = segments.durations[which, np.newaxis]
    scaled = segments.scaled[:, which, joints]
    shares, values = _find_extremes(scaled, durations)
    upper, lower = limits.upper[joints], limits.lower[joints]
    excess = np.stack(
        (
            values[0] - upper - POSITION_TOLERANCE,
            lower - values[1] - POSITION_TOLERANCE,
            np.abs(values[2]) / limits.velocity[joints] - 1.0 - VELOCITY_TOLERANCE,
            np.abs(values[3]) / limits.acceleration[joints] - 1.0 - ACCELERATION_TOLERANCE,
            np.abs(values[4]) / limits.deceleration[joints] - 1.0 - ACCELERATION_TOLERANCE,
        )
    )
    excess = np.where(np.isnan(excess), np.inf, excess)
    allowed = upper, lower, limits.velocity, limits.acceleration, limits.deceleration
    for kind, pair in np.argwhere(excess > worst[:, joints]):
        joint = int(joints[pair])
        if excess[kind, pair] <= worst[kind, joint]:
            continue
        worst[kind, joint] = excess[kind, pair]
        segment, value = which[pair], float(values[kind, pair])
        limit = float(allowed[kind][pair if kind < 2 else joint])
        time = segments.begins[segment] + shares[kind, pair] * segments.durations[segment]
        best[kind, joint] = Excess(
            _KINDS[kind],
            limits.joints[joint],
            joint,
            float(time - origin),
            value,
            limit if kind < 2 else float(np.copysign(limit, value)),
        )


def _find_extremes(scaled: FloatArray, durations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where k polynomials have their extremes, and these, both of shape (5, k).

    The largest and the least position, the fastest velocity, the largest acceleration and the
    largest deceleration, with their signs.
    """
    rates = scaled[1:] * np.arange(1.0, 6.0)[:, np.newaxis]
    changes = rates[1:] * np.arange(1.0, 5.0)[:, np.newaxis]
    candidates = find_candidates(scaled)
    position = evaluate(scaled, candidates.position)
    velocity = evaluate(rates, candidates.velocity) / durations
    at, acceleration, trend = _split_acceleration(rates, changes, candidates)
    acceleration = acceleration / durations**2
    size = np.abs(acceleration)
    picked = (
        (candidates.position, position, position),
        (candidates.position, position, -position),
        (candidates.velocity, velocity, np.abs(velocity)),
        (at, acceleration, np.where(trend > 0.0, size, -1.0)),
        (at, acceleration, np.where(trend < 0.0, size, -1.0)),
    )
    rows = np.arange(scaled.shape[1])
    shares, values = np.empty((5, rows.size)), np.empty((5, rows.size))
    for kind, (where, what, score) in enumerate(picked):
        best = score.argmax(axis=1)
        shares[kind] = where[rows, best]
        # Where nothing brakes, or nothing speeds up, there is none of it.
        is_there = score[rows, best] >= 0.0 if kind > 2 else True
        values[kind] = np.where(is_there, what[rows, best], 0.0)
    return shares, values


def _split_acceleration(
    rates: FloatArray, changes: FloatArray, candidates: Candidates
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return candidates of the acceleration, its values, and where the joint speeds up or brakes.

    The velocity keeps its sign from one of its zeros to the next. In each such stretch the
    acceleration has its extremes at the stretch's ends or at its own candidates. The trend is 1
    where the joint speeds up, -1 where it brakes.
    """
    zeros, own = candidates.position, candidates.acceleration
    shares, values, trends = [], [], []
    for index in range(zeros.shape[1] - 1):
        low, high = zeros[:, index : index + 1], zeros[:, index + 1 : index + 2]
        way = evaluate(rates, 0.5 * (low + high))
        at = np.concatenate((low, np.clip(own, low, high), high), axis=1)
        acceleration = evaluate(changes, at)
        shares.append(at)
        values.append(acceleration)
        # Of a velocity that ends at zero, rounding makes one that passes it.
        is_there = high - low > SHORTEST_STRETCH
        trends.append(np.where(is_there, np.sign(acceleration * way), 0.0))
    return (
        np.concatenate(shares, axis=1),
        np.concatenate(values, axis=1),
        np.concatenate(trends, axis=1),
    )
