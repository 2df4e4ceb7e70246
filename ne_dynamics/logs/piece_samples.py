"""Samples of a piece of a log, with those of its neighbours that a filter needs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.fault import LogFault
from ne_dynamics.logs.log import (
    NOT_FINITE,
    TIME_STOOD,
    Log,
    choose_clock_step,
    describe_dropped,
    find_usable,
    list_clock_steps,
)
from ne_dynamics.model.rigid_body import FloatArray

Change = Callable[[Log], Log]
"""What is done to a log before it is used; never to its times."""


@dataclass(frozen=True, eq=False)
class PieceSummary:
    """What is told of a piece, without its samples.

    Attributes
    ----------
    count, received : int
        Samples that can be used, and all.
    dropped : mapping of str to int
    first, last : float
        Stamps of its first and last sample; NaN where there is none [s].
    end : float
        Stamp of the sample after it: the first of the next piece; infinite where there is none
        within what was read [s].
    lowest, highest, middle : array, shape (n,)
        Least, largest and median position; NaN without samples [rad or m].
    faults : tuple of LogFault
        Of its samples.
    place : str
        Where it is, for messages.
    """

    count: int
    received: int
    dropped: Mapping[str, int]
    first: float
    last: float
    end: float
    lowest: FloatArray
    highest: FloatArray
    middle: FloatArray
    place: str
    faults: tuple[LogFault, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class PieceSamples:
    """A piece of a log.

    Attributes
    ----------
    log : Log or None
        Its samples and those beside them; None when fewer than two can be used.
    summary : PieceSummary
    """

    log: Log | None
    summary: PieceSummary

    @classmethod
    def of_rows(
        cls,
        joint_names: Sequence[str],
        parts: Sequence[FloatArray],
        dropped: Mapping[str, int],
        source: str,
        place: str,
    ) -> PieceSamples:
        """Check rows, and leave out those that cannot be used.

        Parameters
        ----------
        joint_names : sequence of str
            n names.
        parts : sequence of 3 arrays, shape (N, 1 + 2 n) or (N, 1 + 3 n)
            Rows before the piece, in it and after it: time, positions, efforts, velocities.
        dropped : mapping of str to int
            Rows of the piece that were dropped before.
        source, place : str
        """
        n = len(joint_names)
        table = np.concatenate(list(parts))
        stamps, position = table[:, 0], table[:, 1 : n + 1]
        effort = table[:, n + 1 : 2 * n + 1]
        kept, finite = find_usable(stamps, position, effort)
        first, end = parts[0].shape[0], parts[0].shape[0] + parts[1].shape[0]
        own = slice(*np.searchsorted(kept, [first, end]))
        unfinished = int((~finite[first:end]).sum())
        own_kept = kept[own]
        stood = end - first - unfinished - own_kept.size
        counts = Counter(dropped) + Counter({NOT_FINITE: unfinished, TIME_STOOD: stood})
        later = stamps[kept[own.stop : own.stop + 1]]
        has_any = own_kept.size > 0
        inside = position[own_kept] if has_any else np.full((1, n), np.nan)
        times = stamps[own_kept] if has_any else np.array([math.nan])
        summary = PieceSummary(
            count=own_kept.size,
            received=end - first + sum(dropped.values()),
            dropped=counts,
            first=float(times[0]),
            last=float(times[-1]),
            end=float(later[0]) if later.size else math.inf,
            lowest=inside.min(axis=0),
            highest=inside.max(axis=0),
            middle=np.median(inside, axis=0),
            place=place,
        )
        if kept.size < 2:
            return cls(None, summary)
        velocity = table[kept, 2 * n + 1 :] if table.shape[1] > 2 * n + 1 else None
        if velocity is not None and not np.isfinite(velocity).any():
            velocity = None
        log = Log(
            tuple(joint_names),
            stamps[kept],
            position[kept],
            effort[kept],
            velocity,
            source,
            summary.received,
            counts,
            # Of two pieces that both see the same step of the clock that which it begins has it.
            choose_clock_step(
                (place, step)
                for place, step in list_clock_steps(stamps[finite])
                if first <= np.flatnonzero(finite)[place] < end
            ),
        )
        return cls(log, summary)

    def own_log(self, beside: int = 0) -> Log | None:
        """Return the samples of the piece alone; None when there are fewer than two.

        Parameters
        ----------
        beside : int
            How many samples to either side are returned with them, where there are so many.
        """
        log = self.log
        if log is None:
            return None
        first, end = np.searchsorted(log.times, [self.summary.first, self.summary.end])
        if end - first < 2:
            return None
        inside = slice(max(int(first) - beside, 0), int(end) + beside)
        velocity = None if log.velocity is None else log.velocity[inside]
        return replace(
            log,
            times=log.times[inside],
            position=log.position[inside],
            effort=log.effort[inside],
            velocity=velocity,
        )


class PieceSource(Protocol):
    """Where a piece is; it may be sent to another computer, which has the same files."""

    def read(self) -> PieceSamples:
        """Return its samples.

        Raises
        ------
        InputError
            When it cannot be read.
        """


def merge_summaries(parts: Sequence[PieceSummary], source: str) -> PieceSummary:
    """Return the summary of a log.

    Parameters
    ----------
    parts : sequence of PieceSummary
        In their order.
    source : str
        For messages.

    Raises
    ------
    InputError
        When the times go back from one piece to the next, or there are fewer than two samples.
    """
    dropped: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
    filled = [part for part in parts if part.count]
    for before, after in itertools.pairwise(filled):
        if not (after.first > before.last and before.end in (after.first, math.inf)):
            raise InputError(
                f'log {source}: expected times that go on from {before.last:.9g} s, got '
                f'{after.first:.9g} s at {after.place}: where clock or recording began anew, cut '
                'the log into two'
            )
    count, received = (sum(getattr(part, key) for part in parts) for key in ('count', 'received'))
    if count < 2:
        raise InputError(
            f'log {source}: expected at least 2 samples that can be used, got {count} of '
            f'{received}{describe_dropped(dropped)}'
        )
    return PieceSummary(
        count,
        received,
        dropped,
        filled[0].first,
        filled[-1].last,
        math.inf,
        np.min([part.lowest for part in filled], axis=0),
        np.max([part.highest for part in filled], axis=0),
        np.median([part.middle for part in filled], axis=0),
        place=source,
    )
