"""Rows of all logs, piece by piece: what a fit asks of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.pieces.piece_steps import (
    Weighting,
    change_loads,
    compute_residuals,
    make_rows,
    reduce_piece,
)
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.drive_terms import DRIVE_TERMS
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import PieceRows, Place
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.identification.signal_summary import (
    SignalSummary,
    SignalSums,
    summarize_signals,
)
from ne_dynamics.logs.autocorrelation import AutocorrelationSums
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


class Residuals(NamedTuple):
    """What a fit leaves of the samples that are used, shape (n,) each.

    Attributes
    ----------
    largest, median : array
        Of the sizes; 0 where there are none [N m or N].
    correlation : array
        Samples that tell as much as one, because the errors of neighbours are alike.
    """

    largest: FloatArray
    median: FloatArray
    correlation: FloatArray


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
            (piece, criteria, Place(int(first), fitted, blocks))
            for (piece, criteria, _), first in zip(logs.pieces, logs.first, strict=False)
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

    def with_loads(self, load_dynamics: Dynamics) -> LogRows:
        """Return the rows with the load of a joint by the inertias of another robot."""
        work = self.logs.work
        found = work.map(
            'loads',
            change_loads,
            [(piece, criteria) for piece, criteria, _ in self.logs.pieces],
            self.dynamics,
            load_dynamics,
            self.logs.largest_velocities,
        )
        rows = []
        for old, changed in zip(self.rows, found, strict=True):
            terms, kept_effort = work.store.keep(changed)
            rows.append(replace(old, terms=terms, kept_effort=kept_effort))
        return replace(self, rows=tuple(rows))

    def reduce(
        self,
        weighting: Weighting | None = None,
        weighed: LogRows | None = None,
        drives: Robot | None = None,
    ) -> tuple[Reduction, int]:
        """Return the triangles of all rows, in blocks, and the number of outliers.

        The last block is held out. The weighting is by a fit to the rows `weighed`; default: to
        these. Columns of the coupled drives of a robot, `drives`, come after the others.
        """
        pieces = self.logs.pieces
        arguments = [
            (own, old, None if drives is None else (piece, criteria))
            for own, old, (piece, criteria, _) in zip(
                self.rows, (weighed or self).rows, pieces, strict=True
            )
        ]
        width = self.rows[0].width
        if drives is not None:
            width += len(DRIVE_TERMS) * len(drives.coupled_drives)
        total, outliers = Reduction.empty(self.blocks + 1, self.dynamics.robot.n, width), 0
        found = self.logs.work.map(
            'reduce', reduce_piece, arguments, weighting, drives, self.logs.largest_velocities
        )
        for first, part, number in found:
            total = total.merged_at(first, part)
            outliers += number
        return total, outliers

    def find_residuals(self, design: Design, solution: Solution) -> Residuals:
        """Return what a fit leaves of the samples that are used."""
        lags, sums, parts = math.isqrt(int(np.diff(self.logs.first).max())), [], []
        arguments = [(own,) for own in self.rows]
        found = self.logs.work.map('residuals', compute_residuals, arguments, design, solution)
        for own, residuals in zip(self.rows, found, strict=True):
            sums.append(AutocorrelationSums.of(residuals, own.used, lags))
            parts.append(np.where(own.used, np.abs(residuals), math.nan))
        columns = [column[~np.isnan(column)] for column in np.concatenate(parts).T]
        return Residuals(
            np.array([sizes.max(initial=0.0) for sizes in columns]),
            np.array([np.median(sizes) if sizes.size else 0.0 for sizes in columns]),
            AutocorrelationSums.merge(sums).count(),
        )
