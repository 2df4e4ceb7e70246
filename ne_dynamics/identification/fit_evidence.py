"""What a report of an identification shows beside its figures: blocks, and a log over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import model_effort
from ne_dynamics.identification.fit import Fit
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.regression.selection import sum_squares
from ne_dynamics.identification.report.effort_spectra import EffortSpectra, compute_effort_spectra
from ne_dynamics.json_numbers import as_json_numbers
from ne_dynamics.logs import Log, Signals, filtered
from ne_dynamics.logs.names import with_joints
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class FitEvidence:
    """What a fit was judged by.

    Attributes
    ----------
    tested : Dynamics
        Of the model that was fitted to the first samples alone; of the identified one where
        nothing was held out.
    block_residual : array, shape (blocks, n)
        Root mean square of what is left of each block when it is predicted from the others
        [N m or N]; NaN where a joint has no samples in it.
    end_residual : array, shape (n,)
        The same, of the samples that were held out by the fit to the first ones; NaN where none
        were.
    """

    tested: Dynamics
    block_residual: FloatArray
    end_residual: FloatArray

    def as_json(self) -> dict[str, Any]:
        """Return the figures that the report has no place for; what is no number is None."""
        return {
            'block_residuals': as_json_numbers(self.block_residual.T),
            'end_residual': as_json_numbers(self.end_residual),
        }


@dataclass(frozen=True, eq=False)
class ShownLog:
    """A log, or a part of it, that is shown over time.

    Attributes
    ----------
    source : str
        What it is.
    signals : Signals
        Filtered; M samples.
    spectra : EffortSpectra
        As it is recorded.
    held_from : float or None
        Time from which samples were held out; None where none of these were [s].
    given_effort, tested_effort : array, shape (M, n)
        Of the given model and of :attr:`FitEvidence.tested` [N m or N].
    """

    source: str
    signals: Signals
    spectra: EffortSpectra
    held_from: float | None
    given_effort: FloatArray
    tested_effort: FloatArray


def show_log(
    dynamics: Dynamics, evidence: FitEvidence, logs: FilteredLogs, fitted: int, part: Log
) -> ShownLog:
    """Filter the last log, or a part of it, and compute what models make of it.

    Of the logs so many samples, from the first, were fitted before the others were predicted. The
    part has all joints of the given robot, and more; an InputError where it is too short to be
    filtered.
    """
    robot, log = dynamics.robot, logs.logs[-1]
    part = with_joints(part, robot.joint_names)
    signals = filtered(part, robot.limits('effort_limit'), logs.cutoff_frequency)
    own, before = log.statistics.kept, logs.total - log.statistics.kept
    held = None
    if fitted < logs.total:
        first = max(fitted - before, 0)
        if signals.times.size == own:
            held = float(signals.times[first])
        else:
            held = float(log.log.times[0]) + first / max(own, 1) * log.log.duration
            held = None if held > signals.times[-1] else max(held, float(signals.times[0]))
    name = log.source
    if part.duration < 0.99 * log.log.duration:
        name = f'{log.source}, from {part.times[0]:.9g} to {part.times[-1]:.9g} s'
    return ShownLog(
        name,
        signals,
        compute_effort_spectra(part, logs.cutoff_frequency),
        held,
        model_effort(dynamics, signals),
        model_effort(evidence.tested, signals),
    )


def gather_evidence(fit: Fit, tested: Dynamics) -> FitEvidence:
    """Return what a fit was judged by, blocks and end by one measure; `tested` as it has it."""
    blocks = np.zeros((0, fit.sigma.size))
    if fit.folds.judged:
        blocks = _compute_rms(fit.predicted, fit.folds.counts)
    end = np.full(fit.sigma.size, math.nan)
    if fit.rows.has_held_out:
        held = fit.reduction.selected([fit.reduction.blocks - 1])
        squares = sum_squares(fit.validated_design.joint_factors(held), fit.validated_solution)
        end = _compute_rms(squares, held.counts[0])
    return FitEvidence(tested, blocks, end)


def _compute_rms(squares: FloatArray, counts: FloatArray) -> FloatArray:
    mean = np.where(counts > 0.0, squares / np.maximum(counts, 1e-300), math.nan)
    result: FloatArray = np.sqrt(mean)
    return result
