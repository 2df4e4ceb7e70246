"""How much later than it is sent a command acts, from joints that tremble while they move.

While a joint sweeps in one direction, what trembles of its acceleration follows what trembles of
its command, whatever gravity and dry friction do more slowly. At each frequency f of the tremble

    C exp(-2 pi i f d) = (J (2 pi i f)^2 + B 2 pi i f) Q

with C and Q the complex amplitudes of command and position, and inertia J, damping B and delay d
of the joint, all real. One frequency cannot tell a delay from a damping; two can. What counts is
the median of the joints.

A command that is sent at a state and held until the next acts half a period later in the mean:
that is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.commission.motions import TREMBLES
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.thresholds import FIT
from ne_dynamics.model.rigid_body import FloatArray

ComplexArray = NDArray[np.complex128]


class FoundDelay(NamedTuple):
    """A delay.

    Attributes
    ----------
    delay : float
        From the stamp of a state to the moment from which the command that answers it acts [s];
        NaN where no joint tells it.
    deviation : float
        Its standard deviation, by how the joints differ [s]; NaN where fewer than two tell it.
    by_joint : array, shape (n,)
        What each joint alone tells [s]; NaN for those that do not.
    """

    delay: float
    deviation: float
    by_joint: FloatArray


def find_delay(record: Record, sweeps: Sequence[tuple[float, float]], begin: float) -> FoundDelay:
    """Find the delay of the commands.

    Parameters
    ----------
    record : Record
        With a command for every state.
    sweeps : sequence of (float, float)
        For each joint when it trembled, from the motion's begin [s].
    begin : float
        Stamp of the motion's begin [s].
    """
    period = float(np.median(np.diff(record.times)))
    by_joint = np.full(len(sweeps), np.nan)
    for joint, (first, last) in enumerate(sweeps):
        early, late = (begin + first + part * (last - first) for part in FIT.sweep_part)
        chosen = (record.times >= early) & (record.times < late)
        times = record.times[chosen] - early
        delay = _joint_delay(times, record.position[chosen, joint], record.command[chosen, joint])
        by_joint[joint] = delay - 0.5 * period
    found = by_joint[np.isfinite(by_joint)]
    if not found.size:
        return FoundDelay(math.nan, math.nan, by_joint)
    deviation = math.nan
    if found.size > 1:
        # Of a median, by the median distance from it: one joint that errs does not count.
        spread = 1.48 * float(np.median(np.abs(found - np.median(found))))
        deviation = 1.25 * spread / math.sqrt(found.size)
    return FoundDelay(float(np.median(found)), deviation, by_joint)


def _joint_delay(times: FloatArray, position: FloatArray, command: FloatArray) -> float:
    """Return the delay that one joint tells; NaN where it tells none."""
    if times.size < FIT.fewest_of_sweep or not np.isfinite(command).all():
        return math.nan
    amplitudes = [_tremble_of(times, values) for values in (position, command)]
    rates = 2.0 * np.pi * np.array([frequency for frequency, _ in TREMBLES])
    moved, sent = amplitudes
    speed = np.abs(np.gradient(_smoothed(position), times))
    if np.quantile(speed, 0.05) < FIT.slowest_share * speed.mean() or not np.abs(sent).all():
        return math.nan
    columns = np.column_stack([-(rates**2) * moved, 1j * rates * moved]) / np.abs(sent)[:, None]
    matrix = np.vstack([columns.real, columns.imag])
    best, delay = math.inf, math.nan
    for tried in np.arange(0.0, FIT.longest_delay, FIT.delay_step):
        late = sent / np.abs(sent) * np.exp(-1j * rates * tried)
        target = np.concatenate([late.real, late.imag])
        found = np.linalg.lstsq(matrix, target, rcond=None)[0]
        rest = math.sqrt(float(np.mean((target - matrix @ found) ** 2)) * 2.0)
        if rest < best and found[0] > 0.0:
            best, delay = rest, float(tried)
    return delay if best <= FIT.largest_misfit else math.nan


def _tremble_of(times: FloatArray, values: FloatArray) -> ComplexArray:
    """Return the complex amplitudes of the tremble, shape (frequencies,)."""
    place = 2.0 * times / times[-1] - 1.0
    columns = [np.polynomial.polynomial.polyvander(place, FIT.slow_degree)]
    overtones = {2.0 * frequency for frequency, _ in TREMBLES}
    for frequency in (*(frequency for frequency, _ in TREMBLES), *sorted(overtones)):
        angle = 2.0 * np.pi * frequency * times
        columns.append(np.column_stack([np.cos(angle), np.sin(angle)]))
    found = np.linalg.lstsq(np.column_stack(columns), values, rcond=None)[0]
    pairs = found[FIT.slow_degree + 1 :].reshape(-1, 2)[: len(TREMBLES)]
    return np.asarray(pairs[:, 0] - 1j * pairs[:, 1])


def _smoothed(values: FloatArray, width: int = 11) -> FloatArray:
    """Return the running mean; the ends are repeated."""
    padded = np.pad(values, width // 2, mode='edge')
    return np.convolve(padded, np.ones(width) / width, mode='valid')
