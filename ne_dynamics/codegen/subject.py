"""A robot as the functions of the table trace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ne_dynamics.algorithms.mechanism import Mechanism, build_mechanism, replace_inertias
from ne_dynamics.algorithms.regressor import RegressorStructure, find_structure
from ne_dynamics.algorithms.scalar import Scalar
from ne_dynamics.codegen.run_time_parameters import insert_parameters
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True)
class Subject:
    """A robot, and what else its equations depend on.

    Attributes
    ----------
    robot : Robot
    gravity : tuple of 3 float
        Acceleration of gravity in the base link's axes [m/s^2].
    tolerance : float
        See :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`.
    has_parameters : bool
        Whether inertias, friction and rotor inertias are arguments of the equations.
    """

    robot: Robot
    gravity: tuple[float, float, float]
    tolerance: float
    has_parameters: bool = False
    _later: dict[str, Any] = field(init=False, default_factory=dict)

    # No cached_property: before Python 3.12 all of them share a lock, and a child that is forked
    # while it is held waits for ever.

    @property
    def mechanism(self) -> Mechanism:
        """The robot in frames that cost least, inertias regrouped."""
        if 'mechanism' not in self._later:
            self._later['mechanism'] = build_mechanism(self.robot, self.tolerance)
        found: Mechanism = self._later['mechanism']
        return found

    @property
    def plain_mechanism(self) -> Mechanism:
        """The robot in the same frames, each link with its own inertia."""
        if 'plain_mechanism' not in self._later:
            plain = build_mechanism(self.robot, self.tolerance, regroup=False)
            self._later['plain_mechanism'] = plain
        found: Mechanism = self._later['plain_mechanism']
        return found

    @property
    def regressor_structure(self) -> RegressorStructure:
        """Which products of its factors the regressor consists of."""
        if 'regressor_structure' not in self._later:
            self._later['regressor_structure'] = find_structure(self.plain_mechanism)
        found: RegressorStructure = self._later['regressor_structure']
        return found

    def with_run_time_parameters(self) -> Subject:
        """Return the subject whose inertias, friction and rotor inertias are arguments."""
        changed = replace(self, has_parameters=True)
        changed._later.update(self._later)
        return changed

    def with_robot(self, robot: Robot) -> Subject:
        """Return the subject with a robot of the same joints and frames, in the same frames."""
        changed = Subject(robot, self.gravity, self.tolerance)
        changed._later['mechanism'] = replace_inertias(self.mechanism, robot)
        changed._later['plain_mechanism'] = replace_inertias(
            self.plain_mechanism, robot, regroup=False
        )
        return changed

    def insert_parameters(self, parameters: Sequence[Scalar]) -> Subject:
        """Return the subject with scalars in place of inertias, friction and rotor inertias."""
        changed = Subject(self.robot, self.gravity, self.tolerance)
        pair = insert_parameters(self.mechanism, self.plain_mechanism, parameters)
        changed._later['mechanism'], changed._later['plain_mechanism'] = pair
        return changed
