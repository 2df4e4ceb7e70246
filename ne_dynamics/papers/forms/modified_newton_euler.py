"""The modified Newton-Euler form of Turney, Mudge and Lee (1980), section 5.

Source: 001 (5.1-5.2) in place of (3.19-3.20), the rest as in (3.15-3.21). The matrix A_i gathers
``w x (w x b) + alpha x b`` for any vector b of link i, and K_i the mass distribution about the
centre of mass. Standard Denavit-Hartenberg frames; everything of link i is in frame i. Sliding
joints and viscous friction are those of 000 (2.31-2.39); inertia tensors are general ones.
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import add, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import DHLink
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar
from ne_dynamics.papers.forms.relative_acceleration import angular_matrix
from ne_dynamics.papers.forms.standard_recursion import LinkShare, carry_outward, sum_inward


def central_moments(link: DHLink) -> list[list[float]]:
    """Return K_i, rows [kg m^2].

    ERRATUM: the text puts it about the origin of frame i-1. The matrix as printed, and what
    makes (5.2) true, is about the centre of mass: half the trace of I_i less I_i. The document
    takes principal axes; the entries beside the diagonal here are those of a general tensor.
    """
    tensor = link.tensor
    half_trace = 0.5 * (tensor[0][0] + tensor[1][1] + tensor[2][2])
    return [
        [(half_trace if row == column else 0.0) - tensor[row][column] for column in range(3)]
        for row in range(3)
    ]


def central_moment(matrix: Matrix, link: DHLink) -> Vector:
    """Return ``Tr{A_i K_i sigma^t}``, the moment about the centre of mass, of 001 (5.2).

    ERRATUM: the text names (A K)_yz - (A K)_zy as its x component; the trace with sigma_x of
    (1.7) is (A K)_zy - (A K)_yz, and so for the other two.
    """
    k = central_moments(link)
    if link.has_principal_axes:
        return [
            matrix[2][1] * k[1][1] - matrix[1][2] * k[2][2],
            matrix[0][2] * k[2][2] - matrix[2][0] * k[0][0],
            matrix[1][0] * k[0][0] - matrix[0][1] * k[1][1],
        ]
    return [
        dot(matrix[2], k[1]) - dot(matrix[1], k[2]),
        dot(matrix[0], k[2]) - dot(matrix[2], k[0]),
        dot(matrix[1], k[0]) - dot(matrix[0], k[1]),
    ]


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint efforts that a motion takes."""
    term, _ = request.bookkeeping
    state = compute_base_state(request)
    shares = []
    for index, link in enumerate(request.arm.links):
        # With the product R_i^{i-1} a_{i-1} of both lines of (5.1).
        rotation, r, state = carry_outward(request, index, state)
        term('A_i')
        matrix = angular_matrix(state.w, state.wd)
        # A constant for a joint that turns.
        lever = add(link.center_of_mass, r)
        term('m_i abar_i')
        # 001 (5.1), second line, without the outer link.
        force = scale(link.mass, add(multiply(matrix, lever), state.a))
        term('Tr{A_i K_i sigma^t}')
        # 001 (5.2), first term.
        moment = central_moment(matrix, link)
        shares.append(LinkShare(rotation, r, lever, force, moment))
        if index < request.arm.n - 1:
            term('a_i')
            # 001 (5.1), first line; that of the last link is not used.
            state = state._replace(a=add(multiply(matrix, r), state.a))
    return sum_inward(request, shares, 'm_i (r_i + rbar_i) x abar_i')


FORM = Formulation(
    'modified_newton_euler',
    '001, Turney, Mudge and Lee 1980',
    '001 (3.15)-(3.16), (5.1)-(5.2), (3.21)',
    Covers('standard'),
    compute_efforts,
)
