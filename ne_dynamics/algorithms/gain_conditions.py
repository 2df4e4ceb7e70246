"""Conditions under which every tracking error of the computed-torque law vanishes.

On its own model the law leaves e'' + Kv e' + Kp e = 0 (003, 4.3). By 003, below (4.3), e goes to
zero when

(a) Kv is symmetric and non-negative definite,
(b) Kp is symmetric and positive definite,
(c) the rank of [Kv | Kp Kv | ... | Kp^(n-1) Kv] is n: no oscillation is left undamped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray

ROUNDING = 1e-12
"""Share of the largest entry that counts as zero."""

RANK_ROUNDING = 1e-9
"""Singular values up to this share of the largest entry are lost rank."""

SMALLEST_PART = 1e-6
"""A joint whose share in a direction of length 1 is larger takes part in it."""


class BrokenCondition(NamedTuple):
    """A condition that does not hold.

    Attributes
    ----------
    gain : str
        ``'kp'`` or ``'kv'``: the matrix to look at.
    condition : str
        ``'a'``, ``'b'`` or ``'c'``.
    reason : str
        What is wrong with the matrix, as the end of a sentence that begins with its name.
    """

    gain: str
    condition: str
    reason: str


def find_broken_conditions(
    kp: FloatArray, kv: FloatArray, joint_names: Sequence[str] | None = None
) -> list[BrokenCondition]:
    """Return the conditions (a) to (c) that two gain matrices do not meet.

    Parameters
    ----------
    kp, kv : array, shape (n, n)
        Finite numbers [1/s^2] and [1/s].
    joint_names : sequence of n str, optional
        For the reasons; joints are numbered from 1 when omitted.

    Returns
    -------
    list of BrokenCondition
        Empty when all hold. A matrix that is not symmetric is judged by its symmetric part.
    """
    names = [f'joint {i + 1}' for i in range(len(kp))] if joint_names is None else joint_names
    broken = []
    for gain, matrix, condition in (('kp', kp, 'b'), ('kv', kv, 'a')):
        reasons = [
            *_asymmetry(matrix, names),
            *_definiteness(matrix, names, strictly=gain == 'kp'),
        ]
        broken += [BrokenCondition(gain, condition, reason) for reason in reasons]
    undamped = _undamped_joints(kp, kv)
    if undamped:
        reason = f'damps no oscillation of {_listed(names, undamped)}'
        broken.append(BrokenCondition('kv', 'c', reason))
    return broken


def _asymmetry(matrix: FloatArray, names: Sequence[str]) -> list[str]:
    scaled, _ = _scaled(matrix)
    difference = np.abs(scaled - scaled.T)
    if difference.max() <= ROUNDING:
        return []
    row, column = (int(i) for i in np.unravel_index(difference.argmax(), difference.shape))
    return [
        f'is not symmetric ({matrix[row, column]:g} for {names[row]} by {names[column]}, '
        f'{matrix[column, row]:g} for {names[column]} by {names[row]})'
    ]


def _definiteness(matrix: FloatArray, names: Sequence[str], strictly: bool) -> list[str]:
    scaled, largest = _scaled(matrix)
    values, vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
    if values[0] < -ROUNDING:
        return [
            'is not positive semidefinite (lowest eigenvalue of its symmetric part '
            f'{values[0] * largest:.3g}): the loop may be unstable'
        ]
    if strictly and values[0] <= ROUNDING:
        joints = _taking_part(vectors[:, values <= ROUNDING])
        return [
            'is not positive definite (lowest eigenvalue of its symmetric part 0): an error of '
            f'{_listed(names, joints)} may stay'
        ]
    return []


def _undamped_joints(kp: FloatArray, kv: FloatArray) -> list[int]:
    """Return the joints that oscillate in modes which Kv does not damp, by condition (c).

    The rank is n exactly when [Kp - x 1 | Kv] has full rank for every eigenvalue x of Kp: no
    vector u has u^t Kp = x u^t and u^t Kv = 0. Powers of Kp would lose the rank in rounding.
    """
    if all(np.array_equal(gain, np.diag(np.diagonal(gain))) for gain in (kp, kv)):
        # Each joint by itself, however different their gains.
        return np.flatnonzero(np.diagonal(kv) == 0.0).tolist()
    stiffness, damping = _scaled(kp)[0], _scaled(kv)[0]
    found: set[int] = set()
    for value in np.linalg.eigvals(stiffness):
        shifted = stiffness - value * np.eye(len(kp))
        left, singular, _ = np.linalg.svd(np.hstack((shifted, damping)))
        found |= set(_taking_part(left[:, singular <= RANK_ROUNDING]))
    return sorted(found)


def _scaled(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Return a matrix with 1 for its largest entry, and that entry; no sum overflows then."""
    largest = float(np.abs(matrix).max())
    return (matrix / largest, largest) if largest > 0.0 else (matrix, 1.0)


def _taking_part(directions: FloatArray) -> list[int]:
    """Return the joints that move in one of some directions, the columns."""
    return np.flatnonzero((np.abs(directions) > SMALLEST_PART).any(axis=1)).tolist()


def _listed(names: Sequence[str], joints: Iterable[int]) -> str:
    return ', '.join(names[joint] for joint in joints)
