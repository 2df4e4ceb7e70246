"""Forward dynamics: which acceleration an effort gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.scalar import Matrix, Scalar, Vector
from ne_dynamics.algorithms.terms import mass_matrix
from ne_dynamics.algorithms.undetermined_joint import UndeterminedJointError
from ne_dynamics.model.robot import Link


def forward_dynamics(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    payload: Sequence[Scalar] | None = None,
    tip: Link | None = None,
    **surroundings: Any,
) -> Vector:
    """Return ``M(q)^-1 (tau - tau(q, qd, 0))`` (Walker and Orin 1982).

    Parameters
    ----------
    mechanism : Mechanism
    q, qd, tau : sequence of n scalars
    payload, tip, **surroundings
        Payload, tip, gravity and other loads as for
        :func:`~ne_dynamics.algorithms.newton_euler.newton_euler`.

    Returns
    -------
    list of n scalars
        Accelerations [rad/s^2 or m/s^2].

    Raises
    ------
    ModelError
        When a pivot of the mass matrix is zero whatever the position.
    """
    zeros = [0.0] * mechanism.n
    bias = newton_euler(mechanism, q, qd, zeros, payload=payload, tip=tip, **surroundings)
    rest = [effort - known for effort, known in zip(tau, bias, strict=True)]
    return solve_symmetric(mass_matrix(mechanism, q, payload=payload, tip=tip), rest)


def solve_symmetric(matrix: Matrix, right: Sequence[Scalar]) -> Vector:
    """Solve a symmetric system by ``M = L^T D L``, from the last row to the first.

    It is usually positive definite. In this order the zeros between branches of a tree stay zero
    (Featherstone 2008, 6.5), so with symbols they cost nothing.

    Parameters
    ----------
    matrix : n rows of n scalars, symmetric
    right : sequence of n scalars

    Returns
    -------
    list of n scalars

    Raises
    ------
    UndeterminedJointError
        When a pivot is the constant zero.
    """
    n = len(right)
    work = [list(row) for row in matrix]
    factors: Matrix = [[0.0] * n for _ in range(n)]
    reciprocals: Vector = [0.0] * n
    for k in reversed(range(n)):
        pivot = work[k][k]
        if isinstance(pivot, float) and pivot == 0.0:
            raise UndeterminedJointError(k)
        reciprocals[k] = 1.0 / pivot
        for i in range(k):
            factors[k][i] = work[k][i] * reciprocals[k]
        for i in range(k):
            for j in range(i + 1):
                work[i][j] = work[i][j] - factors[k][i] * work[k][j]
    solution = list(right)
    for k in reversed(range(n)):
        for i in range(k):
            solution[i] = solution[i] - factors[k][i] * solution[k]
    solution = [
        value * reciprocal for value, reciprocal in zip(solution, reciprocals, strict=True)
    ]
    for k in range(n):
        for i in range(k):
            solution[k] = solution[k] - factors[k][i] * solution[i]
    return solution
