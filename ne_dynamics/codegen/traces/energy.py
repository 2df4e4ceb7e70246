"""Tracers of slopes and rates of the centre of mass and of the centroidal momentum."""

from __future__ import annotations

from typing import cast

from ne_dynamics.algorithms import energy
from ne_dynamics.codegen.differentiation import differentiate, push_forward
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Traced
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def trace_center_of_mass_jacobian(subject: Subject, link: Link | None) -> Body:
    """Trace the Jacobian of the center of mass."""

    def function(q: Symbols) -> object:
        center = energy.center_of_mass(subject.plain_mechanism, q)
        return differentiate(cast(list[Traced], center), q)

    return function


def _compute_momentum(subject: Subject, q: Symbols, qd: Symbols) -> list[Traced]:
    momentum = energy.centroidal_momentum(subject.plain_mechanism, q, qd)
    return cast(list[Traced], momentum)


def trace_centroidal_momentum_matrix(subject: Subject, link: Link | None) -> Body:
    """Trace the slopes of the centroidal momentum, which is linear in the velocities."""

    def function(q: Symbols) -> object:
        qd = q[0].graph.inputs('velocity', len(q))
        return differentiate(_compute_momentum(subject, q, qd), qd)

    return function


def trace_centroidal_momentum_rate(subject: Subject, link: Link | None) -> Body:
    """Trace the time derivative of the centroidal momentum."""
    return lambda q, qd, qdd: push_forward(
        _compute_momentum(subject, q, qd), [*q, *qd], [*qd, *qdd]
    )
