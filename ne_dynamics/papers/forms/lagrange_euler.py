"""The Lagrange-Euler form from pseudo-inertia matrices and derivatives of transforms.

Sources: 001 sections 1, 2 and the appendix; 003 section 3.1. With T_0^q, the 4x4 transform of
frame q, and J_q, the 4x4 pseudo-inertia of link q in its frame,

    D_ij    = sum over q >= i, j of     Tr{dT_0^q/dq_j J_q (dT_0^q/dq_i)^t}
    h_ijk   = sum over q >= i, j, k of  Tr{d2T_0^q/dq_j dq_k J_q (dT_0^q/dq_i)^t}
    G_i     = - sum over q >= i of      m_q g^t dT_0^q/dq_i rbar_q

Two strategies: :data:`PLAIN_FORM` evaluates each of these traces on its own, which takes of the
order of n^4 operations, and :data:`FORM` sums before it multiplies and reuses products, n^3, as
001's appendix proposes.

The documents give neither a tip wrench nor friction: the first is added by virtual work, the
second as in 000 (2.39). A base that moves is one more transform before T_0^q, see
:func:`_add_base_motion`. 001 (1.26) and 003 (2.20) take principal axes; J_q here has the products
of inertia, as (1.27) has them. 003 (2.7) prints Q_i for a joint that turns; for one that slides
it has a single 1, which puts z_{i-1} in place of the translation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ne_dynamics.algorithms.scalars.elementary import dot, multiply
from ne_dynamics.algorithms.scalars.scalar import Vector
from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.base_state import compute_base_state
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation, Request
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar, Scalars
from ne_dynamics.papers.forms.matrices_4x4 import (
    add_4x4,
    add_up,
    multiply_4x4,
    scale_4x4,
    trace_4x4,
    trace_of_product,
    transpose_4x4,
)
from ne_dynamics.papers.forms.transform_derivatives import ChainTransforms

Derivative = Callable[[int, int], Matrix]
"""From q and j to dT_0^q/dq_j."""


def pseudo_inertia(link: DHLink) -> list[list[float]]:
    """Return J_q^a of 001 (1.26)-(1.28), 003 (2.20)-(2.22), four rows [kg m^2, kg m, kg].

    ERRATUM: 003 (2.21) leaves out the mass before rbar rbar^t; 001 (1.27) has it.
    """
    tensor, com, mass = link.tensor, link.center_of_mass, link.mass
    half_trace = 0.5 * (tensor[0][0] + tensor[1][1] + tensor[2][2])
    rows = [
        [
            (half_trace if row == column else 0.0)
            - tensor[row][column]
            + mass * com[row] * com[column]
            for column in range(3)
        ]
        + [mass * com[row]]
        for row in range(3)
    ]
    return [*rows, [*(mass * value for value in com), mass]]


def mass_matrix(arm: Arm, transforms: ChainTransforms) -> Matrix:
    """Return D(q), n rows of n scalars, each trace on its own (001 2.6, 003 3.8)."""
    n = arm.n
    matrix: Matrix = [[0.0] * n for _ in range(n)]
    inertias = [pseudo_inertia(link) for link in arm.links]
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            transforms.term('D, each trace')
            shares: list[Scalar] = []
            for k in range(i, n + 1):
                # 003 (3.8): Tr{dT_0^k/dq_j J_k (dT_0^k/dq_i)^t}, every factor formed anew.
                half = multiply_4x4(transforms.first_derivative(k, j), inertias[k - 1])
                shares.append(
                    trace_4x4(multiply_4x4(half, transpose_4x4(transforms.first_derivative(k, i))))
                )
            transforms.term('D, sum')
            matrix[i - 1][j - 1] = matrix[j - 1][i - 1] = add_up(shares)
    return matrix


def velocity_coefficients(arm: Arm, transforms: ChainTransforms) -> list[Matrix]:
    """Return h_ijk(q), each trace on its own (001 2.11, 003 3.9): C^i_jk of 001.

    They are n symmetric matrices, ``result[i][j][k]``; effort i is the sum of ``h_ijk qd_j qd_k``
    over all j and k.
    """
    n = arm.n
    result: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    inertias = [pseudo_inertia(link) for link in arm.links]
    for i in range(1, n + 1):
        for m in range(i, n + 1):
            transforms.term('H, each trace')
            projection = transpose_4x4(transforms.first_derivative(m, i))
            for k in range(1, m + 1):
                for j in range(1, k + 1):
                    transforms.term('H, each trace')
                    # 003 (3.9): Tr{d2T_0^m/dq_j dq_k J_m (dT_0^m/dq_i)^t}.
                    half = multiply_4x4(transforms.second_derivative(m, j, k), inertias[m - 1])
                    share = trace_4x4(multiply_4x4(half, projection))
                    transforms.term('H, sum')
                    total = result[i - 1][k - 1][j - 1]
                    total = share if isinstance(total, float) and total == 0.0 else total + share
                    result[i - 1][k - 1][j - 1] = result[i - 1][j - 1][k - 1] = total
    return result


def gravity_vector(
    arm: Arm, gravity: Scalars, transforms: ChainTransforms, derivative: Derivative
) -> list[Scalar]:
    """Return G(q), n scalars [N m or N] (001 2.8, 003 3.10)."""
    n = arm.n
    # Only the rows that gravity has a component on are formed: (z_0^a)^t picks one.
    down = [
        (row, value)
        for row, value in enumerate(arm.from_base_axes(gravity))
        if not (isinstance(value, (int, float)) and value == 0.0)
    ]
    result: list[Scalar] = []
    for i in range(1, n + 1):
        total: Scalar = 0.0
        for q in range(i, n + 1):
            link = arm.links[q - 1]
            transforms.term('gravity, each')
            change = derivative(q, i)
            for row, value in down:
                # m_q g rbar_q^a is a constant.
                weight = [value * (link.mass * x) for x in (*link.center_of_mass, 1.0)]
                transforms.term('gravity, each')
                line = change[row]
                # 001 (2.8), 003 (3.6). ERRATUM: 001 has minus before the potential energy (2.1),
                # where it is plus, and again before its derivative in (2.7): two that cancel. 003
                # (3.10) prints plus with its own g = (0, 0, -|g|, 0) of (3.5); (3.6) has minus.
                share = (
                    line[0] * weight[0]
                    + line[1] * weight[1]
                    + line[2] * weight[2]
                    + line[3] * weight[3]
                )
                transforms.term('gravity, sum')
                total = -share if isinstance(total, float) and total == 0.0 else total - share
        result.append(total)
    return result


def _add_wrench(
    arm: Arm, efforts: list[Scalar], pose: Matrix, wrench: Scalars, derivative: Derivative
) -> list[Scalar]:
    """Add what the tip wrench takes: force and moment times the tip's velocity of each joint."""
    force, moment = arm.tip_load(wrench)
    rotation = [row[:3] for row in pose[:3]]
    force, moment = multiply(rotation, force), multiply(rotation, moment)
    result = []
    for index, effort in enumerate(efforts):
        change = derivative(arm.n, index + 1)
        rates = [row[:3] for row in change[:3]]
        # dR R^t is the matrix of the cross product with the angular velocity.
        w: Vector = [
            dot(rates[2], rotation[1]),
            dot(rates[0], rotation[2]),
            dot(rates[1], rotation[0]),
        ]
        velocity = [row[3] for row in change[:3]]
        result.append(effort + dot(velocity, force) + dot(w, moment))
    return result


def add_derivatives(weights: Scalars, q: int, derivative: Derivative) -> Matrix:
    """Return the sum of the first q weights times dT_0^q/dq_j."""
    total = scale_4x4(weights[0], derivative(q, 1))
    for j in range(2, q + 1):
        total = add_4x4(total, scale_4x4(weights[j - 1], derivative(q, j)))
    return total


def _compute_base_derivatives(request: Request) -> tuple[Matrix, Matrix]:
    """Return B' and B'', four rows each, of the pose B of frame 0 in inertial axes.

    The inertial frame is the one that frame 0 passes through with the velocity of its origin, so
    B is the identity and B' has no translation. Gravity is left to the potential energy.
    """
    w, wd, a = compute_base_state(replace(request, gravity=[0.0] * 3))
    rate = [[0.0, -w[2], w[1], 0.0], [w[2], 0.0, -w[0], 0.0], [-w[1], w[0], 0.0, 0.0]]
    zeros: Vector = [0.0] * 4
    second: Matrix = []
    for row, (linear, axis_rates) in enumerate(
        zip(a, ([0.0, -wd[2], wd[1]], [wd[2], 0.0, -wd[0]], [-wd[1], wd[0], 0.0]), strict=True)
    ):
        columns = list(zip(*(line[:3] for line in rate), strict=True))
        centripetal = [dot(rate[row][:3], column) for column in columns]
        second.append([*(x + y for x, y in zip(axis_rates, centripetal, strict=True)), linear])
    return [*rate, zeros], [*second, zeros]


def _add_base_motion(
    request: Request, efforts: list[Scalar], transforms: ChainTransforms, derivative: Derivative
) -> list[Scalar]:
    """Add what the motion of the base takes.

    With B before T_0^q, the second derivative of a link's transform by time gains
    ``B'' T_0^q + 2 B' T_0^q'``; it enters the trace of 001 (2.11) as the rest does.
    """
    base_rate, base_second = _compute_base_derivatives(request)
    result = list(efforts)
    for q, link in enumerate(request.arm.links, start=1):
        rate = add_derivatives([x + x for x in request.qd[:q]], q, derivative)
        gained = add_4x4(
            multiply_4x4(base_second, transforms.between(0, q)), multiply_4x4(base_rate, rate)
        )
        weighted = multiply_4x4(gained, pseudo_inertia(link))
        for i in range(1, q + 1):
            result[i - 1] = result[i - 1] + trace_of_product(weighted, derivative(q, i))
    return result


def _complete(
    request: Request, efforts: list[Scalar], transforms: ChainTransforms, derivative: Derivative
) -> list[Scalar]:
    """Add what a moving base, a tip wrench and friction take."""
    if request.base_motion is not None:
        transforms.term('base')
        efforts = _add_base_motion(request, efforts, transforms, derivative)
    if request.wrench is not None:
        transforms.term('wrench')
        pose = transforms.between(0, request.arm.n)
        efforts = _add_wrench(request.arm, efforts, pose, request.wrench, derivative)
    return request.add_friction(efforts)


def compute_efforts_plain(request: Request) -> list[Scalar]:
    """Return ``D(q) qdd + h(q, qd) + G(q)``, every coefficient on its own: order n^4."""
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    term, _ = request.bookkeeping
    transforms = ChainTransforms(arm, q)
    loads = gravity_vector(arm, request.gravity, transforms, transforms.first_derivative)
    inertia = mass_matrix(arm, transforms)
    coefficients = velocity_coefficients(arm, transforms)
    term('tau')
    efforts = []
    for row, matrix, load in zip(inertia, coefficients, loads, strict=True):
        # 001 (2.11), 003 (3.7).
        effort = load
        for value, acceleration in zip(row, qdd, strict=True):
            effort = effort + value * acceleration
        for line, rate in zip(matrix, qd, strict=True):
            inner: Scalar = line[0] * qd[0]
            for value, other in zip(line[1:], qd[1:], strict=True):
                inner = inner + value * other
            effort = effort + inner * rate
        efforts.append(effort)
    return _complete(request, efforts, transforms, transforms.first_derivative)


def compute_efforts(request: Request) -> list[Scalar]:
    """Return the joint efforts that a motion takes, by the order n^3 strategy."""
    arm, q, qd, qdd = request.arm, request.q, request.qd, request.qdd
    n = arm.n
    term, _ = request.bookkeeping
    transforms = ChainTransforms(arm, q)
    first, second = transforms.derivatives()

    def derivative(link_index: int, j: int) -> Matrix:
        return first[link_index, j]

    term('kinetic sum J_q')
    rates: dict[tuple[int, int], Scalar] = {}
    for k in range(1, n + 1):
        for j in range(1, k + 1):
            product = qd[j - 1] * qd[k - 1]
            # Both orders of j and k at once.
            rates[j, k] = product if j == k else product + product
    sums = []
    for link_index in range(1, n + 1):
        total = add_derivatives(qdd, link_index, derivative)
        for k in range(1, link_index + 1):
            for j in range(1, k + 1):
                total = add_4x4(total, scale_4x4(rates[j, k], second[link_index, j, k]))
        # 001 appendix: the bracket, times J_q, once a link.
        sums.append(multiply_4x4(total, pseudo_inertia(arm.links[link_index - 1])))
    efforts = []
    for i in range(1, n + 1):
        term('trace')
        # 001 (2.11) in the order of its appendix: Tr{[...] J_q (dT_0^q/dq_i)^t}.
        shares = [
            trace_of_product(sums[link_index - 1], first[link_index, i])
            for link_index in range(i, n + 1)
        ]
        efforts.append(add_up(shares))
    loads = gravity_vector(arm, request.gravity, transforms, derivative)
    term('tau')
    efforts = [effort + load for effort, load in zip(efforts, loads, strict=True)]
    return _complete(request, efforts, transforms, derivative)


FORM = Formulation(
    'lagrange_euler',
    '001, Turney, Mudge and Lee 1980; 003, Lee et al.',
    '001 (1.10)-(1.28), (2.6)-(2.11), appendix; 003 (3.4)-(3.10)',
    Covers('standard'),
    compute_efforts,
)
PLAIN_FORM = replace(FORM, name='lagrange_euler_plain', compute_efforts=compute_efforts_plain)
