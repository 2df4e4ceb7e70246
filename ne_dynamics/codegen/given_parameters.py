"""Numbers in place of those of a robot, as callers give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.mechanism_body import PARAMETERS_PER_BODY
from ne_dynamics.errors import ModelError
from ne_dynamics.model.frozen import Frozen, frozen_array
from ne_dynamics.model.robot import BASE, FloatArray, Inertia, Robot

STEM = 'parameter'
"""Name of the group of inputs in the generated text."""


JOINT_PARAMETERS = ('viscous_friction', 'coulomb_friction', 'rotor_inertia')
"""Those of each joint, by their names in :class:`~ne_dynamics.model.robot.Joint`."""


def count_parameters(robot: Robot) -> int:
    """Return the number of inputs that :meth:`ParameterInputs.compute` fills."""
    return 2 * PARAMETERS_PER_BODY * len(robot.bodies) + 3 * robot.n


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
    rows: FloatArray = inertial.reshape(-1, PARAMETERS_PER_BODY).copy()
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
