"""The Lagrange-Euler form from pseudo-inertia matrices and derivatives of transforms.

Sources: 001 sections 1, 2 and the appendix; 003 section 3.1. With T_0^q, the 4x4 transform of
frame q, and J_q, the 4x4 pseudo-inertia of link q in its frame,

    D_ij    = sum over q >= i, j of     Tr{dT_0^q/dq_j J_q (dT_0^q/dq_i)^t}
    h_ijk   = sum over q >= i, j, k of  Tr{d2T_0^q/dq_j dq_k J_q (dT_0^q/dq_i)^t}
    G_i     = - sum over q >= i of      m_q g^t dT_0^q/dq_i rbar_q

Two strategies: :func:`inverse_dynamics_plain` evaluates each of these traces on its own, which
takes of the order of n^4 operations, and :func:`inverse_dynamics` sums before it multiplies and
uses fragments again, n^3, as 001's appendix proposes. Standard Denavit-Hartenberg frames.

The documents give neither a tip wrench nor friction: the first is added by virtual work, the
second as in 000 (2.39). 001 (1.26) and 003 (2.20) take principal axes; J_q here has the products
of inertia, as (1.27) has them. 003 (2.7) prints Q_i for a joint that turns; for one that slides
it has a single 1, which puts z_{i-1} in place of the translation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ne_dynamics.algorithms.elementary import Vector, dot, multiply
from ne_dynamics.formulations.arm import Arm, DHLink
from ne_dynamics.formulations.counting import bookkeeping
from ne_dynamics.formulations.coverage import Covers, check_request, with_viscous_friction
from ne_dynamics.formulations.frames import joint_cosine_sine, joint_shift

DOCUMENT = '001, Turney, Mudge and Lee 1980; 003, Lee et al.'
EQUATIONS = '001 (1.10)-(1.28), (2.6)-(2.11), appendix; 003 (3.4)-(3.10)'
COVERS = Covers(
    convention='standard',
    added=('prismatic', 'products_of_inertia', 'wrench', 'viscous_friction'),
)
NAME = 'lagrange_euler'

Matrix = list[list[Any]]
Number = Callable[[float], Any]


def transform(link: DHLink, q: Any, number: Number = float) -> Matrix:
    """Return T_{i-1}^i of 001 (1.13), 003 (2.1), four rows."""
    c, s = joint_cosine_sine(link, q)
    d = joint_shift(link, q)
    if link.is_prismatic:
        c, s = number(c), number(s)
    else:
        d = number(d)
    ca, sa = link.cos_sin_alpha
    zero, one = number(0.0), number(1.0)
    return [
        [c, -(ca * s), sa * s, link.a * c],
        [s, ca * c, -(sa * c), link.a * s],
        [zero, number(sa), number(ca), d],
        [zero, zero, zero, one],
    ]


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


def _product(a: Sequence[Sequence[Any]], b: Sequence[Sequence[Any]]) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[r[0] * c[0] + r[1] * c[1] + r[2] * c[2] + r[3] * c[3] for c in columns] for r in a]


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return [
        [x + y for x, y in zip(first, second, strict=True)]
        for first, second in zip(a, b, strict=True)
    ]


def _scaled(factor: Any, a: Matrix) -> Matrix:
    return [[factor * x for x in row] for row in a]


def _transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def _times_q(link: DHLink, a: Matrix, number: Number = float) -> Matrix:
    """Return Q_{i-1}^{i-1} a: rows change places, one changes its sign (001 1.5, 003 2.7)."""
    zeros = [number(0.0)] * 4
    if link.is_prismatic:
        return [zeros, zeros, a[3], zeros]
    return [[-x for x in a[1]], a[0], zeros, zeros]


class Transforms:
    """T_r^s for all r <= s, by 001 (1.15), built once from products of neighbours.

    Parameters
    ----------
    arm : Arm
    q : sequence of n scalars
    """

    def __init__(self, arm: Arm, q: Sequence[Any]) -> None:
        self.links = arm.links
        self._term, self._number = bookkeeping(*q)
        self._term('T')
        n = arm.n
        self._between: dict[tuple[int, int], Matrix] = {}
        for index, (link, position) in enumerate(zip(arm.links, q, strict=True)):
            self._between[index, index + 1] = transform(link, position, self._number)
        for length in range(2, n + 1):
            for start in range(n - length + 1):
                end = start + length
                # 001 appendix: T_r^s = T_r^{s-1} T_{s-1}^s.
                self._between[start, end] = _product(
                    self._between[start, end - 1], self._between[end - 1, end]
                )

    def between(self, start: int, end: int) -> Matrix:
        """Return T_start^end, start < end."""
        return self._between[start, end]

    def _after(self, start: int, matrix: Matrix) -> Matrix:
        """Return T_0^start times a matrix; nothing is multiplied for start 0."""
        return matrix if start == 0 else _product(self._between[0, start], matrix)

    def first_derivative(self, q: int, j: int) -> Matrix:
        """Return dT_0^q/dq_j, 1 <= j <= q: T_0^{j-1} Q T_{j-1}^q (001 1.11, 1.18)."""
        turned = _times_q(self.links[j - 1], self._between[j - 1, q], self._number)
        return self._after(j - 1, turned)

    def second_derivative(self, q: int, j: int, k: int) -> Matrix:
        """Return d2T_0^q/dq_j dq_k, 1 <= j <= k <= q (001 1.12, 1.19).

        ERRATUM: the superscripts of Q in (1.11) and (1.12) are printed i-1; they are j-1, k-1.
        """
        turned = _times_q(self.links[k - 1], self._between[k - 1, q], self._number)
        if k > j:
            turned = _product(self._between[j - 1, k - 1], turned)
        return self._after(j - 1, _times_q(self.links[j - 1], turned, self._number))

    def derivatives(self) -> tuple[dict[tuple[int, int], Matrix], dict[Any, Matrix]]:
        """Return all first and second derivatives by the strategy of 001's appendix.

        Returns
        -------
        first : dict
            By (q, j), 1 <= j <= q.
        second : dict
            By (q, j, k), 1 <= j <= k <= q.
        """
        first: dict[tuple[int, int], Matrix] = {}
        second: dict[Any, Matrix] = {}
        for q in range(1, len(self.links) + 1):
            for j in range(1, q + 1):
                self._term('dT')
                # 001 appendix: q - 1 products a link, for j = 1 none.
                turned = _times_q(self.links[j - 1], self._between[j - 1, q], self._number)
                first[q, j] = self._after(j - 1, turned)
                self._term('d2T')
                # 001 appendix: q (q - 1) / 2 products a link.
                again = _times_q(self.links[j - 1], turned, self._number)
                second[q, j, j] = self._after(j - 1, again)
                for i in range(1, j):
                    if i == 1:
                        second[q, i, j] = _times_q(self.links[0], first[q, j], self._number)
                    else:
                        second[q, i, j] = _product(first[j - 1, i], turned)
        return first, second


def _trace_of_product(a: Matrix, b: Matrix) -> Any:
    """Return Tr{a b^t}: only the diagonal is formed (001 appendix)."""
    total: Any = 0.0
    for row, other in zip(a, b, strict=True):
        for x, y in zip(row, other, strict=True):
            product = x * y
            total = product if isinstance(total, float) and total == 0.0 else total + product
    return total


def _trace(a: Matrix) -> Any:
    return a[0][0] + a[1][1] + a[2][2] + a[3][3]


def mass_matrix(arm: Arm, q: Sequence[Any]) -> Matrix:
    """Return D(q), n rows of n scalars, each trace on its own (001 2.6, 003 3.8).

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q : sequence of n scalars
    """
    check_request(NAME, COVERS, arm, q=q)
    return _mass_matrix(arm, Transforms(arm, q))


def _mass_matrix(arm: Arm, transforms: Transforms) -> Matrix:
    n = arm.n
    matrix: Matrix = [[0.0] * n for _ in range(n)]
    inertias = [pseudo_inertia(link) for link in arm.links]
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            total: Any = None
            for k in range(i, n + 1):
                # 003 (3.8): Tr{dT_0^k/dq_j J_k (dT_0^k/dq_i)^t}, every factor formed anew.
                half = _product(transforms.first_derivative(k, j), inertias[k - 1])
                share = _trace(_product(half, _transposed(transforms.first_derivative(k, i))))
                total = share if total is None else total + share
            matrix[i - 1][j - 1] = matrix[j - 1][i - 1] = total
    return matrix


def velocity_coefficients(arm: Arm, q: Sequence[Any]) -> list[Matrix]:
    """Return h_ijk(q), each trace on its own (001 2.11, 003 3.9): C^i_jk of 001.

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q : sequence of n scalars

    Returns
    -------
    list of n symmetric matrices
        ``result[i][j][k]``; effort i is the sum of ``h_ijk qd_j qd_k`` over all j and k.
    """
    check_request(NAME, COVERS, arm, q=q)
    return _velocity_coefficients(arm, Transforms(arm, q))


def _velocity_coefficients(arm: Arm, transforms: Transforms) -> list[Matrix]:
    n = arm.n
    result: list[Matrix] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    inertias = [pseudo_inertia(link) for link in arm.links]
    for i in range(1, n + 1):
        for m in range(i, n + 1):
            projection = _transposed(transforms.first_derivative(m, i))
            for k in range(1, m + 1):
                for j in range(1, k + 1):
                    # 003 (3.9): Tr{d2T_0^m/dq_j dq_k J_m (dT_0^m/dq_i)^t}.
                    half = _product(transforms.second_derivative(m, j, k), inertias[m - 1])
                    share = _trace(_product(half, projection))
                    total = result[i - 1][k - 1][j - 1]
                    total = share if isinstance(total, float) and total == 0.0 else total + share
                    result[i - 1][k - 1][j - 1] = result[i - 1][j - 1][k - 1] = total
    return result


def gravity_vector(arm: Arm, q: Sequence[Any], *, gravity: Sequence[Any]) -> list[Any]:
    """Return G(q), n scalars [N m or N] (001 2.8, 003 3.10).

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q : sequence of n scalars
    gravity : sequence of 3 scalars
        In the base link's axes [m/s^2].
    """
    check_request(NAME, COVERS, arm, q=q, gravity=gravity)
    transforms = Transforms(arm, q)
    return _gravity_vector(arm, gravity, transforms.first_derivative)


def _gravity_vector(
    arm: Arm, gravity: Sequence[Any], first_derivative: Callable[[int, int], Matrix]
) -> list[Any]:
    n = arm.n
    # Only the rows that gravity has a component on are formed: (z_0^a)^t picks one.
    down = [
        (row, value)
        for row, value in enumerate(arm.from_base_axes(gravity))
        if not (isinstance(value, (int, float)) and value == 0.0)
    ]
    result: list[Any] = []
    for i in range(1, n + 1):
        total: Any = 0.0
        for q in range(i, n + 1):
            link = arm.links[q - 1]
            derivative = first_derivative(q, i)
            for row, value in down:
                # m_q g rbar_q^a is a constant.
                weight = [value * (link.mass * x) for x in (*link.center_of_mass, 1.0)]
                line = derivative[row]
                # 001 (2.8), 003 (3.6). ERRATUM: 001 has minus before the potential energy (2.1),
                # where it is plus, and again before its derivative in (2.7): two that cancel. 003
                # (3.10) prints plus with its own g = (0, 0, -|g|, 0) of (3.5); (3.6) has minus.
                share = (
                    line[0] * weight[0]
                    + line[1] * weight[1]
                    + line[2] * weight[2]
                    + line[3] * weight[3]
                )
                total = -share if isinstance(total, float) and total == 0.0 else total - share
        result.append(total)
    return result


def _with_wrench(
    arm: Arm,
    efforts: list[Any],
    pose: Matrix,
    wrench: Sequence[Any],
    first_derivative: Callable[[int, int], Matrix],
) -> list[Any]:
    """Add what the tip wrench takes: force and moment times the tip's velocity of each joint."""
    force, moment = arm.tip_load(wrench)
    rotation = [row[:3] for row in pose[:3]]
    force, moment = multiply(rotation, force), multiply(rotation, moment)
    result = []
    for index, effort in enumerate(efforts):
        derivative = first_derivative(arm.n, index + 1)
        rates = [row[:3] for row in derivative[:3]]
        # dR R^t is the matrix of the cross product with the angular velocity.
        w: Vector = [
            dot(rates[2], rotation[1]),
            dot(rates[0], rotation[2]),
            dot(rates[1], rotation[0]),
        ]
        velocity = [row[3] for row in derivative[:3]]
        result.append(effort + dot(velocity, force) + dot(w, moment))
    return result


def inverse_dynamics_plain(
    arm: Arm,
    q: Sequence[Any],
    qd: Sequence[Any],
    qdd: Sequence[Any],
    *,
    gravity: Sequence[Any],
    wrench: Sequence[Any] | None = None,
    base_motion: Sequence[Any] | None = None,
) -> list[Any]:
    """Return ``D(q) qdd + h(q, qd) + G(q)``, every coefficient on its own: order n^4.

    Parameters, result and errors are those of :func:`inverse_dynamics`.
    """
    check_request(
        NAME + '_plain',
        COVERS,
        arm,
        q=q,
        qd=qd,
        qdd=qdd,
        gravity=gravity,
        wrench=wrench,
        base_motion=base_motion,
    )
    term, _ = bookkeeping(*q, *qd, *qdd)
    transforms = Transforms(arm, q)
    term('gravity')
    loads = _gravity_vector(arm, gravity, transforms.first_derivative)
    term('D')
    inertia = _mass_matrix(arm, transforms)
    term('H')
    coefficients = _velocity_coefficients(arm, transforms)
    term('tau')
    efforts = []
    for row, matrix, load in zip(inertia, coefficients, loads, strict=True):
        # 001 (2.11), 003 (3.7).
        effort = load
        for value, acceleration in zip(row, qdd, strict=True):
            effort = effort + value * acceleration
        for line, rate in zip(matrix, qd, strict=True):
            inner: Any = line[0] * qd[0]
            for value, other in zip(line[1:], qd[1:], strict=True):
                inner = inner + value * other
            effort = effort + inner * rate
        efforts.append(effort)
    if wrench is not None:
        term('wrench')
        pose = transforms.between(0, arm.n)
        efforts = _with_wrench(arm, efforts, pose, wrench, transforms.first_derivative)
    term('friction')
    # 000 (2.39): b_i qd_i.
    return with_viscous_friction(arm, efforts, qd)


def inverse_dynamics(
    arm: Arm,
    q: Sequence[Any],
    qd: Sequence[Any],
    qdd: Sequence[Any],
    *,
    gravity: Sequence[Any],
    wrench: Sequence[Any] | None = None,
    base_motion: Sequence[Any] | None = None,
) -> list[Any]:
    """Return the joint efforts that a motion takes, by the order n^3 strategy.

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q, qd, qdd : sequence of n scalars
        Joint position [rad or m], velocity and acceleration.
    gravity : sequence of 3 scalars
        Acceleration of gravity in the base link's axes [m/s^2].
    wrench : sequence of 6 scalars, optional
        Force [N], then moment [N m], of the last link on the environment, at the tip frame's
        origin and in its axes.
    base_motion : None
        Not covered.

    Returns
    -------
    list of n scalars
        Efforts [N m or N], positive along the joint's positive direction.

    Raises
    ------
    ModelError, InputError
        When the arm or an argument is not covered, see :data:`COVERS`.
    """
    check_request(
        NAME,
        COVERS,
        arm,
        q=q,
        qd=qd,
        qdd=qdd,
        gravity=gravity,
        wrench=wrench,
        base_motion=base_motion,
    )
    n = arm.n
    term, _ = bookkeeping(*q, *qd, *qdd)
    transforms = Transforms(arm, q)
    first, second = transforms.derivatives()
    term('kinetic sum J_q')
    rates: dict[tuple[int, int], Any] = {}
    for k in range(1, n + 1):
        for j in range(1, k + 1):
            product = qd[j - 1] * qd[k - 1]
            # Both orders of j and k at once.
            rates[j, k] = product if j == k else product + product
    sums = []
    for link_index in range(1, n + 1):
        total = _scaled(qdd[0], first[link_index, 1])
        for j in range(2, link_index + 1):
            total = _sum(total, _scaled(qdd[j - 1], first[link_index, j]))
        for k in range(1, link_index + 1):
            for j in range(1, k + 1):
                total = _sum(total, _scaled(rates[j, k], second[link_index, j, k]))
        # 001 appendix: the bracket, times J_q, once a link.
        sums.append(_product(total, pseudo_inertia(arm.links[link_index - 1])))
    efforts = []
    for i in range(1, n + 1):
        term('trace')
        effort: Any = None
        for link_index in range(i, n + 1):
            # 001 (2.11) in the order of its appendix: Tr{[...] J_q (dT_0^q/dq_i)^t}.
            share = _trace_of_product(sums[link_index - 1], first[link_index, i])
            effort = share if effort is None else effort + share
        efforts.append(effort)

    def derivative(link_index: int, j: int) -> Matrix:
        return first[link_index, j]

    term('gravity')
    loads = _gravity_vector(arm, gravity, derivative)
    efforts = [effort + load for effort, load in zip(efforts, loads, strict=True)]
    if wrench is not None:
        term('wrench')
        efforts = _with_wrench(arm, efforts, transforms.between(0, n), wrench, derivative)
    term('friction')
    # 000 (2.39): b_i qd_i.
    return with_viscous_friction(arm, efforts, qd)


def kinetic_energy(arm: Arm, q: Sequence[Any], qd: Sequence[Any]) -> Any:
    """Return the kinetic energy [J] (001 2.6, 003 3.4).

    ERRATUM: 001 (2.6) leaves out the velocities that (2.5) and 003 (3.4) have.

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q, qd : sequence of n scalars
    """
    check_request(NAME, COVERS, arm, q=q, qd=qd)
    transforms = Transforms(arm, q)
    energy: Any = 0.0
    for index, link in enumerate(arm.links):
        # 001 (2.4): the velocity of any point of link q is (sum of dT/dq_j qd_j) d_q.
        rate = _scaled(qd[0], transforms.first_derivative(index + 1, 1))
        for j in range(2, index + 2):
            rate = _sum(rate, _scaled(qd[j - 1], transforms.first_derivative(index + 1, j)))
        energy = energy + 0.5 * _trace_of_product(_product(rate, pseudo_inertia(link)), rate)
    return energy


def potential_energy(arm: Arm, q: Sequence[Any], *, gravity: Sequence[Any]) -> Any:
    """Return the potential energy in gravity [J]; zero at the origin of frame 0 (003 3.5).

    Parameters
    ----------
    arm : Arm
        In standard Denavit-Hartenberg frames.
    q : sequence of n scalars
    gravity : sequence of 3 scalars
        In the base link's axes [m/s^2].
    """
    check_request(NAME, COVERS, arm, q=q, gravity=gravity)
    transforms = Transforms(arm, q)
    down = arm.from_base_axes(gravity)
    energy: Any = 0.0
    for index, link in enumerate(arm.links):
        pose = transforms.between(0, index + 1)
        center = [
            row[0] * link.center_of_mass[0]
            + row[1] * link.center_of_mass[1]
            + row[2] * link.center_of_mass[2]
            + row[3]
            for row in pose[:3]
        ]
        # 003 (3.5); 001 (2.1) with the sign put right.
        energy = energy - link.mass * dot(down, center)
    return energy
