"""A constant rotation as three turns about coordinate axes."""

from __future__ import annotations

import math

from ne_dynamics.model.robot import FloatArray

ROUNDING = 2.0**-52
"""A sine up to this is the rounding of a rotation matrix, whatever the tolerance."""

Pair = tuple[float, float]
"""Cosine and sine of a constant angle."""


def split_rotation(rotation: FloatArray) -> tuple[Pair, Pair, Pair]:
    """Split a rotation into Rz(turn) Rx(twist) Rz(spin).

    The product is the rotation to rounding, also where a small twist leaves the turn uncertain.

    Parameters
    ----------
    rotation : array, shape (3, 3)

    Returns
    -------
    turn, twist, spin : tuple of 2 float
        Cosine and sine of each. The sine of the twist is not negative; where it is zero the turn
        is (1, 0).
    """
    # The last column of the product is (sin turn sin twist, -cos turn sin twist, cos twist).
    # Turn and twist are both read there, and from no other entry: where the column is zero to
    # rounding, the last row may hold other rounding.
    x, y = float(rotation[0, 2]), float(rotation[1, 2])
    sine = math.hypot(x, y)
    if sine <= ROUNDING:
        twist = math.copysign(1.0, float(rotation[2, 2])), 0.0
        return (1.0, 0.0), twist, split_spin(rotation, (1.0, 0.0))
    turn = _normalize_pair(-y, x)
    return turn, _normalize_pair(float(rotation[2, 2]), sine), split_spin(rotation, turn)


def split_spin(rotation: FloatArray, turn: Pair) -> Pair:
    """Return the spin of a rotation that goes with a turn.

    Of a small twist the turn is uncertain; the spin, read after the turn as it was taken, makes
    up for it.
    """
    # The first row of Rz(-turn) R is (cos spin, -sin spin, 0).
    c, s = turn
    return _normalize_pair(
        float(c * rotation[0, 0] + s * rotation[1, 0]),
        -float(c * rotation[0, 1] + s * rotation[1, 1]),
    )


def _normalize_pair(cosine: float, sine: float) -> Pair:
    norm = math.hypot(cosine, sine)
    return cosine / norm + 0.0, sine / norm + 0.0  # no -0.0, for whoever reads it
