"""Rows of all logs, piece by piece on a runner: what a fit asks of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.effort_sums import EffortSums, SignalSums
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.pieces.piece_steps import (
    Place,
    Weighting,
    change_loads,
    judge_models,
    make_rows,
    reduce_piece,
    sum_residuals,
)
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.friction_terms import TERMS
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.residual_sums import ResidualSums
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.identification.signal_summary import SignalSummary, summarize_signals
from ne_dynamics.logs.runner import Kept
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class LogRows:
    """Rows of the pieces of all logs.

    Attributes
    ----------
    dynamics : Dynamics
        Of the given robot.
    logs : FilteredLogs
    kept : tuple of Kept
        Rows of each piece.
    fitted, blocks : int
        Samples that are fitted before the others are predicted, and into how many blocks they go.
    columns : int
        Of the rows, without the effort.
    sums : tuple of SignalSums
        Of each piece.
    summary : SignalSummary
        Of all logs.
    joints : tuple of bool arrays, shape (n,)
        Joints of each piece whose efforts are used.
    """

    dynamics: Dynamics
    logs: FilteredLogs
    kept: tuple[Kept, ...]
    fitted: int
    blocks: int
    columns: int
    sums: tuple[SignalSums, ...]
    summary: SignalSummary
    joints: tuple[NDArray[np.bool_], ...]

    @classmethod
    def compute(
        cls,
        dynamics: Dynamics,
        logs: FilteredLogs,
        fitted: int,
        blocks: int,
        bodies: tuple[int, ...],
    ) -> LogRows:
        """Judge the logs and compute their rows.

        Parameters
        ----------
        dynamics : Dynamics
        logs : FilteredLogs
        fitted, blocks : int
        bodies : tuple of int
            Those whose parameters are columns.
        """
        judgements, chosen = logs.judge(), list(logs.chosen)
        everyone = np.ones(dynamics.robot.n, dtype=bool)
        arguments = [
            (kept, judgements[log], chosen, Place(int(first), fitted, blocks, everyone))
            for kept, log, first in zip(logs.kept, logs.log_of, logs.first, strict=False)
        ]
        largest = logs.largest_velocities
        kept, sums = logs.runner.keep(
            'equations', make_rows, arguments, dynamics, list(bodies), largest
        )
        summary = summarize_signals(logs, judgements, sums)
        measured = [part.has_effort for part in logs.statistics]
        return cls(
            dynamics,
            logs,
            tuple(kept),
            fitted,
            blocks,
            PER_BODY * len(bodies) + TERMS,
            tuple(sums),
            summary,
            # What runs against the model is an error of the log: nothing is to be learnt from it.
            tuple(measured[log] & ~summary.opposed for log in logs.log_of),
        )

    @property
    def effort(self) -> FloatArray:
        """Root mean square of each joint's effort, or a little, shape (n,) [N m or N]."""
        return np.maximum(self.summary.effort, 1e-9)

    @property
    def used(self) -> FloatArray:
        """Samples of each joint that are used, shape (n,)."""
        parts = [part.used * joints for part, joints in zip(self.sums, self.joints, strict=True)]
        result: FloatArray = np.sum(parts, axis=0)
        return result

    @property
    def has_held_out(self) -> bool:
        """Whether there are samples that are predicted before they are fitted."""
        return self.fitted < self.logs.total

    @property
    def largest_velocities(self) -> FloatArray:
        """Of all filtered samples [rad/s or m/s], shape (n,)."""
        return self.logs.largest_velocities

    def reduce(self, weighting: Weighting | None = None) -> Reduction:
        """Return the triangles of all rows, in blocks; the last one is held out."""
        total = self._nothing()
        for first, part in self.logs.runner.map(
            'reduce', reduce_piece, self._arguments(), weighting
        ):
            total = total.merged_at(first, part)
        return total

    def change_loads(
        self, load_dynamics: Dynamics, weighting: Weighting
    ) -> tuple[LogRows, Reduction, int]:
        """Return the rows with other loads, their triangles, and the number of outliers.

        Parameters
        ----------
        load_dynamics : Dynamics
            Of the robot by whose inertias the load of a joint is computed.
        weighting : Weighting
            By a fit to the present rows.
        """
        runner, total, outliers = self.logs.runner, self._nothing(), 0
        kept, told = runner.keep(
            'reduce',
            change_loads,
            self._arguments(),
            self.dynamics,
            load_dynamics,
            self.largest_velocities,
            weighting,
        )
        runner.release(self.kept)
        for first, part, number in told:
            total = total.merged_at(first, part)
            outliers += number
        return replace(self, kept=tuple(kept)), total, outliers

    def sum_residuals(self, design: Design, solution: Solution) -> ResidualSums:
        """Return what a fit leaves of the samples that are used."""
        lags = math.isqrt(int(np.diff(self.logs.first).max()))
        parts = self.logs.runner.map(
            'residuals', sum_residuals, self._arguments(), design, solution, lags
        )
        total: ResidualSums = reduce(ResidualSums.merged, parts)
        return total

    def judge(self, first: int, *models: Dynamics) -> list[EffortSums]:
        """Return how well models explain the samples from one of them on."""
        parts = self.logs.runner.map('judge', judge_models, self._arguments(), first, *models)
        return [EffortSums.merge(sums) for sums in zip(*parts, strict=True)]

    def _nothing(self) -> Reduction:
        return Reduction.empty(self.blocks + 1, self.dynamics.robot.n, self.columns)

    def _arguments(self) -> list[tuple[Kept, Place]]:
        return [
            (kept, Place(int(first), self.fitted, self.blocks, joints))
            for kept, first, joints in zip(self.kept, self.logs.first, self.joints, strict=False)
        ]
