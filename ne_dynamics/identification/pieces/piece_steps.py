"""What is asked of a piece of a log: functions that a worker of an executor may run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import EffortSums, model_effort
from ne_dynamics.identification.pieces.piece_rows import PieceRows, Place
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import Rows, compute_drive_rows
from ne_dynamics.identification.regression.residual_sums import ResidualSums
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.identification.signal_summary import SignalSums
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs.filtered_piece import FilteredPiece
from ne_dynamics.logs.stretch import Judgement
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
    judgement: Judgement,
    place: Place,
    dynamics: Dynamics,
    bodies: list[int],
    largest: FloatArray,
) -> tuple[PieceRows, SignalSums]:
    """Judge a piece and compute its rows."""
    signals = piece.judged(judgement)
    rows = PieceRows.compute(place, dynamics, signals, bodies, largest)
    sums = SignalSums.of(signals, model_effort(dynamics, signals), place.fitted - place.first)
    return rows, sums


def judge_models(
    piece: FilteredPiece, judgement: Judgement, judged_from: int, *models: Dynamics
) -> list[EffortSums]:
    """Compare the efforts of a piece, from one of its samples on, with those of models."""
    signals, part = piece.judged(judgement), slice(max(judged_from, 0), None)
    effort = signals.effort[part]
    if not effort.size:
        return [EffortSums.of(effort, effort) for _ in models]
    return [EffortSums.of(effort, model_effort(model, signals)[part]) for model in models]


def reduce_piece(rows: PieceRows, weighting: Weighting | None) -> tuple[int, Reduction]:
    """Return the reduction of a piece, and the block of all that is its first."""
    reduction, first, _ = _reduce(rows, weighting, rows)
    return first, reduction


def change_loads(
    rows: PieceRows,
    piece: FilteredPiece,
    judgement: Judgement,
    dynamics: Dynamics,
    load_dynamics: Dynamics,
    largest: FloatArray,
    weighting: Weighting,
) -> tuple[tuple[FloatArray, FloatArray], tuple[int, Reduction, int]]:
    """Return terms and kept efforts of rows with other loads, their reduction, and outliers.

    Weights are those by the old rows.
    """
    changed = rows.with_loads(piece.judged(judgement), dynamics, load_dynamics, largest)
    reduction, first, outliers = _reduce(rows, weighting, changed)
    return (changed.terms, changed.kept_effort), (first, reduction, outliers)


def add_drives(
    rows: PieceRows,
    changed: PieceRows,
    piece: FilteredPiece,
    judgement: Judgement,
    robot: Robot,
    largest: FloatArray,
    weighting: Weighting,
) -> tuple[int, Reduction]:
    """Return the reduction of rows with columns of a robot's coupled drives after their own.

    Samples are weighed by the residuals of `rows`; `changed` have other loads.
    """
    columns = compute_drive_rows(robot, piece.judged(judgement), largest)
    wider = replace(changed, terms=np.concatenate([changed.terms, columns], axis=2))
    reduction, first, _ = _reduce(rows, weighting, wider)
    return first, reduction


def sum_residuals(rows: PieceRows, design: Design, solution: Solution, lags: int) -> ResidualSums:
    """Return what a fit leaves of a piece."""
    parts = [compute_row_residuals(part, design, solution) for part in rows.generate()]
    residuals = np.concatenate([np.zeros(rows.effort[:0].shape), *parts])
    return ResidualSums.of(residuals, rows.used, lags)


def _reduce(
    weighed: PieceRows, weighting: Weighting | None, reduced: PieceRows
) -> tuple[Reduction, int, int]:
    place, total = weighed.place, weighed.effort.shape[0]
    n, columns = weighed.effort.shape[1], reduced.columns + reduced.terms.shape[2]
    borders = place.find_blocks(np.array([0, max(total - 1, 0)]))
    first, last = int(borders[0]), int(borders[1])
    reduction = Reduction.empty(last - first + 1, n, columns)
    outliers = 0
    for old, rows in zip(weighed.generate(), reduced.generate(), strict=True):
        used = weighed.used[rows.samples]
        weights = used.astype(np.float64)
        if weighting is not None:
            weights = weights * weighting.compute_weights(old)
            outliers += int(((weights < IDENTIFICATION.outlier_weight) & used).sum())
        reduction = reduction.add(rows, place.find_blocks(rows.samples) - first, weights)
    return reduction, first, outliers
