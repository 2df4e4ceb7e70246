"""Rows of all logs, piece by piece: what a fit asks of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.pieces.piece_rows import PieceRows, Place
from ne_dynamics.identification.pieces.piece_steps import (
    Weighting,
    add_drives,
    change_loads,
    make_rows,
    reduce_piece,
    sum_residuals,
)
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS
from ne_dynamics.identification.regression.friction_terms import TERMS
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import PER_BODY
from ne_dynamics.identification.regression.residual_sums import ResidualSums
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.identification.signal_summary import (
    SignalSummary,
    SignalSums,
    summarize_signals,
)
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class LogRows:
    """Rows of the pieces of all logs.

    Attributes
    ----------
    dynamics : Dynamics
        Of the given robot.
    logs : FilteredLogs
    rows : tuple of PieceRows
        Of each piece.
    fitted, blocks : int
        Samples that are fitted before the others are predicted, and into how many blocks they go.
    columns : int
        Of the rows, without the effort.
    summary : SignalSummary
        Of all logs.
    used : array, shape (n,)
        Samples of each joint that are used.
    """

    dynamics: Dynamics
    logs: FilteredLogs
    rows: tuple[PieceRows, ...]
    fitted: int
    blocks: int
    columns: int
    summary: SignalSummary
    used: FloatArray

    @classmethod
    def compute(
        cls,
        dynamics: Dynamics,
        logs: FilteredLogs,
        fitted: int,
        blocks: int,
        bodies: tuple[int, ...],
    ) -> LogRows:
        """Judge the logs and compute their rows, with the parameters of some bodies as columns."""
        arguments = [
            (piece, judgement, Place(int(first), fitted, blocks))
            for (piece, judgement, _), first in zip(logs.pieces, logs.first, strict=False)
        ]
        work = logs.work
        rows: list[PieceRows] = []
        sums: list[SignalSums] = []
        for own, part in work.map(
            'equations', make_rows, arguments, dynamics, list(bodies), logs.largest_velocities
        ):
            rows.append(work.store.keep(own))
            sums.append(part)
        summary = summarize_signals(logs, sums)
        # What runs against the model is an error of the log: nothing is to be learnt from it.
        joints = [logs.statistics[log].has_effort & ~summary.opposed for _, _, log in logs.pieces]
        return cls(
            dynamics,
            logs,
            tuple(
                replace(own, used=own.used & chosen)
                for own, chosen in zip(rows, joints, strict=True)
            ),
            fitted,
            blocks,
            PER_BODY * len(bodies) + TERMS + len(DRIVE_TERMS) * len(dynamics.robot.coupled_drives),
            summary,
            np.sum([part.used * own for part, own in zip(sums, joints, strict=True)], axis=0),
        )

    @property
    def effort(self) -> FloatArray:
        """Root mean square of each joint's effort, or a little, shape (n,) [N m or N]."""
        return np.maximum(self.summary.effort, 1e-9)

    @property
    def has_held_out(self) -> bool:
        """Whether there are samples that are predicted before they are fitted."""
        return self.fitted < self.logs.total

    def reduce(self, weighting: Weighting | None = None) -> Reduction:
        """Return the triangles of all rows, in blocks; the last one is held out."""
        total = self._nothing()
        for first, part in self.logs.work.map(
            'reduce', reduce_piece, [(own,) for own in self.rows], weighting
        ):
            total = total.merged_at(first, part)
        return total

    def change_loads(
        self, load_dynamics: Dynamics, weighting: Weighting
    ) -> tuple[LogRows, Reduction, int]:
        """Return the rows with other loads, their triangles, and the number of outliers.

        `load_dynamics` are of the robot by whose inertias the load of a joint is computed; the
        weighting is by a fit to the present rows.
        """
        work, total, outliers, rows = self.logs.work, self._nothing(), 0, []
        arguments = [
            (own, piece, judgement)
            for own, (piece, judgement, _) in zip(self.rows, self.logs.pieces, strict=True)
        ]
        found = work.map(
            'reduce',
            change_loads,
            arguments,
            self.dynamics,
            load_dynamics,
            self.logs.largest_velocities,
            weighting,
        )
        for old, (columns, (first, part, number)) in zip(self.rows, found, strict=True):
            terms, kept_effort = work.store.keep(columns)
            rows.append(replace(old, terms=terms, kept_effort=kept_effort))
            total = total.merged_at(first, part)
            outliers += number
        return replace(self, rows=tuple(rows)), total, outliers

    def reduce_with_drives(
        self, robot: Robot, changed: LogRows, weighting: Weighting
    ) -> Reduction:
        """Return the triangles of rows with columns of a robot's coupled drives after their own.

        `changed` are what :meth:`change_loads` of these rows returned; the weighting is by a fit
        to the present rows.
        """
        count = len(DRIVE_TERMS) * len(robot.coupled_drives)
        total = Reduction.empty(self.blocks + 1, robot.n, self.columns + count)
        arguments = [
            (own, other, piece, judgement)
            for own, other, (piece, judgement, _) in zip(
                self.rows, changed.rows, self.logs.pieces, strict=True
            )
        ]
        for first, part in self.logs.work.map(
            'drives', add_drives, arguments, robot, self.logs.largest_velocities, weighting
        ):
            total = total.merged_at(first, part)
        return total

    def sum_residuals(self, design: Design, solution: Solution) -> ResidualSums:
        """Return what a fit leaves of the samples that are used."""
        lags = math.isqrt(int(np.diff(self.logs.first).max()))
        parts = self.logs.work.map(
            'residuals', sum_residuals, [(own,) for own in self.rows], design, solution, lags
        )
        total: ResidualSums = reduce(ResidualSums.merged, parts)
        return total

    def _nothing(self) -> Reduction:
        return Reduction.empty(self.blocks + 1, self.dynamics.robot.n, self.columns)
