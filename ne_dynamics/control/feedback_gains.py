"""Gains of position and velocity errors, as they are given and as laws use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.gain_conditions import find_broken_conditions
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.rigid_body import FloatArray


def gain_matrix(value: ArrayLike, n: int, name: str) -> FloatArray:
    """Return a gain in its shortest form, shape (), (n,) or (n, n), checked and frozen.

    Parameters
    ----------
    value : array-like, shape (), (1,), (n,), (n * n,) or (n, n)
        One gain for all joints, one a joint (a diagonal matrix), or the full matrix (row-major
        when flat).
    n : int
        Number of joints.
    name : str
        For the error message.

    Raises
    ------
    ParameterError
        When the length fits none of these, a value is not finite, or the diagonal is negative.
    """
    try:
        gain = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f'{name}: expected numbers, got {value!r}') from error
    if gain.size == 1:
        gain = gain.reshape(())
    elif gain.shape == (n * n,):
        gain = gain.reshape(n, n)
    elif gain.shape not in ((n,), (n, n)):
        raise ParameterError(
            f'{name}: expected 1, {n} or {n * n} values (one for all, one per joint, or the full '
            f'matrix by rows), got {gain.size}'
        )
    if not np.isfinite(gain).all():
        raise ParameterError(f'{name}: expected finite numbers, got {gain.tolist()}')
    diagonal = np.diagonal(gain) if gain.ndim == 2 else gain
    if (diagonal < 0.0).any():
        raise ParameterError(f'{name}: expected gains >= 0, got {diagonal.tolist()}')
    gain.setflags(write=False)
    return gain


@dataclass(frozen=True, eq=False)
class Gains:
    """Feedback gains Kp and Kv, each scalar, diagonal or full.

    In mode computed_torque they are accelerations per error [1/s^2, 1/s]; in feedforward_pd,
    efforts per error [N m/rad, N m s/rad].

    Attributes
    ----------
    kp, kv : array, shape (), (n,) or (n, n)
    """

    kp: FloatArray
    kv: FloatArray

    @classmethod
    def from_values(cls, kp: ArrayLike, kv: ArrayLike, n: int, name: str = 'gains') -> Gains:
        """Return checked gains; see :func:`gain_matrix` for the accepted shapes.

        Raises
        ------
        ParameterError
            When a gain is invalid; the message names ``<name>.kp`` or ``<name>.kv``.
        """
        return cls(gain_matrix(kp, n, f'{name}.kp'), gain_matrix(kv, n, f'{name}.kv'))

    def remarks(self, name: str = 'gains', joint_names: Sequence[str] | None = None) -> list[str]:
        """Return remarks on gains that are valid but may not be intended, one sentence each.

        They concern gains of zero, and gains that do not meet the conditions for a vanishing
        error; see :mod:`ne_dynamics.algorithms.gain_conditions`. Both are allowed: feed-forward
        alone needs no gains, and a joint may be controlled by others.

        Parameters
        ----------
        name : str
            Name of the gains, for the sentences.
        joint_names : sequence of n str, optional
            In the order of the gains.
        """
        n = max((len(gain) for gain in (self.kp, self.kv) if gain.ndim), default=1)
        broken = find_broken_conditions(as_matrix(self.kp, n), as_matrix(self.kv, n), joint_names)
        found = []
        for key, gain in (('kp', self.kp), ('kv', self.kv)):
            if not gain.any():
                found.append(f'{name}.{key} is zero: no feedback from that error')
                continue
            found += [f'{name}.{key} {each.reason}' for each in broken if each.gain == key]
        return found


def as_matrix(gain: FloatArray, n: int) -> FloatArray:
    """Return a gain in any form as its full matrix, shape (n, n)."""
    return gain if gain.ndim == 2 else np.diag(np.broadcast_to(gain, n))
