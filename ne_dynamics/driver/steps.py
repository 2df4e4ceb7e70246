"""The smallest step of what is reported: of an encoder, a converter, a printed number."""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.driver.verdict import Verdict, unknown
from ne_dynamics.logs import Certainty
from ne_dynamics.model.rigid_body import FloatArray

DIVISORS = range(1, 9)
"""The smallest change may be so many steps."""


TURN = 2.0 * math.pi


def find_step(values: FloatArray) -> float:
    """Return the step of which all changes of a column are multiples.

    Parameters
    ----------
    values : array, shape (N,)
        What is not finite is left out.

    Returns
    -------
    float
        0 where there is none, infinite where nothing changes.
    """
    finite = values[np.isfinite(values)]
    changes = np.abs(np.diff(finite))
    changes = changes[changes > STATES.step_rounding * np.abs(finite).max(initial=0.0)]
    if not changes.size:
        return math.inf
    if changes.size < STATES.fewest_changes:
        return 0.0
    smallest = float(changes.min())
    for divisor in DIVISORS:
        step = _refine(changes, smallest / divisor)
        if step > 0.0:
            return step
    return 0.0


def find_steps(table: FloatArray) -> FloatArray:
    """Return the step of each column, shape (n,); 0 where none is seen.

    Parameters
    ----------
    table : array, shape (N, n)
    """
    steps = np.array([find_step(column) for column in table.T])
    return np.where(np.isfinite(steps), steps, 0.0)


def _refine(changes: FloatArray, step: float) -> float:
    """Return a step made sharper by ever larger changes; 0 where they are no multiples."""
    for multiple in STATES.multiples:
        chosen = changes[changes < multiple * step]
        if chosen.size < STATES.fewest_changes:
            continue
        counts = np.round(chosen / step)
        near = np.abs(chosen - counts * step) < STATES.step_off * step
        if near.mean() < STATES.most_multiples:
            return 0.0
        step = float(chosen[near] @ counts[near] / (counts[near] @ counts[near]))
        if multiple * step > changes.max():
            break
    chosen = changes[changes < STATES.multiples[-1] * step]
    if chosen.size < STATES.fewest_changes:
        return 0.0
    off = np.abs(chosen - np.round(chosen / step) * step)
    return step if float((off < STATES.step_off * step).mean()) >= STATES.most_multiples else 0.0


def describe_step(values: FloatArray, unit: str, is_angle: bool) -> Verdict:
    """Return what the smallest step of a column is.

    Parameters
    ----------
    values : array, shape (N,)
    unit : str
        Of the values, e.g. 'rad'.
    is_angle : bool
        Whether a turn is 2 pi: then steps that are a power of two a turn are those of an encoder.

    Returns
    -------
    Verdict
    """
    step = find_step(values)
    if math.isinf(step):
        return unknown('it never changes', 'record a motion of this joint')
    if step == 0.0:
        return Verdict(0.0, Certainty.LIKELY, 'no fixed step found')
    text = f'steps of {step:.4g} {unit}'
    bits = math.log2(TURN / step) if is_angle else math.nan
    decimals = round(math.log10(step))
    if math.isfinite(bits) and abs(bits - round(bits)) < STATES.bits_off:
        text += f': {round(bits)} bits a turn'
    elif abs(step / 10.0**decimals - 1.0) < STATES.decimal_off:
        text += ': numbers that were rounded'
    elif is_angle and TURN / step > 1.0:
        text += f': {TURN / step:.6g} a turn'
    return Verdict(step, Certainty.KNOWN, text)
