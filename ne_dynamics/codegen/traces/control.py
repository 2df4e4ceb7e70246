"""Tracers of the control laws, the observer, and the hysteresis of friction."""

from __future__ import annotations

from collections.abc import Callable

from ne_dynamics.algorithms import control_law, disturbance_residual, hysteresis
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.traces.recursion import name_loads
from ne_dynamics.codegen.traces.trace import Body, Symbols
from ne_dynamics.model.robot import JointType, Link


def _trace_control(
    law: Callable[..., object], subject: Subject, link: Link | None, loads: tuple[str, ...]
) -> Body:
    """Trace a law that takes a robot with its loads, and the row's other arguments."""
    joints = subject.structure.joints

    def function(*given: Symbols) -> object:
        count = len(given) - len(loads)
        named = name_loads(loads, link, given[count:])
        robot = control_law.ControlledRobot(
            subject.mechanism,
            tuple(joint.type is JointType.CONTINUOUS for joint in joints),
            {'gravity': subject.gravity, 'tip': link, **named},
        )
        return law(robot, *given[:count])

    return function


def _trace_law(
    law: Callable[..., object], subject: Subject, link: Link | None, loads: tuple[str, ...]
) -> Body:
    """Trace a control law, whose last argument is one scalar."""

    def compute(robot: control_law.ControlledRobot, *given: Symbols) -> object:
        return law(robot, *given[:-1], given[-1][0])

    return _trace_control(compute, subject, link, loads)


def trace_control_effort(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the general law, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_law(control_law.control_effort, subject, link, loads)


def trace_computed_torque(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace computed torque, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_law(control_law.computed_torque, subject, link, loads)


def trace_feedforward_pd(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace feed-forward with PD, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_law(control_law.feedforward_pd, subject, link, loads)


def trace_disturbance_residuals(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace an observer's step, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_control(disturbance_residual.disturbance_residuals, subject, link, loads)


def trace_friction_hysteresis(subject: Subject, link: Link | None) -> Body:
    """Trace what the path of the joints adds to their friction."""
    return lambda state, displacement, rate, smoothing_velocity: hysteresis.friction_hysteresis(
        subject.mechanism, state, displacement, rate, smoothing_velocity[0]
    )
