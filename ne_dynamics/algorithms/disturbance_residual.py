"""A step of De Luca's momentum observer over generic scalars.

See :mod:`ne_dynamics.control.observer` for what it is, and why it has this form.
"""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.control_law import ControlledRobot
from ne_dynamics.algorithms.coupled_drives import combine_rates, distribute_efforts
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.newton_euler import newton_euler
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector


def disturbance_residuals(
    robot: ControlledRobot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qd_before: Sequence[Scalar],
    friction_qd: Sequence[Scalar],
    effort: Sequence[Scalar],
    slow: Sequence[Scalar],
    fast: Sequence[Scalar],
    step: Sequence[Scalar],
) -> list[Vector]:
    """Return the slow and the fast residual after a state, n scalars each [N m or N].

    Parameters
    ----------
    robot : ControlledRobot
    q, qd, qd_before : sequence of n scalars
        The state, and the velocities of the state before [rad or m, rad/s or m/s].
    friction_qd, effort : sequence of n scalars
        Velocities that friction but the viscous one counts for; commanded in between [N m or N].
    slow, fast : sequence of n scalars
        The residuals of the state before [N m or N].
    step : sequence of 7 scalars
        One by the time since the last state [1/s]; how long before `q` the middle of it was [s];
        shares by which slow and fast follow what the model misses; 1 where Coriolis efforts, and
        1 where friction, are the command's, else 0; `smoothing_velocity` of
        :func:`~ne_dynamics.algorithms.joint_friction.compute_friction`.
    """
    rate, lag, slow_share, fast_share, uses_velocity, uses_friction, smoothing_velocity = step
    means = [0.5 * (before + after) for before, after in zip(qd_before, qd, strict=True)]
    needed = newton_euler(
        robot.mechanism,
        [position - lag * mean for position, mean in zip(q, means, strict=True)],
        [uses_velocity * mean for mean in means],
        [rate * (after - before) for before, after in zip(qd_before, qd, strict=True)],
        friction_qd=[uses_friction * each for each in friction_qd],
        smoothing_velocity=smoothing_velocity,
        **robot.surroundings,
    )
    missing = _subtract_command(robot.mechanism, uses_friction, needed, means, friction_qd, effort)
    return [
        [old + share * (new - old) for old, new in zip(residual, missing, strict=True)]
        for residual, share in ((slow, slow_share), (fast, fast_share))
    ]


def _subtract_command(
    mechanism: Mechanism,
    uses_friction: Scalar,
    needed: Vector,
    means: Vector,
    friction_qd: Sequence[Scalar],
    effort: Sequence[Scalar],
) -> Vector:
    """Return what a motion took beyond the command, with viscous friction of its own velocity."""
    # Of friction at no velocity the offset is left: it counts like the rest, or not.
    missing: Vector = [
        one
        + uses_friction * viscous * (mean - rate)
        + (uses_friction - 1.0) * friction.friction_offset
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
        uses_friction * drive.viscous_friction * combine_rates(drive, changes)
        for drive in mechanism.drives
    ]
    return distribute_efforts(mechanism.drives, missing, more)
