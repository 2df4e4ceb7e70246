"""Friction of the joints and of coupled drives over generic scalars."""

from __future__ import annotations

from collections.abc import Sequence

from ne_dynamics.algorithms.coupled_drives import combine_rates, distribute_efforts
from ne_dynamics.algorithms.mechanism import Mechanism, MechanismDrive
from ne_dynamics.algorithms.scalars.elementary import absolute, exp, sign, sqrt, tanh
from ne_dynamics.algorithms.scalars.scalar import Scalar, Vector
from ne_dynamics.model.friction import (
    HYSTERESIS_WITHOUT_PATH,
    LEAST_ROOT_VELOCITY,
    FrictionModel,
)

_STEP_VELOCITY = 1e-30
"""Width of a change of sign that is a step in all but name [rad/s or m/s]."""


def friction_efforts(
    mechanism: Mechanism,
    qd: Sequence[Scalar],
    loads: Sequence[Scalar] | None = None,
    smoothing_velocity: Scalar | None = None,
) -> Vector:
    """Return the friction of all joints and drives, the effort to be added, n scalars.

    Parameters
    ----------
    mechanism : Mechanism
    qd : sequence of n scalars
        Joint velocities [rad/s or m/s].
    loads : sequence of n scalars, optional
        Efforts of the joints without acceleration and friction [N m or N]; without them what
        depends on the load is left out.
    smoothing_velocity : scalar, optional
        As :func:`compute_friction` takes it.
    """
    efforts = [
        compute_friction(
            friction,
            viscous,
            coulomb,
            rate,
            0.0 if loads is None else loads[index],
            smoothing_velocity=smoothing_velocity,
        )
        for index, (rate, viscous, coulomb, friction) in enumerate(
            zip(
                qd,
                mechanism.viscous_friction,
                mechanism.coulomb_friction,
                mechanism.friction,
                strict=True,
            )
        )
    ]
    of_drives = [_drive_friction(drive, qd, smoothing_velocity) for drive in mechanism.drives]
    return distribute_efforts(mechanism.drives, efforts, of_drives)


def _drive_friction(
    drive: MechanismDrive, qd: Sequence[Scalar], smoothing_velocity: Scalar | None
) -> Scalar:
    rate = combine_rates(drive, qd)
    numbers = drive.viscous_friction, drive.coulomb_friction
    return compute_friction(drive.friction, *numbers, rate, 0.0, None, smoothing_velocity)


def compute_friction(
    friction: FrictionModel,
    viscous: Scalar,
    coulomb: Scalar,
    rate: Scalar,
    load: Scalar,
    direction: Scalar | None = None,
    smoothing_velocity: Scalar | None = None,
) -> Scalar:
    """Return the friction of one joint, the effort the drive has to add.

    The formula is that of :class:`~ne_dynamics.model.friction.FrictionModel`, without the path.

    Parameters
    ----------
    friction : FrictionModel
    viscous, coulomb : scalar
        [N m s/rad or N s/m] and [N m or N]
    rate : scalar
        Joint velocity [rad/s or m/s].
    load : scalar
        Effort without acceleration and friction [N m or N].
    direction : scalar, optional
        In place of the sign of the velocity, where that is a step: -1 or 1 for the limit of the
        friction at rest from one side.
    smoothing_velocity : scalar, optional
        Width of the change of sign around rest where the model gives none [rad/s or m/s]; its
        sign makes no difference, and 0 is a step.

    Returns
    -------
    scalar
        [N m or N]
    """
    effort: Scalar = viscous * rate
    level = _compute_level(friction, coulomb, rate, load)
    has_level = not (isinstance(level, float) and level == 0.0)
    if has_level or friction.friction_asymmetry != 0.0:
        direction = compute_direction(friction, rate, direction, smoothing_velocity)
        if has_level:
            effort = effort + level * direction
        if friction.friction_asymmetry != 0.0:
            effort = effort + friction.friction_asymmetry * (direction * direction)
    if friction.square_root_friction != 0.0:
        effort = effort + _compute_root(friction, rate, smoothing_velocity)
    if friction.cubic_friction != 0.0:
        effort = effort + friction.cubic_friction * (rate * rate * rate)
    if friction.friction_offset != 0.0:
        effort = effort + friction.friction_offset
    return effort


def _compute_level(friction: FrictionModel, coulomb: Scalar, rate: Scalar, load: Scalar) -> Scalar:
    """Return the friction that opposes a motion, whatever way it goes [N m or N]."""
    level: Scalar = coulomb
    if friction.static_friction is not None:
        # Armstrong-Helouvry, Dupont and Canudas de Wit 1994, the exponential with exponent 2.
        ratio = rate * (1.0 / friction.stribeck_velocity)
        level = level + (friction.static_friction - coulomb) * exp(-(ratio * ratio))
    if friction.depends_on_load:
        level = level + friction.load_coefficient * absolute(load)
    if friction.has_hysteresis:
        level = level + HYSTERESIS_WITHOUT_PATH * friction.hysteresis_friction
    return level


def _compute_root(
    friction: FrictionModel, rate: Scalar, smoothing_velocity: Scalar | None
) -> Scalar:
    """Return the friction that grows with the square root of the velocity [N m or N]."""
    width: Scalar = max(friction.smoothing_velocity, LEAST_ROOT_VELOCITY)
    if smoothing_velocity is not None and friction.smoothing_velocity == 0.0:
        # The larger of two, by their magnitudes: the sum and the distance.
        given = absolute(smoothing_velocity)
        width = 0.5 * (given + width + absolute(given - width))
    size = sqrt(rate * rate + width * width)
    # v / sqrt(size), in a form that is no number when v^2 overflows, and not zero.
    return friction.square_root_friction * (sqrt(size) * (rate / size))


def compute_direction(
    friction: FrictionModel,
    rate: Scalar,
    direction: Scalar | None = None,
    smoothing_velocity: Scalar | None = None,
) -> Scalar:
    """Return the direction that friction counts in, between -1 and 1.

    Parameters are those of :func:`compute_friction`.
    """
    if friction.smoothing_velocity != 0.0:
        return tanh(rate * (1.0 / friction.smoothing_velocity))
    if smoothing_velocity is not None:
        # Of 0 a step as well: nothing moves at a velocity near this, but no joint at all.
        return tanh(rate * (1.0 / (absolute(smoothing_velocity) + _STEP_VELOCITY)))
    return sign(rate) if direction is None else direction
