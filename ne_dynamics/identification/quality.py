"""How well a log determines what was fitted to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.base_estimate import BaseColumns, estimate_base
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.doubts import compute_covariance
from ne_dynamics.identification.regression.friction_terms import Term
from ne_dynamics.identification.regression.pseudo_inertia import compute_width
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.solver import Problem, Solution
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

NAMES = ('mass', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
UNITS = ('kg', *('kg m',) * 3, *('kg m^2',) * 6)


@dataclass(frozen=True)
class BaseParameter:
    """A combination of inertial parameters that acts on the efforts by itself.

    Attributes
    ----------
    name : str
        Link and parameter about the origin of its frame, ``forearm.Ixx``; what of other
        parameters acts alike is in it.
    unit : str
    given, identified : float
        Of the given and of the identified model.
    value : float
        What the log says of it by itself, without what is believed.
    deviation : float
        Standard deviation of the value, from the noise of the efforts.
    """

    name: str
    unit: str
    given: float
    identified: float
    value: float
    deviation: float


class Quality:
    """What the information of the last fit says; the dynamics are of the given robot."""

    def __init__(
        self, dynamics: Dynamics, design: Design, problem: Problem, solution: Solution
    ) -> None:
        self._dynamics, self._design, self._problem = dynamics, design, problem
        self._solution = solution
        matrix = problem.factor[:, :-1]
        self._information = matrix.T @ matrix
        self._covariance = compute_covariance(problem, solution, problem.prior_scales)
        self._regressor = self._compute_regressor()

    def _compute_regressor(self) -> FloatArray:
        """Return the rows of random motions for the bodies that are fitted."""
        robot, bodies = self._design.robot, list(self._design.bodies)
        rng = np.random.default_rng(0)
        motion = rng.uniform(-1.0, 1.0, (3, 40 * len(robot.bodies), robot.n))
        motion[0] *= np.pi
        self._acceleration: FloatArray = motion[2]
        full = self._dynamics.without_friction().regressor(*motion)
        samples, n = full.shape[:2]
        return full.reshape(samples, n, -1, PER_BODY)[:, :, bodies].reshape(samples * n, -1)

    def _units(self) -> FloatArray:
        """Return the matrix that turns steps in units of the reference prior scale into parameters."""
        size = self._design.inertial
        scale = np.zeros((size, size))
        for index, reference in enumerate(self._problem.references):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            scale[place, place] = IDENTIFICATION.reference_prior_scale * compute_width(reference)
        return scale

    def determined(self) -> dict[int, tuple[float, float]]:
        """Return for each body that is fitted what the log determined, and the mass's deviation.

        The former is 1 less the ratio of the deviations after and before, over ten parameters,
        if inertias were believed to `reference_prior_scale` of themselves; the latter is that of the
        fit.
        """
        units, result = self._units(), {}
        prior = np.diag(units @ units.T)
        alike = np.full(len(self._design.bodies), IDENTIFICATION.reference_prior_scale)
        posterior = np.diag(compute_covariance(self._problem, self._solution, alike))
        own = np.diag(self._covariance)
        for index, body in enumerate(self._design.bodies):
            place = slice(PER_BODY * index, PER_BODY * (index + 1))
            part = 1.0 - np.sqrt(posterior[place] / prior[place])
            result[body] = (
                float(np.clip(part, 0.0, 1.0).mean()),
                float(np.sqrt(own[place.start])),
            )
        return result

    def deviation(self, joint: int, term: Term) -> float:
        """Return the standard deviation of a number of a joint; NaN where it was not fitted."""
        place = self._design.places.get((joint, term))
        return math.nan if place is None else float(np.sqrt(self._covariance[place, place]))

    def excitation(self) -> tuple[int, int, float]:
        """Return how many directions exist, how many were found, and the condition number."""
        units, inner = self._units(), slice(0, self._design.inertial)
        _, sizes, directions = np.linalg.svd(self._regressor @ units, full_matrices=False)
        base = (
            directions[: int((sizes > IDENTIFICATION.acting_direction * sizes[0]).sum())]
            if sizes.size
            else directions
        )
        outer = slice(self._design.inertial, None)
        # What friction and drives could explain as well does not count.
        mixed = units.T @ self._information[inner, outer]
        friction = self._information[outer, outer] + np.diag(1.0 / self._problem.scales**2)
        known = units.T @ self._information[inner, inner] @ units
        known = known - mixed @ np.linalg.solve(friction, mixed.T)
        values = np.linalg.eigvalsh(base @ known @ base.T)
        if values.size == 0 or not values[-1] > 0.0:
            return base.shape[0], 0, math.inf
        smallest = max(float(values[0]), 1e-15 * float(values[-1]))
        return base.shape[0], int((values > 1.0).sum()), math.sqrt(values[-1] / smallest)

    def base_parameters(
        self, identified: Robot, design: Design, factors: FloatArray, weights: FloatArray
    ) -> tuple[BaseParameter, ...]:
        """Return the combinations that act on the efforts, rotors counted with them.

        The design is what the log alone is asked for, of the same bodies; factors and weights are
        as for :func:`~ne_dynamics.identification.base_estimate.estimate_base`.
        """
        bodies = design.bodies
        if not bodies:
            return ()
        columns = BaseColumns.of(self._regressor, self._acceleration)
        values, deviations = estimate_base(design, columns, factors, weights)
        sides = [
            columns.combinations
            @ np.concatenate(
                [
                    *[robot.bodies[body].inertia.parameters for body in bodies],
                    [joint.reflected_inertia for joint in robot.joints],
                ]
            )
            for robot in (design.robot, identified)
        ]
        return tuple(
            BaseParameter(
                f'{identified.bodies[bodies[column // PER_BODY]].name}.{NAMES[column % PER_BODY]}',
                UNITS[column % PER_BODY],
                *(float(number) for number in numbers),
            )
            for column, *numbers in zip(columns.chosen, *sides, values, deviations, strict=True)
            if column < design.inertial
        )
