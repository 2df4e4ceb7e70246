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

import contextlib
import csv
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.logs.readers.bag import JointStateBag, find_folder, is_bag
from ne_dynamics.logs.readers.joint_state_cdr import SHORT, generate_messages, generate_rows
from ne_dynamics.model.rigid_body import FloatArray

TIME_COLUMN = 'time'

LOOKED_AT = 2000
"""Messages of a bag in which names of joints are looked for."""

LEAST_BEHIND = 3
"""Samples in a row that are not later than those before: fewer are messages that came late."""

MOSTLY = 0.8
"""Part of their steps of time that go on."""

NOT_FINITE = 'not finite'
NO_NUMBER = 'no number'
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
        Whether those are all, and stamps catch up within what was read.
    """

    before: float
    after: float
    lost: int
    is_whole: bool = True


@dataclass(frozen=True, eq=False)
class Log:
    """Samples of the joints of a robot, in its order, time strictly increasing.

    Attributes
    ----------
    joint_names : tuple of str
    times : array, shape (N,)
        [s]
    position : array, shape (N, n)
        [rad or m]
    effort : array, shape (N, n)
        What the motors applied [N m or N].
    velocity : array, shape (N, n), or None
        [rad/s or m/s]; NaN where there is none.
    source : str
        For messages.
    received : int
        Samples before any was dropped.
    dropped : mapping of str to int
        How many were dropped, by reason.
    clock_step : ClockStep or None
        The largest one, where the stamps go back for longer than messages are late.
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
        """Check samples and leave out those that cannot be used.

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
        dropped : mapping of str to int, optional
            What was dropped before.

        Returns
        -------
        Log

        Raises
        ------
        InputError
            When shapes do not go together, or fewer than two samples can be used.
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
        before = Counter(dropped or {})
        received = stamps.size + sum(before.values())
        kept, finite = find_usable(stamps, checked['position'], checked['effort'])
        unfinished, stood = int((~finite).sum()), int(finite.sum()) - kept.size
        counts = before + Counter({NOT_FINITE: unfinished, TIME_STOOD: stood})
        if kept.size < 2:
            raise InputError(
                f'log {source}: expected at least 2 samples that can be used, got {kept.size} of '
                f'{received}{describe_dropped(counts)}'
            )
        chosen = {key: table[kept] for key, table in checked.items()}
        clock_step = find_clock_step(stamps[finite])
        stamps = stamps[kept]
        for table in (stamps, *chosen.values()):
            table.setflags(write=False)
        return cls(
            names,
            stamps,
            chosen['position'],
            chosen['effort'],
            chosen.get('velocity'),
            source,
            received,
            counts,
            clock_step,
        )

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.times[-1] - self.times[0])

    def summary(self) -> str:
        """Return one line: how many samples, over what time, what was dropped."""
        return describe_samples(self.times.size, self.received, self.duration, self.dropped)


def describe_samples(
    count: int, received: int, duration: float, dropped: Mapping[str, int]
) -> str:
    """Return one line on samples: how many, over what time [s], what was dropped."""
    rate = (count - 1) / duration
    samples = f'{count} of {received} samples in {duration:.1f} s ({rate:.4g} Hz)'
    return samples + describe_dropped(dropped)


def find_usable(
    stamps: FloatArray, position: FloatArray, effort: FloatArray
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the samples that can be used, and which ones are finite.

    Parameters
    ----------
    stamps : array, shape (N,)
        [s]
    position, effort : array, shape (N, n)
    """
    finite = np.isfinite(stamps)
    for table in (position, effort):
        finite &= np.isfinite(table).all(axis=1)
    kept = np.flatnonzero(finite)
    kept = kept[~_find_lone_stamps(stamps[kept])]
    # A stamp counts when it is later than all before it.
    latest = np.maximum.accumulate(np.concatenate([[-np.inf], stamps[kept]]))[:-1]
    return kept[stamps[kept] > latest], finite


def find_clock_step(stamps: FloatArray) -> ClockStep | None:
    """Return where stamps go back and on from there: a clock that was set, or began anew.

    A message that is late, a stamp that is repeated and a single one that is wrong are none.

    Parameters
    ----------
    stamps : array, shape (N,)
        Finite [s].
    """
    return choose_clock_step(list_clock_steps(stamps))


def choose_clock_step(steps: Iterable[tuple[int, ClockStep]]) -> ClockStep | None:
    """Return the step after which most is lost; None without one."""
    return max((step for _, step in steps), key=lambda step: step.lost, default=None)


def list_clock_steps(stamps: FloatArray) -> list[tuple[int, ClockStep]]:
    """Return where stamps go back and on from there, each with the place of the first one after.

    Parameters
    ----------
    stamps : array, shape (N,)
        Finite [s].
    """
    places = np.flatnonzero(~_find_lone_stamps(stamps))
    stamps = stamps[places]
    if stamps.size < 2:
        return []
    latest = np.maximum.accumulate(stamps)[:-1]
    behind = np.concatenate([[False], stamps[1:] <= latest, [False]])
    edges = np.flatnonzero(np.diff(behind.astype(np.int8)))
    found = []
    for first, end in zip(edges[::2] + 1, edges[1::2] + 1, strict=True):
        goes_on = np.diff(stamps[first:end]) > 0.0
        is_step = stamps[first] < stamps[first - 1] and end - first >= LEAST_BEHIND
        if is_step and goes_on.mean() > MOSTLY:
            before, after = float(stamps[first - 1]), float(stamps[first])
            step = ClockStep(before, after, int(end - first), bool(end < stamps.size))
            found.append((int(places[first]), step))
    return found


def _find_lone_stamps(stamps: FloatArray) -> NDArray[np.bool_]:
    """Tell which stamps are ahead of the two after them, which go on from those before.

    One stamp that is wrong by a year would leave nothing after it.
    """
    lone = np.zeros(stamps.size, dtype=bool)
    before = np.concatenate([[-np.inf], stamps[:-3]])
    here, after, later = stamps[:-2], stamps[1:-1], stamps[2:]
    lone[:-2] = (here > later) & (later > after) & (after > before)
    return lone


def read_log(
    path: str | os.PathLike[str], joint_names: Sequence[str], topic: str | None = None
) -> Log:
    """Read a CSV file or a ROS 2 bag.

    Parameters
    ----------
    path : path
        CSV file; folder of a bag, or a file of one (``.db3``, ``.mcap``).
    joint_names : sequence of str
        Joints that are wanted, in the order in which they are.
    topic : str, optional
        Of the bag; default: its only topic of JointState.

    Returns
    -------
    Log

    Raises
    ------
    InputError
        When the log cannot be read, a joint is missing, or too few samples can be used.
    MissingDependencyError
        For a bag, when the library `rosbags` is missing.
    """
    place = Path(path)
    if is_bag(place):
        return _read_bag(place, tuple(joint_names), topic)
    if topic is not None:
        raise InputError(f'{place}: topic: expected none with a CSV file, got {topic!r}')
    return _read_csv(place, tuple(joint_names))


def list_joints(path: str | os.PathLike[str], topic: str | None = None) -> tuple[str, ...]:
    """Return the joints of which a log has positions, in its order.

    Of a bag those of the message that has most of them.

    Parameters
    ----------
    path : path
        As :func:`read_log` takes it.
    topic : str, optional

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        When the log cannot be read.
    MissingDependencyError
        For a bag, when the library `rosbags` is missing.
    """
    place = Path(path)
    if is_bag(place):
        return _list_bag(place, topic)
    with read_csv_rows(path) as rows:
        header = [name.strip() for name in next(rows, [])]
    ending = '.position'
    return tuple(name.removesuffix(ending) for name in header if name.endswith(ending))


def describe_dropped(counts: Mapping[str, int]) -> str:
    """Return what was dropped, for the end of a sentence; '' for nothing."""
    if not counts:
        return ''
    return '; dropped: ' + ', '.join(f'{number} {reason}' for reason, number in counts.items())


# ---- CSV


@contextlib.contextmanager
def csv_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise what goes wrong with a CSV file as an InputError that names it."""
    try:
        yield
    except OSError as error:
        raise InputError(f'cannot read the log {str(path)!r}: {error.strerror}') from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f'{path}: expected a CSV file in UTF-8: {error}') from error


@contextlib.contextmanager
def read_csv_rows(path: str | os.PathLike[str]) -> Iterator[Iterator[list[str]]]:
    """Open a CSV file, and give its rows without lines of comment.

    Raises
    ------
    InputError
        When it cannot be read, at the begin or later.
    """
    with csv_errors(path), Path(path).open(encoding='utf-8-sig', newline='') as stream:
        yield csv.reader(line for line in stream if not line.startswith('#'))


def _read_csv(path: Path, joints: tuple[str, ...]) -> Log:
    with read_csv_rows(path) as rows:
        header = [name.strip() for name in next(rows, [])]
        columns, has_velocity = find_columns(header, joints, path)
        table, dropped = parse_rows(rows, columns)
    n = len(joints)
    return Log.from_samples(
        joints,
        table[:, 0],
        table[:, 1 : n + 1],
        table[:, n + 1 : 2 * n + 1],
        table[:, 2 * n + 1 :] if has_velocity else None,
        source=str(path),
        dropped=dropped,
    )


def find_columns(header: list[str], joints: tuple[str, ...], path: Path) -> tuple[list[int], bool]:
    """Return the indices of time, positions, efforts and, where all are there, velocities."""
    for name in header:
        if name and header.count(name) > 1:
            raise InputError(f'{path}: column {name!r}: expected once, got {header.count(name)}')
    wanted = [
        TIME_COLUMN,
        *(f'{joint}.{key}' for key in ('position', 'effort') for joint in joints),
    ]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(
            f'{path}: expected the columns {", ".join(missing)} beside what is there, got the '
            f'header {", ".join(header) or "(none)"}; a joint that was not recorded has to be '
            'locked, or be beyond the tip link'
        )
    rates = [f'{joint}.velocity' for joint in joints]
    has_velocity = all(name in header for name in rates)
    return [header.index(name) for name in wanted + rates * has_velocity], has_velocity


def parse_rows(rows: Iterable[list[str]], columns: list[int]) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of rows, shape (N, columns), and what was dropped."""
    table = array('d')
    dropped: Counter[str] = Counter()
    last = max(columns)
    for row in rows:
        if not row:
            continue
        if len(row) <= last:
            dropped[SHORT] += 1
            continue
        try:
            table.extend([float(row[index] or 'nan') for index in columns])
        except ValueError:
            dropped[NO_NUMBER] += 1
    return np.array(table).reshape(-1, len(columns)), dropped


# ---- ROS 2 bags


def _read_bag(path: Path, joints: tuple[str, ...], topic: str | None) -> Log:
    folder = find_folder(path)
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    dropped: Counter[str] = Counter()
    with closing(JointStateBag(path, topic)) as bag, bag.lend() as (reader, connections):
        for rows in generate_rows(reader, connections, joints):
            usable = rows.reasons == 0
            parts.append((rows.stamps[usable], rows.received[usable], rows.values[usable]))
            dropped.update(rows.count_dropped(~usable))
        name = connections[0].topic
    if not any(stamps.size for stamps, _, _ in parts):
        raise InputError(
            f'{folder}: {name}: expected messages with the joints '
            f'{", ".join(joints)}, got none that can be used{describe_dropped(dropped)}'
        )
    stamps, received, table = (np.concatenate(part) for part in zip(*parts, strict=True))
    n = len(joints)
    velocity = table[:, 2 * n :]
    return Log.from_samples(
        joints,
        stamps if stamps.any() else 1e-9 * received,
        table[:, :n],
        table[:, n : 2 * n],
        velocity if np.isfinite(velocity).any() else None,
        source=str(folder),
        dropped=dropped,
    )


def _list_bag(path: Path, topic: str | None) -> tuple[str, ...]:
    names: list[str] = []
    with closing(JointStateBag(path, topic)) as bag, bag.lend() as (reader, connections):
        for message, _ in islice(generate_messages(reader, connections), LOOKED_AT):
            # A gripper may have messages of its own: those of the arm have more joints.
            names = max(names, list(message.name), key=len)
    return tuple(names)
