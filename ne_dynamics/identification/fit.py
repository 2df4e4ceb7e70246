"""The fit of a model to the rows of logs: two passes, and folds for what is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.base_estimate import correct_correlation_time
from ne_dynamics.identification.pieces.log_rows import LogRows
from ne_dynamics.identification.pieces.piece_steps import Weighting
from ne_dynamics.identification.regression.design import Design, believed, compute_scales
from ne_dynamics.identification.regression.doubts import find_doubts
from ne_dynamics.identification.regression.drive_search import (
    DriveTrials,
    find_ratio,
    list_candidates,
)
from ne_dynamics.identification.regression.friction_terms import ALWAYS
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.selection import (
    Folds,
    Prediction,
    choose_prior_scale,
    choose_terms,
    sum_squares,
)
from ne_dynamics.identification.regression.solver import Problem, Solution, minimize
from ne_dynamics.identification.settings import IdentificationSettings
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.rigid_body import FloatArray

MEDIAN_TO_DEVIATION = 1.4826
"""Standard deviation over the median of the magnitude, of normal noise."""


@dataclass(frozen=True, eq=False)
class _Weighed:
    """A fit, and how the joints count in the next one."""

    design: Design
    solution: Solution
    sigma: FloatArray
    correlation: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Fit(_Weighed):
    """A fit and what it was made of.

    Attributes
    ----------
    design : Design
    solution : Solution
        Of all blocks.
    problem : Problem
        Of all blocks.
    validated_design : Design
        What was fitted to all blocks but the last, which was held out, and chosen by them; the
        same where none was.
    validated_solution : Solution
        Of that.
    rows : LogRows
        With the loads of the first fit.
    reduction : Reduction
        In blocks; the last one is the part that was held out.
    weights : array, shape (n,)
        Of the squared efforts; 0 for a joint that was not used.
    sigma : array, shape (n,)
        Standard deviation of each joint's residual [N m or N].
    correlation : array, shape (n,)
        Samples that tell as much as one, because the errors of neighbours are alike.
    prior_scale : float
    predicted : array, shape (folds, n)
        Sums of the squared residuals of blocks that were predicted from the others.
    folds : Folds
    outliers : int
        Efforts of single joints that count less than half.
    drive : CoupledDrive or None
        That the fitted blocks would be predicted better with, without numbers.
    """

    problem: Problem
    validated_design: Design
    validated_solution: Solution
    rows: LogRows
    reduction: Reduction
    prior_scale: float
    predicted: FloatArray
    folds: Folds
    outliers: int
    drive: CoupledDrive | None


class Fitter:
    """The steps of a fit to rows of the given robot.

    Bodies and references are those of
    :func:`~ne_dynamics.identification.regression.design.find_bodies`.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        rows: LogRows,
        bodies: tuple[int, ...],
        references: FloatArray,
        settings: IdentificationSettings,
    ) -> None:
        self._settings = settings
        self._dynamics, self._rows, self._blocks = dynamics, rows, rows.blocks
        self._used, self._effort = rows.used, rows.effort
        self._bodies, self._references = bodies, references

    def run(self, prior_scale: float | None) -> Fit:
        """Fit, weigh, choose, and fit again.

        The given inertias may be off by the prior scale; default: what predicts held-out blocks best.
        """
        first, weighting = self._fit_first()
        # By whose inertias the load of a joint is computed: the given ones until there are others.
        load_robot = first.design.apply(first.solution, offsets=True)
        loads = Dynamics(load_robot, self._dynamics.gravity, 'python')
        rows = self._rows.with_loads(loads)
        reduction, outliers = rows.reduce(weighting, self._rows)
        design = replace(first.design, scales=self._compute_scales(reduction))
        first = replace(first, design=design)
        folds = self._fold(self._fitted(reduction), first)
        chosen = validated = self._choose(folds, first, prior_scale)
        is_validated = rows.has_held_out and bool(folds.training)
        if is_validated:
            # What is held out may choose for the model that is written, not for the one it judges.
            chosen = self._choose(self._fold(reduction, first), first, prior_scale)
        everything = reduction.selected(self._all)
        last = self._fit_last(rows, everything, first, chosen)
        factors = last.design.joint_factors(everything)
        validated_solution = last.solution
        if is_validated:
            start = validated.design.adopt(last.solution, last.design)
            whole = validated.design.joint_factors(folds.whole)
            problem = validated.design.problem(whole, last.weights, validated.prior_scale)
            validated_solution = minimize(problem, start)
        return Fit(
            **vars(last),
            problem=last.design.problem(factors, last.weights, chosen.prior_scale),
            validated_design=validated.design if is_validated else last.design,
            validated_solution=validated_solution,
            rows=rows,
            reduction=reduction,
            prior_scale=chosen.prior_scale,
            predicted=validated.squares,
            folds=folds,
            outliers=outliers,
            drive=self._find_drive(rows, folds, weighting, validated),
        )

    def _fit_first(self) -> tuple[_Weighed, Weighting]:
        """Fit all samples, until those count less that the fit does not explain."""
        rows = self._rows
        reduction, _ = rows.reduce()
        design = self._make_design(reduction)
        for _ in range(self._settings.huber_passes):
            design, solution, sigma = self._doubt(design, reduction.selected(self._all))
            residuals = rows.find_residuals(design, solution)
            weighting = self._weigh_samples(design, solution, residuals.median)
            if not (weighting.largest < self._settings.doubtful * residuals.largest).any():
                break
            reduction, _ = rows.reduce(weighting)
        correlation = residuals.correlation
        weights = self._weigh(sigma, correlation)
        return _Weighed(design, solution, sigma, correlation, weights), weighting

    def _choose(self, folds: Folds, first: _Weighed, prior_scale: float | None) -> Prediction:
        """Return the prior scale and the terms of friction by which blocks are predicted best."""
        settings, design = self._settings, first.design
        if not folds.training:
            chosen = settings.first_spread if prior_scale is None else prior_scale
            return Prediction(design, chosen, np.zeros((0, self._dynamics.n)), [])
        prior_scales = settings.spreads if prior_scale is None else (prior_scale,)
        starts = [first.solution] * len(folds.training)
        best = choose_terms(folds, choose_prior_scale(folds, design, starts, prior_scales))
        return choose_prior_scale(folds, best.design, best.solutions, prior_scales)

    def _fit_last(
        self, rows: LogRows, everything: Reduction, first: _Weighed, chosen: Prediction
    ) -> _Weighed:
        """Fit what was chosen to everything, without an effect that came out inverted."""
        design, prior_scale = chosen.design, chosen.prior_scale
        solution, sigma = self._iterate(
            design, everything, prior_scale, first.correlation, first.sigma
        )
        correlation = rows.find_residuals(design, solution).correlation
        weights = self._weigh(sigma, correlation)
        while True:
            problem = design.problem(design.joint_factors(everything), weights, prior_scale)
            solution = minimize(problem, solution)
            inverted = design.find_inverted(solution)
            if not inverted:
                return _Weighed(design, solution, sigma, correlation, weights)
            less = design.without_stribeck(inverted)
            design, solution = less, less.adopt(solution, design)

    def _find_drive(
        self, rows: LogRows, folds: Folds, weighting: Weighting, present: Prediction
    ) -> CoupledDrive | None:
        """Return a drive that turns with two joints, where the fitted blocks ask for one."""
        robot = self._dynamics.robot
        candidates = list_candidates(robot, self._used > 0.0, self._settings.wrist)
        if not (folds.training and candidates):
            return None

        def try_drives(drives: Sequence[CoupledDrive]) -> DriveTrials:
            wider = replace(robot, coupled_drives=tuple(drives))
            reduction, _ = rows.reduce(weighting, self._rows, wider)
            scales = self._compute_scales(reduction)
            return DriveTrials(drives, folds, self._fitted(reduction), scales, present)

        drive = try_drives(candidates).choose_drive()
        return None if drive is None else find_ratio(drive, try_drives, self._settings)

    @property
    def _all(self) -> list[int]:
        return list(range(self._blocks + 1))

    def _fitted(self, reduction: Reduction) -> Reduction:
        return Reduction(reduction.factors[:-1], reduction.counts[:-1])

    def _compute_scales(self, reduction: Reduction) -> FloatArray:
        return compute_scales(reduction.selected(self._all), self._effort, len(self._bodies))

    def _make_design(self, reduction: Reduction) -> Design:
        robot = self._dynamics.robot
        used = self._used > 0.0
        return Design(
            robot,
            self._bodies,
            self._references,
            tuple(ALWAYS if joint else () for joint in used),
            self._compute_scales(reduction),
            believed(robot),
            self._rows.logs.largest_velocities,
            np.ones(len(self._bodies)),
        )

    def _fold(self, reduction: Reduction, first: _Weighed) -> Folds:
        logs = self._rows.logs
        correlation_time = correct_correlation_time(
            first.correlation,
            reduction.counts.sum(axis=0),
            first.design.count_parameters(),
            logs.logs[0].grid.rate,
            logs.cutoff_frequency,
        )
        return Folds.of(reduction, correlation_time, first.weights, self._settings)

    def _weigh(self, sigma: FloatArray, correlation: FloatArray) -> FloatArray:
        used = self._used > 0.0
        return np.where(used, 1.0 / (sigma**2 * correlation), 0.0)

    def _iterate(
        self,
        design: Design,
        reduction: Reduction,
        prior_scale: float,
        correlation_time: FloatArray,
        noise: FloatArray | None = None,
    ) -> tuple[Solution, FloatArray]:
        """Fit with the noise of each joint that the fit before has left.

        The first time with `noise`, where that is known: by more of it a model that is far off
        is believed, its error taken for noise, and the next fit is no better.
        """
        factors = design.joint_factors(reduction)
        counts = reduction.counts[0]
        free = np.maximum(counts - design.count_parameters(), 0.25 * np.maximum(counts, 4.0))
        sigma = self._settings.first_sigma * self._effort if noise is None else noise
        solution = None
        for _ in range(self._settings.passes):
            problem = design.problem(factors, self._weigh(sigma, correlation_time), prior_scale)
            solution = minimize(problem, solution)
            left = sum_squares(factors, solution)
            sigma = np.maximum(np.sqrt(left / free), self._settings.smallest_sigma * self._effort)
        assert solution is not None
        return solution, sigma

    def _doubt(self, design: Design, reduction: Reduction) -> tuple[Design, Solution, FloatArray]:
        """Fit with the doubt of each body, and the noise of each joint, of the fit before."""
        settings, prior_scale = self._settings, self._settings.first_spread
        factors, correlation_time = design.joint_factors(reduction), np.ones(design.robot.n)
        solution, sigma = self._iterate(design, reduction, prior_scale, correlation_time)
        for _ in range(settings.doubt_passes):
            problem = design.problem(factors, self._weigh(sigma, correlation_time), prior_scale)
            found = minimize(problem, solution)
            doubts = find_doubts(problem, found, prior_scale, settings.steady)
            if not (doubts > settings.doubted * design.doubts).any():
                break
            design = replace(design, doubts=doubts)
            solution, sigma = self._iterate(
                design, reduction, prior_scale, correlation_time, sigma
            )
        return design, solution, sigma

    def _weigh_samples(self, design: Design, solution: Solution, median: FloatArray) -> Weighting:
        """Return the weights of samples; the median tells the noise, whatever is outside."""
        noise = np.maximum(
            MEDIAN_TO_DEVIATION * median, self._settings.smallest_sigma * self._effort
        )
        return Weighting(design, solution, self._settings.huber * noise)
