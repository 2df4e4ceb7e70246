"""How fast a command must be able to change for the feedback loop not to swing.

A limit on the rate of the command delays what the feedback asks for by up to a quarter of a turn,
and the more, the farther the arm was pushed. Beyond some push the loop, which without the limit
would settle, swings for ever. The loop of one joint is

    (kv s + kp) / s^2,

with kp and kv as accelerations per error. It crosses over, magnitude 1, at w with

    w^2 = (kv^2 + sqrt(kv^4 + 4 kp^2)) / 2,

and that is how fast it answers a push: one of half the motor's effort limit asks for

    w limit / 2

of the command, or more where the loop is slower than the arm: see `slew_least_frequency`. This is
a rule, not a proof, and what breaks it is doubtful. `test/simulation/test_pushed_arm.py` tries it
in closed loops with MuJoCo.

What swings for ever after a push of `refused_push_share` is refused: :func:`comes_to_rest`
computes the loop of one joint, state by state. Only the time counts in which the limited command
gets to the size of the push, so that the inertia of the joint is not needed where the gains are
accelerations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, hypot, sqrt

import numpy as np

from ne_dynamics.control.feedback_gains import Gains, as_matrix
from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.control.sensors.velocity_source import MEASURED, VelocitySettings, velocity_filter
from ne_dynamics.control.thresholds import COMMAND
from ne_dynamics.model.rigid_body import FloatArray


def crossover_frequency(kp: FloatArray, kv: FloatArray) -> FloatArray:
    """Return the crossover frequency of the loop (kv s + kp) / s^2."""
    squared = kv * kv
    frequency: FloatArray = np.sqrt(0.5 * (squared + np.hypot(squared, 2.0 * kp)))
    return frequency


def needed_slew(
    law: ControlLaw, effort_limits: FloatArray, inverse_inertia: FloatArray | None = None
) -> FloatArray:
    """Return the slowest rates of the command that leave the feedback its stability.

    Parameters
    ----------
    law : ControlLaw
    effort_limits : array, shape (n,)
        [N m or N]
    inverse_inertia : array, shape (n,), optional
        Largest diagonal of the inverse mass matrix [1/(kg m^2) or 1/kg]: needed by
        feedforward_pd, whose gains are efforts. In computed_torque the inertia cancels, and, as
        the mass matrix couples the joints, all must follow the fastest.

    Returns
    -------
    array, shape (n,)
        [N m/s or N/s]; zero without feedback, infinite where there is no effort limit.

    Raises
    ------
    ValueError
        When the inverse inertia is needed and not given.
    """
    gains = law.gains
    if not law.has_feedback or gains is None:
        return np.zeros(effort_limits.size)
    kp, kv = (
        np.abs(as_matrix(gain, effort_limits.size)).sum(axis=1) for gain in (gains.kp, gains.kv)
    )
    if law.mode is Mode.COMPUTED_TORQUE:
        crossover = np.full(effort_limits.size, crossover_frequency(kp, kv).max())
    elif inverse_inertia is None:
        raise ValueError(f'{law.mode.value}: expected the inverse inertia of the joints, got none')
    else:
        crossover = crossover_frequency(kp * inverse_inertia, kv * inverse_inertia)
    needed: FloatArray = (
        COMMAND.push_share * np.maximum(crossover, COMMAND.slew_least_frequency) * effort_limits
    )
    return needed


def slew_remarks(
    rates: FloatArray, needed: FloatArray, joint_names: Sequence[str], name: str
) -> list[str]:
    """Return which rates are too slow, in one sentence at most.

    Parameters
    ----------
    rates : array, shape (n,)
        Zero or infinite for none [N m/s or N/s].
    needed : array, shape (n,)
        See :func:`needed_slew`.
    joint_names : sequence of str
    name : str
        What the rates are the value of.
    """
    slow = [
        f'{joint} {rate:g} (expected >= {least:.4g})'
        for joint, rate, least in zip(joint_names, rates.tolist(), needed.tolist(), strict=True)
        if 0.0 < rate < least
    ]
    if not slow:
        return []
    return [
        f'{name}: too slow for the gains: a push of less than half the effort limit may start a '
        f'swing that does not end: {", ".join(slow)}'
    ]


def comes_to_rest(
    kp: float, kv: float, reach: float, period: float = 0.0, velocity: VelocitySettings = MEASURED
) -> bool:
    """Return whether a joint comes to rest after a push, by its linear loop with a rate limit.

    An effort counts a period after its state, and is held for one.

    Parameters
    ----------
    kp, kv : float
        Accelerations per error [1/s^2, 1/s].
    reach : float
        Time in which the command gets from 0 to the size of the push [s].
    period : float
        Between two states [s]; 0: as short as it may be.
    velocity : VelocitySettings
        Where the velocities come from.
    """
    # Two digits tell as much, and what was computed once need not be computed every second.
    numbers = (float(f'{value:.2g}') for value in (kp, kv, reach, period))
    return _settles(*numbers, velocity)


@lru_cache(maxsize=1024)
def _settles(
    kp: float, kv: float, reach: float, period: float, velocity: VelocitySettings
) -> bool:
    if kp == 0.0 and kv == 0.0:
        return True
    crossover = sqrt(0.5 * (kv * kv + hypot(kv * kv, 2.0 * kp)))
    # A rate r takes this long to stop what a push p = r reach of PUSH_TIME has set in motion.
    own_time = max(1.0 / crossover, sqrt(2.0 * COMMAND.push_time * reach))
    watched = 20.0 * own_time
    step = max(period, watched / 1500.0)
    source = velocity_filter(velocity, step)
    largest_change, bound = step / reach, 1.0 / COMMAND.refused_push_share
    position = speed = wanted = acting = first = second = 0.0
    peaks = [0.0] * 4
    pushed_steps = ceil(COMMAND.push_time / step)
    third = ceil(watched / step / 3.0)
    for index in range(pushed_steps + 3 * third):
        measured = speed
        if source is not None:
            measured = source.d * position + source.c[0] * first + source.c[1] * second
            first, second = (
                source.b[0] * position + source.a[0, 0] * first + source.a[0, 1] * second,
                source.b[1] * position + source.a[1, 0] * first + source.a[1, 1] * second,
            )
        change = -kp * position - kv * measured - wanted
        change = min(max(change, -largest_change), largest_change)
        acting, wanted = wanted, min(max(wanted + change, -bound), bound)
        acceleration = acting + (1.0 if index < pushed_steps else 0.0)
        position += step * (speed + 0.5 * step * acceleration)
        speed += step * acceleration
        part = 0 if index < pushed_steps else 1 + (index - pushed_steps) // third
        peaks[part] = max(peaks[part], abs(speed))
    # At rest, or on the way there: each third leaves a part of the velocity of the last.
    return peaks[3] <= 0.02 * max(peaks) or peaks[3] <= 0.9 * peaks[2]


def refuse_slow_rates(
    law: ControlLaw,
    effort_limits: FloatArray,
    rates: FloatArray,
    joint_names: Sequence[str],
    period: float = 0.0,
    velocity: VelocitySettings = MEASURED,
    inverse_inertia: FloatArray | None = None,
) -> list[str]:
    """Return why a rate limit lets the loop swing for ever, in one sentence at most.

    Parameters
    ----------
    law : ControlLaw
    effort_limits : array, shape (n,)
        [N m or N]
    rates : array, shape (0,), (1,) or (n,)
        Empty, zero or infinite for none [N m/s or N/s].
    joint_names : sequence of n str
    period, velocity
        As for :func:`comes_to_rest`.
    inverse_inertia : array, shape (n,), optional
        Diagonal of the inverse mass matrix where the arm is [1/(kg m^2) or 1/kg]: without it
        nothing is said of feedforward_pd, whose gains are efforts.
    """
    gains, is_pd = law.gains, law.mode is Mode.FEEDFORWARD_PD
    if not law.has_feedback or gains is None or not rates.any():
        return []
    kp, kv = (np.diagonal(as_matrix(gain, effort_limits.size)) for gain in (gains.kp, gains.kv))
    if is_pd:
        if inverse_inertia is None:
            return []
        kp, kv = kp * inverse_inertia, kv * inverse_inertia
    limited = np.where(rates > 0.0, rates, np.inf) * np.ones(effort_limits.size)
    pushes = np.where(np.isfinite(effort_limits), COMMAND.refused_push_share * effort_limits, 0.0)
    reach = pushes / limited
    needed = needed_slew(law, effort_limits, inverse_inertia)
    # Of joints with the same gains the one is the first to swing that takes the longest.
    loops: dict[tuple[float, float], int] = {}
    for index in np.argsort(-reach).tolist():
        if reach[index] > 0.0 and limited[index] < needed[index]:
            loops.setdefault((float(kp[index]), float(kv[index])), index)
    for loop, index in loops.items():
        if not comes_to_rest(*loop, float(reach[index]), period, velocity):
            share = _find_share(*loop, float(reach[index]), period, velocity)
            return [
                f'effort_rate_limit: joint {joint_names[index]!r}: {limited[index]:g} N m/s or '
                f'N/s is too slow for the gains: after a push of {pushes[index]:.4g} N m or N for '
                f'{COMMAND.push_time:g} s it does not come to rest; expected at least '
                f'{needed[index]:.4g}{_name_fitting_gains(law.mode, gains, share)}'
            ]
    return []


def _find_share(
    kp: float, kv: float, reach: float, period: float, velocity: VelocitySettings
) -> float:
    """Return by what kv may be multiplied, and kp by its square; 0 for next to nothing."""
    low, high = 0.05, 1.0
    if not comes_to_rest(low**2 * kp, low * kv, reach, period, velocity):
        return 0.0
    while high > 1.1 * low:
        middle = sqrt(low * high)
        if comes_to_rest(middle**2 * kp, middle * kv, reach, period, velocity):
            low = middle
        else:
            high = middle
    return low


def _name_fitting_gains(mode: Mode, gains: Gains, share: float) -> str:
    """Return in words which gains go with a rate limit; '' where none of use do."""
    if share == 0.0:
        return ''
    text = (
        f', or {mode.value}.kp and {mode.value}.kv of at most {share**2:.2g} and {share:.2g} '
        'times what they are'
    )
    if gains.kp.size > 1 or gains.kv.size > 1:
        return text
    return f'{text} ({share**2 * gains.kp.item():.3g} and {share * gains.kv.item():.3g})'
