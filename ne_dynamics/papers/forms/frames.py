"""Rotations and link vectors of one Denavit-Hartenberg row, over generic scalars.

R_{i-1}^i maps a vector of frame i to the axes of frame i-1. Angles of constant rows are exact at
quarter turns. Constants that stand in an array beside changing numbers go through `number`, see
:class:`~ne_dynamics.papers.forms.bookkeeping.Bookkeeping`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.scalars.elementary import cos, sin
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import DHLink, cosine_sine
from ne_dynamics.papers.forms.generic_scalars import ConstantMaker, Matrix, Scalar, Scalars


def joint_cosine_sine(
    link: DHLink, q: Scalar, number: ConstantMaker = float
) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of the angle about z."""
    if link.is_prismatic:
        cosine, sine = cosine_sine(link.constant_angle)
        return number(cosine), number(sine)
    angle = q if link.constant_angle == 0.0 else q + link.constant_angle
    return cos(angle), sin(angle)


def joint_shift(link: DHLink, q: Scalar) -> Scalar:
    """Return the shift along z [m]."""
    if not link.is_prismatic:
        return link.constant_shift
    return q if link.constant_shift == 0.0 else q + link.constant_shift


def standard_rotation(link: DHLink, q: Scalar, number: ConstantMaker = float) -> Matrix:
    """Return R_{i-1}^i of the standard convention (001 1.10, 000 2.30, 003 2.1), rows."""
    c, s = joint_cosine_sine(link, q, number)
    ca, sa = link.cos_sin_alpha
    return [
        [c, -(ca * s), sa * s],
        [s, ca * c, -(sa * c)],
        [number(0.0), number(sa), number(ca)],
    ]


def standard_link_vector(link: DHLink, q: Scalar) -> Vector:
    """Return r_i, from the origin of frame i-1 to that of frame i, in frame i (000 3.18)."""
    ca, sa = link.cos_sin_alpha
    d = joint_shift(link, q)
    return [link.a, d * sa, d * ca]


def modified_rotation(link: DHLink, q: Scalar, number: ConstantMaker = float) -> Matrix:
    """Return the rotation from frame i to frame i-1 of the modified convention, rows."""
    c, s = joint_cosine_sine(link, q, number)
    ca, sa = link.cos_sin_alpha
    return [
        [c, -s, number(0.0)],
        [s * ca, c * ca, number(-sa)],
        [s * sa, c * sa, number(ca)],
    ]


def modified_position(link: DHLink, q: Scalar) -> Vector:
    """Return the origin of frame i in frame i-1 of the modified convention."""
    ca, sa = link.cos_sin_alpha
    d = joint_shift(link, q)
    return [link.a, -(sa * d), ca * d]


def multiply_transposed(matrix: Sequence[Scalars], a: Scalars) -> Vector:
    """Return the product of the transpose of a 3x3 matrix (rows) and a vector."""
    return [row[0] * a[0] + row[1] * a[1] + row[2] * a[2] for row in zip(*matrix, strict=True)]


def subtract(a: Scalars, b: Scalars) -> Vector:
    """Return a - b."""
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
