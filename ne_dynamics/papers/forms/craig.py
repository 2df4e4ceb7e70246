"""The recursion in modified (Craig) Denavit-Hartenberg frames.

Source: 002, sections 2.1-2.4. Frame i sits on joint i and turns or slides with link i, so the
joint's axis is the z axis of frame i itself. The document numbers only (2-1) to (2-6); the lines
of its outward pass are named by the quantity they give. Viscous friction is that of 000 (2.39).
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply, scale
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import (
    modified_position,
    modified_rotation,
    multiply_transposed,
)
from ne_dynamics.papers.forms.generic_scalars import Scalar


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint efforts that a motion takes."""
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    term, number = request.bookkeeping
    # 002 section 2.4: vd_0 = G, of gravity's magnitude and against its direction.
    w, wd, vd = compute_base_state(request)
    rotations = []
    positions = []
    forces: list[Vector] = []
    moments: list[Vector] = []
    for link, position, rate, acceleration in zip(arm.links, q, qd, qdd, strict=True):
        term('R_i')
        rotation = modified_rotation(link, position, number)
        p = modified_position(link, position)
        rotations.append(rotation)
        positions.append(p)
        term('vd_i')
        # 002 section 2.1, vd_{i+1} for both joint types: the new origin as a point of link i.
        vd = multiply_transposed(rotation, add(add(vd, cross(wd, p)), cross(w, cross(w, p))))
        term('w_i')
        turned = multiply_transposed(rotation, w)
        term('wd_i')
        wd = multiply_transposed(rotation, wd)
        if link.is_prismatic:
            # 002 section 2.1, w_{i+1} and wd_{i+1}, prismatic: nothing is added.
            w = turned
            term('vd_i')
            # 002 section 2.1, vd_{i+1}, prismatic: dd z + 2 w_{i+1} x d z.
            twice = rate + rate
            vd = [vd[0] + w[1] * twice, vd[1] - w[0] * twice, vd[2] + acceleration]
        else:
            # 002 section 2.1, wd_{i+1}, revolute: R w_i x qd z.
            wd = [wd[0] + turned[1] * rate, wd[1] - turned[0] * rate, wd[2] + acceleration]
            term('w_i')
            # 002 section 2.1, w_{i+1}, revolute.
            w = [turned[0], turned[1], turned[2] + rate]
        term('vcd_i')
        # 002 section 2.1, vcd_i, for both joint types.
        com = link.center_of_mass
        vcd = add(add(vd, cross(wd, com)), cross(w, cross(w, com)))
        term('F_i')
        # 002 section 2.2, Newton.
        forces.append(scale(link.mass, vcd))
        term('N_i')
        # 002 section 2.2, Euler. ERRATUM: the summary for prismatic joints (2.3) leaves out N_i
        # and n_i; a joint that turns further in needs them.
        moments.append(add(multiply(link.tensor, wd), cross(w, multiply(link.tensor, w))))

    # R_{n+1}^n f_{n+1} and the rest of (2-5) that belongs to it.
    force, moment = request.find_tip_load()
    efforts: list[Scalar] = []
    for index in reversed(range(arm.n)):
        link = arm.links[index]
        f = forces[index]
        term('n_i')
        # 002 (2-5) without the outer link.
        n = add(moments[index], cross(link.center_of_mass, f))
        if force is not None:
            term('f_i')
            # 002 (2-4).
            f = add(force, f)
            term('n_i')
            # 002 (2-5): R n_{i+1} + p_{i+1} x R f_{i+1}.
            n = add(n, moment)
        # 002 (2-6).
        efforts.append(f[2] if link.is_prismatic else n[2])
        if index > 0:
            # The products R_{i+1}^i f_{i+1}, R_{i+1}^i n_{i+1} and p_{i+1} x R f of (2-4), (2-5).
            term('f_i')
            force = multiply(rotations[index], f)
            term('n_i')
            moment = add(multiply(rotations[index], n), cross(positions[index], force))
    return request.add_friction(efforts[::-1])


FORM = Formulation(
    'craig',
    '002, an article on the iterative Newton-Euler form',
    '002 section 2.1, (2-1)-(2-6), section 2.4',
    Covers('modified'),
    compute_efforts,
)
