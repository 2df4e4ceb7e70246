"""Tracers of the recursion itself: the inverse dynamics, with and without loads."""

from __future__ import annotations

from collections.abc import Callable

from ne_dynamics.algorithms import newton_euler
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import Link


def name_loads(
    loads: tuple[str, ...], link: Link | None, given: tuple[Symbols, ...]
) -> dict[str, Symbols]:
    """Return the loads of a call by name; without a link nothing holds a wrench or a payload."""
    at_tip = ('wrench', 'payload') if link is None else ()
    return {name: load for name, load in zip(loads, given, strict=True) if name not in at_tip}


def trace_under_loads(
    recursion: Callable[..., object],
    mechanism: Mechanism,
    subject: Subject,
    link: Link | None,
    loads: tuple[str, ...],
) -> Body:
    """Trace a recursion of three arguments, and loads by their names."""

    def function(*given: Symbols) -> object:
        named = name_loads(loads, link, given[3:])
        return recursion(mechanism, *given[:3], gravity=subject.gravity, tip=link, **named)

    return function


def trace_inverse_dynamics(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the inverse dynamics, with loads as they are named."""
    return trace_under_loads(newton_euler.newton_euler, subject.mechanism, subject, link, loads)


def trace_joint_wrenches(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the wrenches at the joints, with loads as they are named."""
    # An inverse dynamics does not need it.
    from ne_dynamics.algorithms.link_motion import joint_wrenches

    # They depend on the inertia of each link, not on their sums.
    return trace_under_loads(joint_wrenches, subject.plain_mechanism, subject, link, loads)


def trace_bare_recursion(subject: Subject, link: Link | None) -> Body:
    """Trace the recursion without gravity, friction and rotor inertia."""
    return lambda q, qd, qdd: newton_euler.newton_euler(
        subject.mechanism, q, qd, qdd, gravity=(0.0, 0.0, 0.0), joint_effects=False
    )
