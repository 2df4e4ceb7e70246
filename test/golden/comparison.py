"""How far a replay is from what was recorded, and properties that must not get worse."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from golden_arms import ARMS
from node_outputs import NodeOutputs
from recording import BLOCK, Recording, StoredStream, as_table, block_means
from replay_inputs import RESOLUTION, STATE, Told

from ne_dynamics import Robot

TOLERANCE = 1e-9
"""By which outputs may differ, relative to the largest one of a joint."""

MOST_LINES = 8
"""Of events that differ so many are told."""

SECONDS_AFTER_FAULT = 3.0
"""In which the speed after a fault is looked at."""


@dataclass
class Difference:
    """What differs in a replay.

    Attributes
    ----------
    largest : float
        Of the commands, relative.
    where : str
    lines : list of str
        What differs beside numbers.
    """

    largest: float = 0.0
    where: str = ''
    lines: list[str] = field(default_factory=list)

    def note(self, name: str, times: np.ndarray, shares: np.ndarray) -> None:
        """Take note of differences of a stream at times [ns], if they are the largest so far."""
        sizes = np.where(np.isfinite(shares), np.abs(shares), np.inf)
        if sizes.max(initial=0.0) <= self.largest:
            return
        row, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
        self.largest = float(sizes.max())
        self.where = f'{name}[{column}] at {1e-9 * times[row]:.3f} s'

    @property
    def is_small(self) -> bool:
        """Whether nothing differs by more than the tolerance."""
        return self.largest <= TOLERANCE and not self.lines

    def __str__(self) -> str:
        """Return what differs, in lines."""
        first = f'largest difference {self.largest:.3g} of the largest command'
        return '\n  '.join([first + (f', {self.where}' if self.where else ''), *self.lines])


def compare(recording: Recording, outputs: NodeOutputs) -> Difference:
    """Return how outputs differ from those of a recording."""
    difference = Difference()
    for name in ('commands', 'external'):
        _compare_stream(name, getattr(recording, name), getattr(outputs, name), difference)
    _compare_events(recording.events, outputs.events, difference)
    return difference


def _compare_stream(
    name: str, stored: StoredStream, stream: list[tuple[int, np.ndarray]], found: Difference
) -> None:
    times, table = as_table(stream)
    is_in_time = np.array_equal(times, stored.times)
    if not is_in_time:
        odd = np.setxor1d(times, stored.times)
        first = f'the first that only one has at {1e-9 * odd[0]:.6f} s' if odd.size else 'twice'
        found.lines.append(f'{name}: {times.size}, expected {stored.times.size}; {first}')
    if stored.values.size == 0 or table.size == 0:
        return
    if table.shape[1] != stored.values.shape[1]:
        found.lines.append(f'{name}: {table.shape[1]} numbers, expected {stored.values.shape[1]}')
        return
    mine = {key: row for row, key in enumerate(_keys(times))}
    keys = _keys(stored.times)
    pairs = [
        (mine[keys[row]], place) for place, row in enumerate(stored.rows) if keys[row] in mine
    ]
    if pairs:
        rows, places = (list(column) for column in zip(*pairs, strict=True))
        found.note(name, times[rows], (table[rows] - stored.values[places]) / stored.scale)
    if is_in_time:
        means = (block_means(table) - stored.means) / stored.scale
        found.note(f'{name}, mean of a block', times[::BLOCK], means)


def _keys(times: np.ndarray) -> list[tuple[int, int]]:
    """Return each time, and how many of the rows before it have the same."""
    seen: Counter[int] = Counter()
    keys = []
    for time in times.tolist():
        keys.append((time, seen[time]))
        seen[time] += 1
    return keys


def _compare_events(expected: list[Any], events: list[Any], found: Difference) -> None:
    old, new = [str(event) for event in expected], [str(event) for event in events]
    if old == new:
        return
    lines = [f'- {line}' for line in old if line not in new]
    lines += [f'+ {line}' for line in new if line not in old]
    lines = lines or ['the same events in another order']
    found.lines += lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        found.lines.append(f'and {len(lines) - MOST_LINES} more events')


# ---- properties


def measure(recording: Recording, outputs: NodeOutputs) -> dict[str, Any]:
    """Return the properties of a recording by what was told and all that was done.

    Returns
    -------
    dict
        `largest step` of the efforts from one command to the next, as a share of the effort limit;
        `RMS error` and `peak error` of the positions [rad or m]; each by joint. `faults`: name and
        time [s]. `speed after fault`: in the 3 s after the first one, as a share of the limit.
    """
    robot = ARMS[recording.meta['arm']].robot
    parameters = recording.meta['parameters']
    names = parameters.get('joints') or list(robot.joint_names)
    order = [robot.joint_names.index(name) for name in names]
    interfaces = parameters.get('command.interfaces', ['effort'])
    data = np.array([row for _, row in outputs.commands]).reshape(-1, robot.n, len(interfaces))
    efforts = data[:, :, interfaces.index('effort')] / _bounds(robot, 'effort_limit')[order]

    states = [one for one in recording.told if one.kind == STATE]
    measured = {
        int(np.ravel(one.content['stamp'])[0]): RESOLUTION['position'] * one.content['position']
        for one in states
    }
    rows = [
        desired[0] - measured[stamp][order]
        for stamp, desired in outputs.desired
        if stamp in measured
    ]
    error = np.array(rows or np.zeros((1, robot.n)))
    faults = [[name, round(time, 4)] for name, time in outputs.faults]

    def by_joint(values: np.ndarray) -> dict[str, float]:
        return {name: float(f'{value:.4g}') for name, value in zip(names, values, strict=True)}

    return {
        'largest step': by_joint(np.abs(np.diff(efforts, axis=0)).max(axis=0, initial=0.0)),
        'RMS error': by_joint(np.sqrt(np.mean(error**2, axis=0))),
        'peak error': by_joint(np.abs(error).max(axis=0)),
        'faults': faults,
        'speed after fault': _speed_after(states, robot, faults[0][1]) if faults else None,
    }


def _bounds(robot: Robot, key: str) -> np.ndarray:
    """Return limits; 1 where there are none."""
    limits = robot.limits(key)
    return np.where((limits > 0.0) & np.isfinite(limits), limits, 1.0)


def _speed_after(states: list[Told], robot: Robot, begin: float) -> float:
    limits = _bounds(robot, 'velocity_limit')
    shares = [
        np.max(np.abs(RESOLUTION['velocity'] * one.content['velocity']) / limits)
        for one in states
        if 'velocity' in one.content and begin <= 1e-9 * one.arrival <= begin + SECONDS_AFTER_FAULT
    ]
    return float(f'{max(shares, default=0.0):.4g}')


# ---- better or worse

ALLOWED = {
    'largest step': (1.02, 1e-3),
    'RMS error': (1.02, 2e-5),
    'peak error': (1.02, 5e-5),
    'speed after fault': (1.02, 5e-3),
}
"""A property is worse beyond this factor of what it was, plus this much."""

LATE = 0.01
"""A fault is found later beyond this [s]."""


def changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return lines for all properties that changed, and for those that got worse."""
    lines, worse = [], []
    for name, (factor, offset) in ALLOWED.items():
        old, new = _rows(before[name]), _rows(after[name])
        for joint in sorted(set(old) | set(new)):
            one, other = old.get(joint), new.get(joint)
            if one == other:
                continue
            line = f'{name} {joint}'.rstrip() + f': {_show(one)} -> {_show(other)}'
            lines.append(line)
            if other is not None and other > factor * (one or 0.0) + offset:
                worse.append(line)
    old_faults, new_faults = before['faults'], after['faults']
    if old_faults != new_faults:
        line = f'faults: {_show_faults(old_faults)} -> {_show_faults(new_faults)}'
        lines.append(line)
        is_same = [name for name, _ in old_faults] == [name for name, _ in new_faults]
        pairs = zip(old_faults, new_faults, strict=False)
        if not is_same or any(new[1] > old[1] + LATE for old, new in pairs):
            worse.append(line)
    return lines, worse


def _rows(value: Any) -> dict[str, float]:
    """Return the values by joint of a property; of one that is a number, by ''."""
    if isinstance(value, dict):
        return value
    return {} if value is None else {'': value}


def _show(value: float | None) -> str:
    return 'none' if value is None else f'{value:.4g}'


def _show_faults(faults: list[Any]) -> str:
    return ', '.join(f'{name} at {time:g} s' for name, time in faults) or 'none'
