"""Inertias, friction and rotor inertias as arguments of the equations.

The geometry stays folded into the equations; the numbers that identification or a sweep changes
become one more group of inputs, which one call or a whole batch shares. What is zero for every
robot of the same joints stays zero: regrouping leaves a revolute body no mass, no first moment
along its axis and no second moment along it, and a prismatic one no second moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.algorithms.inertia_map import PER_BODY, InertiaMap
from ne_dynamics.algorithms.mechanism import Mechanism, replace_inertias
from ne_dynamics.algorithms.mechanism_body import MechanismBody, RigidInertia
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import Frozen, frozen_array
from ne_dynamics.model.robot import BASE, FloatArray, Inertia, Robot

STEM = 'parameter'
"""Name of the group of inputs in the generated text."""

LARGEST_PARAMETER = 1e6
"""Largest magnitude of a parameter that machine code takes [SI]."""

JOINT_PARAMETERS = ('viscous_friction', 'coulomb_friction', 'rotor_inertia')
"""Those of each joint, by their names in :class:`~ne_dynamics.model.robot.Joint`."""

_PLAIN_NUMBER, _PLAIN_LENGTH = 1e60, 1e40
"""Magnitudes below which no product of numbers of a robot overflows [SI]."""

_REVOLUTE = (1, 2, 4, 5, 7, 8, 9)
"""Places of x, y, xx, yy, xy, xz, yz among mass, first and second moments."""
_PRISMATIC = (0, 1, 2, 3)


def count_parameters(robot: Robot) -> int:
    """Return the number of inputs that :meth:`ParameterInputs.compute` fills."""
    return 2 * PER_BODY * len(robot.bodies) + 3 * robot.n


@dataclass(frozen=True, eq=False)
class GivenParameters(Frozen):
    """Numbers in place of those of a robot; None where its own stay.

    Attributes
    ----------
    inertial : array, shape (10 b,), or None
        :attr:`~ne_dynamics.model.rigid_body.Inertia.parameters` of each body.
    viscous_friction, coulomb_friction, rotor_inertia : array, shape (n,), or None
        As :class:`~ne_dynamics.model.robot.Joint` has them.
    is_physical : bool
        False: bodies may have first moments without a mass, as base parameters do.
    """

    inertial: FloatArray | None = None
    viscous_friction: FloatArray | None = None
    coulomb_friction: FloatArray | None = None
    rotor_inertia: FloatArray | None = None
    is_physical: bool = True

    def __post_init__(self) -> None:
        for key in ('inertial', *JOINT_PARAMETERS):
            values = getattr(self, key)
            if values is not None:
                object.__setattr__(self, key, frozen_array(values, np.shape(values), key))

    def apply_to(self, robot: Robot) -> Robot:
        """Return the robot that has these numbers.

        Raises
        ------
        ModelError
            When a body or joint does not take them.
        """
        if self.inertial is not None:
            inertial = self.inertial
            if not self.is_physical:
                inertial = _support_first_moments(robot, inertial)
            robot = robot.with_inertial_parameters(inertial)
        for key in JOINT_PARAMETERS:
            values = getattr(self, key)
            if values is not None:
                robot = robot.with_joint_values(key, values)
        return robot


def _support_first_moments(robot: Robot, inertial: FloatArray) -> FloatArray:
    """Return parameters of the same efforts, without first moments that have no mass.

    A body that turns gets a kilogram at its origin, which is on the axis; its parent loses it at
    the same point. Nothing on the axis feels the turn, so no effort changes.

    Raises
    ------
    ModelError
        When a body that slides has a first moment without a mass: its mass is a base parameter.
    """
    rows: FloatArray = inertial.reshape(-1, PER_BODY).copy()
    for index in reversed(range(len(rows))):
        mass, first = rows[index, 0], rows[index, 1:4]
        if mass != 0.0 or not first.any():
            continue
        body = robot.bodies[index]
        if body.joint_type.is_prismatic:
            raise ModelError(
                f'body {body.name!r}: expected a mass where there is a first moment, since the '
                f'body slides, got {first.tolist()} kg m with 0 kg'
            )
        rows[index, 0] = 1.0
        if body.parent != BASE:
            point = Inertia(1.0, body.pose_in_parent.translation, np.zeros((3, 3)))
            rows[body.parent] -= point.parameters
    return rows.ravel()


class ParameterInputs:
    """What turns given numbers into the inputs of the equations of one robot.

    Parameters
    ----------
    robot : Robot
        Whose numbers stay where none are given.
    mechanism, plain : Mechanism
        Of it, regrouped and not.
    """

    def __init__(self, robot: Robot, mechanism: Mechanism, plain: Mechanism) -> None:
        self._map = InertiaMap(mechanism)
        self._inertial = np.concatenate(
            [
                _collect_inertias(replace_inertias(mechanism, robot)),
                _collect_inertias(replace_inertias(plain, robot, regroup=False)),
            ]
        )
        self._joints = {key: robot.joint_values(key) for key in JOINT_PARAMETERS}
        self._ratios = robot.joint_values('gear_ratio')
        lengths = [
            *(np.abs(body.pose_in_parent.translation).sum() for body in robot.bodies),
            *(np.abs(link.pose_in_body.translation).sum() for link in robot.links),
            *(abs(factor) for body in robot.bodies for factor in (body.offset, body.multiplier)),
        ]
        self._has_plain_lengths = sum(map(float, lengths)) < _PLAIN_LENGTH
        ratios = np.abs(self._ratios)
        self._has_plain_ratios = bool((ratios > 0.0).all() and ratios.max() < _PLAIN_LENGTH)

    def are_plain(self, given: GivenParameters) -> bool:
        """Return whether it is plain that a robot takes these numbers, without making it.

        Signs and magnitudes tell that of all but extreme numbers. Of others the robot must tell.
        """
        for key in JOINT_PARAMETERS:
            values = getattr(given, key)
            if values is not None and not (values.min() >= 0.0 and values.max() < _PLAIN_NUMBER):
                return False
        if given.rotor_inertia is not None and not self._has_plain_ratios:
            return False
        if given.inertial is None:
            return True
        sizes = np.abs(given.inertial).reshape(-1, PER_BODY)
        arms = sizes[:, 1:4].max(axis=1)
        return bool(
            self._has_plain_lengths
            and sizes.max() < _PLAIN_NUMBER
            and (arms <= _PLAIN_LENGTH * sizes[:, 0]).all()
        )

    def compute(self, given: GivenParameters) -> FloatArray:
        """Return the inputs of the equations, shape (count,).

        Ten of each body, regrouped, then ten of each body of its own: mass, first moment, second
        moments; then viscous friction, Coulomb friction and reflected inertia of each joint.
        """
        if given.inertial is None:
            inertial = self._inertial
        else:
            own = self._map.express(given.inertial)
            inertial = np.concatenate([self._map.regroup(own).ravel(), own.ravel()])
        viscous, coulomb, rotors = (
            self._joints[key] if values is None else values
            for key, values in ((key, getattr(given, key)) for key in JOINT_PARAMETERS)
        )
        # As Joint.reflected_inertia has it.
        reflected = self._ratios * self._ratios * rotors
        return np.concatenate([inertial, viscous, coulomb, reflected])


def _collect_inertias(mechanism: Mechanism) -> FloatArray:
    numbers = []
    for body in mechanism.bodies:
        inertia = body.inertia
        numbers += [inertia.mass, *inertia.first_moment, *inertia.second_moments]
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
        In the order of :meth:`ParameterInputs.compute`.
    """
    count, n = PER_BODY * len(mechanism.bodies), mechanism.n
    joints = [parameters[2 * count + place * n :][:n] for place in range(3)]
    changed = []
    for each, start in ((mechanism, 0), (plain, count)):
        bodies = []
        for index, body in enumerate(each.bodies):
            numbers = parameters[start + PER_BODY * index :][:PER_BODY]
            kept: Sequence[int] = range(PER_BODY)
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
