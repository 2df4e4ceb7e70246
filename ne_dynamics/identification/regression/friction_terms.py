"""Terms of a joint's effort that are linear in a number of its friction or drive.

Each is a column over the motion; the formula is that of the core,
:func:`~ne_dynamics.algorithms.joint_friction.compute_friction`. What a given joint has of terms
that are not fitted stays as it is: a smoothed sign, a Stribeck effect, a dependence on the load.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from ne_dynamics.algorithms.hysteresis import compute_hysteresis, follow_hysteresis
from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint


class Term(enum.IntEnum):
    """Columns of one joint, in their order."""

    VISCOUS = 0
    COULOMB = 1
    ROTOR = 2
    OFFSET = 3
    SQUARE_ROOT = 4
    CUBIC = 5
    LOAD = 6
    STRIBECK_SLOW = 7
    STRIBECK_FAST = 8
    COULOMB_SMOOTH = 9
    COULOMB_SMOOTHER = 10
    STRIBECK_WIDE = 11
    HYSTERESIS = 12


TERMS = len(Term)

ALWAYS = (Term.VISCOUS, Term.COULOMB, Term.ROTOR, Term.OFFSET)
"""What is fitted unless held-out blocks say that the model is better without."""

BY_CHOICE = (
    Term.SQUARE_ROOT,
    Term.CUBIC,
    Term.LOAD,
    Term.STRIBECK_SLOW,
    Term.STRIBECK_FAST,
    Term.STRIBECK_WIDE,
    Term.COULOMB_SMOOTH,
    Term.COULOMB_SMOOTHER,
    Term.HYSTERESIS,
)
"""What is fitted where held-out blocks are predicted better with it."""

STRIBECK = {Term.STRIBECK_SLOW: 0.04, Term.STRIBECK_FAST: 0.12, Term.STRIBECK_WIDE: 0.8}
"""Stribeck velocity of a term, as a part of the joint's largest velocity; by the last, friction
falls throughout."""

SMOOTH = {Term.COULOMB_SMOOTH: 0.025, Term.COULOMB_SMOOTHER: 0.06}
"""Width of a smoothed change of sign of Coulomb friction, as a part of the largest velocity."""


LINEAR = {
    Term.OFFSET: 'friction_offset',
    Term.SQUARE_ROOT: 'square_root_friction',
    Term.CUBIC: 'cubic_friction',
    Term.LOAD: 'load_coefficient',
}
"""Attribute of :class:`~ne_dynamics.model.friction.FrictionModel` that a term is."""

NOT_NEGATIVE = frozenset(set(Term) - {Term.OFFSET})


def compute_columns(
    joint: Joint,
    velocity: FloatArray,
    acceleration: FloatArray,
    direction: FloatArray,
    load: FloatArray,
    largest_velocity: float,
) -> FloatArray:
    """Return the effort of one unit of each term, shape (D, TERMS).

    That of :func:`compute_path_columns` is 0.

    Parameters
    ----------
    joint : Joint
        As given: its smoothing, its own Stribeck effect and the like shape the columns.
    velocity, acceleration, direction, load : array, shape (D,)
        Motion of the joint [rad/s or m/s, and per second], the sign of its velocity, and its
        effort without acceleration and friction [N m or N].
    largest_velocity : float
        [rad/s or m/s]
    """
    columns = np.zeros((velocity.size, TERMS))

    def compute_effort(model: FrictionModel, viscous: float, coulomb: float) -> FloatArray:
        effort = compute_friction(model, viscous, coulomb, velocity, load, direction)
        return np.broadcast_to(cast('FloatArray', effort), velocity.shape)

    nothing = FrictionModel()
    given = joint.friction
    if given.smoothing_velocity == 0.0:
        given = replace(given, smoothing_velocity=find_smoothing(largest_velocity))
    smooth = replace(nothing, smoothing_velocity=given.smoothing_velocity)
    columns[:, Term.VISCOUS] = velocity
    columns[:, Term.COULOMB] = compute_effort(given, 0.0, 1.0) - compute_effort(given, 0.0, 0.0)
    columns[:, Term.ROTOR] = acceleration
    columns[:, Term.OFFSET] = 1.0
    sign = compute_effort(smooth, 0.0, 1.0)
    columns[:, Term.LOAD] = np.abs(load) * sign
    for term in (Term.SQUARE_ROOT, Term.CUBIC):
        columns[:, term] = compute_effort(replace(smooth, **{LINEAR[term]: 1.0}), 0.0, 0.0)
    for term, part in SMOOTH.items():
        wide = replace(nothing, smoothing_velocity=find_smoothing(largest_velocity, part))
        columns[:, term] = compute_effort(wide, 0.0, 1.0)
    for term, part in STRIBECK.items():
        width = find_smoothing(largest_velocity, part)
        columns[:, term] = sign * np.exp(-((velocity / width) ** 2))
    return columns


def find_smoothing(largest_velocity: float, part: float = 0.005) -> float:
    """Return a width of friction, a part of the largest velocity [rad/s or m/s].

    By default that of Coulomb's change of sign: less chatters with noise.
    """
    return max(part * largest_velocity, 1e-9)


def compute_path_columns(joint: Joint, position: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what depends on the path of a joint, for positions one after another [rad or m].

    That is the effort of one unit of :attr:`Term.HYSTERESIS`, and the state of the hysteresis that
    the joint is given with, 0 without; shape (D,) each.
    """
    column = follow_hysteresis(position, find_displacement(joint))
    given = joint.friction
    if not given.has_hysteresis:
        return column, np.zeros(position.size)
    return column, follow_hysteresis(position, given.hysteresis_displacement)


def find_displacement(joint: Joint) -> float:
    """Return the displacement of a fitted hysteresis [rad or m]."""
    return 0.01 if joint.type.is_prismatic else 0.1


def compute_kept_effort(
    joint: Joint,
    velocity: FloatArray,
    direction: FloatArray,
    load: FloatArray,
    hysteresis: FloatArray,
) -> FloatArray:
    """Return the effort of what is given and not fitted, shape (D,) [N m or N].

    Velocity, direction and load are as for :func:`compute_columns`; the hysteresis is the state of
    the joint's own, shape (D,).
    """
    given = replace(joint.friction, friction_offset=0.0)
    effort = compute_friction(given, 0.0, 0.0, velocity, load, direction)
    effort = effort + compute_hysteresis(given, hysteresis, velocity, direction)
    return np.broadcast_to(cast('FloatArray', effort), velocity.shape).copy()


def candidates(joint: Joint) -> tuple[Term, ...]:
    """Return the terms that may be chosen for a joint: those that it is not given with."""
    given = joint.friction
    has_own = {
        Term.SQUARE_ROOT: given.square_root_friction != 0.0,
        Term.CUBIC: given.cubic_friction != 0.0,
        Term.LOAD: given.depends_on_load,
        Term.HYSTERESIS: given.has_hysteresis,
        **dict.fromkeys(STRIBECK, given.static_friction is not None),
        # Another width would be that of what is given and kept, too.
        **dict.fromkeys(SMOOTH, not replace(given, friction_offset=0.0).is_off),
    }
    return tuple(term for term in BY_CHOICE if not has_own[term])


def adopt(term: Term, others: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the terms of a joint with one more; () where it does not go with the others."""
    shaped = {*STRIBECK, Term.LOAD, Term.SQUARE_ROOT}
    if term in SMOOTH:
        if Term.COULOMB not in others or shaped & set(others):
            return ()
        return (*(other for other in others if other != Term.COULOMB), term)
    if term in STRIBECK and set(STRIBECK) & set(others):
        return ()
    if term in shaped and set(SMOOTH) & set(others):
        return ()
    return (*others, term)


def given_values(joint: Joint) -> FloatArray:
    """Return what a joint has of each term, shape (TERMS,)."""
    values = np.zeros(TERMS)
    values[Term.VISCOUS] = joint.viscous_friction
    for term in (Term.COULOMB, *SMOOTH):
        values[term] = joint.coulomb_friction
    values[Term.ROTOR] = joint.reflected_inertia
    values[Term.OFFSET] = joint.friction.friction_offset
    return values


def with_values(joint: Joint, values: Mapping[Term, float], largest_velocity: float) -> Joint:
    """Return a joint with fitted numbers in the place of the given ones.

    That of a Stribeck term is the static friction. The largest velocity is in [rad/s or m/s].
    """
    rotor, gear_ratio = joint.rotor_inertia, joint.gear_ratio
    if Term.ROTOR in values:
        # Without a ratio there is no rotor that the joint could feel: it gets one of its own.
        gear_ratio = gear_ratio or 1.0
        rotor = values[Term.ROTOR] / gear_ratio**2
    coulomb = joint.coulomb_friction
    for term in (Term.COULOMB, *SMOOTH):
        coulomb = values.get(term, coulomb)
    return replace(
        joint,
        viscous_friction=values.get(Term.VISCOUS, joint.viscous_friction),
        coulomb_friction=coulomb,
        rotor_inertia=rotor,
        gear_ratio=gear_ratio,
        friction=_with_friction_values(joint, values, largest_velocity),
    )


def _with_friction_values(
    joint: Joint, values: Mapping[Term, float], largest_velocity: float
) -> FrictionModel:
    """Return what the friction of a joint is beyond viscous and Coulomb friction."""
    model = joint.friction
    for term, key in LINEAR.items():
        if term in values:
            model = replace(model, **{key: values[term]})
    if values and model.smoothing_velocity == 0.0:
        width = [part for term, part in SMOOTH.items() if term in values]
        model = replace(model, smoothing_velocity=find_smoothing(largest_velocity, *width))
    for term, part in STRIBECK.items():
        if term in values:
            model = replace(
                model,
                static_friction=values[term],
                stribeck_velocity=part * largest_velocity,
            )
    if values.get(Term.HYSTERESIS, 0.0) > 0.0:
        model = replace(
            model,
            hysteresis_friction=values[Term.HYSTERESIS],
            hysteresis_displacement=find_displacement(joint),
        )
    return model
