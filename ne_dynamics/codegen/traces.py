"""What the functions of the table compute, over scalars.

Each function here takes the subject and the link that is meant. It returns a function of lists of
scalars, one list for each argument of its row in :mod:`ne_dynamics.codegen.functions`, which
computes the row's result as nested lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ne_dynamics.algorithms import (
    control_law,
    disturbance_residual,
    energy,
    forward,
    hysteresis,
    kinematics,
    newton_euler,
    regressor,
    terms,
)
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.differentiation import differentiate, pull_back, push_forward, substitute
from ne_dynamics.codegen.llvm.assembly import TWIST
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.codegen.symbols import Symbol, Traced
from ne_dynamics.model.robot import JointType, Link

Symbols = list[Symbol]
"""What a function is traced on: one symbol for each scalar of an argument."""

Body = Callable[..., object]
"""A function over generic scalars: a list of scalars each argument in, nested lists out."""

Trace = Callable[[Subject, Link | None], Body]
"""What makes the function of one robot."""


def _name_loads(
    loads: tuple[str, ...], link: Link | None, given: tuple[Symbols, ...]
) -> dict[str, Symbols]:
    """Return the loads of a call by name; without a link nothing holds a wrench or a payload."""
    named = dict(zip(loads, given, strict=True))
    if link is None:
        return {name: load for name, load in named.items() if name == 'base_motion'}
    return named


def _trace_under_loads(recursion: Callable[..., object], loads: tuple[str, ...]) -> Trace:
    """Trace a recursion of three arguments, and loads by their names."""

    def trace(subject: Subject, link: Link | None) -> Body:
        def function(*given: Symbols) -> object:
            named = _name_loads(loads, link, given[3:])
            return recursion(
                subject.mechanism, *given[:3], gravity=subject.gravity, tip=link, **named
            )

        return function

    return trace


def trace_inverse_dynamics(*loads: str) -> Trace:
    """Trace the inverse dynamics, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_under_loads(newton_euler.newton_euler, loads)


def _trace_control(law: Callable[..., object], loads: tuple[str, ...]) -> Trace:
    """Trace a law that takes a robot, the row's arguments before the loads, and the loads."""

    def trace(subject: Subject, link: Link | None) -> Body:
        joints = subject.structure.joints
        robot = control_law.ControlledRobot(
            subject.mechanism,
            tuple(joint.type is JointType.CONTINUOUS for joint in joints),
            subject.gravity,
            link,
        )

        def function(*given: Symbols) -> object:
            count = len(given) - len(loads)
            named = _name_loads(loads, link, given[count:])
            return law(robot, *given[:count], control_law.Loads(**named))

        return function

    return trace


def trace_control_effort(*loads: str) -> Trace:
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

    return _trace_control(law, loads)


def trace_disturbance_residuals(*loads: str) -> Trace:
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

    return _trace_control(law, loads)


def _trace_limited(compute: Callable[..., object], loads: tuple[str, ...]) -> Trace:
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

    return _trace_control(law, loads)


def trace_computed_torque(*loads: str) -> Trace:
    """Trace computed torque, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_limited(control_law.computed_torque, loads)


def trace_feedforward_pd(*loads: str) -> Trace:
    """Trace feed-forward with PD, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_limited(control_law.feedforward_pd, loads)


def trace_friction_hysteresis(subject: Subject, link: Link | None) -> Body:
    """Trace what the path of the joints adds to their friction."""
    return lambda state, displacement, rate, smoothing_velocity: hysteresis.friction_hysteresis(
        subject.mechanism, state, displacement, rate, smoothing_velocity[0]
    )


def trace_gravity_torque(subject: Subject, link: Link | None) -> Body:
    """Trace the gravity torque."""
    return lambda q: terms.gravity_torque(subject.mechanism, q, subject.gravity)


def trace_gravity_torque_with_payload(subject: Subject, link: Link | None) -> Body:
    """Trace the gravity torque with payload."""
    return lambda q, payload: terms.gravity_torque(
        subject.mechanism, q, subject.gravity, payload=payload, tip=link
    )


def trace_bias_torque(subject: Subject, link: Link | None) -> Body:
    """Trace the bias torque."""
    return lambda q, qd: terms.bias_torque(subject.mechanism, q, qd, subject.gravity)


def trace_mass_matrix(subject: Subject, link: Link | None) -> Body:
    """Trace the mass matrix."""
    return lambda q: terms.mass_matrix(subject.mechanism, q)


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


def trace_forward_dynamics(*loads: str) -> Trace:
    """Trace the forward dynamics, with 'wrench', 'base_motion', 'payload' as they are named."""
    return _trace_under_loads(forward.forward_dynamics, loads)


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


def _make_homogeneous(pose: kinematics.Pose) -> list[list[Scalar]]:
    axes, origin = pose
    rows = [[axis[row] for axis in axes] + [origin[row]] for row in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def trace_link_poses(subject: Subject, link: Link | None) -> Body:
    """Trace the link poses."""
    links = subject.robot.links
    return lambda q: [
        _make_homogeneous(pose) for pose in kinematics.link_poses(subject.mechanism, links, q)
    ]


def trace_forward_kinematics(subject: Subject, link: Link | None) -> Body:
    """Trace the forward kinematics."""
    assert link is not None

    return lambda q: _make_homogeneous(kinematics.link_pose(subject.mechanism, link, q))


def trace_jacobian(axes: str) -> Trace:
    """Trace the Jacobian, in 'base' or in 'tip' axes."""

    def trace(subject: Subject, link: Link | None) -> Body:
        assert link is not None
        return lambda q: kinematics.jacobian(subject.mechanism, link, q, axes)

    return trace


def trace_jacobian_rate(axes: str) -> Trace:
    """Trace the time derivative of the Jacobian, in 'base' or in 'tip' axes."""

    def trace(subject: Subject, link: Link | None) -> Body:
        assert link is not None

        def function(q: Symbols, qd: Symbols) -> object:
            rows = kinematics.jacobian(subject.mechanism, link, q, axes)
            return push_forward([cast(Traced, entry) for row in rows for entry in row], q, qd)

        return function

    return trace


def trace_regressor(subject: Subject, link: Link | None) -> Body:
    """Trace the regressor."""

    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        return regressor.regressor(subject.plain_mechanism, q, qd, qdd, subject.gravity)

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


def trace_bare_recursion(subject: Subject, link: Link | None) -> Body:
    """Trace the bare recursion."""

    def function(q: Symbols, qd: Symbols, qdd: Symbols) -> object:
        return newton_euler.newton_euler(
            subject.mechanism, q, qd, qdd, gravity=(0.0, 0.0, 0.0), joint_effects=False
        )

    return function
