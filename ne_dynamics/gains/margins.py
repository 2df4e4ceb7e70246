"""How far sampled loops are from the edge of stability.

Of all joints at once: the eigenvalues of the open loop (its characteristic loci; MacFarlane and
Postlethwaite 1977). The phase margin is the lag, the same in all joints, that the loop does not
bear any more, the gain margin a factor of all gains. Of one joint, the others closed: the loop
opened at its effort alone, 1 / [(I + L)^-1]_jj - 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.gains.loop import ComplexArray
from ne_dynamics.gains.thresholds import GAIN_SEARCH
from ne_dynamics.json_numbers import as_json_numbers
from ne_dynamics.model.rigid_body import FloatArray


class Margins(NamedTuple):
    """Margins of loops; infinite where nothing crosses over.

    Attributes
    ----------
    phase : array
        [degrees]
    gain : array
        Factor by which the gains may be larger.
    reduction : array
        Factor by which they may be smaller: less, and an arm falls that stands upright.
    delay : array
        That the loop bears beside what it has [s].
    crossover : array
        Highest frequency at which it has the gain 1 [rad/s]; 0 where none.
    """

    phase: FloatArray
    gain: FloatArray
    reduction: FloatArray
    delay: FloatArray
    crossover: FloatArray

    def as_json(self) -> dict[str, Any]:
        """Return them as data for JSON, without numbers that are not finite."""
        return {key: as_json_numbers(value) for key, value in self._asdict().items()}

    def worst(self) -> Margins:
        """Return the smallest of the first axis, and the highest crossover."""
        return _least(self, 0)


def _least(margins: Margins, axis: int) -> Margins:
    phase, gain, reduction, delay = (part.min(axis=axis) for part in margins[:4])
    return Margins(phase, gain, reduction, delay, margins.crossover.max(axis=axis))


def find_margins(
    response: ComplexArray, at: FloatArray, rest: ComplexArray | FloatArray | None = None
) -> Margins:
    """Return the margins of scalar loops from their response, shape (..., F), to frequencies.

    These increase, shape (F,) [rad/s]. The response at 0 Hz, where a locus ends, of shape (...),
    is omitted where it is infinite.
    """
    size = np.maximum(np.abs(response), np.finfo(np.float64).tiny)
    level = np.log(size)
    # Phase above -180 degrees; between two frequencies it goes the short way round.
    phase = np.angle(-response)
    turn = np.angle(
        response[..., 1:] / np.where(response[..., :-1] == 0.0, 1.0, response[..., :-1])
    )
    before, after = level[..., :-1], level[..., 1:]
    crosses = (before > 0.0) != (after > 0.0)
    part = np.where(crosses, before / np.where(before == after, 1.0, before - after), 0.0)
    lead = np.angle(np.exp(1j * (phase[..., :-1] + part * turn)))
    ratio = np.log(at[1:] / at[:-1])
    rate = at[:-1] * np.exp(part * ratio)
    phase_margin = np.where(crosses, np.abs(lead), np.inf).min(axis=-1)
    # A lag takes the lead away; where the phase is beyond -180 it has to go round.
    room = np.where(lead >= 0.0, lead, lead + 2.0 * np.pi)
    delay = np.where(crosses, room / rate, np.inf).min(axis=-1)
    crossover = np.where(crosses, rate, 0.0).max(axis=-1)

    sign_before, sign_after = np.sin(phase[..., :-1]), np.sin(phase[..., :-1] + turn)
    near = np.cos(phase[..., :-1] + 0.5 * turn) > 0.0
    passes = ((sign_before > 0.0) != (sign_after > 0.0)) & near
    share = np.where(
        passes,
        sign_before / np.where(sign_before == sign_after, 1.0, sign_before - sign_after),
        0.0,
    )
    there = before + share * (after - before)
    gain = np.exp(np.where(passes & (there < 0.0), -there, np.inf).min(axis=-1))
    reduction = np.exp(np.where(passes & (there >= 0.0), there, np.inf).min(axis=-1))
    # At the half of the rate a sampled loop is real: what is on the negative axis counts.
    last = response[..., -1]
    ends = (last.real < 0.0) & (np.abs(last.imag) < 0.05 * np.abs(last.real))
    gain = np.minimum(gain, _grow_to_edge(np.abs(last), ends))
    if rest is not None:
        size = np.abs(rest)
        falls = (rest.real < 0.0) & (np.abs(rest.imag) <= GAIN_SEARCH.real_share * size)
        # Beyond -1 the feedback carries the arm; before it, more of it would.
        reduction = np.minimum(reduction, np.where(falls & (size >= 1.0), size, np.inf))
        gain = np.minimum(gain, _grow_to_edge(size, falls))
    return Margins(np.degrees(phase_margin), gain, reduction, delay, crossover)


def _grow_to_edge(size: FloatArray, is_negative: NDArray[np.bool_]) -> FloatArray:
    """Return the factor of gains that takes the end of a locus, from within, to -1."""
    grown = 1.0 / np.maximum(size, np.finfo(np.float64).tiny)
    return np.where(is_negative & (size < 1.0), grown, np.inf)


def margins_of_all(loop: ComplexArray, at: FloatArray, rest: FloatArray | None = None) -> Margins:
    """Return the margins of all joints at once, arrays of shape (B,).

    Of loops of shape (B, F, n, n) at frequencies [rad/s]; at 0 Hz of shape (B, n, n), omitted
    where that is infinite.
    """
    values = np.asarray(np.linalg.eigvals(loop), dtype=np.complex128)
    order = np.argsort(np.abs(values), axis=-1)
    loci: ComplexArray = np.moveaxis(np.take_along_axis(values, order, axis=-1), -1, 1)
    ends = None if rest is None else np.asarray(np.linalg.eigvals(rest), dtype=np.complex128)
    each = find_margins(loci, at, ends)
    return _least(each, 1)


def margins_of_joints(
    loop: ComplexArray, at: FloatArray, rest: FloatArray | None = None
) -> Margins:
    """Return the margins of each joint with the others closed, arrays of shape (B, n).

    Parameters are those of :func:`margins_of_all`.
    """
    opened = np.moveaxis(_open_each(loop), -1, 1)
    return find_margins(opened, at, None if rest is None else _open_each(rest))


def _open_each(loop: ComplexArray | FloatArray) -> ComplexArray:
    """Return what each joint meets while the others are closed, shape (..., n)."""
    inverse = np.asarray(np.linalg.inv(np.eye(loop.shape[-1]) + loop), dtype=np.complex128)
    opened: ComplexArray = 1.0 / np.diagonal(inverse, axis1=-2, axis2=-1) - 1.0
    return opened
