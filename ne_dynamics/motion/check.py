"""Whether a motion keeps the limits of the joints: what it exceeds, where, when and by how much.

Of the motion, not of its waypoints: between two of them a joint may go far beyond both, and a
short segment is fast. Every segment is bounded (see :mod:`ne_dynamics.motion.segments`), and what
the bounds leave in doubt is computed exactly. Efforts are sampled, see
:mod:`ne_dynamics.motion.effort_check`.

Where a linear segment meets another one the velocity has a step. It takes no time and counts for
nothing here.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray, IndexArray
from ne_dynamics.motion.effort_check import check_efforts
from ne_dynamics.motion.joint_limits import USUAL, DemandLimits, LimitTolerances
from ne_dynamics.motion.limit_violation import LimitViolation, Quantity, rank
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.segments import (
    Segments,
    bound_segments,
    bound_ways,
    differentiate,
    evaluate,
    find_candidates,
)
from ne_dynamics.motion.stopping import Efforts
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import REST_TOLERANCE


def check_motion(
    motion: Motion | Segments,
    limits: DemandLimits,
    compute_efforts: Efforts | None = None,
    compute_holding: Efforts | None = None,
    *,
    tolerances: LimitTolerances = USUAL,
) -> list[LimitViolation]:
    """Return the limits that a motion violates.

    Parameters
    ----------
    motion : Motion or Segments
        A whole motion, or some of its segments.
    limits : DemandLimits
    compute_efforts : callable, optional
        Computes efforts, shape (N, n), from positions, velocities and accelerations of shape
        (N, n), with everything that the arm carries; results that are not finite are violations.
        Default: efforts are not checked.
    compute_holding : callable, optional
        Computes the efforts at rest likewise, for the poses in which the motion rests. Default:
        they are not checked.
    tolerances : LimitTolerances

    Returns
    -------
    list of LimitViolation
        The worst violation of each joint and quantity, the most severe first; empty if none.
    """
    segments = motion.segments() if isinstance(motion, Motion) else motion
    found = check_kinematics(segments, limits, tolerances)
    if compute_efforts is not None:
        found += check_efforts(segments, compute_efforts, limits, tolerances)
    if compute_holding is not None:
        rests = np.flatnonzero(bound_ways(segments) <= REST_TOLERANCE * segments.durations)
        found += find_unholdable(
            segments.scaled[0, rests], segments.begins[rests], compute_holding, limits
        )
    return rank(found)


# ---- positions, velocities, accelerations

_KINDS = (
    Quantity.POSITION,
    Quantity.POSITION,
    Quantity.VELOCITY,
    Quantity.ACCELERATION,
    Quantity.DECELERATION,
)
"""Rows of what is looked for: beyond the upper limit, beyond the lower one, too fast, ..."""


def check_kinematics(
    segments: Segments, limits: DemandLimits, tolerances: LimitTolerances = USUAL
) -> list[LimitViolation]:
    """Return what positions, velocities and accelerations of a motion exceed.

    Parameters and the result are those of :func:`check_motion`; in no order.
    """
    with np.errstate(over='ignore', invalid='ignore'):
        lower, upper = bound_segments(segments)
        at_most = np.stack((upper[0], lower[0], *np.maximum(-lower[1:], upper[1:])[[0, 1, 1]]))
        at_most = _measure_excess(at_most, limits, tolerances)
    which, joints = np.nonzero((at_most > 0.0).any(axis=0))
    if not which.size:
        return []
    durations = segments.durations[which]
    with np.errstate(over='ignore', invalid='ignore'):
        shares, values = _find_extremes(segments.scaled[:, which, joints], durations)
        excess = _measure_excess(values, limits, tolerances, joints)
    times = segments.begins[which] + shares * durations
    sizes = limits.upper, limits.lower, limits.velocity, limits.acceleration, limits.deceleration
    found = []
    for kind, joint in product(range(len(_KINDS)), np.unique(joints).tolist()):
        row = int(np.where(joints == joint, excess[kind], -np.inf).argmax())
        if excess[kind, row] > 0.0:
            where = _KINDS[kind], limits.joints, joint, times[kind, row]
            value, limit, slower = values[kind, row], sizes[kind][joint], np.inf
            if kind > 1:
                with np.errstate(divide='ignore', invalid='ignore'):
                    slower = (abs(value) / limit) ** (1.0 if kind == 2 else 0.5)
            found.append(LimitViolation.of(*where, value, limit, slower))
    return found


def _measure_excess(
    values: FloatArray,
    limits: DemandLimits,
    tolerances: LimitTolerances,
    joints: IndexArray | slice = slice(None),
) -> FloatArray:
    """Return how far values of the kinds are beyond limits and tolerances, of the same shape.

    Positions in their unit, all others in limits. What is not a number is beyond all.
    """
    size = np.abs(values)
    hardest = 1.0 + tolerances.acceleration
    excess = np.stack(
        (
            values[0] - limits.upper[joints] - tolerances.position,
            limits.lower[joints] - values[1] - tolerances.position,
            size[2] / limits.velocity[joints] - 1.0 - tolerances.velocity,
            size[3] / limits.acceleration[joints] - hardest,
            size[4] / limits.deceleration[joints] - hardest,
        )
    )
    return np.where(np.isnan(excess), np.inf, excess)


def _find_extremes(scaled: FloatArray, durations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where k polynomials have their extremes, and these, both of shape (5, k).

    The largest and the least position, the fastest velocity, the largest acceleration and the
    largest deceleration, with their signs.
    """
    position_at, velocity_at, own_at = find_candidates(scaled)
    rates = differentiate(scaled)
    changes = differentiate(rates)
    position = evaluate(scaled[..., np.newaxis], position_at)
    velocity = evaluate(rates[..., np.newaxis], velocity_at) / durations[:, np.newaxis]
    # The velocity keeps its sign from one of its zeros to the next. In each such stretch the
    # acceleration has its extremes at the stretch's ends or at its own candidates.
    low, high = position_at[:, :-1, np.newaxis], position_at[:, 1:, np.newaxis]
    at = np.concatenate((low, np.clip(own_at[:, np.newaxis], low, high), high), axis=2)
    acceleration = evaluate(changes[..., np.newaxis, np.newaxis], at)
    way = evaluate(rates[..., np.newaxis, np.newaxis], 0.5 * (low + high))
    # Of a velocity that ends at zero, rounding makes one that passes it.
    # A shorter share of a segment is rounding.
    is_there = high - low > 1e-6
    trend = np.where(is_there, np.sign(acceleration * way), 0.0)
    at, acceleration, trend = (each.reshape(len(at), -1) for each in (at, acceleration, trend))
    acceleration = acceleration / durations[:, np.newaxis] ** 2
    size = np.abs(acceleration)
    picked = (
        (position_at, position, position),
        (position_at, position, -position),
        (velocity_at, velocity, np.abs(velocity)),
        (at, acceleration, np.where(trend > 0.0, size, -1.0)),
        (at, acceleration, np.where(trend < 0.0, size, -1.0)),
    )
    rows = np.arange(scaled.shape[1])
    shares, values = np.empty((2, 5, rows.size))
    for kind, (where, what, score) in enumerate(picked):
        best = score.argmax(axis=1)
        shares[kind] = where[rows, best]
        values[kind] = what[rows, best]
        if kind > 2:
            # Where nothing brakes, or nothing speeds up, there is none of it.
            values[kind, score[rows, best] < 0.0] = 0.0
    return shares, values


# ---- poses


def find_unpassable(
    positions: FloatArray,
    directions: FloatArray,
    times: FloatArray,
    compute_efforts: Efforts,
    limits: DemandLimits,
) -> list[LimitViolation]:
    """Return the joints that cannot move slowly along a path through several poses.

    Parameters
    ----------
    positions, directions : array, shape (k, n)
        Poses [rad or m], and velocities in which the path goes on from them, of any size.
    times : array, shape (k,)
        When they are passed [s].
    compute_efforts : callable
    limits : DemandLimits
    """
    usual = np.minimum(limits.velocity, limits.usual)
    with np.errstate(divide='ignore'):
        largest = (usual / np.abs(directions)).min(axis=1, keepdims=True)
    velocities = MOTION.slow_share * np.minimum(largest, 1.0) * directions
    return _find_beyond(Quantity.SLOW, positions, velocities, times, compute_efforts, limits)


def find_unholdable(
    positions: FloatArray, times: FloatArray, compute_holding: Efforts, limits: DemandLimits
) -> list[LimitViolation]:
    """Return the joints that cannot hold the arm in one of several poses.

    Parameters are those of :func:`find_unpassable`, but for its directions, and `compute_holding`,
    a callable like `compute_efforts`, of rest.
    """
    still = np.zeros_like(positions)
    return _find_beyond(Quantity.HOLDING, positions, still, times, compute_holding, limits)


def _find_beyond(
    quantity: Quantity,
    positions: FloatArray,
    velocities: FloatArray,
    times: FloatArray,
    compute: Efforts,
    limits: DemandLimits,
) -> list[LimitViolation]:
    """Return where the effort of each joint is farthest beyond its limit, if it is anywhere."""
    if not len(positions) or np.isinf(limits.effort).all():
        return []
    efforts = compute(positions, velocities, np.zeros_like(positions))
    excess = np.where(np.isnan(efforts), np.inf, np.abs(efforts)) - limits.effort
    found = []
    for joint in np.flatnonzero((excess > 0.0).any(axis=0)).tolist():
        row = int(excess[:, joint].argmax())
        value, limit = efforts[row, joint], limits.effort[joint]
        found.append(LimitViolation.of(quantity, limits.joints, joint, times[row], value, limit))
    return found
