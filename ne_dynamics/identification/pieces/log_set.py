"""Several logs, any of them long, filtered in pieces by a runner, and judged together.

All logs go through one low-pass: of the cut-off frequencies that they ask for by themselves the
highest, as far as the rate of each allows. What counts as motion is judged log by log, since the
noise of positions is a log's own, but for the largest speed of each joint, which is that of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import require_joints
from ne_dynamics.identification.pieces.piece_steps import read_and_filter
from ne_dynamics.logs import Log, Recording
from ne_dynamics.logs.cutoff import LARGEST_PART
from ne_dynamics.logs.filtered_piece import (
    Grid,
    Judgement,
    MotionStatistics,
    judge_motion,
)
from ne_dynamics.logs.log import describe_samples
from ne_dynamics.logs.piece_samples import PieceSummary, merge_summaries
from ne_dynamics.logs.runner import Kept, Runner
from ne_dynamics.logs.signals import require_samples
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

Logs = Log | Recording | Sequence[Log | Recording]


def as_recordings(logs: Logs) -> tuple[Recording, ...]:
    """Return recordings of one log or several.

    Raises
    ------
    InputError
        When there is none, a file is given twice, or joints differ.
    """
    several = [logs] if isinstance(logs, Log | Recording) else list(logs)
    found = tuple(Recording.of_log(item) if isinstance(item, Log) else item for item in several)
    if not found:
        raise InputError('logs: expected at least one, got none')
    seen: dict[Path, str] = {}
    for recording in found:
        if recording.held is None:
            place = Path(recording.source).resolve()
            if place in seen:
                raise InputError(
                    f'logs: expected each once, got {seen[place]!r} and {recording.source!r}'
                )
            seen[place] = recording.source
    return found


@dataclass(frozen=True, eq=False)
class FilteredLog:
    """What is told of one log.

    Attributes
    ----------
    source : str
    summary : PieceSummary
        Of all its pieces.
    pieces : tuple of PieceSummary
    grid : Grid
    statistics : MotionStatistics
    """

    source: str
    summary: PieceSummary
    pieces: tuple[PieceSummary, ...]
    grid: Grid
    statistics: MotionStatistics

    @property
    def text(self) -> str:
        """One line: how many samples, over what time, what was dropped."""
        summary = self.summary
        duration = summary.last - summary.first
        return describe_samples(summary.count, summary.received, duration, summary.dropped)


@dataclass(frozen=True, eq=False)
class FilteredLogs:
    """Filtered pieces of all logs.

    Attributes
    ----------
    runner : Runner
        Keeps the pieces.
    kept : tuple of Kept
        One each piece, log by log.
    logs : tuple of FilteredLog
    log_of : tuple of int
        Log of each piece.
    first : int array, shape (pieces + 1,)
        Number of the first filtered sample of each piece, and of all samples.
    chosen : tuple of int
        Joints of the pieces that are used.
    """

    runner: Runner
    kept: tuple[Kept, ...]
    logs: tuple[FilteredLog, ...]
    log_of: tuple[int, ...]
    first: NDArray[np.intp]
    chosen: tuple[int, ...]

    @classmethod
    def read(
        cls,
        robot: Robot,
        recordings: Sequence[Recording],
        runner: Runner,
        cutoff_frequency: float | None = None,
        checked_after: int | None = None,
    ) -> FilteredLogs:
        """Read and filter logs.

        Parameters
        ----------
        robot : Robot
            With the joints of the logs, in their order.
        recordings : sequence of Recording
        runner : Runner
        cutoff_frequency : float, optional
            [Hz]; default: what the logs ask for.
        checked_after : int, optional
            After how many of the changes faults of the samples of long logs are looked for;
            default: not at all.

        Raises
        ------
        InputError
            When a log cannot be read or filtered, or has other joints.
        """
        for recording in recordings:
            require_joints(robot, recording)
        asked = []
        for recording in recordings:
            # One after another: what is looked at of all of them may be more than memory holds.
            rate = 1.0 / recording.step
            asked.append((recording.choose_cutoff() if cutoff_frequency is None else 0.0, rate))
            if len(recordings) > 1:
                recording.forget_looks()
        if cutoff_frequency is None:
            cutoff = max(own for own, _ in asked)
            if len(recordings) > 1:
                cutoff = min(cutoff, LARGEST_PART * min(rate for _, rate in asked))
        else:
            cutoff = cutoff_frequency
        grids, arguments, log_of = [], [], []
        for index, recording in enumerate(recordings):
            grid = recording.make_grid(cutoff)
            grids.append(grid)
            for piece in recording.list_pieces(cutoff):
                is_checked = checked_after is not None and recording.is_long
                arguments.append((piece, recording.changes, grid, is_checked, checked_after))
                log_of.append(index)
            recording.forget_looks()
        kept, told = runner.keep('read and filter', read_and_filter, arguments, robot)
        logs = []
        for index, (recording, grid) in enumerate(zip(recordings, grids, strict=True)):
            own = [item for item, log in zip(told, log_of, strict=True) if log == index]
            pieces = tuple(summary for summary, _ in own)
            summary = merge_summaries(pieces, recording.source)
            statistics = MotionStatistics.merge(part for _, part in own)
            if not statistics.kept:
                require_samples(0, grid, recording.looks[0])
            logs.append(FilteredLog(recording.source, summary, pieces, grid, statistics))
        counts = [statistics.kept for _, statistics in told]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        everyone = tuple(range(robot.n))
        return cls(runner, tuple(kept), tuple(logs), tuple(log_of), first, everyone)

    @property
    def total(self) -> int:
        """Filtered samples."""
        return int(self.first[-1])

    @property
    def statistics(self) -> list[MotionStatistics]:
        """Of each log, of the joints that are used."""
        chosen = list(self.chosen)
        return [log.statistics.of_joints(chosen) for log in self.logs]

    @property
    def largest_velocities(self) -> FloatArray:
        """Of all filtered samples [rad/s or m/s], shape (n,)."""
        result: FloatArray = np.max([part.kept_largest for part in self.statistics], axis=0)
        return result

    @property
    def cutoff_frequency(self) -> float:
        """Of all logs [Hz]."""
        return self.logs[0].grid.cutoff_frequency

    def of_joints(self, chosen: Sequence[int]) -> FilteredLogs:
        """Return the logs with some of their joints."""
        return replace(self, chosen=tuple(self.chosen[index] for index in chosen))

    def judge(self) -> list[Judgement]:
        """Return what counts as motion in each log."""
        statistics = self.statistics
        largest = np.max([part.largest for part in statistics], axis=0)
        return [
            judge_motion(part, log.grid, largest)
            for part, log in zip(statistics, self.logs, strict=True)
        ]

    def find_ranges(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return between which positions each joint goes, and where it is, shape (n,) each."""
        summaries = [log.summary for log in self.logs]
        lowest = np.min([summary.lowest for summary in summaries], axis=0)
        highest = np.max([summary.highest for summary in summaries], axis=0)
        return lowest, highest, np.median([summary.middle for summary in summaries], axis=0)

    def release(self) -> None:
        """Forget the pieces."""
        self.runner.release(self.kept)
