"""A step of De Luca's momentum observer over generic scalars.

See :mod:`ne_dynamics.control.observer` for what it is, and why it has this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ne_dynamics.algorithms.control_law import ControlledRobot, Loads, State
from ne_dynamics.algorithms.coupled_drives import combine_rates, distribute_efforts
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector


class ObserverStep(NamedTuple):
    """How a step is taken.

    Attributes
    ----------
    rate : scalar
        One by the time since the last state [1/s].
    lag : scalar
        How long before the present position the middle of the step was [s].
    shares : sequence of 2 scalars
        By which the residuals follow what the model misses.
    uses_velocity, uses_friction : scalar
        1 where Coriolis efforts and friction are the command's, 0 where they are not.
    smoothing_velocity : scalar
        As :func:`~ne_dynamics.algorithms.joint_friction.compute_friction` takes it.
    """

    rate: Scalar
    lag: Scalar
    shares: Sequence[Scalar]
    uses_velocity: Scalar
    uses_friction: Scalar
    smoothing_velocity: Scalar


def disturbance_residuals(
    robot: ControlledRobot,
    measured: State,
    qd_before: Sequence[Scalar],
    friction_qd: Sequence[Scalar],
    effort: Sequence[Scalar],
    residuals: Sequence[Sequence[Scalar]],
    step: ObserverStep,
    loads: Loads,
) -> list[Vector]:
    """Return two residuals after a state, n scalars each [N m or N].

    Parameters
    ----------
    robot : ControlledRobot
    measured : State
    qd_before : sequence of n scalars
        Velocities of the state before [rad/s or m/s].
    friction_qd : sequence of n scalars
        Velocities that friction but the viscous one counts for [rad/s or m/s].
    effort : sequence of n scalars
        Commanded between the two states [N m or N].
    residuals : two sequences of n scalars
        Those of the state before [N m or N].
    step : ObserverStep
    loads : Loads
    """
    mechanism = robot.mechanism
    means = [0.5 * (before + rate) for before, rate in zip(qd_before, measured.qd, strict=True)]
    needed = newton_euler(
        mechanism,
        [q - step.lag * mean for q, mean in zip(measured.q, means, strict=True)],
        [step.uses_velocity * mean for mean in means],
        [step.rate * (rate - before) for before, rate in zip(qd_before, measured.qd, strict=True)],
        friction_qd=[step.uses_friction * rate for rate in friction_qd],
        smoothing_velocity=step.smoothing_velocity,
        **robot.surroundings(loads),
    )
    missing = _subtract_command(mechanism, step, needed, means, friction_qd, effort)
    return [
        [old + share * (new - old) for old, new in zip(residual, missing, strict=True)]
        for residual, share in zip(residuals, step.shares, strict=True)
    ]


def _subtract_command(
    mechanism: Mechanism,
    step: ObserverStep,
    needed: Vector,
    means: Vector,
    friction_qd: Sequence[Scalar],
    effort: Sequence[Scalar],
) -> Vector:
    """Return what a motion took beyond the command, with viscous friction of its own velocity."""
    # Of friction at no velocity the offset is left: it counts like the rest, or not.
    missing: Vector = [
        one
        + step.uses_friction * viscous * (mean - rate)
        + (step.uses_friction - 1.0) * friction.friction_offset
        - given
        for one, viscous, friction, mean, rate, given in zip(
            needed,
            mechanism.viscous_friction,
            mechanism.friction,
            means,
            friction_qd,
            effort,
            strict=True,
        )
    ]
    changes = [mean - rate for mean, rate in zip(means, friction_qd, strict=True)]
    more = [
        step.uses_friction * drive.viscous_friction * combine_rates(drive, changes)
        for drive in mechanism.drives
    ]
    return distribute_efforts(mechanism.drives, missing, more)
