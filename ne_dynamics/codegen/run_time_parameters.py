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

from ne_dynamics.algorithms.inertia_map import InertiaMap
from ne_dynamics.algorithms.mechanism import Mechanism
from ne_dynamics.algorithms.mechanism_body import PARAMETERS_PER_BODY, MechanismBody, RigidInertia
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.given_parameters import JOINT_PARAMETERS, GivenParameters
from ne_dynamics.model.robot import FloatArray, Robot

PLAIN_NUMBER, PLAIN_LENGTH = 1e60, 1e40
"""Below these no product of numbers of a robot and of its lengths overflows [SI]."""

_REVOLUTE = (1, 2, 4, 5, 7, 8, 9)
"""Places of x, y, xx, yy, xy, xz, yz among mass, first and second moments."""
_PRISMATIC = (0, 1, 2, 3)


class ParameterInputs:
    """What turns given numbers into the inputs of the equations of one robot.

    Parameters
    ----------
    robot : Robot
        Whose numbers stay where none are given.
    mechanism : Mechanism
        Of it, for its frames.
    """

    def __init__(self, robot: Robot, mechanism: Mechanism) -> None:
        self._map = InertiaMap(mechanism)
        self._inertial = self._map_inertias(
            np.concatenate([body.inertia.parameters for body in robot.bodies])
        )
        self._joints = {key: robot.joint_values(key) for key in JOINT_PARAMETERS}
        self._ratios = robot.joint_values('gear_ratio')
        lengths = [
            *(np.abs(body.pose_in_parent.translation).sum() for body in robot.bodies),
            *(np.abs(link.pose_in_body.translation).sum() for link in robot.links),
            *(abs(factor) for body in robot.bodies for factor in (body.offset, body.multiplier)),
        ]
        self._has_plain_lengths = sum(map(float, lengths)) < PLAIN_LENGTH
        ratios = np.abs(self._ratios)
        self._has_plain_ratios = bool((ratios > 0.0).all() and ratios.max() < PLAIN_LENGTH)

    def are_plain(self, given: GivenParameters) -> bool:
        """Return whether it is plain that a robot takes these numbers, without making it.

        Signs and magnitudes tell that of all but extreme numbers. Of others the robot must tell.
        """
        for key in JOINT_PARAMETERS:
            values = getattr(given, key)
            if values is not None and not (values.min() >= 0.0 and values.max() < PLAIN_NUMBER):
                return False
        if given.rotor_inertia is not None and not self._has_plain_ratios:
            return False
        if given.inertial is None:
            return True
        sizes = np.abs(given.inertial).reshape(-1, PARAMETERS_PER_BODY)
        arms = sizes[:, 1:4].max(axis=1)
        return bool(
            self._has_plain_lengths
            and sizes.max() < PLAIN_NUMBER
            and (arms <= PLAIN_LENGTH * sizes[:, 0]).all()
        )

    def compute(self, given: GivenParameters) -> FloatArray:
        """Return the inputs of the equations, shape (count,).

        Ten of each body, regrouped, then ten of each body of its own: mass, first moment, second
        moments; then viscous friction, Coulomb friction and reflected inertia of each joint.
        """
        inertial = self._inertial
        if given.inertial is not None:
            inertial = self._map_inertias(given.inertial)
        viscous, coulomb, rotors = (
            self._joints[key] if values is None else values
            for key, values in ((key, getattr(given, key)) for key in JOINT_PARAMETERS)
        )
        # As Joint.reflected_inertia has it.
        reflected = self._ratios * self._ratios * rotors
        return np.concatenate([inertial, viscous, coulomb, reflected])

    def _map_inertias(self, inertial: FloatArray) -> FloatArray:
        """Return the moments of all bodies regrouped, then those of their own."""
        own = self._map.express(inertial)
        return np.concatenate([self._map.regroup(own).ravel(), own.ravel()])


def insert_parameters(
    mechanism: Mechanism, plain: Mechanism, parameters: Sequence[Scalar]
) -> tuple[Mechanism, Mechanism]:
    """Return both mechanisms with scalars in place of their numbers.

    Parameters
    ----------
    mechanism, plain : Mechanism
        Of the same robot, regrouped and not.
    parameters : sequence of scalars
        In the order of :meth:`ParameterInputs.compute`.
    """
    count, n = PARAMETERS_PER_BODY * len(mechanism.bodies), mechanism.n
    joints = [parameters[2 * count + place * n :][:n] for place in range(3)]
    changed = []
    for each, start in ((mechanism, 0), (plain, count)):
        bodies = []
        for index, body in enumerate(each.bodies):
            numbers = parameters[start + PARAMETERS_PER_BODY * index :][:PARAMETERS_PER_BODY]
            kept: Sequence[int] = range(PARAMETERS_PER_BODY)
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
