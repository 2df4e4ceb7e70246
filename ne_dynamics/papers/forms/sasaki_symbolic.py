"""The scalar array form of Sasaki (1990): every product written out, array by array.

Source: 000 section 3, (3.1)-(3.48); a local name is that of the document's array, of link i. It is
for joints that turn, for axial moments of inertia only, and for centres of mass half-way back
along the link vector, as (3.26) has them; standard Denavit-Hartenberg frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ne_dynamics.algorithms.scalars.elementary import add, cross, dot, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import (
    multiply_transposed,
    standard_link_vector,
    standard_rotation,
)
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar


class LinkArrays(NamedTuple):
    """What the arrays hold of link i after the outward pass.

    Attributes
    ----------
    a : matrix
        A_{i-1,i}.
    s, ar : vector
        The link vector, and the mass centre from the origin of frame i [m].
    f, an : vector
        Force [N], and moment about the mass centre [N m].
    """

    a: Matrix
    s: Vector
    ar: Sequence[float]
    f: Vector
    an: Vector


def recur_outward(request: Request) -> list[LinkArrays]:
    """Return the force and the moment of every link, (3.1)-(3.37)."""
    arm = request.arm
    term, number = request.bookkeeping
    rotations = []
    term('A')
    for link, position in zip(arm.links, request.q, strict=True):
        # 000 (3.1) with (2.30).
        rotations.append(standard_rotation(link, position, number))
    # 000 (3.4), (3.10): zero, on a base that does not move. Below (3.22): H(3,1) = g when gravity
    # is along z_0.
    b, cx, h = compute_base_state(request)
    links = []
    for link, a, q, rate, acceleration in zip(
        arm.links, rotations, request.q, request.qd, request.qdd, strict=True
    ):
        # 000 (3.18): a_i, d_i eta_i, d_i gamma_i.
        s = standard_link_vector(link, q)
        # 000 (3.26). ERRATUM: printed -1/2 (a c, a s, d), which is in frame i-1.
        ar = link.center_of_mass
        term('B')
        # 000 (3.5)-(3.7).
        before, b = b, multiply_transposed(a, [b[0], b[1], b[2] + rate])
        term('CX')
        # 000 (3.9), (3.11).
        dd = [cx[0] + before[1] * rate, cx[1] - before[0] * rate, cx[2] + acceleration]
        # 000 (3.12)-(3.14).
        cx = multiply_transposed(a, dd)
        term('H')
        # 000 (3.19)-(3.21), (3.23)-(3.25).
        h = add(add(cross(cx, s), cross(b, cross(b, s))), multiply_transposed(a, h))
        term('AA')
        # 000 (3.27)-(3.29), (3.31)-(3.33). ERRATUM: the left side of (3.28) is printed with the
        # angular acceleration; B holds the angular velocity.
        aa = add(add(cross(cx, ar), cross(b, cross(b, ar))), h)
        term('F')
        # 000 (3.34), the first of the two with that number.
        f = scale(link.mass, aa)
        term('AN')
        # 000 section 3 (f): the diagonal entries only. (3.34), the second, to (3.37).
        j = [link.tensor[row][row] for row in range(3)]
        xjc = [moment * value for moment, value in zip(j, cx, strict=True)]
        xjb = [moment * value for moment, value in zip(j, b, strict=True)]
        links.append(LinkArrays(a, s, ar, f, add(xjc, cross(b, xjb))))
    return links


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint torques that a motion takes."""
    arm = request.arm
    links = recur_outward(request)
    term, _ = request.bookkeeping
    # 000 section 3 (g): the load at the tip, (3.38) and (3.39) at i = n, here already in frame n:
    # A(.,.,n+1) is the constant turn to the tip frame.
    force, moment = request.find_tip_load()
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        a, s, ar, f, an = links[index]
        term('U')
        # 000, between (3.44) and (3.45): -(AR) x F, for R + s = -s. (3.45)-(3.47), the link's own.
        u = add(cross(f, ar), an)
        term('RF')
        rf = f
        if force is not None and index + 1 < arm.n:
            outward = links[index + 1].a
            # 000 (3.40).
            rf = add(multiply(outward, force), f)
            term('AU2')
            # 000 (3.41)-(3.43).
            u2 = add(moment, cross(multiply_transposed(outward, s), force))
            # 000 (3.44). ERRATUM: printed A(.,.,i); A_{i,i+1} on its left is A(.,.,i+1).
            au2 = multiply(outward, u2)
            term('U')
            # 000 (3.45)-(3.47).
            u = add(au2, u)
        elif force is not None:
            # 000 (3.40)-(3.47) at i = n, in frame n.
            rf = add(force, f)
            term('AU2')
            au2 = add(moment, cross(s, force))
            term('U')
            u = add(au2, u)
        term('tau')
        # 000 (3.48).
        efforts.append(dot(a[2], u))
        force, moment = rf, u
    return request.add_friction(efforts[::-1])


FORM = Formulation(
    'sasaki_symbolic',
    '000, Sasaki 1990 (JAERI-M 90-147)',
    '000 (3.1)-(3.48)',
    Covers(
        'standard',
        prismatic=False,
        products_of_inertia=False,
        any_center_of_mass=False,
    ),
    compute_efforts,
)
