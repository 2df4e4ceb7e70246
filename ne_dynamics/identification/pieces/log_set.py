"""Several logs, any of them long, filtered part by part and judged together.

All logs go through one low-pass: of the cut-off frequencies that they ask for by themselves the
highest, as far as the rate of each allows. What counts as motion is judged log by log, since the
noise of positions is a log's own, but for the largest speed of each joint, which is that of all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import require_joints
from ne_dynamics.logs import Log
from ne_dynamics.logs.filtered_piece import (
    FilteredPiece,
    Grid,
    MotionStatistics,
    filter_piece,
    find_motion_criteria,
)
from ne_dynamics.logs.parts import cut_for_filter, is_long
from ne_dynamics.logs.segment import MotionCriteria
from ne_dynamics.logs.signals import (
    choose_log_cutoff,
    find_step,
    require_cutoff,
    require_samples,
)
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

Logs = Log | Sequence[Log]


@dataclass(frozen=True, eq=False)
class FilteredLog:
    """What became of one log.

    Attributes
    ----------
    log : Log
    grid : Grid
    pieces : tuple of FilteredPiece
        In their order.
    statistics : MotionStatistics
        Of all of them.
    """

    log: Log
    grid: Grid
    pieces: tuple[FilteredPiece, ...]
    statistics: MotionStatistics

    @property
    def source(self) -> str:
        """Name of the log."""
        return self.log.source

    @property
    def text(self) -> str:
        """One line: how many samples, over what time, what was dropped."""
        return self.log.summary()


@dataclass(frozen=True, eq=False)
class FilteredLogs:
    """A set of logs, filtered.

    Attributes
    ----------
    logs : tuple of FilteredLog
    work : Work
        Executes the computations on pieces of the logs.
    """

    logs: tuple[FilteredLog, ...]
    work: Work

    @classmethod
    def read(
        cls,
        robot: Robot,
        logs: Logs,
        work: Work | None = None,
        cutoff_frequency: float | None = None,
    ) -> FilteredLogs:
        """Filter logs.

        Parameters
        ----------
        robot : Robot
            With the joints of the logs, in their order.
        logs : Log, or sequence of them
        work : Work, optional
            Default: in this process.
        cutoff_frequency : float, optional
            [Hz]; default: chosen from the logs.

        Raises
        ------
        InputError
            When there is no log, or one has other joints or cannot be filtered.
        """
        several = [logs] if isinstance(logs, Log) else list(logs)
        if not several:
            raise InputError('logs: expected at least one, got none')
        for log in several:
            require_joints(robot, log)
        work = work or Work()
        cutoff, steps = cutoff_frequency, [find_step(log) for log in several]
        if cutoff is None:
            cutoff = max(map(choose_log_cutoff, several, steps))
            if len(several) > 1:
                cutoff = min(cutoff, FILTER.cutoff_by_rate / max(steps))
        limits, grids, parts = robot.limits('effort_limit'), [], []
        for log, step in zip(several, steps, strict=True):
            require_cutoff(cutoff, step, log.source)
            grids.append(Grid(step, cutoff, float(log.times[0]) if is_long(log) else None))
            parts.append([(part, limits, grids[-1]) for part in cut_for_filter(log, step, cutoff)])
        found = work.map(
            'filter', filter_piece, itertools.chain(*parts), total=sum(map(len, parts))
        )
        result = []
        for log, grid, own in zip(several, grids, parts, strict=True):
            pieces = tuple(work.store.keep(next(found)) for _ in own)
            statistics = MotionStatistics.merge(piece.statistics for piece in pieces)
            if not statistics.kept:
                require_samples(0, grid, log)
            result.append(FilteredLog(log, grid, pieces, statistics))
        return cls(tuple(result), work)

    @property
    def pieces(self) -> list[tuple[FilteredPiece, MotionCriteria, int]]:
        """Pieces of all logs, each with its log's criterion for motion and its log's index."""
        criteria = self.find_criteria()
        return [
            (piece, criteria[index], index)
            for index, log in enumerate(self.logs)
            for piece in log.pieces
        ]

    @property
    def first(self) -> NDArray[np.intp]:
        """Index of the first filtered sample of each piece, then the number of all samples."""
        counts = [piece.times.size for log in self.logs for piece in log.pieces]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)

    @property
    def total(self) -> int:
        """Number of filtered samples of all logs."""
        return sum(log.statistics.kept for log in self.logs)

    @property
    def statistics(self) -> list[MotionStatistics]:
        """Motion statistics of each log."""
        return [log.statistics for log in self.logs]

    @property
    def largest_velocities(self) -> FloatArray:
        """Largest joint velocities in all filtered samples, shape (n,) [rad/s or m/s]."""
        result: FloatArray = np.max([part.kept_largest for part in self.statistics], axis=0)
        return result

    @property
    def cutoff_frequency(self) -> float:
        """Cut-off frequency with which all logs are filtered [Hz]."""
        return self.logs[0].grid.cutoff_frequency

    def find_criteria(self) -> list[MotionCriteria]:
        """Return each log's criterion for motion."""
        largest = np.max([part.largest for part in self.statistics], axis=0)
        return [find_motion_criteria(log.statistics, log.grid, largest) for log in self.logs]
