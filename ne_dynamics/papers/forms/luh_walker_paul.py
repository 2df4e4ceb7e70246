"""The recursive Newton-Euler form of Luh, Walker and Paul (1980).

Sources: 001 (3.15-3.21), which are 000 (2.31-2.39) and 003 (3.21-3.27). 001 and 003 write them for
joints that turn; the lines for joints that slide and the viscous friction are those of 000.
Standard Denavit-Hartenberg frames; everything of link i is in frame i.

The option `relative_acceleration` says how ``w x (w x b) + alpha x b`` is formed, see
:mod:`ne_dynamics.papers.forms.relative_acceleration`: the authors count ways that differ from what
they write. Terms are named by the rows of 001 table 3 and 003 table 2.
"""

from __future__ import annotations

from ne_dynamics.algorithms.scalars.elementary import add, cross, multiply, scale
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.generic_scalars import Scalar
from ne_dynamics.papers.forms.relative_acceleration import prepare_relative_acceleration
from ne_dynamics.papers.forms.standard_recursion import LinkShare, carry_outward, sum_inward

LEVER_TERM = 'm (r_i + rbar_i) x abar_i'


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
    term, _ = request.bookkeeping
    state = compute_base_state(request)
    shares = []
    for index, link in enumerate(request.arm.links):
        rotation, r, state = carry_outward(request, index, state)
        w, alpha, _ = state
        relative = prepare_relative_acceleration(relative_acceleration, w, alpha, term)
        term('a_i')
        # 001 (3.17).
        state = state._replace(a=add(relative(r), state.a))
        term('abar_i')
        # 001 (3.18). ERRATUM: the scan has r_i; the vector is rbar_i, to the mass centre.
        a_com = add(relative(link.center_of_mass), state.a)
        term('F_i')
        # 000 (2.35), the first part of 001 (3.19).
        force = scale(link.mass, a_com)
        # 000 (2.36), the first part of 001 (3.20).
        term('I_i alpha_i')
        change = multiply(link.tensor, alpha)
        term('omega_i x (I_i omega_i)')
        gyroscopic = cross(w, multiply(link.tensor, w))
        term('N_i')
        moment = add(change, gyroscopic)
        term(LEVER_TERM)
        # A constant for a joint that turns.
        lever = add(link.center_of_mass, r)
        shares.append(LinkShare(rotation, r, lever, force, moment))
    return sum_inward(request, shares, LEVER_TERM)


FORM = Formulation(
    'luh_walker_paul',
    '001, Turney, Mudge and Lee 1980; 000, Sasaki 1990; 003, Lee et al.',
    '001 (3.15)-(3.21); 000 (2.31)-(2.39); 003 (3.21)-(3.27)',
    Covers('standard'),
    compute_efforts,
)
