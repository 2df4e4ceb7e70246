"""Velocities and accelerations for points that carry positions alone.

Who streams positions says nothing of the feed-forward; straight lines between them have none.
Here a cubic spline through the points gives each of them a velocity and an acceleration, and the
motion between is then the quintic that has both. Inside that is the cubic spline itself. At the
begin the quintic leaves from the present desired acceleration, and at the end it comes to rest, so
that the motion is continuous up to the acceleration everywhere, one message after the other too.

The spline is natural at its end. That the arm comes to rest there then bends the last segment
alone: of a stream, whose ends are never reached, nothing else feels them. A monotone spline never
goes beyond its points, but its accelerations jump at all of them, and with them the efforts.
"""

from __future__ import annotations

import enum

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.thresholds import MOTION


class Interpolation(str, enum.Enum):
    """What is between points; the values are the words of the node's `interpolation_method`."""

    SPLINES = 'splines'
    """Polynomials by what the points carry; a spline through those with positions alone."""
    LINEAR = 'linear'
    """The same, with straight lines between points with positions alone."""
    NONE = 'none'
    """Nothing: the next point, at once."""

    @property
    def has_way(self) -> bool:
        """Whether there is a way from point to point."""
        return self is not Interpolation.NONE


def passes_over_first(times: FloatArray, now: float, *, is_moving: bool) -> bool:
    """Return whether the first of points, none of them before `now` [s], is too near to steer for.

    It is where the motion before it would be as well. From rest each point is passed, but for
    one that is due at once: the present desired position stands in its place. `is_moving`:
    whether the desired motion is under way.
    """
    if times.size < 2:
        return False
    share = MOTION.first_point_share if is_moving else 0.0
    return bool(times[0] - now <= share * (times[1] - times[0]))


def spline_derivatives(
    times: FloatArray,
    positions: FloatArray,
    start_velocity: FloatArray,
    end_velocity: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return velocities and accelerations of a cubic spline at its knots.

    The spline begins with a velocity. It ends with one, too, or is natural there.

    Parameters
    ----------
    times : array, shape (p,)
        Strictly increasing, at least two [s].
    positions : array, shape (p, n)
        [rad or m]
    start_velocity : array, shape (n,)
        [rad/s or m/s]
    end_velocity : array, shape (n,), optional
        [rad/s or m/s]; None: such that there is no acceleration at the end.

    Returns
    -------
    velocities, accelerations : array, shape (p, n)
        [rad/s or m/s], [rad/s^2 or m/s^2]; at the first knot the acceleration is that after it,
        at the last one 0.
    """
    rates = 1.0 / np.diff(times)[:, np.newaxis]
    slopes = np.diff(positions, axis=0) * rates
    # The acceleration is the same on both sides of a knot: one equation each, in the velocities.
    weighted = 3.0 * slopes * rates
    right = weighted.copy()
    right[:-1] += weighted[1:]
    diagonal = 2.0 * rates
    diagonal[:-1] += 2.0 * rates[1:]
    below = rates.copy()
    above = np.append(rates[1:], [[0.0]], axis=0)
    right[0] -= below[0] * start_velocity
    below[0] = 0.0
    if end_velocity is not None:
        right[-1], diagonal[-1], below[-1] = end_velocity, 1.0, 0.0
    velocities = np.vstack((start_velocity, _solve(below, diagonal, above, right)))
    accelerations = np.zeros_like(velocities)
    accelerations[:-1] = 2.0 * rates * (3.0 * slopes - 2.0 * velocities[:-1] - velocities[1:])
    return velocities, accelerations


def _solve(
    below: FloatArray, diagonal: FloatArray, above: FloatArray, right: FloatArray
) -> FloatArray:
    """Solve tridiagonal equations by parallel cyclic reduction, shape (p, n).

    Each pass couples knots twice as far from each other, and squares the coupling, which begins
    at a half at the most: six passes do for any number of points, each on whole arrays.

    Parameters
    ----------
    below, diagonal, above : array, shape (p, 1)
        The diagonal is twice the sum of the others.
    right : array, shape (p, n)
    """
    below, above, right = below / diagonal, above / diagonal, right / diagonal
    shift = 1
    while (
        shift < len(right)
        # Less is felt by no sum of doubles.
        and max(np.abs(below).max(), np.abs(above).max()) > 1e-18
    ):
        before, after = slice(None, -shift), slice(shift, None)
        # The neighbours' equations take their unknowns out of the one between them.
        reduced, scale = right.copy(), np.ones_like(below)
        reduced[after] -= below[after] * right[before]
        reduced[before] -= above[before] * right[after]
        scale[after] -= below[after] * above[before]
        scale[before] -= above[before] * below[after]
        farther_below, farther_above = np.zeros_like(below), np.zeros_like(above)
        farther_below[after] = -below[after] * below[before]
        farther_above[before] = -above[before] * above[after]
        below, above, right = farther_below / scale, farther_above / scale, reduced / scale
        shift *= 2
    return right
