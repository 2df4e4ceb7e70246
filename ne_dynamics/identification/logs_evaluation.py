"""How much of the efforts in several logs a model explains."""

from __future__ import annotations

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.effort_sums import EffortSums
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.pieces.piece_steps import compare_efforts


def evaluate_filtered(dynamics: Dynamics, logs: FilteredLogs) -> list[EffortSums]:
    """Return how efforts of a model differ from the measured ones, log by log.

    Parameters
    ----------
    dynamics : Dynamics
    logs : FilteredLogs
        With its joints.
    """
    judgements, chosen = logs.judge(), list(logs.chosen)
    arguments = [
        (kept, judgements[log], chosen) for kept, log in zip(logs.kept, logs.log_of, strict=True)
    ]
    found = list(logs.runner.map('compare', compare_efforts, arguments, dynamics))
    return [
        EffortSums.merge(
            sums for sums, log in zip(found, logs.log_of, strict=True) if log == index
        )
        for index in range(len(logs.logs))
    ]
