"""Tracers of gravity and mass matrix with a payload, Coriolis matrix, and forward dynamics."""

from __future__ import annotations

from ne_dynamics.algorithms import forward, terms
from ne_dynamics.codegen.differentiation import differentiate
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.traces.recursion import trace_under_loads
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def trace_gravity_torque_with_payload(subject: Subject, link: Link | None) -> Body:
    """Trace the gravity torque with payload."""
    return lambda q, payload: terms.gravity_torque(
        subject.mechanism, q, subject.gravity, payload=payload, tip=link
    )


def trace_mass_matrix_with_payload(subject: Subject, link: Link | None) -> Body:
    """Trace the mass matrix with payload."""
    return lambda q, payload: terms.mass_matrix(subject.mechanism, q, payload=payload, tip=link)


def trace_coriolis_matrix(subject: Subject, link: Link | None) -> Body:
    """Trace the coriolis matrix."""

    def function(q: Symbols, qd: Symbols) -> object:
        # The velocity products are quadratic in qd: half their slope is the Christoffel form.
        slopes = differentiate(terms.velocity_torque(subject.mechanism, q, qd), qd)
        return [[0.5 * slope for slope in row] for row in slopes]

    return function


def trace_forward_dynamics(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the forward dynamics, with loads as they are named."""
    return trace_under_loads(forward.forward_dynamics, subject.mechanism, subject, link, loads)
