"""Three ways to form ``w x (w x b) + alpha x b``, which cost differently.

What a vector b fixed in a link adds to an acceleration. The documents write it with cross products
and count it in other ways: 001 table 3 with the matrix A_i of its section 5, built once a link,
003 table 2 with identity (1.20) of 001, whose ``w . w`` is formed once a link.
"""

from __future__ import annotations

from collections.abc import Callable

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.errors import InputError
from ne_dynamics.papers.forms.frames import subtract
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalars

RelativeAcceleration = Callable[[Scalars], Vector]
"""From a vector b of a link to ``w x (w x b) + alpha x b``."""

WAYS = ('cross_products', 'matrix', 'scalar_products')


def angular_matrix(w: Scalars, alpha: Scalars) -> Matrix:
    """Return A_i of 001 section 5, with ``A_i b = w x (w x b) + alpha x b``, rows."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return [
        [-(yy + zz), xy - alpha[2], xz + alpha[1]],
        [xy + alpha[2], -(zz + xx), yz - alpha[0]],
        # ERRATUM: the scan prints alpha_z in the middle; it is alpha_x.
        [xz - alpha[1], yz + alpha[0], -(xx + yy)],
    ]


def prepare_relative_acceleration(
    way: str, w: Scalars, alpha: Scalars, term: Callable[[str], None]
) -> RelativeAcceleration:
    """Return the map ``b -> w x (w x b) + alpha x b`` of one link.

    Parameters
    ----------
    way : str
        One of :data:`WAYS`.
    w, alpha : sequence of 3 scalars
        Angular velocity [rad/s] and acceleration [rad/s^2], in the link's frame.
    term : callable
        Of the bookkeeping; what is formed once a link is entered under the row it has in the
        documents.

    Raises
    ------
    InputError
        When the way is unknown.
    """
    if way == 'cross_products':
        return lambda b: add(cross(w, cross(w, b)), cross(alpha, b))
    if way == 'matrix':
        term('A_i')
        matrix = angular_matrix(w, alpha)
        return lambda b: multiply(matrix, b)
    if way == 'scalar_products':
        term('a_i')
        square = dot(w, w)
        # 001 (1.20): w x (w x b) = w (w . b) - b (w . w).
        return lambda b: add(subtract(scale(dot(w, b), w), scale(square, b)), cross(alpha, b))
    raise InputError(f'relative_acceleration: expected one of {", ".join(WAYS)}, got {way!r}')
