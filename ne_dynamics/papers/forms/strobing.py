"""M, C and g by strobing: calls of any inverse dynamics with chosen inputs.

Source: 001, end of section 3 and section 7. The inverse dynamics is called with unit accelerations
for the columns of M, with unit velocities for the coefficients C^i_jk of the velocity products,
and at rest for gravity. All functions take the `formulation` to strobe, by default that of Luh,
Walker and Paul, or of Craig for an arm in modified frames; `q` and `qd` are sequences of n
scalars, `gravity` [m/s^2] is in the base link's axes. Friction is no part of M, C and g: it is
left out where these are strobed.
"""

from __future__ import annotations

from ne_dynamics.papers.forms import craig, luh_walker_paul
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar, Scalars

_NO_GRAVITY = (0.0, 0.0, 0.0)


def default_formulation(arm: Arm) -> InverseDynamicsFunction:
    """Return the inverse dynamics that suits the arm's convention."""
    form = craig.FORM if arm.convention == 'modified' else luh_walker_paul.FORM
    return form.inverse_dynamics


def _units(n: int, *ones: int) -> list[float]:
    return [1.0 if index in ones else 0.0 for index in range(n)]


def mass_matrix(
    arm: Arm, q: Scalars, formulation: InverseDynamicsFunction | None = None
) -> Matrix:
    """Return M(q), n rows of n scalars [kg m^2, kg m, kg].

    Column j is the effort of the unit acceleration of joint j, without velocity and gravity; the
    lower triangle is taken, the upper one mirrored (001 section 7, symmetry). The links before
    joint j stand still and their rows are not asked for, so that the recursion runs on the
    n - j + 1 links beyond: n (n + 1) / 2 links in all, as 001 counts.
    """
    form = formulation or default_formulation(arm)
    rigid, n = arm.rigid(), arm.n
    matrix: Matrix = [[0.0] * n for _ in range(n)]
    for column in range(n):
        moving = rigid.beyond(column)
        # 001, end of section 3.
        efforts = form(
            moving, q[column:], _units(moving.n), _units(moving.n, 0), gravity=_NO_GRAVITY
        )
        for row, effort in enumerate(efforts, start=column):
            matrix[row][column] = matrix[column][row] = effort
    return matrix


def velocity_coefficients(
    arm: Arm, q: Scalars, formulation: InverseDynamicsFunction | None = None
) -> list[Matrix]:
    """Return C^i_jk(q): effort i is the sum of ``C^i_jk qd_j qd_k`` over all j and k.

    They are n matrices, ``result[i][j][k]``; symmetric in j and k, they are the Christoffel
    symbols of M. ERRATUM: 001 sets qd_j and qd_k to 1 and takes the effort for C^i_jk. That effort
    is C^i_jj + C^i_kk + 2 C^i_jk; the two pure squares are subtracted here, and the rest halved.
    """
    form = formulation or default_formulation(arm)
    rigid, n = arm.rigid(), arm.n
    zeros = _units(n)

    def strobed(*moving: int) -> list[Scalar]:
        return form(rigid, q, _units(n, *moving), zeros, gravity=_NO_GRAVITY)

    coefficients: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    squares = [strobed(j) for j in range(n)]
    for j in range(n):
        for i in range(n):
            coefficients[i][j][j] = squares[j][i]
        for k in range(j):
            both = strobed(j, k)
            for i in range(n):
                mixed = 0.5 * (both[i] - squares[j][i] - squares[k][i])
                coefficients[i][j][k] = coefficients[i][k][j] = mixed
    return coefficients


def coriolis_matrix(
    arm: Arm,
    q: Scalars,
    qd: Scalars,
    formulation: InverseDynamicsFunction | None = None,
) -> Matrix:
    """Return C(q, qd) in Christoffel form, n rows of n scalars: the sum of C^i_jk qd_k over k."""
    matrix: Matrix = []
    for rows in velocity_coefficients(arm, q, formulation):
        line = []
        for row in rows:
            value: Scalar = 0.0
            for coefficient, rate in zip(row, qd, strict=True):
                value = value + coefficient * rate
            line.append(value)
        matrix.append(line)
    return matrix


def gravity_torque(
    arm: Arm,
    q: Scalars,
    *,
    gravity: Scalars,
    formulation: InverseDynamicsFunction | None = None,
) -> list[Scalar]:
    """Return G(q), n scalars: the effort at rest [N m or N]."""
    form = formulation or default_formulation(arm)
    zeros = _units(arm.n)
    return form(arm, q, zeros, zeros, gravity=gravity)
