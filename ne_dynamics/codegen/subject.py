"""A robot as the functions of the table trace it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ne_dynamics.algorithms.mechanism import Mechanism, build_mechanism
from ne_dynamics.algorithms.regressor import RegressorStructure, find_structure
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
    mechanism : Mechanism
        The robot in frames that cost least, inertias regrouped.
    """

    robot: Robot
    gravity: tuple[float, float, float]
    tolerance: float
    mechanism: Mechanism = field(init=False)
    _later: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'mechanism', build_mechanism(self.robot, self.tolerance))

    # No cached_property: before Python 3.12 all of them share a lock, and a child that is forked
    # while it is held waits for ever.

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
