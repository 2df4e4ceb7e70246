"""The fit of a model to the signals of a log: two passes, and folds for what is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.design import (
    Design,
    believed,
    compute_scales,
    find_bodies,
)
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.identification.friction_terms import ALWAYS, TERMS
from ne_dynamics.identification.likeness import count_alike
from ne_dynamics.identification.reduction import Reduction
from ne_dynamics.identification.regression_rows import (
    PER_BODY,
    generate_rows,
    largest_velocities,
)
from ne_dynamics.identification.selection import (
    SPREADS,
    Folds,
    choose_spread,
    choose_terms,
    sum_squares,
)
from ne_dynamics.identification.signals import Signals
from ne_dynamics.identification.solver import Problem, Solution, minimize
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Finding

FIRST_SIGMA = 0.1
SMALLEST_SIGMA = 1e-4
"""Parts of a joint's effort: noise of the first fit, and the least of all."""

FIRST_SPREAD = 0.5
PASSES = 4
"""Fits, each with the residuals of the one before as noise."""

HUBER = 2.0
"""Residual, in standard deviations, from which a sample counts less (Huber 1964)."""

HUBER_PASSES = 4
"""First fits, each with the weights of the one before, while there are doubtful samples."""

DOUBTFUL = 0.3
"""Weight below which a sample may have spoilt the fit that gave it."""

MEDIAN_TO_DEVIATION = 1.4826
"""Standard deviation over the median of the magnitude, of normal noise."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit and what it was made of.

    Attributes
    ----------
    design : Design
    problem : Problem
        Of all blocks.
    solution : Solution
        Of all blocks.
    judged_solution : Solution
        Of all blocks but the last, which was held out; the same where none was.
    reduction : Reduction
        In blocks; the last one is the part that was held out.
    weights : array, shape (n,)
        Of the squared efforts; 0 for a joint that was not used.
    sigma : array, shape (n,)
        Standard deviation of each joint's residual [N m or N].
    correlation : array, shape (n,)
        Samples that tell as much as one, because the errors of neighbours are alike.
    spread : float
    predicted : array, shape (folds, n)
        Sums of the squared residuals of blocks that were predicted from the others.
    folds : Folds
    used : bool array, shape (M, n)
        Samples that were fitted.
    huber : array, shape (M, n)
        Weights of the samples, 1 for all but outliers.
    findings : tuple of Finding
    """

    design: Design
    problem: Problem
    solution: Solution
    judged_solution: Solution
    reduction: Reduction
    weights: FloatArray
    sigma: FloatArray
    correlation: FloatArray
    spread: float
    predicted: FloatArray
    folds: Folds
    used: NDArray[np.bool_]
    huber: FloatArray
    findings: tuple[Finding, ...]


class Fitter:
    """The steps of a fit.

    Parameters
    ----------
    dynamics : Dynamics
        Of the given robot.
    signals : Signals
    fitted : int
        Samples, from the first, that are fitted before the others are predicted.
    blocks : int
        Of the fitted samples.
    joints : bool array, shape (n,)
        Those whose efforts are used.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        signals: Signals,
        fitted: int,
        blocks: int,
        joints: NDArray[np.bool_],
    ) -> None:
        self._dynamics, self._signals, self._blocks = dynamics, signals, blocks
        # By whose inertias the load of a joint is computed: the given ones until there are others.
        self._loads = dynamics
        robot = dynamics.robot
        total = signals.times.size
        self._block = np.full(total, blocks, dtype=np.intp)
        self._block[:fitted] = np.arange(fitted) * blocks // max(fitted, 1)
        self._used = signals.usable & signals.effort.any(axis=0) & joints
        self._effort = np.maximum(rms(signals.effort), 1e-9)
        self._bodies, self._references, self._findings = find_bodies(robot)
        self._has_held_out = fitted < total

    def run(self, spread: float | None) -> Fit:
        """Fit, weigh, choose, and fit again.

        Parameters
        ----------
        spread : float, optional
            How far the given inertias may be off; default: what predicts held-out blocks best.
        """
        robot = self._dynamics.robot
        huber = np.ones(self._used.shape)
        first = self._reduce(huber)
        design = self._make_design(first)
        for _ in range(HUBER_PASSES):
            solution, sigma = self._iterate(design, first.selected(self._all), FIRST_SPREAD, None)
            residuals = self._compute_residuals(design, solution)
            huber = self._compute_huber(residuals)
            if huber[self._used].min(initial=1.0) > DOUBTFUL:
                break
            first = self._reduce(huber)
        correlation = count_alike(residuals, self._used)
        load_robot = design.apply(solution, offsets=True)
        self._loads = Dynamics(load_robot, self._dynamics.gravity, 'python')
        reduction = self._reduce(huber)
        design = replace(design, scales=self._compute_scales(reduction))
        fitted = self._fitted(reduction)
        weights = self._weigh(sigma, correlation)
        folds = Folds.of(fitted)
        predicted = np.zeros((0, robot.n))
        chosen = FIRST_SPREAD if spread is None else spread
        if folds.training:
            spreads = SPREADS if spread is None else (spread,)
            starts = [solution] * len(folds.training)
            best = choose_spread(folds, design, weights, starts, spreads)
            best = choose_terms(folds, weights, best)
            design = best.design
            best = choose_spread(folds, design, weights, best.solutions, spreads)
            chosen, predicted = best.spread, best.squares
        everything = reduction.selected(self._all)
        solution, sigma = self._iterate(design, everything, chosen, correlation)
        residuals = self._compute_residuals(design, solution)
        correlation = count_alike(residuals, self._used)
        weights = self._weigh(sigma, correlation)
        solution = minimize(
            design.problem(design.joint_factors(everything), weights, chosen), solution
        )
        judged = solution
        if self._has_held_out and folds.training:
            part = fitted.selected(list(range(fitted.blocks)))
            judged = minimize(
                design.problem(design.joint_factors(part), weights, chosen), solution
            )
        return Fit(
            design,
            design.problem(design.joint_factors(everything), weights, chosen),
            solution,
            judged,
            reduction,
            weights,
            sigma,
            correlation,
            chosen,
            predicted,
            folds,
            self._used,
            huber,
            tuple(self._findings),
        )

    @property
    def _all(self) -> list[int]:
        return list(range(self._blocks + 1))

    def _fitted(self, reduction: Reduction) -> Reduction:
        return Reduction(reduction.factors[:-1], reduction.counts[:-1])

    def _reduce(self, huber: FloatArray) -> Reduction:
        """Read the signals once."""
        columns = PER_BODY * len(self._bodies) + TERMS
        reduction = Reduction.empty(self._blocks + 1, self._dynamics.robot.n, columns)
        for rows in generate_rows(self._dynamics, self._loads, self._signals, list(self._bodies)):
            weights = np.where(self._used[rows.samples], huber[rows.samples], 0.0)
            reduction = reduction.add(rows, self._block[rows.samples], weights)
        return reduction

    def _compute_scales(self, reduction: Reduction) -> FloatArray:
        return compute_scales(reduction.selected(self._all), self._effort, len(self._bodies))

    def _make_design(self, reduction: Reduction) -> Design:
        robot = self._dynamics.robot
        used = np.atleast_1d(self._used.any(axis=0))
        return Design(
            robot,
            self._bodies,
            self._references,
            tuple(ALWAYS if joint else () for joint in used),
            self._compute_scales(reduction),
            believed(robot),
            largest_velocities(self._signals),
        )

    def _weigh(self, sigma: FloatArray, correlation: FloatArray) -> FloatArray:
        used = self._used.any(axis=0)
        return np.where(used, 1.0 / (sigma**2 * correlation), 0.0)

    def _iterate(
        self,
        design: Design,
        reduction: Reduction,
        spread: float,
        correlation: FloatArray | None,
    ) -> tuple[Solution, FloatArray]:
        """Fit with the noise of each joint that the fit before has left."""
        n = design.robot.n
        likeness = np.ones(n) if correlation is None else correlation
        factors = design.joint_factors(reduction)
        counts = reduction.counts[0]
        parameters = np.array([len(terms) for terms in design.terms]) + design.inertial / n / 2.0
        free = np.maximum(counts - parameters, 0.25 * np.maximum(counts, 4.0))
        sigma = FIRST_SIGMA * self._effort
        solution = None
        for _ in range(PASSES):
            problem = design.problem(factors, self._weigh(sigma, likeness), spread)
            solution = minimize(problem, solution)
            left = sum_squares(factors, solution)
            sigma = np.maximum(np.sqrt(left / free), SMALLEST_SIGMA * self._effort)
        assert solution is not None
        return solution, sigma

    def _compute_residuals(self, design: Design, solution: Solution) -> FloatArray:
        """Read the signals again, for what the fit leaves of each sample, shape (M, n)."""
        result = np.zeros(self._used.shape)
        for rows in generate_rows(self._dynamics, self._loads, self._signals, list(self._bodies)):
            table = np.concatenate([rows.matrix, rows.effort[:, :, np.newaxis]], axis=2)
            for joint in range(table.shape[1]):
                # The design turns triangles into its columns; rows are no other matter.
                alone = Reduction(
                    np.repeat(table[np.newaxis, np.newaxis, :, joint], table.shape[1], axis=1),
                    np.ones((1, table.shape[1])),
                )
                factor = design.joint_factors(alone)[joint]
                result[rows.samples, joint] = factor[:, -1] - factor[:, :-1] @ solution.parameters
        return result

    def _compute_huber(self, residuals: FloatArray) -> FloatArray:
        """Return the weights of the samples; the median tells the noise, whatever is outside."""
        huber = np.ones(residuals.shape)
        for joint, use in enumerate(self._used.T):
            if use.any():
                sizes = np.abs(residuals[:, joint])
                noise = MEDIAN_TO_DEVIATION * float(np.median(sizes[use]))
                noise = max(noise, SMALLEST_SIGMA * self._effort[joint])
                huber[:, joint] = np.minimum(1.0, HUBER * noise / np.maximum(sizes, 1e-300))
        return huber
