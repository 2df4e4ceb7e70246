"""The smallest step of what is reported: of an encoder, a converter, a printed number."""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.driver.verdict import Level, Verdict, unknown
from ne_dynamics.model.rigid_body import FloatArray

ROUNDING = 1e-11
"""Part of the largest value below which a change is that of the arithmetic."""

FEWEST_CHANGES = 30
"""Changes of which a step can be told."""

MULTIPLES = (20.0, 200.0, 2e3, 2e4, 2e5)
"""How many steps a change may be, one pass after the other: the step gets sharper."""

OFF = 0.1
"""Part of a step that changes may be off a multiple of it."""

MOST = 0.95
"""Part of the changes that have to be multiples."""

DIVISORS = range(1, 9)
"""The smallest change may be so many steps."""

BITS_OFF = 0.004
DECIMAL_OFF = 1e-3
"""How far off a power of two, and of ten, a step may be, as a part of it."""

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
    changes = changes[changes > ROUNDING * np.abs(finite).max(initial=0.0)]
    if not changes.size:
        return math.inf
    if changes.size < FEWEST_CHANGES:
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
    for multiple in MULTIPLES:
        chosen = changes[changes < multiple * step]
        if chosen.size < FEWEST_CHANGES:
            continue
        counts = np.round(chosen / step)
        near = np.abs(chosen - counts * step) < OFF * step
        if near.mean() < MOST:
            return 0.0
        step = float(chosen[near] @ counts[near] / (counts[near] @ counts[near]))
        if multiple * step > changes.max():
            break
    chosen = changes[changes < MULTIPLES[-1] * step]
    if chosen.size < FEWEST_CHANGES:
        return 0.0
    off = np.abs(chosen - np.round(chosen / step) * step)
    return step if float((off < OFF * step).mean()) >= MOST else 0.0


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
        return Verdict(0.0, Level.LIKELY, 'no fixed step found')
    text = f'steps of {step:.4g} {unit}'
    bits = math.log2(TURN / step) if is_angle else math.nan
    decimals = round(math.log10(step))
    if math.isfinite(bits) and abs(bits - round(bits)) < BITS_OFF:
        text += f': {round(bits)} bits a turn'
    elif abs(step / 10.0**decimals - 1.0) < DECIMAL_OFF:
        text += ': numbers that were rounded'
    elif is_angle and TURN / step > 1.0:
        text += f': {TURN / step:.6g} a turn'
    return Verdict(step, Level.KNOWN, text)
