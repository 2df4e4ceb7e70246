"""Whether a tuning can work on the arm as it stands: can the motors hold it, is the loop stable.

A loop of double integrators, as computed torque makes of every joint, with a delay t between a
position and the effort that answers it::

    s^2 + exp(-s t) (kv s + kp) = 0

crosses over at w^2 = (kv^2 + sqrt(kv^4 + 4 kp^2)) / 2 with a phase margin of
atan(kv w / kp) - w t. With kp = kv^2 / 4, critically damped, it is 47 degrees at kv t = 0.5,
17 degrees at 1.0, and zero at 1.29.

A compensation by a momentum observer of the rate K feeds back as well. What it takes out of the
command is K / (s + K) of the effort that the motion has taken less the one that was commanded, so
that the loop has

    s^2 + exp(-s t) ((kv + K) s + (kp + K kv) + K kp / s) = 0,

kv larger by K: at the gains that are allowed K is small beside kv, and the last term has gone by
where the loop crosses over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, degrees, hypot, inf, isinf, sqrt
from typing import NamedTuple

import numpy as np

from ne_dynamics.control.laws import Gains, Mode
from ne_dynamics.model.rigid_body import FloatArray

PERIODS_OF_DELAY = 1.5
"""Periods of the states from a position to the effort that answers it: one until the command
counts, and half of the one for which it is held."""

DOUBTFUL_PRODUCT, LARGEST_PRODUCT = 0.5, 1.0
"""kv times the delay from which on the loop is doubtful, and refused."""

LEAST_MARGIN = 5.0
"""Phase margin below which a loop is refused, whatever the delay [degrees]."""

DOUBTFUL_LOAD = 0.9
"""Part of an effort limit that may be needed at rest without a remark."""


class Verdict(NamedTuple):
    """What is to be said of a tuning.

    Attributes
    ----------
    refusals : list of str
        Why it cannot work.
    remarks : list of str
        What is doubtful.
    """

    refusals: list[str]
    remarks: list[str]


def judge_limits(joint_names: Sequence[str], holding: FloatArray, limits: FloatArray) -> Verdict:
    """Judge whether the motors can hold the arm where it is.

    Parameters
    ----------
    joint_names : sequence of n str
    holding : array, shape (n,)
        Effort that holds the arm at rest [N m or N].
    limits : array, shape (n,)
        Effort limits [N m or N].
    """
    ratios = np.abs(holding) / limits
    worst = int(ratios.argmax())
    effort = f'{abs(holding[worst]):.4g} of {limits[worst]:.4g}'
    name = joint_names[worst]
    if ratios[worst] > 1.0:
        return Verdict(
            [
                f'effort_limits, payload: expected that joint {name!r} can hold the arm where it '
                f'is, which takes {effort} N m or N'
            ],
            [],
        )
    if ratios[worst] > DOUBTFUL_LOAD:
        return Verdict([], [f'joint {name!r} takes {effort} N m or N to hold the arm where it is'])
    return Verdict([], [])


def phase_margin(kp: float, kv: float, delay: float) -> float:
    """Return the phase margin of a joint's loop [degrees].

    Parameters
    ----------
    kp, kv : float
        Accelerations per error [1/s^2, 1/s], not both zero.
    delay : float
        [s]
    """
    crossover = sqrt(0.5 * (kv * kv + hypot(kv * kv, 2.0 * kp)))
    if isinf(crossover):
        return -inf
    return degrees(atan2(kv * crossover, kp) - crossover * delay)


def judge_gains(
    mode: Mode,
    gains: Gains | None,
    mass_matrix: Callable[[], FloatArray],
    period: float,
    observer_rate: float = 0.0,
) -> Verdict:
    """Judge whether the loop is stable with the delay that states every `period` have.

    Parameters
    ----------
    mode : Mode
    gains : Gains or None
        Of the mode.
    mass_matrix : callable
        Returns that of the arm where it is, shape (n, n), for gains that are efforts.
    period : float
        Between two states [s].
    observer_rate : float
        Of the compensation by an observer, 2 pi times its cut-off [1/s]; 0 for none.
    """
    if gains is None or not mode.has_feedback:
        return Verdict([], [])
    delay = PERIODS_OF_DELAY * period
    matrix = mass_matrix() if mode is Mode.FEEDFORWARD_PD else None
    kp, kv = (_as_acceleration(gain, matrix) for gain in (gains.kp, gains.kv))
    if kp == 0.0 and kv == 0.0:
        return Verdict([], [])
    kp, kv = kp + observer_rate * kv, kv + observer_rate
    product, margin = kv * delay, phase_margin(kp, kv, delay)
    with_observer = ', with observer.cutoff_frequency' if observer_rate else ''
    seen = (
        f'{mode.value}.kp, {mode.value}.kv{with_observer}: kv = {kv:.4g} /s and '
        f'kp = {kp:.4g} /s^2 with a delay of {1e3 * delay:.3g} ms (states every '
        f'{1e3 * period:.3g} ms) make kv * delay = '
        f'{product:.2f} and a phase margin of {margin:.0f} degrees'
    )
    if product > LARGEST_PRODUCT or (kp > 0.0 and kv > 0.0 and margin < LEAST_MARGIN):
        return Verdict(
            [
                f'{seen}; expected kv * delay of at most {LARGEST_PRODUCT:g} and a margin of at '
                f'least {LEAST_MARGIN:g}'
            ],
            [],
        )
    if product > DOUBTFUL_PRODUCT:
        return Verdict([], [f'{seen}; better is kv * delay below {DOUBTFUL_PRODUCT:g}'])
    return Verdict([], [])


def _as_acceleration(gain: FloatArray, mass_matrix: FloatArray | None) -> float:
    """Return the largest gain that there is in any direction, as acceleration per error."""
    if mass_matrix is None and gain.ndim < 2:
        return float(np.max(gain))
    if gain.ndim < 2 and mass_matrix is not None:
        gain = np.diag(np.broadcast_to(gain, len(mass_matrix)))
    matrix = gain if mass_matrix is None else np.linalg.solve(mass_matrix, gain)
    if not np.isfinite(matrix).all():
        return inf
    return float(np.abs(np.linalg.eigvals(matrix)).max())
