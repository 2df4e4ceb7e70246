"""The scalar array form of Sasaki (1990): every product written out, array by array.

Source: 000 section 3, (3.1)-(3.48), under the document's own array names and indices (which
start at 1). It is for joints that turn, for axial moments of inertia only, and for centres of
mass half-way back along the link vector, as (3.26) has them; standard Denavit-Hartenberg frames.
"""

from __future__ import annotations

from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.frames import standard_rotation
from ne_dynamics.papers.forms.generic_scalars import Scalar


def _array(n: int) -> list[list[Scalar]]:
    """Return an array with indices (1..3, 1..n+1); row and column 0 are not used."""
    return [[0.0] * (n + 2) for _ in range(4)]


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint torques that a motion takes."""
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    n = arm.n
    term, number = request.bookkeeping
    a_matrix: list[list[list[Scalar]]] = [[[0.0] * (n + 2) for _ in range(4)] for _ in range(4)]
    b, cx, dd, h = _array(n), _array(n), _array(n), _array(n)
    cc, bb, bbb = _array(n), _array(n), _array(n)
    ar, car, bar, b2, aa, f = (_array(n) for _ in range(6))
    j, xjc, xjb, bib, an = (_array(n) for _ in range(5))
    rf, u, yk, ykr, u2, au2, pf = (_array(n) for _ in range(7))
    vector = _array(n)
    theta_d, theta_dd = [0.0, *qd], [0.0, *qdd]

    term('A')
    for i, link in enumerate(arm.links, start=1):
        rotation = standard_rotation(link, q[i - 1], number)
        for row in range(1, 4):
            for column in range(1, 4):
                # 000 (3.1) with (2.30).
                a_matrix[row][column][i] = rotation[row - 1][column - 1]
        cosine, sine = link.cos_sin_alpha
        # 000 (3.18): a_i, d_i eta_i, d_i gamma_i.
        vector[1][i] = link.a
        vector[2][i] = link.constant_shift * sine
        vector[3][i] = link.constant_shift * cosine
        for row in range(1, 4):
            # 000 (3.26). ERRATUM: printed -1/2 (a c, a s, d), which is in frame i-1.
            ar[row][i] = link.center_of_mass[row - 1]
            # 000 section 3 (f): the diagonal entries only.
            j[row][i] = link.tensor[row - 1][row - 1]
    base = compute_base_state(request)
    for row in range(1, 4):
        # 000 (3.4), (3.10): zero, on a base that does not move.
        b[row][1] = base.w[row - 1]
        cx[row][1] = base.wd[row - 1]
        # 000 below (3.22): H(3,1) = g when gravity is along z_0.
        h[row][1] = base.a[row - 1]

    for i in range(1, n + 1):
        term('B')
        turned = b[3][i] + theta_d[i]
        for k in range(1, 4):
            # 000 (3.5)-(3.7).
            b[k][i + 1] = (
                a_matrix[1][k][i] * b[1][i]
                + a_matrix[2][k][i] * b[2][i]
                + a_matrix[3][k][i] * turned
            )
        term('CX')
        # 000 (3.9), (3.11).
        dd[1][i] = cx[1][i] + b[2][i] * theta_d[i]
        dd[2][i] = cx[2][i] - b[1][i] * theta_d[i]
        dd[3][i] = cx[3][i] + theta_dd[i]
        for k in range(1, 4):
            # 000 (3.12)-(3.14).
            cx[k][i + 1] = (
                a_matrix[1][k][i] * dd[1][i]
                + a_matrix[2][k][i] * dd[2][i]
                + a_matrix[3][k][i] * dd[3][i]
            )
        term('H')
        # 000 (3.19).
        _cross(cc, i, cx, i + 1, vector, i)
        # 000 (3.20).
        _cross(bb, i, b, i + 1, vector, i)
        # 000 (3.21).
        _cross(bbb, i, b, i + 1, bb, i)
        for k in range(1, 4):
            # 000 (3.23)-(3.25).
            h[k][i + 1] = (
                cc[k][i]
                + bbb[k][i]
                + a_matrix[1][k][i] * h[1][i]
                + a_matrix[2][k][i] * h[2][i]
                + a_matrix[3][k][i] * h[3][i]
            )
        term('AA')
        # 000 (3.27).
        _cross(car, i, cx, i + 1, ar, i)
        # 000 (3.28). ERRATUM: the left side is printed with the angular acceleration; B holds
        # the angular velocity.
        _cross(bar, i, b, i + 1, ar, i)
        # 000 (3.29).
        _cross(b2, i, b, i + 1, bar, i)
        for k in range(1, 4):
            # 000 (3.31)-(3.33).
            aa[k][i] = car[k][i] + b2[k][i] + h[k][i + 1]
        term('F')
        for k in range(1, 4):
            # 000 (3.34), the first of the two with that number.
            f[k][i] = arm.links[i - 1].mass * aa[k][i]
        term('AN')
        for k in range(1, 4):
            # 000 (3.34), the second, and (3.35).
            xjc[k][i] = j[k][i] * cx[k][i + 1]
            xjb[k][i] = j[k][i] * b[k][i + 1]
        # 000 (3.36).
        _cross(bib, i, b, i + 1, xjb, i)
        for k in range(1, 4):
            # 000 (3.37).
            an[k][i] = xjc[k][i] + bib[k][i]

    loaded = request.wrench is not None
    if request.wrench is not None:
        term('wrench')
        # 000 section 3 (g): the load at the tip, (3.38) and (3.39) at i = n, here already in
        # frame n: A(.,.,n+1) is the constant turn to the tip frame.
        force, moment = arm.tip_load(request.wrench)
    torques: list[Scalar] = [0.0] * n
    for i in reversed(range(1, n + 1)):
        term('RF')
        for k in range(1, 4):
            # 000 (3.40).
            if i < n:
                rf[k][i] = (
                    a_matrix[k][1][i + 1] * rf[1][i + 1]
                    + a_matrix[k][2][i + 1] * rf[2][i + 1]
                    + a_matrix[k][3][i + 1] * rf[3][i + 1]
                    + f[k][i]
                )
            else:
                rf[k][i] = force[k - 1] + f[k][i] if loaded else f[k][i]
        term('AU2')
        if i < n:
            for k in range(1, 4):
                # 000 (3.41).
                yk[k][i] = (
                    a_matrix[1][k][i + 1] * vector[1][i]
                    + a_matrix[2][k][i + 1] * vector[2][i]
                    + a_matrix[3][k][i + 1] * vector[3][i]
                )
            # 000 (3.42).
            _cross(ykr, i, yk, i, rf, i + 1)
            for k in range(1, 4):
                # 000 (3.43).
                u2[k][i] = u[k][i + 1] + ykr[k][i]
            for k in range(1, 4):
                # 000 (3.44). ERRATUM: printed A(.,.,i); A_{i,i+1} on its left is A(.,.,i+1).
                au2[k][i] = (
                    a_matrix[k][1][i + 1] * u2[1][i]
                    + a_matrix[k][2][i + 1] * u2[2][i]
                    + a_matrix[k][3][i + 1] * u2[3][i]
                )
        elif loaded:
            # 000 (3.41)-(3.44) at i = n, in frame n.
            for k in range(1, 4):
                yk[k][i], rf[k][i + 1] = vector[k][i], force[k - 1]
            _cross(ykr, i, yk, i, rf, i + 1)
            for k in range(1, 4):
                au2[k][i] = moment[k - 1] + ykr[k][i]
        term('U')
        # 000, between (3.44) and (3.45): -(AR) x F, for R + s = -s.
        _cross(pf, i, f, i, ar, i)
        for k in range(1, 4):
            # 000 (3.45)-(3.47).
            own = pf[k][i] + an[k][i]
            u[k][i] = au2[k][i] + own if i < n or loaded else own
        term('tau')
        # 000 (3.48).
        torques[i - 1] = (
            a_matrix[3][1][i] * u[1][i] + a_matrix[3][2][i] * u[2][i] + a_matrix[3][3][i] * u[3][i]
        )
        friction = arm.links[i - 1].viscous_friction
        if friction != 0.0:
            term('friction')
            torques[i - 1] = torques[i - 1] + friction * theta_d[i]
    return torques


FORM = Formulation(
    'sasaki_symbolic',
    '000, Sasaki 1990 (JAERI-M 90-147)',
    '000 (3.1)-(3.48)',
    Covers(
        convention='standard',
        prismatic=False,
        products_of_inertia=False,
        any_center_of_mass=False,
        moving_base=True,
        added=('moving_base',),
    ),
    compute_efforts,
)


def _cross(
    result: list[list[Scalar]],
    column: int,
    x: list[list[Scalar]],
    x_column: int,
    y: list[list[Scalar]],
    y_column: int,
) -> None:
    """Write the cross product of two columns into a third."""
    x1, x2, x3 = x[1][x_column], x[2][x_column], x[3][x_column]
    y1, y2, y3 = y[1][y_column], y[2][y_column], y[3][y_column]
    result[1][column] = x2 * y3 - x3 * y2
    result[2][column] = x3 * y1 - x1 * y3
    result[3][column] = x1 * y2 - x2 * y1
