"""What the Newton-Euler forms in standard frames share: rates outward, efforts inward.

Sources: 001 (3.15-3.21), which are 000 (2.31-2.39) and 003 (3.21-3.27). Everything of link i is in
frame i. Between the two passes a form computes the force and the moment of each link by equations
of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.base_state import BaseState
from ne_dynamics.papers.forms.formulation import Request
from ne_dynamics.papers.forms.frames import (
    multiply_transposed,
    standard_link_vector,
    standard_rotation,
)
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar


class LinkShare(NamedTuple):
    """What the inward pass takes of link i, in frame i.

    Attributes
    ----------
    rotation : matrix
        R_{i-1}^i.
    vector, lever : vector
        r_i, and r_i + rbar_i, from the origin of frame i-1 to the mass centre [m].
    force, moment : vector
        F_i [N], and N_i about the mass centre [N m].
    """

    rotation: Matrix
    vector: Vector
    lever: Vector
    force: Vector
    moment: Vector


def carry_outward(
    request: Request, index: int, before: BaseState
) -> tuple[Matrix, Vector, BaseState]:
    """Return where link i is and what it takes over from link i-1.

    Parameters
    ----------
    request : Request
    index : int
        Of the joint, from 0.
    before : BaseState
        The motion of frame i-1, in its axes.

    Returns
    -------
    rotation : matrix
        R_{i-1}^i.
    vector : vector
        r_i in frame i [m].
    state : BaseState
        In frame i: the link's own angular velocity and acceleration, and the acceleration of the
        origin of frame i-1 as a point of the link, where the part of r_i is still to come.
    """
    term, number = request.bookkeeping
    link, position = request.arm.links[index], request.q[index]
    rate, acceleration = request.qd[index], request.qdd[index]
    term('R_i')
    rotation = standard_rotation(link, position, number)
    r = standard_link_vector(link, position)
    w, alpha, a = before
    if link.is_prismatic:
        term('omega_i')
        # 000 (2.31), sliding.
        w = multiply_transposed(rotation, w)
        term('alpha_i')
        # 000 (2.32), sliding.
        alpha = multiply_transposed(rotation, alpha)
        term('a_i')
        # 000 (2.33), sliding: e_i qdd before the rotation, 2 w x (R e_i qd) after it.
        a = multiply_transposed(rotation, [a[0], a[1], a[2] + acceleration])
        a = add(a, cross(w, scale(rate + rate, rotation[2])))
        return rotation, r, BaseState(w, alpha, a)
    term('omega_i')
    # 001 (3.15).
    turned = multiply_transposed(rotation, [w[0], w[1], w[2] + rate])
    term('alpha_i')
    # 001 (3.16). ERRATUM: the scan has w_i; it is w_{i-1} x z_{i-1} qd, in frame i-1.
    alpha = multiply_transposed(
        rotation,
        [alpha[0] + w[1] * rate, alpha[1] - w[0] * rate, alpha[2] + acceleration],
    )
    term('a_i')
    return rotation, r, BaseState(turned, alpha, multiply_transposed(rotation, a))


def sum_inward(request: Request, shares: list[LinkShare], lever_term: str) -> list[Scalar]:
    """Return the joint efforts, from the tip to the base: 001 (3.19)-(3.21), and of (5.1), (5.2).

    `lever_term` is how the document's table calls the moment of F_i about the origin of frame i-1.
    """
    arm = request.arm
    term, _ = request.bookkeeping
    force, moment = request.find_tip_load()
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        rotation, r, lever, f, own = shares[index]
        term(lever_term)
        # 001 (3.20), (5.2) without the outer link; m_i abar_i is the F_i of (3.19).
        lever_moment = cross(lever, f)
        term('add n')
        n = add(own, lever_moment)
        if force is not None:
            term('r_i x R f')
            # 001 (3.20), (5.2): what the outer link hands inward, already in frame i. ERRATUM:
            # (5.2) prints n_i in its fourth term; it is n_{i+1}.
            outer = cross(r, force)
            term('add n')
            n = add(add(n, outer), moment)
            term('f_i')
            # 001 (3.19), and the last term of (5.1).
            f = add(f, force)
        term('tau_i')
        # 001 (3.21), 000 (2.39): R_i^{i-1} z_{i-1} is the last row of R_{i-1}^i.
        efforts.append(dot(rotation[2], f if arm.links[index].is_prismatic else n))
        if index > 0:
            # The products R_i^{i+1} f_{i+1} and R_i^{i+1} n_{i+1} of (3.19), (3.20), (5.1), (5.2).
            term('f_i')
            force = multiply(rotation, f)
            term('R n')
            moment = multiply(rotation, n)
    return request.add_friction(efforts[::-1])
