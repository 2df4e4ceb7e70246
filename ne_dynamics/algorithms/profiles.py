"""Motion profiles from rest to rest, and the polynomials that join two states.

All profiles cover a distance D = end - start in a time T; s = t / T:

=========== ================================ ================== ====================
profile     position, as a share of D        largest velocity   largest acceleration
=========== ================================ ================== ====================
trapezoidal parabola, line, parabola         v of below         v / Ta, v / Td
cubic       3 s^2 - 2 s^3                    3/2 D / T          6 D / T^2
quintic     10 s^3 - 15 s^4 + 6 s^5          15/8 D / T         10/sqrt(3) D / T^2
=========== ================================ ================== ====================

The trapezoid of velocity accelerates for Ta, coasts, and decelerates for Td, at
v = D / (T - (Ta + Td) / 2) in between. Its acceleration jumps four times; that of the cubic at
both ends; that of the quintic nowhere.

Sources: 000 section 4 for the trapezoid, there with Ta = Td = T/3. The polynomials are those of
Hermite.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray

ROUNDING = 1e-12
"""Share of the duration by which the sum of two phases may miss it: times are rounded."""


Value = TypeVar('Value', float, FloatArray)


class ProfileSamples(NamedTuple):
    """A motion, sampled at given times.

    Attributes
    ----------
    position : array
        [rad or m]; its shape is that of the times followed by that of the positions.
    velocity : array, same shape
        [rad/s or m/s]
    acceleration : array, same shape
        [rad/s^2 or m/s^2]
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


def trapezoidal_profile(
    start: ArrayLike,
    end: ArrayLike,
    duration: float,
    time: ArrayLike,
    *,
    acceleration_time: float | None = None,
    deceleration_time: float | None = None,
) -> ProfileSamples:
    """Return a motion from rest to rest with a trapezoidal velocity profile.

    All joints change phase (acceleration, constant velocity, deceleration) at the same times, so
    the path is a straight line in joint space. Joint limits are not checked.

    Parameters
    ----------
    start, end : array-like, shape () or (n,)
        Positions at the start and at the end [rad or m]. With 0 and 1 the result is a path
        parameter from 0 to 1.
    duration : float
        T [s]
    time : array-like, shape () or (N,)
        Times since the start of the motion [s]; before 0 and after T the motion is at rest.
    acceleration_time : float, optional
        Ta [s]; default: T/3, as in section 4 of Sasaki (1990, JAERI-M 90-147).
    deceleration_time : float, optional
        Td [s]; default: Ta. With Ta + Td = T the velocity profile is a triangle.

    Returns
    -------
    ProfileSamples
        Position, velocity and acceleration, each of shape (), (N,), (n,) or (N, n). At 0, Ta and
        T - Td, where the acceleration steps, it is the value after the step (up to rounding of
        the times); at T the value before it.

    Raises
    ------
    InputError
        When an argument is not finite or has a wrong shape, the duration or a phase is not
        longer than 0 s, both phases together are longer than the duration, or the motion is so
        fast that numbers overflow.
    """
    ends, duration, t = _check_arguments(start, end, duration, time)
    speeding_up, slowing_down = _check_phases(duration, acceleration_time, deceleration_time)
    unit = _unit_trapezoid(t, duration, speeding_up, slowing_down)
    return _along(ends, t, duration, unit)


def _unit_trapezoid(
    t: FloatArray, duration: float, speeding_up: float, slowing_down: float
) -> ProfileSamples:
    """Return the profile of a distance of 1."""
    gone = np.clip(t, 0.0, duration)
    left = duration - gone
    # The area under the trapezoid is the distance, here 1.
    speed = 1.0 / (duration - 0.5 * (speeding_up + slowing_down))
    faster, slower = speed / speeding_up, speed / slowing_down
    # A triangle has no instant without acceleration, whatever rounding makes of its top.
    coasts = duration - speeding_up - slowing_down > ROUNDING * duration
    phases = [gone < speeding_up, (left > slowing_down) & coasts]
    with np.errstate(over='ignore', invalid='ignore'):
        # 000 section 4, regions I to III, there with a = 9 D / (2 T^2).
        position = np.select(
            phases,
            [0.5 * faster * gone**2, speed * (gone - 0.5 * speeding_up)],
            1.0 - 0.5 * slower * left**2,
        )
        velocity = np.select(phases, [faster * gone, speed], slower * left)
        acceleration = np.select(phases, [faster, 0.0], -slower)
    return ProfileSamples(position, velocity, acceleration)


def _check_phases(
    duration: float, acceleration_time: float | None, deceleration_time: float | None
) -> tuple[float, float]:
    """Return the two times [s], with what is taken where one is not given."""
    speeding_up = (
        duration / 3.0
        if acceleration_time is None
        else _check_time('acceleration_time', acceleration_time)
    )
    slowing_down = (
        speeding_up
        if deceleration_time is None
        else _check_time('deceleration_time', deceleration_time)
    )
    if duration - speeding_up - slowing_down < -ROUNDING * duration:
        raise InputError(
            f'acceleration_time, deceleration_time: expected {duration:g} s, the duration, or '
            f'less together, got {speeding_up:g} s and {slowing_down:g} s'
        )
    return speeding_up, slowing_down


def cubic_profile(
    start: ArrayLike, end: ArrayLike, duration: float, time: ArrayLike
) -> ProfileSamples:
    """Return the cubic motion from rest to rest: D (3 s^2 - 2 s^3), s = t / T, D = end - start.

    Parameters
    ----------
    start, end : array-like, shape () or (n,)
        Positions at the start and at the end [rad or m]. With 0 and 1 the result is a path
        parameter from 0 to 1.
    duration : float
        T [s]
    time : array-like, shape () or (N,)
        Times since the start of the motion [s]; before 0 and after T the motion is at rest.

    Returns
    -------
    ProfileSamples
        Position, velocity and acceleration, each of shape (), (N,), (n,) or (N, n). At 0 and T,
        where the acceleration steps, it is that of the motion: 6 D / T^2 and -6 D / T^2.

    Raises
    ------
    InputError
        When an argument is not finite or has a wrong shape, the duration is not longer than 0 s,
        or the motion is so fast that numbers overflow.
    """
    return _polynomial_profile(start, end, duration, time, cubic_coefficients(1.0, 0.0, 0.0))


def quintic_profile(
    start: ArrayLike, end: ArrayLike, duration: float, time: ArrayLike
) -> ProfileSamples:
    """Return the quintic motion from rest to rest: D (10 s^3 - 15 s^4 + 6 s^5), s = t / T.

    D is end - start. Velocity and acceleration are continuous, and zero at both ends.

    Parameters
    ----------
    start, end, duration, time
        As for :func:`cubic_profile`.

    Returns
    -------
    ProfileSamples
        Position, velocity and acceleration, each of shape (), (N,), (n,) or (N, n).

    Raises
    ------
    InputError
        As for :func:`cubic_profile`.
    """
    coefficients = quintic_coefficients(1.0, 0.0, 0.0, 0.0, 0.0)
    return _polynomial_profile(start, end, duration, time, coefficients)


def cubic_coefficients(distance: Value, v0: Value, v1: Value) -> tuple[Value, Value, Value]:
    """Return the cubic polynomial that joins two states, in time as a share of the duration.

    Parameters
    ----------
    distance : float or array
        From the first position to the second.
    v0, v1 : float or array
        Velocities times the duration, in the unit of `distance`.

    Returns
    -------
    tuple of three
        Coefficients of s, s^2, s^3.
    """
    return v0, 3.0 * distance - 2.0 * v0 - v1, v0 + v1 - 2.0 * distance


def quintic_coefficients(
    distance: Value, v0: Value, v1: Value, a0: Value, a1: Value
) -> tuple[Value, Value, Value, Value, Value]:
    """Return the quintic polynomial that joins two states, in time as a share of the duration.

    Parameters
    ----------
    distance : float or array
        From the first position to the second.
    v0, v1, a0, a1 : float or array
        Velocities times the duration and accelerations times its square, in the unit of
        `distance`.

    Returns
    -------
    tuple of five
        Coefficients of s to s^5.
    """
    return (
        v0,
        0.5 * a0,
        10.0 * distance - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * distance + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * distance - 3.0 * v0 - 3.0 * v1 + 0.5 * (a1 - a0),
    )


class _Ends(NamedTuple):
    """Where a motion rests, both of one shape."""

    start: FloatArray
    end: FloatArray


def _polynomial_profile(
    start: ArrayLike,
    end: ArrayLike,
    duration: float,
    time: ArrayLike,
    coefficients: tuple[float, ...],
) -> ProfileSamples:
    ends, duration, t = _check_arguments(start, end, duration, time)
    position = np.polynomial.Polynomial([0.0, *coefficients])
    velocity = position.deriv()
    s = np.clip(t / duration, 0.0, 1.0)
    with np.errstate(over='ignore', divide='ignore', invalid='ignore'):
        samples = ProfileSamples(
            position(s), velocity(s) / duration, velocity.deriv()(s) / duration / duration
        )
    return _along(ends, t, duration, samples)


def _along(
    ends: _Ends, time: FloatArray, duration: float, shares: ProfileSamples
) -> ProfileSamples:
    """Return the motion between two ends that covers shares of the way; it rests outside."""
    is_moving = (time >= 0.0) & (time <= duration)
    rates = [np.where(is_moving, share, 0.0) for share in shares[1:]]
    with np.errstate(over='ignore', invalid='ignore'):
        span = ends.end - ends.start
        velocity, acceleration = (np.multiply.outer(rate, span) for rate in rates)
        position = ends.start + np.multiply.outer(shares.position, span)
    # start + (end - start) may miss the end by a rounding.
    position = np.where(_beside(time <= 0.0, span), ends.start, position)
    position = np.where(_beside(time >= duration, span), ends.end, position)
    samples = ProfileSamples(position, np.asarray(velocity), np.asarray(acceleration))
    if not all(np.isfinite(values).all() for values in samples):
        raise InputError(
            f'duration: expected a motion of finite numbers, got an overflow in {duration:g} s'
        )
    return samples


def _beside(chosen: NDArray[np.bool_], span: FloatArray) -> NDArray[np.bool_]:
    """Return a choice of times with axes for the joints."""
    return chosen.reshape(chosen.shape + (1,) * span.ndim)


def _check_arguments(
    start: ArrayLike, end: ArrayLike, duration: float, time: ArrayLike
) -> tuple[_Ends, float, FloatArray]:
    ends = _Ends(_check_array('start', start), _check_array('end', end))
    if ends.start.shape != ends.end.shape:
        raise InputError(
            f'end: expected the shape of start, {ends.start.shape}, got {ends.end.shape}'
        )
    return ends, _check_time('duration', duration), _check_array('time', time)


def _check_array(name: str, value: ArrayLike) -> FloatArray:
    """Return finite real numbers of shape () or (N,)."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f'{name}: expected an array without mask, got a masked one')
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different length
        raise InputError(f'{name}: expected numbers, got {value!r}') from error
    if array.dtype.kind not in 'fiu' and array.size:
        raise InputError(f'{name}: expected real numbers, got {array.dtype.name}: {value!r}')
    if array.ndim > 1:
        raise InputError(f'{name}: expected a number or one row of them, got shape {array.shape}')
    finite = np.isfinite(array)
    if not finite.all():
        index = int(np.argmin(finite))
        raise InputError(
            f'{name}: expected finite numbers, got {array.reshape(-1)[index]} at index {index}'
        )
    return array.astype(np.float64)


def _check_time(name: str, value: float) -> float:
    """Return a time longer than 0 s."""
    array = _check_array(name, value)
    if array.ndim or not array > 0.0:
        raise InputError(f'{name}: expected a number of seconds > 0, got {value!r}')
    return float(array)
