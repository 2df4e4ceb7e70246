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
from collections.abc import Sequence
from typing import Any, NamedTuple

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.elementary import clamp, nearest
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector
from ne_dynamics.model.robot import Link

_TURN = 2.0 * math.pi


class ControlledRobot(NamedTuple):
    """What a law is for.

    Attributes
    ----------
    mechanism : Mechanism
    is_continuous : tuple of n bool
        Whether a joint turns without end.
    gravity : tuple of 3 float
        In the base link's axes [m/s^2].
    tip : Link or None
        Where wrench and payload are.
    """

    mechanism: Mechanism
    is_continuous: tuple[bool, ...]
    gravity: tuple[float, float, float]
    tip: Link | None

    def surroundings(self, loads: Loads) -> dict[str, Any]:
        """Return what the recursion takes beside the motion, by the names of its arguments."""
        return {'gravity': self.gravity, 'tip': self.tip, **loads._asdict()}


class Loads(NamedTuple):
    """What acts beside the motion.

    As :func:`~ne_dynamics.algorithms.newton_euler.newton_euler` takes it.

    Attributes
    ----------
    wrench : sequence of 6 scalars, or None
    base_motion : sequence of 9 scalars, or None
    payload : sequence of 10 scalars, or None
    """

    wrench: Sequence[Scalar] | None = None
    base_motion: Sequence[Scalar] | None = None
    payload: Sequence[Scalar] | None = None


class State(NamedTuple):
    """Positions [rad or m] and velocities [rad/s or m/s] of n joints."""

    q: Sequence[Scalar]
    qd: Sequence[Scalar]


class PdGains(NamedTuple):
    """Diagonal gains of position and velocity errors, n scalars each."""

    kp: Sequence[Scalar]
    kv: Sequence[Scalar]


class ControlEfforts(NamedTuple):
    """What a law gives.

    Attributes
    ----------
    efforts : list of n scalars
        Not limited [N m or N].
    errors : list of n scalars
        Desired less measured position [rad or m].
    """

    efforts: Vector
    errors: Vector


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


def _feed_back(gains: PdGains, errors: Sequence[Scalar], rates: Sequence[Scalar]) -> Vector:
    return [
        kp * error + kv * rate for kp, kv, error, rate in zip(*gains, errors, rates, strict=True)
    ]


def _add(first: Sequence[Scalar], second: Sequence[Scalar]) -> Vector:
    return [one + other for one, other in zip(first, second, strict=True)]


def control_effort(
    robot: ControlledRobot,
    measured: State,
    desired: State,
    model: State,
    qdd: Sequence[Scalar],
    friction_qd: Sequence[Scalar],
    gains: PdGains,
    effort_gains: PdGains,
    smoothing_velocity: Scalar,
    loads: Loads,
) -> ControlEfforts:
    """Return ``RNE(model, qdd + Kv e' + Kp e) + f(friction_qd) + Kv2 e' + Kp2 e``.

    The one law of which the others are cases.

    Parameters
    ----------
    robot : ControlledRobot
    measured, desired : State
        Whose difference are the errors.
    model : State
        At which links and rotors count.
    qdd : sequence of n scalars
        Acceleration that is fed forward [rad/s^2 or m/s^2].
    friction_qd : sequence of n scalars
        Velocities for which friction counts [rad/s or m/s].
    gains : PdGains
        Kp and Kv, accelerations per error [1/s^2, 1/s].
    effort_gains : PdGains
        Kp2 and Kv2, efforts per error [N m/rad or N/m, N m s/rad or N s/m].
    smoothing_velocity : scalar
        As :func:`~ne_dynamics.algorithms.joint_friction.compute_friction` takes it.
    loads : Loads
    """
    errors = compute_position_errors(desired.q, measured.q, robot.is_continuous)
    rates = [wanted - rate for wanted, rate in zip(desired.qd, measured.qd, strict=True)]
    efforts = newton_euler(
        robot.mechanism,
        *model,
        _add(qdd, _feed_back(gains, errors, rates)),
        friction_qd=friction_qd,
        smoothing_velocity=smoothing_velocity,
        **robot.surroundings(loads),
    )
    return ControlEfforts(_add(efforts, _feed_back(effort_gains, errors, rates)), errors)


def computed_torque(
    robot: ControlledRobot,
    measured: State,
    desired: State,
    qdd_desired: Sequence[Scalar],
    gains: PdGains,
    effort_limits: Sequence[Scalar],
    smoothing_velocity: Scalar,
    loads: Loads,
) -> Vector:
    """Return the limited efforts of computed torque, n scalars [N m or N].

    The parameters are those of :func:`control_effort`; the gains are accelerations per error
    [1/s^2, 1/s], the limits magnitudes that no effort exceeds [N m or N].
    """
    law = control_effort(
        robot,
        measured,
        desired,
        measured,
        qdd_desired,
        desired.qd,
        gains,
        _no_gains(robot),
        smoothing_velocity,
        loads,
    )
    return limit_efforts(law.efforts, effort_limits)


def feedforward_pd(
    robot: ControlledRobot,
    measured: State,
    desired: State,
    qdd_desired: Sequence[Scalar],
    gains: PdGains,
    effort_limits: Sequence[Scalar],
    smoothing_velocity: Scalar,
    loads: Loads,
) -> Vector:
    """Return the limited efforts of feed-forward with PD, n scalars [N m or N].

    The parameters are those of :func:`computed_torque`; the gains are efforts per error [N m/rad
    or N/m, N m s/rad or N s/m].
    """
    law = control_effort(
        robot,
        measured,
        desired,
        desired,
        qdd_desired,
        desired.qd,
        _no_gains(robot),
        gains,
        smoothing_velocity,
        loads,
    )
    return limit_efforts(law.efforts, effort_limits)


def _no_gains(robot: ControlledRobot) -> PdGains:
    zeros = [0.0] * robot.mechanism.n
    return PdGains(zeros, zeros)


def limit_efforts(efforts: Sequence[Scalar], limits: Sequence[Scalar]) -> Vector:
    """Return efforts within plus and minus the magnitudes of limits; NaN for what is not finite.

    An infinite limit is none.
    """
    return [clamp(effort, limit) for effort, limit in zip(efforts, limits, strict=True)]
