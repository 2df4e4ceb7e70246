"""Stamps of a recorder that is faster than what it records.

A driver measures every P seconds, a publisher repeats the latest measurement under stamps of its
own, every T < P seconds. Each measurement is stamped up to T after it was made, ever later, until
one is published twice and the stamps are early again: a sawtooth of height T, in which the motion
seems slower than it is by 1 - T / P and then jumps. Once the repetition is left out, there is a
gap of 2 T in the stamps that the joints cross in one of their usual steps. Where that is so, and
the stamps follow an even clock but for the sawtooth, that clock tells when the samples were
measured.

In a log that lost measurements the joints cross a gap in as many steps as it is long: such a log
stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.stale_samples import without_repeated
from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot


def as_measured(log: Log) -> Log:
    """Return a log without samples that repeat the one before, at the times of measurement.

    The same object when nothing is repeated and the stamps are believed.
    """
    return with_source_clock(without_repeated(log), log)


def find_recorder_stamps(robot: Robot, log: Log) -> tuple[Log, Finding | None]:
    """Say whose stamps a log has, where they are not those of the measurements.

    The log stays as it is: the times of measurement are found anew whenever it is filtered.
    """
    fresh = without_repeated(log)
    measured = with_source_clock(fresh, log)
    if measured is fresh:
        return log, None
    moved = float(np.abs(measured.times - fresh.times).max())
    period = float(np.median(np.diff(measured.times)))
    recorder = float(np.median(np.diff(log.times)))
    return log, Finding(
        'stamps-of-recorder',
        (),
        f'samples were measured every {1e3 * period:.4g} ms and stamped by a recorder every '
        f'{1e3 * recorder:.4g} ms: the times of measurement are taken, up to '
        f'{1e3 * moved:.3g} ms from the stamps',
        moved,
        remedy='stamp at the measurement',
        severity='info',
    )


def with_source_clock(log: Log, given: Log) -> Log:
    """Return a log with the times at which its samples were measured.

    It is without samples that repeat the one before, which `given` has. The same object unless its
    stamps are those of a recorder that is faster than its source. The times are those of an even
    clock with the mean of the stamps, piece by piece.
    """
    spans = np.diff(log.times)
    step = float(np.median(spans))
    breaks = spans > FAULTS.largest_gap * step
    gaps = (spans > FAULTS.clock_gap * step) & ~breaks
    if gaps.sum() < FAULTS.clock_gaps or not _repeat_efforts(log, given):
        return log
    steps = np.diff(log.position, axis=0)
    crossed = count_steps(steps, find_usual_steps(steps))
    if np.mean(crossed[gaps] < FAULTS.one_step) < FAULTS.gaps_crossed:
        return log
    piece = np.concatenate([[0], np.cumsum(breaks)])
    # Where the recorder was early by chance, it has missed a measurement in its next step.
    index = np.concatenate([[0.0], np.cumsum(np.where(crossed < FAULTS.one_step, 1.0, 2.0))])
    times = _fit_clock(log.times, index, piece)
    if (
        np.abs(times - log.times).max() > FAULTS.uneven_steps * step
        or (np.diff(times) <= 0.0).any()
    ):
        return log
    times.setflags(write=False)
    return replace(log, times=times)


def _repeat_efforts(log: Log, given: Log) -> bool:
    """Tell whether efforts were repeated with the positions: what is new has its own stamp."""
    left_out = np.isin(given.times, log.times, invert=True)
    left_out[0] = False
    repeated = np.flatnonzero(left_out)
    same = (given.effort[repeated] == given.effort[repeated - 1]).all(axis=1)
    return bool(same.all())


def list_around(steps: FloatArray) -> list[FloatArray]:
    """Return the steps to either side of each one, shape (N, n) each."""
    beside = FAULTS.steps_around
    padded = np.pad(steps, ((beside, beside), (0, 0)), mode='edge')
    return [padded[k : k + steps.shape[0]] for k in range(2 * beside + 1) if k != beside]


def find_usual_steps(steps: FloatArray) -> FloatArray:
    """Return the median of the steps around each one, shape (N, n)."""
    usual: FloatArray = np.median(list_around(steps), axis=0)
    return usual


def count_steps(steps: FloatArray, usual: FloatArray) -> FloatArray:
    """Return how many of their usual steps the joints go in each step, shape (N,).

    1 where the arm is too slow to tell. Both steps have the shape (N, n) [rad or m].
    """
    size = steps.std(axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    steps, usual = steps / scale, usual / scale
    square = (usual**2).sum(axis=1)
    told = square > 0.2**2 * square.mean()  # by a fifth of the mean speed
    ratio = (usual * steps).sum(axis=1) / np.where(told, square, 1.0)
    result: FloatArray = np.where(told, ratio, 1.0)
    return result


def _fit_clock(stamps: FloatArray, index: FloatArray, piece: NDArray[np.intp]) -> FloatArray:
    """Return even times by least squares: one period for all pieces, each where its stamps are."""
    sizes = np.bincount(piece)

    def centre(values: FloatArray) -> FloatArray:
        means: FloatArray = np.bincount(piece, values) / sizes
        return means[piece]

    first = stamps[0]
    count, elapsed = index - centre(index), stamps - first
    middle = centre(elapsed)
    period = float(count @ (elapsed - middle)) / max(float(count @ count), 1e-300)
    result: FloatArray = first + middle + period * count
    return result
