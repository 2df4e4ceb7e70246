"""How much of the efforts in several logs models explain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import (
    EffortSums,
    JointResidual,
    describe_residuals,
    model_effort,
)
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.logs.diagnosis import DiagnosedLogs
from ne_dynamics.logs.filtered_piece import FilteredPiece
from ne_dynamics.logs.segment import MotionCriteria
from ne_dynamics.logs.work import Work


@dataclass(frozen=True, eq=False)
class LogsEvaluation:
    """How much of the efforts in the logs of a robot a model of it explains.

    Attributes
    ----------
    found : DiagnosedLogs
    logs : FilteredLogs
    joints : tuple of JointResidual
        Of all logs together.
    each : list of tuple of JointResidual
        Log by log.
    """

    found: DiagnosedLogs
    logs: FilteredLogs
    joints: tuple[JointResidual, ...]
    each: list[tuple[JointResidual, ...]]

    @classmethod
    def of(
        cls, dynamics: Dynamics, found: DiagnosedLogs, work: Work, cutoff: float | None = None
    ) -> LogsEvaluation:
        """Compare the efforts of logs with those of a model; a given cut-off is in Hz."""
        robot = dynamics.robot
        logs = FilteredLogs.read(robot, found.logs, work, cutoff)
        judged = list(zip(_judge(logs, 0, dynamics), logs.pieces, strict=True))
        sums = [
            EffortSums.merge(own for (own,), (_, _, log) in judged if log == index)
            for index in range(len(logs.logs))
        ]
        joints = EffortSums.merge(sums).describe(robot)
        return cls(found, logs, joints, [part.describe(robot) for part in sums])

    def as_json(self) -> dict[str, Any]:
        """Return the residuals, and what is wrong with the logs, as data for JSON."""
        document = replace(self.found.source, logs=self.found.logs).as_json()
        for log, joints in zip(document['logs'], self.each, strict=True):
            log['joints'] = [joint.as_json() for joint in joints]
        return {
            **document,
            'diagnosis': self.found.diagnosis,
            'cutoff_frequency': self.logs.cutoff_frequency,
            'joints': [joint.as_json() for joint in self.joints],
        }

    def lines(self) -> list[str]:
        """Return the same for people."""
        heads = [f'{log.source}: {log.text}' for log in self.logs.logs]
        cutoff = self.logs.cutoff_frequency
        low_pass = f'low-pass {cutoff:.4g} Hz; RMS of the efforts [N m or N]'
        doubts, lines = self.found.describe(), [*self.found.source.lines(), low_pass]
        if len(heads) == 1:
            lines = [*heads, *lines, '']
        else:
            for head, joints in zip(heads, self.each, strict=True):
                lines += ['', head, *describe_residuals(joints)]
            lines += ['', f'all {len(heads)} logs together']
        return [*lines, *describe_residuals(self.joints), *[''] * bool(doubts), *doubts]


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
