"""Tracers of energy, momentum, and the centre of mass."""

from __future__ import annotations

from ne_dynamics.algorithms import energy
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.traces.trace import Body
from ne_dynamics.model.robot import Link


def trace_kinetic_energy(subject: Subject, link: Link | None) -> Body:
    """Trace the kinetic energy."""
    return lambda q, qd: energy.kinetic_energy(subject.mechanism, q, qd)


def trace_potential_energy(subject: Subject, link: Link | None) -> Body:
    """Trace the potential energy."""
    return lambda q: energy.potential_energy(subject.plain_mechanism, q, subject.gravity)


def trace_generalized_momentum(subject: Subject, link: Link | None) -> Body:
    """Trace the generalized momentum."""
    return lambda q, qd: energy.generalized_momentum(subject.mechanism, q, qd)


def trace_lagrangian_gradient(subject: Subject, link: Link | None) -> Body:
    """Trace the lagrangian gradient."""
    return lambda q, qd: energy.lagrangian_gradient(subject.mechanism, q, qd, subject.gravity)


def trace_center_of_mass(subject: Subject, link: Link | None) -> Body:
    """Trace the center of mass."""
    return lambda q: energy.center_of_mass(subject.plain_mechanism, q)
