"""Functions of large robots, computed from smaller programs.

A matrix has as many entries as the square of the joints, and its straight-line source grows with
them. Beyond the size that the table of functions states, it is assembled here by NumPy from
programs whose length grows with the joints only.

Each function takes `ask`, which computes another row of the table on arrays of shape (N, count),
the subject, and its own arguments as arrays of that shape; it returns an array of shape
``(N, *shape)``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ne_dynamics.algorithms.regressor import PARAMETERS_PER_BODY, assemble_regressor
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import FloatArray

BARE_RECURSION = 'bare_recursion'
"""Row of the recursion without gravity, friction and rotor inertia."""

REGRESSOR_FACTORS = 'regressor_factors'
"""Row of :func:`~ne_dynamics.algorithms.regressor.regressor_factors`, body by body."""

TWIST = 6
"""Scalars of a twist or a wrench."""

FACTORS_PER_BODY = TWIST + TWIST * PARAMETERS_PER_BODY
"""Scalars of a twist and ten wrenches."""

Ask = Callable[..., FloatArray]

Assembly = Callable[..., FloatArray]


def assemble_mass_matrix(ask: Ask, subject: Subject, q: FloatArray) -> FloatArray:
    """Return M(q), column j by the recursion under a unit acceleration of joint j."""
    samples, n = q.shape
    units = np.tile(np.eye(n), (samples, 1))
    rows = np.repeat(q, n, axis=0)
    columns = ask(BARE_RECURSION, rows, np.zeros_like(rows), units).reshape(samples, n, n)
    reflected = [joint.reflected_inertia for joint in subject.robot.joints]
    result: FloatArray = 0.5 * (columns + np.swapaxes(columns, 1, 2)) + np.diag(reflected)
    return result


def assemble_coriolis_matrix(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray
) -> FloatArray:
    """Return the Christoffel C(q, qd) from velocity products.

    They are h(u) = B(u, u) with B symmetric, and column j of C is
    ``B(qd, e_j) = (h(qd + e_j) - h(qd - e_j)) / 4``.
    """
    samples, n = q.shape
    units = np.tile(np.eye(n), (samples, 1))
    rows, rates = np.repeat(q, n, axis=0), np.repeat(qd, n, axis=0)
    zeros = np.zeros_like(rows)
    plus = ask(BARE_RECURSION, rows, rates + units, zeros)
    minus = ask(BARE_RECURSION, rows, rates - units, zeros)
    return np.swapaxes((0.25 * (plus - minus)).reshape(samples, n, n), 1, 2)


def solve_forward_dynamics(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray, tau: FloatArray, *wrench: FloatArray
) -> FloatArray:
    """Return the accelerations that solve ``M(q) qdd = tau - tau(q, qd, 0)``.

    Raises
    ------
    ModelError
        When the mass matrix is singular.
    """
    name = 'inverse_dynamics_with_wrench' if wrench else 'inverse_dynamics'
    rest: FloatArray = tau - ask(name, q, qd, np.zeros_like(qd), *wrench)
    try:
        solution = np.linalg.solve(ask('mass_matrix', q), rest[..., None])
    except np.linalg.LinAlgError as error:
        raise ModelError(
            f'robot {subject.robot.name!r}: the mass matrix is singular at one of the positions'
        ) from error
    return np.asarray(solution[..., 0], dtype=np.float64)


def multiply_regressor(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> FloatArray:
    """Return the regressor as the product of a twist each joint and ten wrenches each body."""
    factors = ask(REGRESSOR_FACTORS, q, qd, qdd)
    samples, bodies = len(q), len(subject.robot.bodies)
    twists, wrenches = factors[:, : TWIST * bodies], factors[:, TWIST * bodies :]
    return assemble_regressor(
        twists.reshape(samples, bodies, TWIST),
        wrenches.reshape(samples, TWIST, PARAMETERS_PER_BODY * bodies),
        subject.regressor_structure,
    )
