"""What is asked of a piece of a log: functions that a worker of an executor may run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import model_effort
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import (
    PieceRows,
    Place,
    Rows,
    compute_drive_rows,
    compute_term_rows,
)
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.identification.signal_summary import SignalSums
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs.filtered_piece import FilteredPiece
from ne_dynamics.logs.segment import MotionCriteria
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Weighting:
    """How much samples count: less, when a fit left much of them (Huber 1964).

    Attributes
    ----------
    design : Design
    solution : Solution
    largest : array, shape (n,)
        Residual up to which a sample counts fully [N m or N].
    """

    design: Design
    solution: Solution
    largest: FloatArray

    def compute_weights(self, rows: Rows) -> FloatArray:
        """Return the weights of samples, shape (K, n)."""
        sizes = np.abs(compute_row_residuals(rows, self.design, self.solution))
        return np.minimum(1.0, self.largest / np.maximum(sizes, 1e-300))


def compute_row_residuals(rows: Rows, design: Design, solution: Solution) -> FloatArray:
    """Return what a fit leaves of samples, shape (K, n) [N m or N]."""
    table = np.concatenate([rows.matrix, rows.effort[:, :, np.newaxis]], axis=2)
    result = np.zeros(rows.effort.shape)
    for joint in range(table.shape[1]):
        own = design.joint_rows(joint, table[:, joint])
        result[:, joint] = own[:, -1] - own[:, :-1] @ solution.parameters
    return result


def make_rows(
    piece: FilteredPiece,
    criteria: MotionCriteria,
    place: Place,
    dynamics: Dynamics,
    bodies: list[int],
    largest: FloatArray,
) -> tuple[PieceRows, SignalSums]:
    """Judge a piece and compute its rows."""
    signals = piece.with_criteria(criteria)
    rows = PieceRows.compute(place, dynamics, signals, bodies, largest)
    sums = SignalSums.of(signals, model_effort(dynamics, signals), place.fitted - place.first)
    return rows, sums


def change_loads(
    piece: FilteredPiece,
    criteria: MotionCriteria,
    dynamics: Dynamics,
    load_dynamics: Dynamics,
    largest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the terms and kept efforts of the rows of a piece with other loads."""
    return compute_term_rows(dynamics, load_dynamics, piece.with_criteria(criteria), largest)


def reduce_piece(
    rows: PieceRows,
    weighed: PieceRows,
    source: tuple[FilteredPiece, MotionCriteria] | None,
    weighting: Weighting | None,
    robot: Robot | None,
    largest: FloatArray,
) -> tuple[int, Reduction, int]:
    """Return the block of all that is the first of a piece, its reduction, and its outliers.

    Samples are weighed by the residuals of the rows `weighed`. With a robot the columns of its
    coupled drives come after the others, from the source of the rows.
    """
    if robot is not None and source is not None:
        columns = compute_drive_rows(robot, source[0].with_criteria(source[1]), largest)
        rows = replace(rows, terms=np.concatenate([rows.terms, columns], axis=2))
    place, (total, n) = rows.place, rows.effort.shape
    first, last = place.find_blocks(np.array([0, max(total - 1, 0)])).tolist()
    reduction, outliers = Reduction.empty(last - first + 1, n, rows.width), 0
    for old, own in zip(weighed.generate(), rows.generate(), strict=True):
        used = weighed.used[own.samples]
        weights = used.astype(np.float64)
        if weighting is not None:
            weights = weights * weighting.compute_weights(old)
            outliers += int(((weights < IDENTIFICATION.outlier_weight) & used).sum())
        reduction = reduction.add(own, place.find_blocks(own.samples) - first, weights)
    return first, reduction, outliers


def compute_residuals(rows: PieceRows, design: Design, solution: Solution) -> FloatArray:
    """Return what a fit leaves of the samples of a piece, shape (M, n) [N m or N]."""
    parts = [compute_row_residuals(part, design, solution) for part in rows.generate()]
    return np.concatenate([np.zeros(rows.effort[:0].shape), *parts])
