"""A recording: what a node was told, what it did, and the file that holds both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from golden_arms import ARMS
from node_outputs import Event, NodeOutputs
from node_session import NodeSession, opened
from replay_inputs import Told, as_bytes, from_arrays, from_bytes, pack, to_arrays, unpack

FOLDER = Path(__file__).parent / 'recordings'

BLOCK = 8
"""Of so many rows of a stream the first is stored, and the mean of all."""

ROWS_AFTER_EVENT = 12
"""Rows that are stored after an event, all of them."""

SMALLEST_SCALE = 1e-3
"""No number of a stream is compared by less than this share of the largest one."""


@dataclass(frozen=True, eq=False)
class StoredStream:
    """Numbers that came at times: all times, some rows, and the means of all blocks.

    Attributes
    ----------
    times : array, shape (N,)
        [ns]
    rows : array of int, shape (m,)
        Which are stored.
    values : array, shape (m, n)
    means : array, shape (k, n)
        Of the blocks.
    scale : array, shape (n,)
        What differences are relative to: the largest magnitude.
    """

    times: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    means: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, stream: list[tuple[int, np.ndarray]], events: list[int]) -> StoredStream:
        """Return what is stored of a stream with events at times [ns]."""
        times, table = as_table(stream)
        kept = np.arange(len(stream)) % BLOCK == 0
        kept[-1:] = True
        for event in events:
            first = int(np.searchsorted(times, event))
            kept[first : first + ROWS_AFTER_EVENT] = True
        rows = np.flatnonzero(kept)
        scale = np.abs(table).max(axis=0, initial=0.0)
        scale = np.maximum(scale, SMALLEST_SCALE * scale.max(initial=0.0))
        scale[scale == 0.0] = 1.0
        return cls(times, rows, table[rows], block_means(table), scale)

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return the arrays of a file."""
        return {
            f'{name}.times': pack(self.times[:, np.newaxis], 2),
            f'{name}.rows': pack(self.rows[:, np.newaxis], 2),
            f'{name}.values': self.values,
            f'{name}.means': self.means,
            f'{name}.scale': self.scale,
        }

    @classmethod
    def read(cls, arrays: Any, name: str) -> StoredStream:
        """Return what is in the arrays of a file."""
        times, rows = (unpack(arrays[f'{name}.{one}'], 2, 1)[:, 0] for one in ('times', 'rows'))
        return cls(times, rows, *(arrays[f'{name}.{one}'] for one in ('values', 'means', 'scale')))


def as_table(stream: list[tuple[int, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return times [ns], shape (N,), and numbers, shape (N, n)."""
    table = np.array([np.ravel(row) for _, row in stream])
    return np.array([time for time, _ in stream], np.int64), table.reshape(
        len(stream), -1 if stream else 0
    )


def block_means(table: np.ndarray) -> np.ndarray:
    """Return the means of the blocks of a table, the last of which may be shorter."""
    starts = np.arange(0, len(table), BLOCK)
    if not starts.size:
        return table[:0]
    counts = np.diff(starts, append=len(table))
    return np.add.reduceat(table, starts, axis=0) / counts[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Recording:
    """What a node was told and did.

    Attributes
    ----------
    meta : dict
        Names of the recording and its arm, parameters, end [ns].
    told : list of Told
    commands, external : StoredStream
    events : list of Event
    """

    meta: dict[str, Any]
    told: list[Told]
    commands: StoredStream
    external: StoredStream
    events: list[Event]

    @classmethod
    def of(cls, meta: dict[str, Any], told: list[Told], outputs: NodeOutputs) -> Recording:
        """Return the recording of what a node has done."""
        times = sorted({one.arrival for one in told if one.kind == 3})
        times += [time for time, name, _ in outputs.events if name == 'fault']
        streams = (StoredStream.of(one, times) for one in (outputs.commands, outputs.external))
        return cls(meta, told, *streams, outputs.events)

    @property
    def name(self) -> str:
        """Of the file."""
        return str(self.meta['name'])

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all of it as arrays."""
        return {
            'meta': as_bytes(self.meta),
            **to_arrays(self.told),
            **self.commands.arrays('out.commands'),
            **self.external.arrays('out.external'),
            'out.events': as_bytes(self.events),
        }

    def write(self, folder: Path = FOLDER) -> bool:
        """Write the file; return whether anything in it has changed."""
        path, arrays = folder / f'{self.name}.npz', self.arrays()
        if path.exists():
            with np.load(path) as old:
                is_same = set(old.files) == set(arrays) and all(
                    np.array_equal(old[name], array) for name, array in arrays.items()
                )
            if is_same:
                return False
        np.savez_compressed(path, **arrays)
        return True

    @classmethod
    def read(cls, path: Path) -> Recording:
        """Read a file."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        return cls(
            from_bytes(arrays['meta']),
            list(from_arrays(arrays)),
            StoredStream.read(arrays, 'out.commands'),
            StoredStream.read(arrays, 'out.external'),
            [Event(one) for one in from_bytes(arrays['out.events'])],
        )

    def replay(self, context: Any, nudge: float = 0.0) -> NodeOutputs:
        """Tell a node all of it, and return what it does.

        Parameters
        ----------
        context : rclpy.context.Context
        nudge : float
            Part by which all positions are other than they were recorded.
        """
        with opened(context, *session_arguments(self.meta), nudge) as session:
            for one in self.told:
                session.tell(one)
            session.advance(self.meta['end'])
            return finished(session)


def session_arguments(meta: dict[str, Any]) -> tuple[Any, ...]:
    """Return arm, parameters and frames of a session."""
    return ARMS[meta['arm']], meta['parameters'], meta['sensor_links']


def finished(session: NodeSession) -> NodeOutputs:
    """Return the outputs of a session that is over."""
    session.outputs.finish()
    return session.outputs
