"""Inertias, friction and rotor inertias as arguments of the equations.

The geometry stays folded into the equations; the numbers that identification or a sweep changes
become one more group of inputs, which one call or a whole batch shares. What is zero for every
robot of the same joints stays zero: regrouping leaves a revolute body no mass, no first moment
along its axis and no second moment along it, and a prismatic one no second moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import MechanismBody, RigidInertia
from ne_dynamics.algorithms.scalar import Scalar
from ne_dynamics.model.robot import FloatArray, Robot

STEM = 'parameter'
"""Name of the group of inputs in the generated text."""

LARGEST_PARAMETER = 1e6
"""Largest magnitude of a parameter that machine code takes [SI]."""

_PER_BODY = 10
_REVOLUTE = (1, 2, 4, 5, 7, 8, 9)
"""Places of x, y, xx, yy, xy, xz, yz among mass, first and second moments."""
_PRISMATIC = (0, 1, 2, 3)


def count_parameters(robot: Robot) -> int:
    """Return the number of inputs that :func:`collect_parameters` fills."""
    return 2 * _PER_BODY * len(robot.bodies) + 3 * robot.n


def collect_parameters(mechanism: Mechanism, plain: Mechanism) -> FloatArray:
    """Return the numbers of a mechanism and of the one that is not regrouped, one after another.

    Ten of each body, regrouped, then ten of each body of its own: mass, first moment, second
    moments; then viscous friction, Coulomb friction and reflected inertia of each joint.
    """
    numbers: list[float] = []
    for each in (mechanism, plain):
        for body in each.bodies:
            inertia = body.inertia
            numbers += [inertia.mass, *inertia.first_moment, *inertia.second_moments]
    numbers += mechanism.viscous_friction
    numbers += mechanism.coulomb_friction
    numbers += mechanism.reflected_inertia
    return np.array(numbers)


def insert_parameters(
    mechanism: Mechanism, plain: Mechanism, parameters: Sequence[Scalar]
) -> tuple[Mechanism, Mechanism]:
    """Return both mechanisms with scalars in place of their numbers.

    Parameters
    ----------
    mechanism, plain : Mechanism
        Of the same robot, regrouped and not.
    parameters : sequence of scalars
        In the order of :func:`collect_parameters`.
    """
    count, n = _PER_BODY * len(mechanism.bodies), mechanism.n
    joints = [parameters[2 * count + place * n :][:n] for place in range(3)]
    changed = []
    for each, start in ((mechanism, 0), (plain, count)):
        bodies = []
        for index, body in enumerate(each.bodies):
            numbers = parameters[start + _PER_BODY * index :][:_PER_BODY]
            kept: Sequence[int] = range(_PER_BODY)
            if each is mechanism:
                kept = _PRISMATIC if body.is_prismatic else _REVOLUTE
            bodies.append(_insert(body, numbers, kept))
        changed.append(
            replace(
                each,
                bodies=tuple(bodies),
                viscous_friction=tuple(joints[0]),  # type: ignore[arg-type]
                coulomb_friction=tuple(joints[1]),  # type: ignore[arg-type]
                reflected_inertia=tuple(joints[2]),  # type: ignore[arg-type]
            )
        )
    return changed[0], changed[1]


def _insert(body: MechanismBody, numbers: Sequence[Scalar], kept: Sequence[int]) -> MechanismBody:
    values = [number if place in kept else 0.0 for place, number in enumerate(numbers)]
    # While it is traced, an inertia holds symbols.
    inertia = RigidInertia(values[0], tuple(values[1:4]), tuple(values[4:]))  # type: ignore[arg-type]
    return replace(body, inertia=inertia)
