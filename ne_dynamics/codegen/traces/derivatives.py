"""Tracers of the derivatives of the inverse and the forward dynamics."""

from __future__ import annotations

from typing import cast

from ne_dynamics.algorithms import forward, newton_euler, terms
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.differentiation import differentiate, push_forward, substitute
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Traced
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def _differentiate_efforts(
    subject: Subject, q: Symbols, qd: Symbols, qdd: Symbols
) -> list[list[list[Traced]]]:
    """Return the derivatives of the efforts with respect to q, qd and qdd, each as rows."""
    efforts = newton_euler.newton_euler(subject.mechanism, q, qd, qdd, gravity=subject.gravity)
    n = len(q)
    rows = differentiate(cast(list[Traced], efforts), [*q, *qd, *qdd])
    parts = [[row[start : start + n] for row in rows] for start in (0, n, 2 * n)]
    # The mass matrix is symmetric: what lies below the diagonal need not be computed again.
    parts[2] = [[parts[2][min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    return parts


def trace_inverse_dynamics_derivatives(subject: Subject, link: Link | None) -> Body:
    """Trace the inverse dynamics derivatives."""
    return lambda q, qd, qdd: _differentiate_efforts(subject, q, qd, qdd)


def trace_forward_dynamics_derivatives(subject: Subject, link: Link | None) -> Body:
    """Trace the forward dynamics derivatives."""

    def function(q: Symbols, qd: Symbols, tau: Symbols) -> object:
        n = len(q)
        mass = terms.mass_matrix(subject.mechanism, q)
        qdd = forward.forward_dynamics(subject.mechanism, q, qd, tau, gravity=subject.gravity)
        # At the accelerations that the efforts give, which do not change with q and qd here.
        placeholders = q[0].graph.inputs('acceleration', n)
        by_q, by_qd, _ = _differentiate_efforts(subject, q, qd, placeholders)
        flat = substitute(
            [entry for part in (by_q, by_qd) for row in part for entry in row],
            placeholders,
            cast(list[Traced], qdd),
        )
        results: list[list[list[Scalar]]] = []
        for start in (0, n * n):
            columns = [
                forward.solve_symmetric(mass, [-flat[start + n * i + j] for i in range(n)])
                for j in range(n)
            ]
            results.append([[column[i] for column in columns] for i in range(n)])
        inverse = [
            forward.solve_symmetric(mass, [float(i == j) for i in range(n)]) for j in range(n)
        ]
        results.append([[inverse[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])
        return results

    return function


def trace_inverse_dynamics_rate(subject: Subject, link: Link | None) -> Body:
    """Trace the inverse dynamics rate."""

    def function(
        q: Symbols, qd: Symbols, qdd: Symbols, q_rate: Symbols, qd_rate: Symbols, qdd_rate: Symbols
    ) -> object:
        efforts = newton_euler.newton_euler(subject.mechanism, q, qd, qdd, gravity=subject.gravity)
        return push_forward(
            cast(list[Traced], efforts), [*q, *qd, *qdd], [*q_rate, *qd_rate, *qdd_rate]
        )

    return function
