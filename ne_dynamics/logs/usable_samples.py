"""Which samples of a log can be used, as they come: of numbers, whose stamps go on."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.logs.thresholds import FAULTS
from ne_dynamics.model.rigid_body import FloatArray

LARGEST = 1e30
"""What is larger was not measured, in whatever unit, and its square may be no number."""

NOT_FINITE, TOO_LARGE = 'not finite', 'beyond 1e30'
TIME_STOOD = 'time did not advance'


@dataclass(frozen=True)
class ClockStep:
    """Where the stamps of a log go back, and on from there.

    Attributes
    ----------
    before, after : float
        The stamp before that, and the one at which it goes on [s].
    lost : int
        Samples after it that are not later than those before, and are dropped.
    is_whole : bool
        Whether those are all, and stamps catch up before the log ends.
    """

    before: float
    after: float
    lost: int
    is_whole: bool = True


class UsableSamples:
    """Looks through the rows of a log, table by table: whatever is where, the same are kept.

    So many columns of a table have to be usable numbers, of which the first one are stamps.

    Attributes
    ----------
    dropped : Counter
        How many samples were dropped, by reason.
    clock_step : ClockStep or None
        The one after which most was lost: a clock that was set, or began anew. A message that is
        late, a stamp that is repeated and a single one that is wrong are none.
    has_numbers : bool array, shape (columns,)
        Which columns had a finite number at all.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self.has_numbers = np.zeros(columns, dtype=bool)
        self.dropped: Counter[str] = Counter()
        self.clock_step: ClockStep | None = None
        self._waiting: FloatArray | None = None
        self._before = self._latest = self._last = -np.inf
        self._behind: list[FloatArray] = []
        self._behind_before = 0.0

    def add(self, table: FloatArray, is_last: bool = False) -> FloatArray:
        """Return the rows that can be used; the last two wait for what comes after them.

        But for those of the last table, shape (N, m).
        """
        usable = (np.abs(table[:, : self._columns]) <= LARGEST).all(axis=1)
        self.has_numbers |= bool(usable.any())
        if not usable.all():
            finite = np.isfinite(table[~usable, : self._columns])
            self.has_numbers |= finite.any(axis=0)
            is_finite = finite.all(axis=1)
            for reason, count in ((NOT_FINITE, (~is_finite).sum()), (TOO_LARGE, is_finite.sum())):
                if count:
                    self.dropped[reason] += int(count)
            table = table[usable]
        if self._waiting is not None:
            table = np.concatenate([self._waiting, table])
        lone = self._find_lone(table[:, 0])
        end = table.shape[0] if is_last else max(table.shape[0] - 2, 0)
        self._waiting = table[end:]
        if not end:
            return table[:0]
        self._before = float(table[end - 1, 0])
        rows = table[:end]
        if lone[:end].any():
            self.dropped[TIME_STOOD] += int(lone[:end].sum())
            rows = rows[~lone[:end]]
        # A stamp counts when it is later than all before it.
        latest = np.maximum.accumulate(np.concatenate([[self._latest], rows[:, 0]]))
        kept = rows[:, 0] > latest[:-1]
        self._latest = float(latest[-1])
        self._follow_clock(rows[:, 0], ~kept)
        if kept.all():
            return rows
        self.dropped[TIME_STOOD] += int((~kept).sum())
        return rows[kept]

    def finish(self) -> None:
        """Look at what is not known to have ended."""
        self._end_step(is_whole=False)

    def _find_lone(self, stamps: FloatArray) -> NDArray[np.bool_]:
        """Tell which stamps are ahead of the two after them, which go on from those before.

        One stamp that is wrong by a year would leave nothing after it.
        """
        lone = np.zeros(stamps.size, dtype=bool)
        if stamps.size > 2:
            before = np.concatenate([[self._before], stamps[:-3]])
            here, after, later = stamps[:-2], stamps[1:-1], stamps[2:]
            lone[:-2] = (here > later) & (later > after) & (after > before)
        return lone

    def _follow_clock(self, stamps: FloatArray, behind: NDArray[np.bool_]) -> None:
        """Gather runs of samples that are not later than those before."""
        if self._behind or behind.any():
            edges = np.flatnonzero(np.diff(behind.astype(np.int8))) + 1
            borders = [0, *edges.tolist(), stamps.size]
            for start, end in itertools.pairwise(borders):
                if start == end:
                    continue
                if not behind[start]:
                    self._end_step(is_whole=True)
                    continue
                if not self._behind:
                    self._behind_before = float(stamps[start - 1]) if start else self._last
                self._behind.append(stamps[start:end].copy())
        if stamps.size:
            self._last = float(stamps[-1])

    def _end_step(self, is_whole: bool) -> None:
        if not self._behind:
            return
        stamps, before = np.concatenate(self._behind), self._behind_before
        self._behind = []
        if stamps.size < FAULTS.samples_behind or not stamps[0] < before:
            return
        if (np.diff(stamps) > 0.0).mean() > FAULTS.clock_going_on and (
            self.clock_step is None or stamps.size > self.clock_step.lost
        ):
            self.clock_step = ClockStep(before, float(stamps[0]), stamps.size, is_whole)


def describe_dropped(counts: Mapping[str, int]) -> str:
    """Return what was dropped, for the end of a sentence; '' for nothing."""
    if not counts:
        return ''
    return '; dropped: ' + ', '.join(f'{number} {reason}' for reason, number in counts.items())
