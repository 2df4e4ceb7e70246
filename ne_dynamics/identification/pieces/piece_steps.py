"""What is asked of a piece of a log: functions that may run on another computer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.effort_sums import EffortSums, SignalSums
from ne_dynamics.identification.evaluation import model_effort
from ne_dynamics.identification.pieces.piece_rows import PieceRows
from ne_dynamics.identification.regression.design import Design
from ne_dynamics.identification.regression.reduction import Reduction
from ne_dynamics.identification.regression.regression_rows import Rows
from ne_dynamics.identification.regression.residual_sums import ResidualSums
from ne_dynamics.identification.regression.solver import Solution
from ne_dynamics.logs.filtered_piece import (
    FilteredPiece,
    Grid,
    Judgement,
    MotionStatistics,
    filter_piece,
)
from ne_dynamics.logs.piece_samples import Change, PieceSource, PieceSummary
from ne_dynamics.logs.samples.sample_checks import check_piece
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

OUTLIER = 0.5
"""Weight below which an effort is called an outlier."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where the filtered samples of a piece are among those of all logs.

    Attributes
    ----------
    first : int
        Number of its first one.
    fitted : int
        How many of all are fitted before the others are predicted.
    blocks : int
        Of the fitted ones.
    joints : bool array, shape (n,)
        Joints whose efforts are used.
    """

    first: int
    fitted: int
    blocks: int
    joints: NDArray[np.bool_]

    def find_blocks(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the block of each sample of the piece; `blocks` for those held out."""
        number = self.first + samples
        result: NDArray[np.intp] = np.where(
            number < self.fitted, number * self.blocks // max(self.fitted, 1), self.blocks
        )
        return result


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

    def compute_residuals(self, rows: Rows) -> FloatArray:
        """Return what the fit leaves, shape (K, n) [N m or N]."""
        return compute_row_residuals(rows, self.design, self.solution)

    def compute_weights(self, rows: Rows) -> FloatArray:
        """Return the weights of samples, shape (K, n)."""
        sizes = np.abs(self.compute_residuals(rows))
        return np.minimum(1.0, self.largest / np.maximum(sizes, 1e-300))


def compute_row_residuals(rows: Rows, design: Design, solution: Solution) -> FloatArray:
    """Return what a fit leaves of samples, shape (K, n) [N m or N]."""
    table = np.concatenate([rows.matrix, rows.effort[:, :, np.newaxis]], axis=2)
    result = np.zeros(rows.effort.shape)
    for joint in range(table.shape[1]):
        own = design.joint_rows(joint, table[:, joint])
        result[:, joint] = own[:, -1] - own[:, :-1] @ solution.parameters
    return result


def read_and_filter(
    source: PieceSource,
    changes: tuple[Change, ...],
    grid: Grid,
    is_checked: bool,
    checked_after: int | None,
    robot: Robot,
) -> tuple[FilteredPiece, tuple[PieceSummary, MotionStatistics]]:
    """Read a piece and filter it."""
    samples = source.read()
    summary, log = samples.summary, samples.log
    limit = robot.limits('effort_limit')
    if log is None:
        empty = FilteredPiece.empty(robot.n, grid)
        return empty, (summary, empty.statistics)
    if is_checked:
        summary = check_piece(robot, samples, changes[:checked_after])
    for change in changes:
        log = change(log)
    start = summary.first if summary.count else np.inf
    # Samples before the first one of a log, and after its last one, are those of no other piece.
    piece = filter_piece(log, limit, grid, start, summary.end)
    return piece, (summary, piece.statistics)


def make_rows(
    piece: FilteredPiece,
    judgement: Judgement,
    chosen: list[int],
    place: Place,
    dynamics: Dynamics,
    bodies: list[int],
    largest: FloatArray,
) -> tuple[PieceRows, SignalSums]:
    """Judge a piece and compute its rows."""
    signals = piece.of_joints(chosen).judged(judgement)
    rows = PieceRows.compute(dynamics, dynamics, signals, bodies, largest)
    sums = SignalSums.of(signals, model_effort(dynamics, signals), place.fitted - place.first)
    return rows, sums


def compare_efforts(
    piece: FilteredPiece,
    judgement: Judgement,
    chosen: list[int],
    dynamics: Dynamics,
) -> EffortSums:
    """Compare the efforts of a piece with those of a model."""
    signals = piece.of_joints(chosen).judged(judgement)
    return EffortSums.of(signals.effort, model_effort(dynamics, signals))


def judge_models(
    rows: PieceRows, place: Place, judged_from: int, *models: Dynamics
) -> list[EffortSums]:
    """Compare the efforts of a piece, from one of all samples on, with those of models."""
    part = slice(max(judged_from - place.first, 0), None)
    effort = rows.signals.effort[part]
    if not effort.size:
        return [EffortSums.of(effort, effort) for _ in models]
    return [EffortSums.of(effort, model_effort(model, rows.signals)[part]) for model in models]


def reduce_piece(
    rows: PieceRows, place: Place, weighting: Weighting | None
) -> tuple[int, Reduction]:
    """Return the reduction of a piece, and the block of all that is its first."""
    reduction, first, _ = _reduce(rows, place, weighting, rows)
    return first, reduction


def change_loads(
    rows: PieceRows,
    place: Place,
    dynamics: Dynamics,
    load_dynamics: Dynamics,
    largest: FloatArray,
    weighting: Weighting,
) -> tuple[PieceRows, tuple[int, Reduction, int]]:
    """Return rows with other loads, their reduction with weights by the old ones, and outliers."""
    changed = rows.with_loads(dynamics, load_dynamics, largest)
    reduction, first, outliers = _reduce(rows, place, weighting, changed)
    return changed, (first, reduction, outliers)


def sum_residuals(
    rows: PieceRows, place: Place, design: Design, solution: Solution, lags: int
) -> ResidualSums:
    """Return what a fit leaves of a piece."""
    parts = [compute_row_residuals(part, design, solution) for part in rows.generate()]
    residuals = np.concatenate([np.zeros(rows.effort[:0].shape), *parts])
    return ResidualSums.of(residuals, rows.signals.usable & place.joints, lags)


def _reduce(
    weighed: PieceRows, place: Place, weighting: Weighting | None, reduced: PieceRows
) -> tuple[Reduction, int, int]:
    total = weighed.effort.shape[0]
    n, columns = weighed.effort.shape[1], reduced.columns + reduced.terms.shape[2]
    borders = place.find_blocks(np.array([0, max(total - 1, 0)]))
    first, last = int(borders[0]), int(borders[1])
    reduction = Reduction.empty(last - first + 1, n, columns)
    outliers = 0
    for old, rows in zip(weighed.generate(), reduced.generate(), strict=True):
        used = (weighed.signals.usable & place.joints)[rows.samples]
        weights = used.astype(np.float64)
        if weighting is not None:
            weights = weights * weighting.compute_weights(old)
            outliers += int(((weights < OUTLIER) & used).sum())
        reduction = reduction.add(rows, place.find_blocks(rows.samples) - first, weights)
    return reduction, first, outliers
