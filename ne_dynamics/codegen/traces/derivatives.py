"""Tracers of the derivatives of the inverse and the forward dynamics."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ne_dynamics.algorithms import forward, newton_euler, terms
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.differentiation import differentiate, push_forward, substitute
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Traced
from ne_dynamics.codegen.traces.recursion import name_loads
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def _compute_efforts(
    subject: Subject, link: Link | None, named: Mapping[str, Symbols], *motion: Symbols
) -> list[Traced]:
    recursion: Callable[..., list[Traced]] = newton_euler.newton_euler  # type: ignore[assignment]
    return recursion(subject.mechanism, *motion, gravity=subject.gravity, tip=link, **named)


def _differentiate_efforts(
    subject: Subject,
    link: Link | None,
    named: Mapping[str, Symbols],
    q: Symbols,
    qd: Symbols,
    qdd: Symbols,
) -> list[list[list[Traced]]]:
    """Return the derivatives of the efforts with respect to q, qd and qdd, each as rows."""
    efforts = _compute_efforts(subject, link, named, q, qd, qdd)
    n = len(q)
    rows = differentiate(efforts, [*q, *qd, *qdd])
    parts = [[row[start : start + n] for row in rows] for start in (0, n, 2 * n)]
    # The mass matrix is symmetric: what lies below the diagonal need not be computed again.
    parts[2] = [[parts[2][min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    return parts


def trace_inverse_dynamics_derivatives(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the inverse dynamics derivatives, with 'wrench', 'base_motion', 'payload' as named."""
    return lambda *given: _differentiate_efforts(
        subject, link, name_loads(loads, link, given[3:]), *given[:3]
    )


def trace_forward_dynamics_derivatives(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the forward dynamics derivatives, with loads as the inverse dynamics has them."""

    def function(q: Symbols, qd: Symbols, tau: Symbols, *given: Symbols) -> object:
        n = len(q)
        named = name_loads(loads, link, given)
        mass = terms.mass_matrix(subject.mechanism, q, payload=named.get('payload'), tip=link)
        dynamics: Callable[..., list[Traced]] = forward.forward_dynamics  # type: ignore[assignment]
        qdd = dynamics(subject.mechanism, q, qd, tau, gravity=subject.gravity, tip=link, **named)
        # At the accelerations that the efforts give, which do not change with q and qd here.
        placeholders = q[0].graph.inputs('acceleration', n)
        by_q, by_qd, _ = _differentiate_efforts(subject, link, named, q, qd, placeholders)
        flat = substitute(
            [entry for part in (by_q, by_qd) for row in part for entry in row],
            placeholders,
            qdd,
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


def trace_inverse_dynamics_rate(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the inverse dynamics rate, with 'wrench', 'base_motion', 'payload' as named."""

    def function(*given: Symbols) -> object:
        motion, rates = given[:3], given[3:6]
        named = name_loads(loads, link, given[6:])
        efforts = _compute_efforts(subject, link, named, *motion)
        return push_forward(
            efforts,
            [each for one in motion for each in one],
            [r for one in rates for r in one],
        )

    return function
