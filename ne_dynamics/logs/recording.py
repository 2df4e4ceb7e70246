"""A log that may be longer than memory: in pieces, each with what a filter needs beside it.

A short log is one piece, and is treated as a :class:`~ne_dynamics.logs.log.Log` is. Of a
long one some parts are looked at, well spread: they tell its rate, its cut-off frequency and what
may be wrong with it. All of it is then read once, piece by piece, in any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.filtered_piece import Grid
from ne_dynamics.logs.log import Log, read_log
from ne_dynamics.logs.names import with_names
from ne_dynamics.logs.piece_samples import (
    Change,
    PieceSamples,
    PieceSource,
    PieceSummary,
)
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.readers.bag_piece import BagLayout
from ne_dynamics.logs.readers.csv_piece import CsvLayout, CsvPiece
from ne_dynamics.logs.samples.sample_faults import scale_time
from ne_dynamics.logs.signals import (
    choose_log_cutoff,
    find_step,
    require_cutoff,
)
from ne_dynamics.logs.source_clock import as_measured

PIECE_BYTES = 16 << 20
"""Size of the pieces of a CSV log; one of up to twice that is not cut."""

PIECE_SAMPLES = 100_000
"""Samples of a piece of a bag, or of a log in memory."""

LOOKS = 8
"""Parts of a long log that are looked at."""

LOOKED_AT = 1.0 / 16.0
"""Part of a piece that each of them is."""

LENGTH = 1 << 17
"""Samples of a piece with what is read beside it: a length that suits the filter's transform."""

SLACK = 0.98
"""Part of it that is used: rows and rates vary."""

FILTER_PERIODS = 4.0
"""By how much the filter continues a piece at either end, in periods of the cut-off frequency."""

OVERLAP = 16.0
"""What is read beside a piece, in periods of the cut-off frequency: there the filter forgets all
but 1e-9 of what was before."""


SHOWN_PERIODS = 32.0
"""Periods of the cut-off frequency that a piece has to have to be shown by itself."""


def fit_piece(beside: float) -> int:
    """Return of how many samples a piece is to be, with so many beside it."""
    length = LENGTH
    while SLACK * length - beside < 0.5 * length:
        length *= 2
    return round(SLACK * length - beside)


@dataclass(frozen=True)
class HeldPiece:
    """A piece of a log in memory: samples from `first` to before `end`, and some beside them."""

    log: Log
    first: int
    end: int
    before: int
    after: int

    def read(self) -> PieceSamples:
        """Return the samples."""
        log, part = self.log, slice(self.before, self.after)
        own = slice(self.first, self.end)
        position = log.position[own]
        is_all = own.start == 0 and own.stop == log.times.size
        end = log.times[self.end] if self.end < log.times.size else math.inf
        summary = PieceSummary(
            position.shape[0],
            log.received if is_all or self.first else log.received - log.times.size + self.end,
            log.dropped if self.first == 0 else {},
            float(log.times[self.first]),
            float(log.times[self.end - 1]),
            float(end),
            position.min(axis=0),
            position.max(axis=0),
            np.median(position, axis=0),
            f'sample {self.first}',
        )
        if not is_all and self.first:
            summary = replace(summary, received=position.shape[0])
        velocity = None if log.velocity is None else log.velocity[part]
        step = log.clock_step
        if step is not None and not summary.first <= step.before <= summary.last:
            step = None
        cut = replace(
            log,
            clock_step=step,
            times=log.times[part],
            position=log.position[part],
            effort=log.effort[part],
            velocity=velocity,
        )
        return PieceSamples(log if is_all else cut, summary)


@dataclass(frozen=True)
class FilePiece:
    """All of a short log, by its name.

    Attributes
    ----------
    path : Path
        Absolute.
    recorded, joint_names : tuple of str
        Joints as the log calls them, and as the model does.
    topic : str or None
    time_factor : float
        Of the times.
    """

    path: Path
    recorded: tuple[str, ...]
    joint_names: tuple[str, ...]
    topic: str | None = None
    time_factor: float = 1.0

    def read(self) -> PieceSamples:
        """Return the samples."""
        log = with_names(read_log(self.path, self.recorded, self.topic), self.joint_names)
        if self.time_factor != 1.0:
            log = replace(log, times=log.times * self.time_factor)
        return HeldPiece(log, 0, log.times.size, 0, log.times.size).read()


@dataclass(frozen=True, eq=False)
class Recording:
    """A log in memory, or in a file.

    Attributes
    ----------
    source : str
        As it was named.
    joint_names : tuple of str
        As the model calls them.
    held : Log or None
        The samples, where they are in memory.
    whole : FilePiece or None
        Where a file is read at once.
    layout : CsvLayout, BagLayout or None
        Where it is read in pieces.
    changes : tuple of Change
        What is done to each piece, in this order.
    time_factor : float
        Of the times.
    longest_delay : float
        By which the changes move efforts against positions [s].
    """

    source: str
    joint_names: tuple[str, ...]
    held: Log | None = None
    whole: FilePiece | None = None
    layout: CsvLayout | BagLayout | None = None
    changes: tuple[Change, ...] = ()
    time_factor: float = 1.0
    longest_delay: float = 0.0

    @classmethod
    def of_log(cls, log: Log) -> Recording:
        """Return the recording of a log in memory."""
        return cls(log.source, log.joint_names, held=log)

    @classmethod
    def of_file(
        cls,
        source: str,
        recorded: Sequence[str],
        joint_names: Sequence[str],
        topic: str | None = None,
    ) -> Recording:
        """Return the recording of a CSV file or a bag; it is not read yet.

        Parameters
        ----------
        source : str
            Its path.
        recorded, joint_names : sequence of str
            Joints as the log calls them, and as the model does.
        topic : str, optional
            Of a bag.

        Raises
        ------
        InputError
            When it cannot be read, or has not the joints.
        MissingDependencyError
            For a bag, when the library `rosbags` is missing.
        """
        path, names = Path(source), tuple(joint_names)
        whole = FilePiece(path.absolute(), tuple(recorded), names, topic)
        layout: CsvLayout | BagLayout | None
        if is_bag(path):
            layout = BagLayout.find(path, tuple(recorded), names, topic)
            is_long = layout.count > 2 * PIECE_SAMPLES
        elif topic is not None:
            raise InputError(f'{path}: topic: expected none with a CSV file, got {topic!r}')
        else:
            layout = CsvLayout.find(path, tuple(recorded), names)
            is_long = layout is not None and layout.size - layout.body > 2 * PIECE_BYTES
        if is_long:
            return cls(source, names, layout=layout)
        return cls(source, names, whole=whole)

    def changed(self, *changes: Change, longest_delay: float = 0.0) -> Recording:
        """Return the recording with more changes."""
        return replace(
            self,
            changes=(*self.changes, *changes),
            longest_delay=self.longest_delay + longest_delay,
        )

    def with_time_factor(self, factor: float) -> Recording:
        """Return the recording with its times multiplied."""
        if self.held is not None:
            return replace(self, held=scale_time(self.held, factor))
        return replace(self, time_factor=self.time_factor * factor)

    @property
    def is_long(self) -> bool:
        """Whether it is read in pieces."""
        if self.held is not None:
            return self.held.times.size > 2 * PIECE_SAMPLES
        return self.whole is None

    @cached_property
    def looks(self) -> tuple[Log, ...]:
        """Parts of the log that were looked at, changed: all of it, when it is short.

        Raises
        ------
        InputError
            When the log cannot be read, or fewer than two samples can be used.
        """
        found = []
        for source in self._list_looks():
            samples = source.read()
            log = samples.log if not self.is_long else samples.own_log()
            if log is not None:
                found.append(self.apply_changes(log))
        if not found:
            raise InputError(
                f'log {self.source}: expected samples that can be used, got none in {LOOKS} parts'
            )
        return tuple(found)

    def read_last(self, cutoff: float) -> Log:
        """Return the last piece of the log that can be filtered, changed: all of a short one.

        Parameters
        ----------
        cutoff : float
            Cut-off frequency [Hz].

        Raises
        ------
        InputError
            When the log cannot be read.
        """
        if not self.is_long:
            return self.looks[0]
        for source in reversed(self.list_pieces(cutoff)):
            log = source.read().own_log()
            if log is not None and log.duration > SHOWN_PERIODS / cutoff:
                return self.apply_changes(log)
        return self.looks[-1]

    def forget_looks(self) -> None:
        """Give back the memory of what was looked at; it is read anew when it is asked for."""
        self.__dict__.pop('looks', None)

    def apply_changes(self, log: Log) -> Log:
        """Return a piece as it is used."""
        for change in self.changes:
            log = change(log)
        return log

    def _list_looks(self) -> list[PieceSource]:
        if not self.is_long:
            return self._list_whole()
        if self.held is not None:
            size, length = self.held.times.size, round(LOOKED_AT * PIECE_SAMPLES)
            firsts = np.linspace(0, size - length, LOOKS).astype(int)
            return [HeldPiece(self.held, i, i + length, i, i + length) for i in firsts.tolist()]
        if isinstance(self.layout, BagLayout):
            return list(self.layout.list_parts(LOOKS, LOOKED_AT * PIECE_SAMPLES, self.time_factor))
        assert self.layout is not None
        layout, length = self.layout, round(LOOKED_AT * PIECE_BYTES)
        firsts = np.linspace(layout.body, layout.size - length, LOOKS).astype(int)
        return [
            CsvPiece(layout, first, first + length, time_factor=self.time_factor)
            for first in firsts.tolist()
        ]

    def _list_whole(self) -> list[PieceSource]:
        if self.held is not None:
            size = self.held.times.size
            return [HeldPiece(self.held, 0, size, 0, size)]
        assert self.whole is not None
        return [replace(self.whole, time_factor=self.time_factor)]

    @cached_property
    def step(self) -> float:
        """Step of time: the median [s]."""
        if len(self.looks) == 1:
            return find_step(self.looks[0])
        spans = [np.diff(as_measured(log).times) for log in self.looks]
        return float(np.median(np.concatenate(spans)))

    def choose_cutoff(self) -> float:
        """Return the cut-off frequency that the log asks for [Hz]: the highest of its parts."""
        return max(choose_log_cutoff(log, self.step) for log in self.looks)

    def make_grid(self, cutoff: float) -> Grid:
        """Return at which times the log is filtered.

        Raises
        ------
        InputError
            When the cut-off is not above 0, or too high for the rate.
        """
        require_cutoff(cutoff, self.step, self.source)
        origin = float(self.looks[0].times[0]) if self.is_long else None
        return Grid(self.step, cutoff, origin)

    def list_pieces(self, cutoff: float) -> list[PieceSource]:
        """Return the pieces, for a cut-off frequency [Hz]."""
        if not self.is_long:
            return self._list_whole()
        overlap = OVERLAP / cutoff + self.longest_delay
        beside = 2.0 * (overlap + FILTER_PERIODS / cutoff) / self.step
        samples = fit_piece(beside)
        if self.held is not None:
            return self._cut_held(samples, overlap)
        if isinstance(self.layout, BagLayout):
            return list(self.layout.list_pieces(samples, overlap, self.time_factor))
        assert self.layout is not None
        layout, length = self.layout, LOOKED_AT * PIECE_BYTES
        bytes_per_second = max(length / log.duration for log in self.looks)
        margin = round(1.2 * overlap * bytes_per_second) + 4096
        count = math.ceil((layout.size - layout.body) / (samples * bytes_per_second * self.step))
        borders = np.linspace(layout.body, layout.size, count + 1).astype(int).tolist()
        return [
            CsvPiece(layout, first, end, margin, overlap, self.time_factor)
            for first, end in itertools.pairwise(borders)
        ]

    def _cut_held(self, samples: int, overlap: float) -> list[PieceSource]:
        assert self.held is not None
        times, log = self.held.times, self.held
        count = math.ceil(times.size / samples)
        borders = np.linspace(0, times.size, count + 1).astype(int).tolist()
        pieces: list[PieceSource] = []
        for first, end in itertools.pairwise(borders):
            before = int(np.searchsorted(times, times[first] - overlap))
            after = int(np.searchsorted(times, times[end - 1] + overlap)) + 1
            # The sample after the piece is read with it: it tells where the next one begins.
            after = min(max(after, end + 1), times.size)
            cut = slice(before, after)
            part = replace(
                log,
                times=times[cut],
                position=log.position[cut],
                effort=log.effort[cut],
                velocity=None if log.velocity is None else log.velocity[cut],
                received=log.received - log.times.size + end if first == 0 else 0,
                dropped=log.dropped if first == 0 else {},
            )
            pieces.append(_CutPiece(part, first - before, end - before))
        return pieces


@dataclass(frozen=True)
class _CutPiece:
    """A piece of a log in memory with what is beside it, and no more than that."""

    log: Log
    first: int
    end: int

    def read(self) -> PieceSamples:
        """Return the samples."""
        log = self.log
        samples = HeldPiece(log, self.first, self.end, 0, log.times.size).read()
        received = self.end - self.first
        if log.received:
            received = log.received
        summary = replace(samples.summary, received=received, dropped=log.dropped)
        return PieceSamples(samples.log, summary)
