"""The control laws over generic scalars: state and desired state in, joint efforts out.

RNE(q, qd, qdd) are the efforts of links, rotors and loads without friction (Luh, Walker and Paul
1980), f is friction, subscript d is desired, e the position error (to the nearest turn where a
joint turns without end), e' the velocity error:

    computed torque          RNE(q, qd, qdd_d + Kv e' + Kp e) + f(qd_d)
    feed-forward with PD     RNE(q_d, qd_d, qdd_d) + f(qd_d) + Kp e + Kv e'

with diagonal gains. Friction is that of the desired velocity: the measured one would make Coulomb
friction chatter with the noise of the sensor. Its load is that of the state at which RNE is
evaluated.

:mod:`ne_dynamics.control.laws` has the same laws on arrays, with full gain matrices too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.elementary import clamp, nearest
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector

_TURN = 2.0 * math.pi


class ControlledRobot(NamedTuple):
    """What a law is for.

    Attributes
    ----------
    mechanism : Mechanism
    is_continuous : tuple of n bool
        Whether a joint turns without end.
    surroundings : mapping
        Gravity, tip and loads, by the names of
        :func:`~ne_dynamics.algorithms.newton_euler.newton_euler`.
    """

    mechanism: Mechanism
    is_continuous: tuple[bool, ...]
    surroundings: Mapping[str, Any]


def compute_position_errors(
    q_desired: Sequence[Scalar], q: Sequence[Scalar], is_continuous: Sequence[bool]
) -> Vector:
    """Return desired less measured positions, to the nearest turn where a joint has no end.

    Parameters
    ----------
    q_desired, q : sequence of n scalars
        [rad or m]
    is_continuous : sequence of n bool
        Whether a joint turns without end.
    """
    errors: Vector = []
    for desired, measured, is_endless in zip(q_desired, q, is_continuous, strict=True):
        error = desired - measured
        if is_endless:
            error = error - _TURN * nearest(error * (1.0 / _TURN))
        errors.append(error)
    return errors


def _add_feedback(
    feedforward: Sequence[Scalar],
    kp: Sequence[Scalar],
    kv: Sequence[Scalar],
    errors: Sequence[Scalar],
    rates: Sequence[Scalar],
) -> Vector:
    rows = zip(kp, kv, errors, rates, strict=True)
    feedback = [p * error + v * rate for p, v, error, rate in rows]
    return [given + more for given, more in zip(feedforward, feedback, strict=True)]


def control_effort(
    robot: ControlledRobot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    q_desired: Sequence[Scalar],
    qd_desired: Sequence[Scalar],
    q_model: Sequence[Scalar],
    qd_model: Sequence[Scalar],
    qdd: Sequence[Scalar],
    friction_qd: Sequence[Scalar],
    kp: Sequence[Scalar],
    kv: Sequence[Scalar],
    effort_kp: Sequence[Scalar],
    effort_kv: Sequence[Scalar],
    smoothing_velocity: Scalar,
) -> tuple[Vector, Vector]:
    """Return ``RNE(model, qdd + Kv e' + Kp e) + f(friction_qd) + Kv2 e' + Kp2 e``.

    The one law of which the others are cases.

    Parameters
    ----------
    robot : ControlledRobot
    q, qd, q_desired, qd_desired, q_model, qd_model, qdd, friction_qd : sequence of n scalars
        State and desired state, whose differences are the errors; at which links and rotors
        count; acceleration that is fed forward; velocities for which friction counts.
    kp, kv, effort_kp, effort_kv : sequence of n scalars
        Accelerations per error [1/s^2, 1/s]; Kp2 and Kv2, efforts per error.
    smoothing_velocity : scalar
        As :func:`~ne_dynamics.algorithms.joint_friction.compute_friction` takes it.

    Returns
    -------
    efforts, errors : list of n scalars
        Efforts, not limited [N m or N]; desired less measured positions [rad or m].
    """
    errors = compute_position_errors(q_desired, q, robot.is_continuous)
    rates = [wanted - rate for wanted, rate in zip(qd_desired, qd, strict=True)]
    efforts = newton_euler(
        robot.mechanism,
        q_model,
        qd_model,
        _add_feedback(qdd, kp, kv, errors, rates),
        friction_qd=friction_qd,
        smoothing_velocity=smoothing_velocity,
        **robot.surroundings,
    )
    return _add_feedback(efforts, effort_kp, effort_kv, errors, rates), errors


def computed_torque(
    robot: ControlledRobot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    q_desired: Sequence[Scalar],
    qd_desired: Sequence[Scalar],
    qdd_desired: Sequence[Scalar],
    kp: Sequence[Scalar],
    kv: Sequence[Scalar],
    effort_limits: Sequence[Scalar],
    smoothing_velocity: Scalar,
) -> Vector:
    """Return the limited efforts of computed torque, n scalars [N m or N].

    The parameters are those of :func:`control_effort`; the limits are magnitudes that no effort
    exceeds [N m or N].
    """
    state, desired, none = (q, qd), (q_desired, qd_desired), [0.0] * robot.mechanism.n
    gains = kp, kv, none, none
    motion = *state, *desired, *state, qdd_desired, qd_desired
    efforts, _ = control_effort(robot, *motion, *gains, smoothing_velocity)
    return limit_efforts(efforts, effort_limits)


def feedforward_pd(
    robot: ControlledRobot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    q_desired: Sequence[Scalar],
    qd_desired: Sequence[Scalar],
    qdd_desired: Sequence[Scalar],
    kp: Sequence[Scalar],
    kv: Sequence[Scalar],
    effort_limits: Sequence[Scalar],
    smoothing_velocity: Scalar,
) -> Vector:
    """Return the limited efforts of feed-forward with PD, n scalars [N m or N].

    The parameters are those of :func:`computed_torque`; the gains are efforts per error [N m/rad
    or N/m, N m s/rad or N s/m].
    """
    desired, none = (q_desired, qd_desired), [0.0] * robot.mechanism.n
    gains = none, none, kp, kv
    motion = q, qd, *desired, *desired, qdd_desired, qd_desired
    efforts, _ = control_effort(robot, *motion, *gains, smoothing_velocity)
    return limit_efforts(efforts, effort_limits)


def limit_efforts(efforts: Sequence[Scalar], limits: Sequence[Scalar]) -> Vector:
    """Return efforts within plus and minus the magnitudes of limits; NaN for what is not finite.

    An infinite limit is none.
    """
    return [clamp(effort, limit) for effort, limit in zip(efforts, limits, strict=True)]
