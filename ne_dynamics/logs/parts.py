"""Parts of a log that is too long to be computed at once, each with what it needs beside it.

A short log is one part. What is done to the samples of a long one is done part by part, so that
the memory that it takes does not grow with the log.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.arrays import release_pages
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.thresholds import FILTER
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray

TURN = 2.0 * math.pi

Change = Callable[[Log], Log]


class Part(NamedTuple):
    """Samples of a log with those beside them.

    Attributes
    ----------
    log : Log
    start, end : float
        Stamps of the part itself: from the one to before the other [s].
    """

    log: Log
    start: float
    end: float

    def find_own(self, log: Log) -> NDArray[np.bool_]:
        """Tell which samples of a log are those of the part itself, shape (N,)."""
        return (log.times >= self.start) & (log.times < self.end)


def is_long(log: Log) -> bool:
    """Tell whether a log has several parts."""
    return log.times.size > 2 * FILTER.part_samples


def cut(log: Log, beside: float = 0.0, length: int | None = None) -> list[Part]:
    """Return the parts of a log, each with `samples_beside` samples to either side at least.

    And with so much time beside each [s]. A part has about `length` samples; default:
    `part_samples`.
    """
    if not is_long(log):
        return [Part(log, float(log.times[0]), math.inf)]
    times, size = log.times, log.times.size
    count = math.ceil(size / (length or FILTER.part_samples))
    parts = []
    for first, end in itertools.pairwise(np.linspace(0, size, count + 1).astype(int).tolist()):
        start, stop = float(times[first]), float(times[end]) if end < size else math.inf
        before, after = np.searchsorted(times, [start - beside, stop + beside])
        around = slice(
            max(min(int(before), first - FILTER.samples_beside), 0),
            max(int(after), end + FILTER.samples_beside),
        )
        parts.append(Part(log.at(around), start, stop))
    return parts


def cut_for_filter(log: Log, step: float, cutoff: float) -> list[Part]:
    """Return the parts of a log with what the filter needs, by the step of its times [s].

    And by its cut-off frequency [Hz].
    """
    around = 2.0 * (FILTER.overlap + FILTER.continuation) / (cutoff * step)
    length = FILTER.transform_length
    while FILTER.transform_share * length - around < 0.5 * length:
        length *= 2
    return cut(log, FILTER.overlap / cutoff, round(FILTER.transform_share * length - around))


def look(log: Log) -> list[Log]:
    """Return parts of a long log, well spread; all of a short one."""
    if not is_long(log):
        return [log]
    length = round(FILTER.look_length * FILTER.part_samples)
    firsts = np.linspace(0, log.times.size - length, FILTER.looked_at_parts).astype(int).tolist()
    return [log.at(slice(first, first + length)) for first in firsts]


def join(parts: list[Log]) -> Log:
    """Return one log of parts of a log, in their order, with gaps between them."""
    if len(parts) == 1:
        return parts[0]
    velocities = [part.velocity for part in parts if part.velocity is not None]
    return Log(
        parts[0].joint_names,
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.effort for part in parts]),
        np.concatenate(velocities) if len(velocities) == len(parts) else None,
        parts[0].source,
    )


def get_last(log: Log, cutoff: float) -> Log:
    """Return a part at the end of a log that is long enough to be shown; all of a short one.

    Long enough by the cut-off frequency [Hz].
    """
    parts = [part.log for part in cut(log)]
    long = [part for part in parts if part.duration > FILTER.shown_periods / cutoff]
    return (long or parts)[-1]


def change_in_parts(log: Log, change: Change, work: Work, beside: float = 0.0) -> Log:
    """Return a changed log, part by part where it is long; `work` keeps the samples.

    The change is from a log to another one with the same times, or some of them; a sample depends
    on others as far as `beside` it [s].
    """
    if not is_long(log):
        return change(log)
    parts = cut(log, beside)
    names = change(parts[0].log).joint_names
    changed = Log.from_tables(names, _generate_changed(parts, change), log.source, work.store)
    return replace(
        changed,
        received=log.received,
        dropped={**log.dropped, **changed.dropped},
        clock_step=log.clock_step,
    )


def _generate_changed(
    parts: list[Part], change: Change
) -> Iterator[tuple[FloatArray, dict[str, int]]]:
    last: FloatArray | None = None
    for part in parts:
        log = change(part.log)
        position, own = log.position, part.find_own(log)
        if last is not None and own.any():
            # The same sample, changed with the part before: an angle may be a turn further there.
            position = position + TURN * np.round((last - position[own.argmax()]) / TURN)
        later = np.flatnonzero(log.times >= part.end)
        last = position[later[0]].copy() if later.size else None
        columns = [log.times[:, np.newaxis], position, log.effort]
        columns += [] if log.velocity is None else [log.velocity]
        lost = int(part.find_own(part.log).sum() - own.sum())
        yield np.concatenate(columns, axis=1)[own], dict.fromkeys([*log.dropped][:1], lost)
        release_pages()
