"""How fast a command must be able to change for the feedback loop not to swing.

A limit on the rate of the command delays what the feedback asks for by up to a quarter of a turn,
and the more, the farther the arm was pushed. Beyond some push the loop, which without the limit
would settle, swings for ever. The loop of one joint is

    (kv s + kp) / s^2,

with kp and kv as accelerations per error. It crosses over, magnitude 1, at w with

    w^2 = (kv^2 + sqrt(kv^4 + 4 kp^2)) / 2,

and that is how fast it answers a push: one of half the motor's effort limit asks for

    w limit / 2

of the command, or more where the loop is slower than the arm: see :data:`LEAST_FREQUENCY`. This is
a rule, not a proof. `test/simulation/test_pushed_arm.py` tries it in closed loops with MuJoCo.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ne_dynamics.control.laws import ControlLaw, Mode
from ne_dynamics.model.rigid_body import FloatArray

LEAST_FREQUENCY = 12.0
"""However slow the loop, the command must be able to follow something as fast as this [rad/s]: an
arm that is pushed away turns at some rad/s, and gravity and centrifugal efforts turn with it, once
and twice in a turn."""

SHARE_OF_PUSH = 0.5
"""The push that must be borne, as a share of the effort limit."""


def crossover_frequency(kp: FloatArray, kv: FloatArray) -> FloatArray:
    """Return the crossover frequency of the loop (kv s + kp) / s^2.

    Parameters
    ----------
    kp, kv : array, shape (n,)
        [1/s^2, 1/s]

    Returns
    -------
    array, shape (n,)
        [rad/s]
    """
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
        np.abs(gain).sum(axis=1) if gain.ndim == 2 else np.broadcast_to(gain, effort_limits.shape)
        for gain in (gains.kp, gains.kv)
    )
    if law.mode is Mode.COMPUTED_TORQUE:
        crossover = np.full(effort_limits.size, crossover_frequency(kp, kv).max())
    elif inverse_inertia is None:
        raise ValueError(f'{law.mode.value}: expected the inverse inertia of the joints, got none')
    else:
        crossover = crossover_frequency(kp * inverse_inertia, kv * inverse_inertia)
    needed: FloatArray = SHARE_OF_PUSH * np.maximum(crossover, LEAST_FREQUENCY) * effort_limits
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
