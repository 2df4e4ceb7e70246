"""Polynomials between states: linear, cubic or quintic, by what both ends carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.profiles import cubic_coefficients, quintic_coefficients
from ne_dynamics.errors import TrajectoryError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.segments import DEGREE, differentiate, evaluate
from ne_dynamics.motion.waypoints import DesiredState


def evaluate_segments(coefficients: FloatArray, since: FloatArray) -> DesiredState:
    """Return polynomials and their first two derivatives at times of each.

    `coefficients`, shape (k, 6, n), are those of ascending powers of the time, `since`, shape
    (k, r), the times [s].
    """
    rows, states = coefficients.swapaxes(0, 1)[:, :, np.newaxis], []
    for _ in range(3):
        states.append(evaluate(rows, since[..., np.newaxis]))
        rows = differentiate(rows)
    return DesiredState(*states)


def join_finite(durations: FloatArray, orders: Sequence[int], states: FloatArray) -> FloatArray:
    """Return the coefficients of the segments between states."""
    with np.errstate(over='ignore', invalid='ignore'):
        coefficients = join(durations, orders, states)
    if not np.isfinite(coefficients).all():
        raise TrajectoryError(
            'points: expected a motion of finite numbers, got an overflow', field='points'
        )
    return coefficients


def join(
    durations: Sequence[float] | FloatArray, orders: Sequence[int], states: FloatArray
) -> FloatArray:
    """Return the polynomials between states, by time, shape (s, 6, n).

    The s durations [s] are between states, shape (3, s + 1, n), that carry so many derivatives.
    """
    begin, end = DesiredState(*states[:, :-1]), DesiredState(*states[:, 1:])
    scaled = scaled_coefficients(np.minimum(orders[:-1], orders[1:]), durations, begin, end)
    powers = np.vander(durations, DEGREE + 1, increasing=True)[..., np.newaxis]
    coefficients: FloatArray = np.divide(scaled.swapaxes(0, 1), powers, order='C')
    return coefficients


def scaled_coefficients(
    orders: ArrayLike, durations: ArrayLike, begin: DesiredState, end: DesiredState
) -> FloatArray:
    """Return the polynomials that join pairs of states, by the share of the duration.

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
    array, shape (6, s, n)
        Coefficients of ascending powers of the share of the duration [rad or m].
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
