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
    """Trace a law that takes a robot, the row's arguments before the loads, and the loads."""
    robot = control_law.ControlledRobot(
        subject.mechanism,
        tuple(joint.type is JointType.CONTINUOUS for joint in subject.structure.joints),
        subject.gravity,
        link,
    )

    def function(*given: Symbols) -> object:
        count = len(given) - len(loads)
        named = name_loads(loads, link, given[count:])
        return law(robot, *given[:count], control_law.Loads(**named))

    return function


def trace_control_effort(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace the general law, with 'wrench', 'base_motion', 'payload' as they are named."""

    def law(
        robot: control_law.ControlledRobot,
        q: Symbols,
        qd: Symbols,
        q_desired: Symbols,
        qd_desired: Symbols,
        q_model: Symbols,
        qd_model: Symbols,
        qdd: Symbols,
        friction_qd: Symbols,
        kp: Symbols,
        kv: Symbols,
        effort_kp: Symbols,
        effort_kv: Symbols,
        smoothing_velocity: Symbols,
        given: control_law.Loads,
    ) -> object:
        return control_law.control_effort(
            robot,
            control_law.State(q, qd),
            control_law.State(q_desired, qd_desired),
            control_law.State(q_model, qd_model),
            qdd,
            friction_qd,
            control_law.PdGains(kp, kv),
            control_law.PdGains(effort_kp, effort_kv),
            smoothing_velocity[0],
            given,
        )

    return _trace_control(law, subject, link, loads)


def trace_disturbance_residuals(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace an observer's step, with 'wrench', 'base_motion', 'payload' as they are named."""

    def law(
        robot: control_law.ControlledRobot,
        q: Symbols,
        qd: Symbols,
        qd_before: Symbols,
        friction_qd: Symbols,
        effort: Symbols,
        slow: Symbols,
        fast: Symbols,
        step: Symbols,
        given: control_law.Loads,
    ) -> object:
        rate, lag, slow_share, fast_share, *others = step
        return disturbance_residual.disturbance_residuals(
            robot,
            control_law.State(q, qd),
            qd_before,
            friction_qd,
            effort,
            (slow, fast),
            disturbance_residual.ObserverStep(rate, lag, (slow_share, fast_share), *others),
            given,
        )

    return _trace_control(law, subject, link, loads)


def _trace_limited(
    compute: Callable[..., object], subject: Subject, link: Link | None, loads: tuple[str, ...]
) -> Body:
    """Trace a law with limits."""

    def law(
        robot: control_law.ControlledRobot,
        q: Symbols,
        qd: Symbols,
        q_desired: Symbols,
        qd_desired: Symbols,
        qdd_desired: Symbols,
        kp: Symbols,
        kv: Symbols,
        effort_limits: Symbols,
        smoothing_velocity: Symbols,
        given: control_law.Loads,
    ) -> object:
        return compute(
            robot,
            control_law.State(q, qd),
            control_law.State(q_desired, qd_desired),
            qdd_desired,
            control_law.PdGains(kp, kv),
            effort_limits,
            smoothing_velocity[0],
            given,
        )

    return _trace_control(law, subject, link, loads)


def trace_computed_torque(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace computed torque, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_limited(control_law.computed_torque, subject, link, loads)


def trace_feedforward_pd(subject: Subject, link: Link | None, *loads: str) -> Body:
    """Trace feed-forward with PD, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_limited(control_law.feedforward_pd, subject, link, loads)


def trace_friction_hysteresis(subject: Subject, link: Link | None) -> Body:
    """Trace what the path of the joints adds to their friction."""
    return lambda state, displacement, rate, smoothing_velocity: hysteresis.friction_hysteresis(
        subject.mechanism, state, displacement, rate, smoothing_velocity[0]
    )
