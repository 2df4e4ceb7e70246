"""Tracers of the regressor, its gradient and its factors."""

from __future__ import annotations

from ne_dynamics.algorithms import regressor
from ne_dynamics.codegen.differentiation import pull_back
from ne_dynamics.codegen.functions import TWIST
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def trace_regressor(subject: Subject, link: Link | None) -> Body:
    """Trace the regressor."""

    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        # Up to so many coordinates the recursion, which knows special geometry, is shorter.
        compute = regressor.regressor if len(q) <= 10 else regressor.regressor_by_factors
        return compute(subject.plain_mechanism, q, qd, qdd, subject.gravity)

    return function


def trace_regressor_gradient(subject: Subject, link: Link | None) -> Body:
    """Trace the gradient of a weighted sum of the regressor's entries."""

    def function(q: Symbols, qd: Symbols, qdd: Symbols, weights: Symbols) -> object:
        rows = regressor.regressor(subject.plain_mechanism, q, qd, qdd, subject.gravity)
        entries = [entry for row in rows for entry in row]
        n = len(q)
        gradient = pull_back(entries, [*q, *qd, *qdd], weights)
        return [gradient[start : start + n] for start in (0, n, 2 * n)]

    return function


def trace_regressor_factors(subject: Subject, link: Link | None) -> Body:
    """Trace the regressor factors."""

    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        twists, wrenches = regressor.regressor_factors(
            subject.plain_mechanism, q, qd, qdd, subject.gravity
        )
        return [twists, [[body[row] for body in wrenches] for row in range(TWIST)]]

    return function
