"""The recursive Newton-Euler form of Luh, Walker and Paul (1980).

Sources: 001 (3.15-3.21), which are 000 (2.31-2.39) and 003 (3.21-3.27). 001 and 003 write them for
joints that turn; the lines for joints that slide and the viscous friction are those of 000.
Standard Denavit-Hartenberg frames; everything of link i is in frame i.

The option `relative_acceleration` says how ``w x (w x b) + alpha x b`` is formed, see
:mod:`ne_dynamics.papers.forms.relative_acceleration`: the authors count ways that differ from what
they write. Terms are named by the rows of 001 table 3 and 003 table 2.
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers, with_viscous_friction
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import (
    multiply_transposed,
    standard_link_vector,
    standard_rotation,
)
from ne_dynamics.papers.forms.generic_scalars import Scalar
from ne_dynamics.papers.forms.relative_acceleration import prepare_relative_acceleration

DOCUMENT = '001, Turney, Mudge and Lee 1980; 000, Sasaki 1990; 003, Lee et al.'
EQUATIONS = '001 (3.15)-(3.21); 000 (2.31)-(2.39); 003 (3.21)-(3.27)'
COVERS = Covers(convention='standard', moving_base=True, added=('moving_base',))


def compute_efforts(
    request: Request, relative_acceleration: str = 'cross_products'
) -> list[Scalar]:
    """Return the joint efforts that a motion takes.

    Parameters
    ----------
    request : Request
    relative_acceleration : str
        One of :data:`~ne_dynamics.papers.forms.relative_acceleration.WAYS`.

    Raises
    ------
    InputError
        When the way is unknown.
    """
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    term, number = request.bookkeeping()
    w, alpha, a = compute_base_state(request)
    rotations = []
    vectors = []
    forces: list[Vector] = []
    moments: list[Vector] = []
    for link, position, rate, acceleration in zip(arm.links, q, qd, qdd, strict=True):
        term('R_i')
        rotation = standard_rotation(link, position, number)
        r = standard_link_vector(link, position)
        rotations.append(rotation)
        vectors.append(r)
        w_before, a_before = w, a
        if link.is_prismatic:
            term('omega_i')
            # 000 (2.31), sliding.
            w = multiply_transposed(rotation, w_before)
            term('alpha_i')
            # 000 (2.32), sliding.
            alpha = multiply_transposed(rotation, alpha)
            term('a_i')
            # 000 (2.33), sliding: e_i qdd before the rotation, 2 w x (R e_i qd) after it.
            a = multiply_transposed(
                rotation, [a_before[0], a_before[1], a_before[2] + acceleration]
            )
            a = add(a, cross(w, scale(rate + rate, rotation[2])))
        else:
            term('omega_i')
            # 001 (3.15).
            w = multiply_transposed(rotation, [w_before[0], w_before[1], w_before[2] + rate])
            term('alpha_i')
            # 001 (3.16). ERRATUM: the scan has w_i; it is w_{i-1} x z_{i-1} qd, in frame i-1.
            alpha = multiply_transposed(
                rotation,
                [
                    alpha[0] + w_before[1] * rate,
                    alpha[1] - w_before[0] * rate,
                    alpha[2] + acceleration,
                ],
            )
            term('a_i')
            a = multiply_transposed(rotation, a_before)
        relative = prepare_relative_acceleration(relative_acceleration, w, alpha, term)
        term('a_i')
        # 001 (3.17).
        a = add(relative(r), a)
        term('abar_i')
        # 001 (3.18). ERRATUM: the scan has r_i; the vector is rbar_i, to the mass centre.
        a_com = add(relative(link.center_of_mass), a)
        term('F_i')
        # 000 (2.35), the first part of 001 (3.19).
        forces.append(scale(link.mass, a_com))
        # 000 (2.36), the first part of 001 (3.20).
        term('I_i alpha_i')
        change = multiply(link.tensor, alpha)
        term('omega_i x (I_i omega_i)')
        gyroscopic = cross(w, multiply(link.tensor, w))
        term('N_i')
        moments.append(add(change, gyroscopic))

    force: Vector | None = None
    moment: Vector = []
    if request.wrench is not None:
        term('wrench')
        force, moment = arm.tip_load(request.wrench)
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        link, rotation, r = arm.links[index], rotations[index], vectors[index]
        inertial = forces[index]
        term('m (r_i + rbar_i) x abar_i')
        # A constant for a joint that turns.
        lever = add(link.center_of_mass, r)
        # 001 (3.20) without the outer link; m_i abar_i is the F_i of (3.19).
        lever_moment = cross(lever, inertial)
        term('add n')
        n = add(moments[index], lever_moment)
        if force is not None:
            term('r_i x R f')
            # 001 (3.20): what the outer link hands inward, already in frame i.
            outer = cross(r, force)
            term('add n')
            n = add(add(n, outer), moment)
            term('f_i')
            # 001 (3.19).
            inertial = add(inertial, force)
        term('tau_i')
        # 001 (3.21), 000 (2.39): R_i^{i-1} z_{i-1} is the last row of R_{i-1}^i.
        efforts.append(dot(rotation[2], inertial if link.is_prismatic else n))
        if index > 0:
            # The products R_i^{i+1} f_{i+1} and R_i^{i+1} n_{i+1} of (3.19) and (3.20).
            term('f_i')
            force = multiply(rotation, inertial)
            term('R n')
            moment = multiply(rotation, n)
    term('friction')
    # 000 (2.39): b_i qd_i.
    return with_viscous_friction(arm, efforts[::-1], qd)


FORM = Formulation('luh_walker_paul', DOCUMENT, EQUATIONS, COVERS, compute_efforts)
inverse_dynamics = FORM.inverse_dynamics
