"""A robot as the functions of the table trace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ne_dynamics.algorithms.mechanism import Mechanism, build_mechanism
from ne_dynamics.algorithms.scalars.scalar import Scalar
from ne_dynamics.codegen.given_parameters import GivenParameters
from ne_dynamics.model.robot import FloatArray, Robot

if TYPE_CHECKING:
    from ne_dynamics.algorithms.regressor import RegressorStructure


@dataclass(frozen=True)
class Subject:
    """A robot, and what else its equations depend on.

    Attributes
    ----------
    structure : Robot
        The robot as far as joints, links, frames and names go. Its inertias, friction and rotor
        inertias are others where some are given.
    gravity : tuple of 3 float
        Acceleration of gravity in the base link's axes [m/s^2].
    tolerance : float
        See :func:`~ne_dynamics.algorithms.mechanism.build_mechanism`.
    has_parameters : bool
        Whether inertias, friction and rotor inertias are arguments of the equations.
    given : GivenParameters
        Numbers in place of those of `structure`.
    """

    structure: Robot
    gravity: tuple[float, float, float]
    tolerance: float
    has_parameters: bool = False
    given: GivenParameters = field(default_factory=GivenParameters)
    _later: dict[str, Any] = field(init=False, default_factory=dict)

    # No cached_property: before Python 3.12 all of them share a lock, and a child that is forked
    # while it is held waits for ever.

    @property
    def robot(self) -> Robot:
        """The robot, with all of its numbers."""
        if 'robot' not in self._later:
            self._later.setdefault('robot', self.given.apply_to(self.structure))
        found: Robot = self._later['robot']
        return found

    @property
    def parameters(self) -> FloatArray:
        """Numbers of :meth:`with_parameters`, as its equations take them, shape (count,)."""
        found: FloatArray = self._later['parameters']
        return found

    @property
    def mechanism(self) -> Mechanism:
        """The robot in frames that cost least, inertias regrouped."""
        return self._build_mechanisms('mechanism', regroup=True)

    @property
    def plain_mechanism(self) -> Mechanism:
        """The robot in the same frames, each link with its own inertia."""
        return self._build_mechanisms('plain_mechanism', regroup=False)

    def _build_mechanisms(self, key: str, *, regroup: bool) -> Mechanism:
        if key not in self._later:
            if 'nominal' in self._later:
                nominal: Subject = self._later['nominal']
                changed = nominal.insert_parameters(self.parameters.tolist())
                for each in ('mechanism', 'plain_mechanism'):
                    self._later.setdefault(each, changed._later[each])
            else:
                self._later[key] = build_mechanism(self.robot, self.tolerance, regroup)
        found: Mechanism = self._later[key]
        return found

    @property
    def regressor_structure(self) -> RegressorStructure:
        """Which products of its factors the regressor consists of."""
        if 'regressor_structure' not in self._later:
            from ne_dynamics.algorithms.regressor import find_structure

            self._later['regressor_structure'] = find_structure(self.plain_mechanism)
        found: RegressorStructure = self._later['regressor_structure']
        return found

    def with_run_time_parameters(self) -> Subject:
        """Return the subject whose inertias, friction and rotor inertias are arguments."""
        changed = replace(self, has_parameters=True)
        changed._later.update(self._later)
        return changed

    def with_parameters(self, given: GivenParameters) -> Subject:
        """Return the subject with other numbers, in the same frames.

        Parameters
        ----------
        given : GivenParameters
            In place of the numbers of `structure`.

        Raises
        ------
        ModelError
            When a body or joint does not take them.
        """
        if 'inputs' not in self._later:
            from ne_dynamics.codegen.run_time_parameters import ParameterInputs

            inputs = ParameterInputs(self.robot, self.mechanism)
            self._later.setdefault('inputs', inputs)
        inputs = self._later['inputs']
        changed = Subject(self.structure, self.gravity, self.tolerance, given=given)
        if not inputs.are_plain(given):
            _ = changed.robot  # raises
        changed._later.update(nominal=self, parameters=inputs.compute(given))
        return changed

    def insert_parameters(self, parameters: Sequence[Scalar]) -> Subject:
        """Return the subject with scalars in place of inertias, friction and rotor inertias."""
        changed = Subject(self.structure, self.gravity, self.tolerance)
        from ne_dynamics.codegen.run_time_parameters import insert_parameters

        pair = insert_parameters(self.mechanism, self.plain_mechanism, parameters)
        changed._later['mechanism'], changed._later['plain_mechanism'] = pair
        return changed
