"""Functions of large robots, computed from smaller programs.

A matrix has as many entries as the square of the joints, and its straight-line source grows with
them. Beyond the size that the table of functions states, it is assembled here by NumPy from
programs whose length grows with the joints only.

Each function takes `ask`, which computes another row of the table on arrays of shape (N, count),
the subject, and its own arguments as arrays of that shape; it returns an array of shape
``(N, *shape)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ne_dynamics.algorithms.mechanism_body import PARAMETERS_PER_BODY
from ne_dynamics.algorithms.regressor import assemble_regressor
from ne_dynamics.codegen.functions import (
    BARE_RECURSION,
    INVERSE_DYNAMICS_RATE,
    REGRESSOR_FACTORS,
    TWIST,
)
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.errors import ModelError
from ne_dynamics.model.robot import FloatArray

Ask = Callable[..., FloatArray]

Assembly = Callable[..., FloatArray]

_SUFFIXES = {0: '', 1: '_with_wrench', 3: '_in_full', 4: '_with_external_wrenches'}
"""What so many loads add to the name of a row."""


def assemble_mass_matrix(ask: Ask, subject: Subject, q: FloatArray) -> FloatArray:
    """Return M(q), column j by the recursion under a unit acceleration of joint j."""
    samples, n = q.shape
    units = np.tile(np.eye(n), (samples, 1))
    rows = np.repeat(q, n, axis=0)
    columns = ask(BARE_RECURSION, rows, np.zeros_like(rows), units).reshape(samples, n, n)
    mechanism = subject.mechanism
    result: FloatArray = 0.5 * (columns + np.swapaxes(columns, 1, 2))
    return result + np.diag(mechanism.reflected_inertia) + subject.structure.coupled_inertia


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
    return _solve(subject, ask('mass_matrix', q), rest[..., None])[..., 0]


def _solve(subject: Subject, matrices: FloatArray, right: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.solve(matrices, right), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ModelError(
            f'robot {subject.structure.name!r}: the mass matrix is singular at one of the '
            'positions'
        ) from error


def assemble_mass_matrix_with_payload(
    ask: Ask, subject: Subject, q: FloatArray, payload: FloatArray
) -> FloatArray:
    """Return M(q) with a load, which adds ``J^T I J`` to that of the robot alone."""
    samples = len(q)
    units = np.zeros((samples, 6))
    zeros = np.zeros_like(q)
    rest = np.zeros((samples, 9))

    def compute(qdd: FloatArray, load: FloatArray) -> FloatArray:
        return ask('inverse_dynamics_in_full', q, zeros, qdd, units, rest, load)

    columns = []
    still = compute(zeros, payload)
    for joint in range(q.shape[1]):
        unit = np.zeros_like(q)
        unit[:, joint] = 1.0
        columns.append(compute(unit, payload) - still)
    matrix = np.stack(columns, axis=-1)
    return np.asarray(0.5 * (matrix + np.swapaxes(matrix, 1, 2)), dtype=np.float64)


def solve_forward_dynamics_in_full(
    ask: Ask,
    subject: Subject,
    q: FloatArray,
    qd: FloatArray,
    tau: FloatArray,
    wrench: FloatArray,
    base_motion: FloatArray,
    payload: FloatArray,
    *external: FloatArray,
) -> FloatArray:
    """Return the accelerations, as :func:`solve_forward_dynamics` does, with everything.

    `external` are no wrenches on bodies, or those.

    Raises
    ------
    ModelError
        When the mass matrix is singular.
    """
    loads = wrench, base_motion, payload, *external
    known = ask(f'inverse_dynamics{_SUFFIXES[len(loads)]}', q, qd, np.zeros_like(qd), *loads)
    name = 'mass_matrix' if subject.structure.tip_link is None else 'mass_matrix_with_payload'
    matrix = ask(name, q) if subject.structure.tip_link is None else ask(name, q, payload)
    rest: FloatArray = tau - known
    return _solve(subject, matrix, rest[..., None])[..., 0]


def assemble_inverse_dynamics_derivatives(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray, qdd: FloatArray, *loads: FloatArray
) -> FloatArray:
    """Return the derivatives of the inverse dynamics, a direction a column.

    `loads` are none, a wrench, or wrench, base motion and payload, and wrenches on all bodies.
    """
    samples, n = q.shape
    units = np.tile(np.eye(n), (samples, 1))
    rows = [np.repeat(each, n, axis=0) for each in (q, qd, qdd)]
    zeros = np.zeros_like(units)
    name = INVERSE_DYNAMICS_RATE
    if loads:
        nothing = tuple(np.zeros((samples, size)) for size in (9, 10))
        given = loads if len(loads) > 1 else (*loads, *nothing)
        name = f'{name}{_SUFFIXES[len(given)]}'
        loads = tuple(np.repeat(load, n, axis=0) for load in given)
    parts = []
    for place in range(3):
        directions = [units if place == other else zeros for other in range(3)]
        columns = ask(name, *rows, *directions, *loads).reshape(samples, n, n)
        parts.append(np.swapaxes(columns, 1, 2))
    parts[2] = 0.5 * (parts[2] + np.swapaxes(parts[2], 1, 2))
    return np.stack(parts, axis=1)


def solve_forward_dynamics_derivatives(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray, tau: FloatArray, *loads: FloatArray
) -> FloatArray:
    """Return the derivatives of the forward dynamics by those of the inverse dynamics.

    Raises
    ------
    ModelError
        When the mass matrix is singular.
    """
    suffix = _SUFFIXES[len(loads)]
    qdd = ask(f'forward_dynamics{suffix}', q, qd, tau, *loads)
    parts = ask(f'inverse_dynamics_derivatives{suffix}', q, qd, qdd, *loads)
    by_q, by_qd, mass = np.moveaxis(parts, 1, 0)
    unit = np.broadcast_to(np.eye(q.shape[1]), mass.shape)
    return np.stack([_solve(subject, mass, right) for right in (-by_q, -by_qd, unit)], axis=1)


def multiply_regressor(
    ask: Ask, subject: Subject, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> FloatArray:
    """Return the regressor as the product of a twist each joint and ten wrenches each body."""
    factors = ask(REGRESSOR_FACTORS, q, qd, qdd)
    samples, bodies = len(q), len(subject.structure.bodies)
    twists, wrenches = factors[:, : TWIST * bodies], factors[:, TWIST * bodies :]
    return assemble_regressor(
        twists.reshape(samples, bodies, TWIST),
        wrenches.reshape(samples, TWIST, PARAMETERS_PER_BODY * bodies),
        subject.regressor_structure,
    )


ASSEMBLIES: Mapping[str, Assembly] = {
    'mass_matrix': assemble_mass_matrix,
    'mass_matrix_with_payload': assemble_mass_matrix_with_payload,
    'coriolis_matrix': assemble_coriolis_matrix,
    'forward_dynamics': solve_forward_dynamics,
    'forward_dynamics_with_wrench': solve_forward_dynamics,
    'forward_dynamics_in_full': solve_forward_dynamics_in_full,
    'forward_dynamics_with_external_wrenches': solve_forward_dynamics_in_full,
    **{
        f'inverse_dynamics_derivatives{suffix}': assemble_inverse_dynamics_derivatives
        for suffix in _SUFFIXES.values()
    },
    **{
        f'forward_dynamics_derivatives{suffix}': solve_forward_dynamics_derivatives
        for suffix in _SUFFIXES.values()
    },
    'regressor': multiply_regressor,
}
"""What serves larger robots, by row: of every row that is written out for small ones only."""
