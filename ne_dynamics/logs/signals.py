"""A log as signals: filtered, resampled, and judged by what moves in it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.cutoff import choose_cutoff
from ne_dynamics.logs.filtered_piece import (
    Grid,
    filter_effort,
    filter_piece,
    find_motion_criteria,
    resample,
    split_at_gaps,
)
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.parts import Part, look
from ne_dynamics.logs.segment import Signals
from ne_dynamics.logs.source_clock import as_measured
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.model.rigid_body import FloatArray

SHORTEST_PIECE = 3.0 * FILTER.end_margin
"""Periods of the cut-off frequency that a piece without gaps has to be longer than."""


def filtered(log: Log, effort_limit: FloatArray, cutoff_frequency: float | None = None) -> Signals:
    """Return the signals of a log, filtered without delay.

    Parameters
    ----------
    log : Log
    effort_limit : array, shape (n,)
        [N m or N]; infinite, or not greater than 0, for no limit.
    cutoff_frequency : float, optional
        [Hz]: about five times the highest frequency of the motion. Default: from the spectra of
        positions and efforts, :func:`~ne_dynamics.logs.cutoff.choose_cutoff`.

    Raises
    ------
    InputError
        When the cut-off is not above 0 or too high for the log's rate, or every piece of the log
        without gaps is too short for it.
    """
    measured = as_measured(log)
    step = _find_median_step(measured)
    cutoff = _choose_cutoff(measured, step) if cutoff_frequency is None else cutoff_frequency
    require_cutoff(cutoff, step, log.source)
    grid = Grid(step, cutoff)
    piece = filter_piece(Part(log, -math.inf, math.inf), effort_limit, grid, measured)
    require_samples(piece.statistics.kept, grid, log)
    return piece.with_criteria(find_motion_criteria(piece.statistics, grid))


def filter_late_effort(log: Log, cutoff_frequency: float, delay: float) -> FloatArray:
    """Return the efforts of :func:`filtered` for efforts that are taken later, shape (M, n).

    Each effort is later, by the delay [s], than it was recorded with the positions. The log can be
    filtered with the cut-off frequency [Hz].
    """
    columns = [np.interp(log.times + delay, log.times, column) for column in log.effort.T]
    measured = as_measured(replace(log, effort=np.array(columns).T))
    return filter_effort(measured, Grid(_find_median_step(measured), cutoff_frequency))


def find_step(log: Log) -> float:
    """Return the step of time in which a log was measured: the median [s]."""
    spans = [np.diff(as_measured(part).times) for part in look(log)]
    return float(np.median(np.concatenate(spans)))


def _find_median_step(measured: Log) -> float:
    return float(np.median(np.diff(measured.times)))


def require_cutoff(cutoff: float, step: float, source: str) -> None:
    """Refuse a cut-off frequency [Hz] that is not above 0, or too high for the rate of a log.

    By an InputError; the step is that of the log's times [s].
    """
    highest = 1.0 / step / FILTER.samples_per_period
    if not 0.0 < cutoff <= highest * (1.0 + 1e-6):
        raise InputError(
            f'cut-off frequency [Hz]: expected more than 0 and at most {highest:.4g}, '
            f'a quarter of the rate of the log {source}, got {cutoff:g}'
        )


def require_samples(kept: int, grid: Grid, log: Log) -> None:
    """Refuse a log, by an InputError, of which no piece without gaps is long enough."""
    if not kept:
        pieces = len(split_at_gaps(as_measured(log), grid.step))
        raise InputError(
            f'log {log.source}: expected a piece without gaps of more than '
            f'{3 * grid.trim * grid.step:.3g} s, got {log.duration:.3g} s in {pieces} piece(s)'
        )


def choose_log_cutoff(log: Log, step: float) -> float:
    """Return the cut-off that a log asks for [Hz]: the highest of the parts that tell it.

    Each asks for that of its longest piece without gaps, and no less than that is long enough for.
    The step is that of the log's times [s].
    """
    return max(_choose_cutoff(as_measured(part), step) for part in look(log))


def _choose_cutoff(log: Log, step: float) -> float:
    rate = 1.0 / step
    grid = Grid(step, 1.0)
    grids = [
        (chosen, grid.compute_times(log.times[chosen])[0]) for chosen in split_at_gaps(log, step)
    ]
    chosen, even = max(grids, key=lambda pair: pair[1].size)
    if even.size < FILTER.spectrum_samples:
        return min(FILTER.highest_cutoff, FILTER.cutoff_by_rate * rate)
    position, effort = (
        resample(log.times[chosen], table[chosen], even) for table in (log.position, log.effort)
    )
    shortest = FILTER.least_pieces * SHORTEST_PIECE * rate / even.size
    return min(max(choose_cutoff(position, effort, rate), shortest), FILTER.cutoff_by_rate * rate)
