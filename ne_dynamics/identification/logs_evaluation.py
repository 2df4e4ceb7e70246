"""How much of the efforts in several logs models explain."""

from __future__ import annotations

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import EffortSums, model_effort
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.logs.filtered_piece import FilteredPiece
from ne_dynamics.logs.segment import MotionCriteria


def evaluate_filtered(dynamics: Dynamics, logs: FilteredLogs) -> list[EffortSums]:
    """Return how efforts of a model differ from the measured ones, log by log."""
    found = _judge(logs, 0, dynamics)
    return [
        EffortSums.merge(
            own for (own,), (_, _, log) in zip(found, logs.pieces, strict=True) if log == index
        )
        for index in range(len(logs.logs))
    ]


def compare_models(logs: FilteredLogs, first: int, *models: Dynamics) -> list[EffortSums]:
    """Return how well models explain the samples of all logs from one of them on."""
    return [EffortSums.merge(sums) for sums in zip(*_judge(logs, first, *models), strict=True)]


def _judge(logs: FilteredLogs, first: int, *models: Dynamics) -> list[list[EffortSums]]:
    arguments = [
        (piece, criteria, first - int(own))
        for (piece, criteria, _), own in zip(logs.pieces, logs.first, strict=False)
    ]
    return list(logs.work.map('judge', judge_models, arguments, *models))


def judge_models(
    piece: FilteredPiece, criteria: MotionCriteria, judged_from: int, *models: Dynamics
) -> list[EffortSums]:
    """Compare the efforts of a piece, from one of its samples on, with those of models."""
    signals, part = piece.with_criteria(criteria), slice(max(judged_from, 0), None)
    effort = signals.effort[part]
    if not effort.size:
        return [EffortSums.of(effort, effort) for _ in models]
    return [EffortSums.of(effort, model_effort(model, signals)[part]) for model in models]
