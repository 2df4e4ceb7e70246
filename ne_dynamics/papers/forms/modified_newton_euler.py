"""The modified Newton-Euler form of Turney, Mudge and Lee (1980), section 5.

Source: 001 (5.1-5.2) in place of (3.19-3.20), the rest as in (3.15-3.21). The matrix A_i gathers
``w x (w x b) + alpha x b`` for any vector b of link i, and K_i the mass distribution about the
centre of mass. Standard Denavit-Hartenberg frames; everything of link i is in frame i. Sliding
joints and viscous friction are those of 000 (2.31-2.39).
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import DHLink
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers, with_viscous_friction
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import (
    multiply_transposed,
    standard_link_vector,
    standard_rotation,
)
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar
from ne_dynamics.papers.forms.relative_acceleration import angular_matrix

DOCUMENT = '001, Turney, Mudge and Lee 1980'
EQUATIONS = '001 (3.15)-(3.16), (5.1)-(5.2), (3.21)'
COVERS = Covers(
    convention='standard',
    moving_base=True,
    added=('prismatic', 'products_of_inertia', 'viscous_friction', 'moving_base'),
)


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
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    term, number = request.bookkeeping()
    w, alpha, a = compute_base_state(request)
    rotations = []
    vectors = []
    forces: list[Vector] = []
    moments: list[Vector] = []
    levers: list[Vector] = []
    for index, (link, position, rate, acceleration) in enumerate(
        zip(arm.links, q, qd, qdd, strict=True)
    ):
        term('R_i')
        rotation = standard_rotation(link, position, number)
        r = standard_link_vector(link, position)
        rotations.append(rotation)
        vectors.append(r)
        w_before = w
        if link.is_prismatic:
            term('omega_i')
            # 000 (2.31), sliding.
            w = multiply_transposed(rotation, w_before)
            term('alpha_i')
            # 000 (2.32), sliding.
            alpha = multiply_transposed(rotation, alpha)
            term('a_i')
            # 000 (2.33), sliding, without the terms that (5.1) has in A_i.
            a = multiply_transposed(rotation, [a[0], a[1], a[2] + acceleration])
            a = add(a, cross(w, scale(rate + rate, rotation[2])))
        else:
            term('omega_i')
            # 001 (3.15).
            w = multiply_transposed(rotation, [w_before[0], w_before[1], w_before[2] + rate])
            term('alpha_i')
            # 001 (3.16), with w_{i-1} x z_{i-1} qd as in luh_walker_paul.
            alpha = multiply_transposed(
                rotation,
                [
                    alpha[0] + w_before[1] * rate,
                    alpha[1] - w_before[0] * rate,
                    alpha[2] + acceleration,
                ],
            )
            term('a_i')
            # The product R_i^{i-1} a_{i-1} of both lines of (5.1).
            a = multiply_transposed(rotation, a)
        term('A_i')
        matrix = angular_matrix(w, alpha)
        # A constant for a joint that turns.
        lever = add(link.center_of_mass, r)
        levers.append(lever)
        term('m_i abar_i')
        # 001 (5.1), second line, without the outer link.
        forces.append(scale(link.mass, add(multiply(matrix, lever), a)))
        term('Tr{A_i K_i sigma^t}')
        # 001 (5.2), first term.
        moments.append(central_moment(matrix, link))
        if index < arm.n - 1:
            term('a_i')
            # 001 (5.1), first line; that of the last link is not used.
            a = add(multiply(matrix, r), a)

    force: Vector | None = None
    moment: Vector = []
    if request.wrench is not None:
        term('wrench')
        force, moment = arm.tip_load(request.wrench)
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        link, rotation, r = arm.links[index], rotations[index], vectors[index]
        f = forces[index]
        term('m_i (r_i + rbar_i) x abar_i')
        # 001 (5.2), second term.
        lever_moment = cross(levers[index], f)
        term('add n')
        n = add(moments[index], lever_moment)
        if force is not None:
            term('r_i x R f')
            # 001 (5.2), third term.
            outer = cross(r, force)
            term('add n')
            # 001 (5.2), fourth term. ERRATUM: printed n_i; it is n_{i+1}.
            n = add(add(n, outer), moment)
            term('f_i')
            # 001 (5.1), second line, last term.
            f = add(f, force)
        term('tau_i')
        # 001 (3.21), 000 (2.39).
        efforts.append(dot(rotation[2], f if link.is_prismatic else n))
        if index > 0:
            # The products R_i^{i+1} f_{i+1} and R_i^{i+1} n_{i+1} of (5.1) and (5.2).
            term('f_i')
            force = multiply(rotation, f)
            term('R n')
            moment = multiply(rotation, n)
    term('friction')
    # 000 (2.39): b_i qd_i.
    return with_viscous_friction(arm, efforts[::-1], qd)


FORM = Formulation('modified_newton_euler', DOCUMENT, EQUATIONS, COVERS, compute_efforts)
inverse_dynamics = FORM.inverse_dynamics
