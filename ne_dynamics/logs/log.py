"""What a robot did: positions and efforts of its joints over time, from CSV or a ROS 2 bag.

CSV: a header, then one sample a row. Columns, in any order: ``time`` [s], and for every joint of
the model ``<joint>.position`` [rad or m] and ``<joint>.effort`` [N m or N]; ``<joint>.velocity``
[rad/s or m/s] where there is one. Other columns are ignored, as are lines that start with ``#``.

Bag: rosbag2 (SQLite or MCAP) with a topic of sensor_msgs/JointState. Time is the stamp of the
header, or of the reception when no header has one.

Joints are matched by name. Efforts are those that the motors applied, in the sense of the
joint's positive direction. Velocities only serve as a check: derivatives are taken of positions.
A sample that lacks a number is dropped, never patched; what was dropped is counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.logs.arrays import ArrayStore, GrowingArray
from ne_dynamics.logs.readers.bag import (
    find_folder,
    is_bag,
    open_joint_states,
    read_bag_tables,
)
from ne_dynamics.logs.readers.csv_log import read_columns, read_csv_tables
from ne_dynamics.logs.readers.layouts import Columns
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.logs.usable_samples import ClockStep, UsableSamples, describe_dropped
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class Log:
    """Recorded samples of a robot's joints, in the robot's order, time strictly increasing.

    Attributes
    ----------
    joint_names : tuple of str
    times : array, shape (N,)
        [s]
    position : array, shape (N, n)
        [rad or m]
    effort : array, shape (N, n)
        Efforts of the motors [N m or N].
    velocity : array, shape (N, n), or None
        [rad/s or m/s]; NaN for missing values.
    source : str
        Name of the log, for messages.
    received : int
        Number of samples before any was dropped.
    dropped : mapping of str to int
        Number of dropped samples by reason.
    clock_step : ClockStep or None
        The largest backward step of the clock that is longer than messages are late.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    position: FloatArray
    effort: FloatArray
    velocity: FloatArray | None = None
    source: str = ''
    received: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    clock_step: ClockStep | None = None

    @classmethod
    def from_samples(
        cls,
        joint_names: Sequence[str],
        times: ArrayLike,
        position: ArrayLike,
        effort: ArrayLike,
        velocity: ArrayLike | None = None,
        *,
        source: str = '',
        dropped: Mapping[str, int] | None = None,
    ) -> Log:
        """Return a log of samples; samples that cannot be used are dropped.

        Parameters
        ----------
        joint_names : sequence of str
            n names.
        times : array-like, shape (N,)
            [s]
        position, effort : array-like, shape (N, n)
            [rad or m], [N m or N]
        velocity : array-like, shape (N, n), optional
            [rad/s or m/s]
        source : str
            Name of the log, for messages.
        dropped : mapping of str to int, optional
            Number of samples dropped before, by reason.

        Raises
        ------
        InputError
            When shapes do not match, or fewer than two samples can be used.
        """
        names = tuple(joint_names)
        stamps = np.array(times, dtype=np.float64)
        shape = (stamps.size, len(names))
        arrays = {'position': position, 'effort': effort}
        if velocity is not None:
            arrays['velocity'] = velocity
        checked = {key: np.array(value, dtype=np.float64) for key, value in arrays.items()}
        for key, table in checked.items():
            if stamps.ndim != 1 or table.shape != shape:
                raise InputError(
                    f'log {source}: {key}: expected shape {shape} to go with times of shape '
                    f'{stamps.shape}, got {table.shape}'
                )
        table = np.column_stack([stamps, *checked.values()])
        return cls.from_tables(names, [(table, dropped or {})], source)

    @classmethod
    def from_tables(
        cls,
        joint_names: Sequence[str],
        tables: Iterable[tuple[FloatArray, Mapping[str, int]]],
        source: str,
        store: ArrayStore | None = None,
    ) -> Log:
        """Return a log of samples that come in tables; samples that cannot be used are dropped.

        Parameters
        ----------
        joint_names : sequence of str
            n names.
        tables : iterable of (array, mapping of str to int)
            Columns, shape (N, 1 + 2 n) or (N, 1 + 3 n): time [s], positions [rad or m], efforts
            [N m or N] and, if any, velocities [rad/s or m/s]; and the numbers of samples dropped
            before, by reason.
        source : str
            Name of the log, for messages.
        store : ArrayStore, optional
            Storage of the arrays; default: a new one.

        Raises
        ------
        InputError
            When fewer than two samples can be used.
        """
        n, store = len(joint_names), store or ArrayStore()
        samples = UsableSamples(1 + 2 * n)
        columns = (slice(1), slice(1, n + 1), slice(n + 1, 2 * n + 1), slice(2 * n + 1, None))
        growing = [GrowingArray(store) for _ in columns]

        def keep(rows: FloatArray) -> None:
            for part, chosen in zip(growing, columns, strict=True):
                part.append(rows[:, chosen])

        before: Counter[str] = Counter()
        received = 0
        for table, dropped in tables:
            before.update(dropped)
            received += table.shape[0] + sum(dropped.values())
            keep(samples.add(table))
        keep(samples.add(table[:0], is_last=True))
        samples.finish()
        counts = before + samples.dropped
        kept = received - sum(counts.values())
        if kept < 2:
            raise InputError(
                f'log {source}: expected at least 2 samples that can be used, got {kept} of '
                f'{received}{describe_dropped(counts)}{_list_empty(samples, joint_names)}'
            )
        stamps, position, effort, velocity = (part.finish() for part in growing)
        return cls(
            tuple(joint_names),
            stamps[:, 0],
            position,
            effort,
            velocity if velocity.shape[1] else None,
            source,
            received,
            counts,
            samples.clock_step,
        )

    def at(self, chosen: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Log:
        """Return a log of the chosen samples; it does not count samples dropped between them."""
        return replace(
            self,
            times=self.times[chosen],
            position=self.position[chosen],
            effort=self.effort[chosen],
            velocity=None if self.velocity is None else self.velocity[chosen],
            received=self.times[chosen].size,
            dropped={},
            clock_step=None,
        )

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.times[-1] - self.times[0])

    def summary(self) -> str:
        """Return one line with the number of samples, the duration and the dropped samples."""
        count = self.times.size
        rate = (count - 1) / self.duration
        samples = f'{count} of {self.received} samples in {self.duration:.1f} s ({rate:.4g} Hz)'
        return samples + describe_dropped(self.dropped)


def _list_empty(samples: UsableSamples, joint_names: Sequence[str]) -> str:
    """Return which columns have no number at all, for the end of a message; '' for none."""
    titles = ['time', *(f'{joint}.position' for joint in joint_names)]
    titles += [f'{joint}.effort' for joint in joint_names]
    empty = [name for name, has in zip(titles, samples.has_numbers, strict=True) if not has]
    some = 0 < len(empty) < len(titles)
    return f'; not one finite number in {", ".join(empty)}' if some else ''


def keep_samples(log: Log, kept: NDArray[np.bool_], reason: str) -> Log:
    """Return a log of some of its samples, shape (N,); the others are counted as dropped."""
    part = log.at(kept)
    for table in (part.times, part.position, part.effort, part.velocity):
        if table is not None:
            table.setflags(write=False)
    dropped = {**log.dropped, reason: log.dropped.get(reason, 0) + int((~kept).sum())}
    return replace(part, received=log.received, dropped=dropped, clock_step=log.clock_step)


def read_log(
    path: str | os.PathLike[str],
    joint_names: Sequence[str],
    topic: str | None = None,
    *,
    work: Work | None = None,
    columns: Columns | None = None,
) -> Log:
    """Read a CSV file or a ROS 2 bag, of any length.

    Parameters
    ----------
    path : path
        CSV file; folder of a bag, or a file of one (``.db3``, ``.mcap``).
    joint_names : sequence of str
        Joints that are wanted, in the order in which they are.
    topic : str, optional
        Of the bag; default: its only topic of JointState.
    work : Work, optional
        How it is read; default: by this process.
    columns : Columns, optional
        Of a CSV file: which of them are what; default: as its header says. Joints that it numbers
        are those that are wanted, in their order.

    Returns
    -------
    Log
        Its arrays are mapped from a file for temporary data when they are large.

    Raises
    ------
    InputError
        When the log cannot be read, a joint is missing, or too few samples can be used.
    MissingDependencyError
        For a bag, when the library `rosbags` is missing.
    """
    place, names = Path(path), tuple(joint_names)
    work = work or Work()
    if is_bag(place):
        tables, source = read_bag_tables(place, names, topic), find_folder(place)
    elif topic is not None:
        raise InputError(f'{place}: topic: expected none with a CSV file, got {topic!r}')
    else:
        columns = columns or read_columns(place, None, names)
        tables, source = read_csv_tables(place, names, work, columns), place
    return Log.from_tables(names, tables, str(source), work.store)


def list_joints(path: str | os.PathLike[str], topic: str | None = None) -> tuple[str, ...]:
    """Return the joints of which a log has positions, in its order, as :func:`read_log` takes it.

    Of a bag those of the message that has most of them.

    Raises
    ------
    InputError
        When the log cannot be read.
    MissingDependencyError
        For a bag, when the library `rosbags` is missing.
    """
    place, names = Path(path), list[str]()
    if not is_bag(place):
        return read_columns(path).joints
    with open_joint_states(place, topic) as (reader, connections):
        for connection, _, data in islice(reader.messages(connections), LOGS.rows_for_names):
            message = reader.deserialize(data, connection.msgtype)
            # A gripper may have messages of its own: those of the arm have more joints.
            names = max(names, list(message.name), key=len)
    return tuple(names)
