"""What a long run of the node has recorded, and the verdict on it. No ROS in it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.errors import InputError
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.tables import text_table

Nanoseconds = NDArray[np.int64]

NODE = 'node'
RELAY = 'relay'

LARGEST_GROWTH = 1 << 20
"""Growth of the resident memory from which the run has failed [B]."""

SETTLING = 60.0
"""Growth counts from here on [s]..."""

SETTLING_SHARE = 0.25
"""... or, in a run of less than four minutes, from this share of it on."""

WINDOW = 1_000_000_000
"""Misses are compared second by second [ns]."""

SIGNIFICANCE = 3.0
"""Standard deviations by which the node may miss more than the relay does."""

MOST_WAITING = 2
"""States that a responder can still answer: one in hand, and a queue of one."""


def complete(numbers: Sequence[int], times: Sequence[int]) -> Nanoseconds:
    """Return when each message was sent, also those of which the recording has no more than a gap.

    Parameters
    ----------
    numbers : sequence of int
        Sequence numbers that the publisher gave to the messages.
    times : sequence of int
        When each was sent [ns].

    Returns
    -------
    array
        One time each number from the first to the last, interpolated where one is missing.
    """
    if len(numbers) == 0:
        return np.empty(0, dtype=np.int64)
    own, first = np.unique(np.asarray(numbers, dtype=np.int64), return_index=True)
    sent = np.asarray(times, dtype=np.int64)[first]
    # Relative to the first: floats do not hold the nanoseconds of this century.
    every = np.interp(np.arange(own[0], own[-1] + 1), own, (sent - sent[0]).astype(float))
    result: Nanoseconds = sent[0] + np.round(every).astype(np.int64)
    return result


def match(states: Nanoseconds, commands: Nanoseconds) -> Nanoseconds:
    """Return for each state how long the command took that answers it [ns]; -1: there is none.

    A command does not say which state it answers: it is taken for the answer to the newest state
    before it that has none yet. How many states have no answer is right; where more than one state
    waited, an answer may have taken longer than it is taken for.

    Parameters
    ----------
    states, commands : array
        When each was sent, ascending [ns].

    Returns
    -------
    array, shape of `states`
    """
    latencies = np.full(len(states), -1, dtype=np.int64)
    waiting: deque[int] = deque(maxlen=MOST_WAITING)
    following = 0
    sent = states.tolist()
    for time in commands.tolist():
        while following < len(sent) and sent[following] < time:
            waiting.append(following)
            following += 1
        if waiting:
            state = waiting.pop()
            latencies[state] = time - sent[state]
    return latencies


def longest_pause(times: Nanoseconds) -> int:
    """Return the longest time between a message and the next [ns]; 0 with fewer than two."""
    return int(np.diff(times).max()) if len(times) > 1 else 0


@dataclass(frozen=True, eq=False)
class Responder:
    """What was recorded of a process that answers states.

    Attributes
    ----------
    latencies : array
        Of each state [ns]; -1 where there was no answer.
    pause : int
        Longest time between two commands [ns].
    processor_time : float
        Of all its threads [s].
    memory_times, memory : array
        When [s since the start] and how much memory was resident [B].
    """

    latencies: Nanoseconds
    pause: int
    processor_time: float
    memory_times: FloatArray
    memory: FloatArray

    @property
    def missed(self) -> int:
        """States without an answer."""
        return int((self.latencies < 0).sum())

    def percentile(self, percent: float) -> float:
        """Return a percentile of the latencies [s]; NaN without an answer."""
        answered = self.latencies[self.latencies >= 0]
        return float(np.percentile(answered, percent)) * 1e-9 if answered.size else math.nan

    def growth_after(self, settling: float) -> float:
        """Return the growth of the memory from a time [s] on to its largest value after it [B]."""
        after = self.memory[self.memory_times >= settling]
        return float(after.max() - after[0]) if after.size else 0.0


@dataclass(frozen=True, eq=False)
class SoakRecord:
    """A run.

    Attributes
    ----------
    duration : float
        [s]
    states : array
        When each was sent [ns].
    responders : mapping
        `NODE` and `RELAY`.
    settings : mapping
        What was set: name to value, for the table.
    counts : mapping
        What was done meanwhile: name to how often.
    faults : mapping
        Faults that the node reported: name to how often. None was provoked.
    refusals : sequence of str
        Parameters that the node refused, and why.
    remarks : mapping
        Further figures for the table.
    """

    duration: float
    states: Nanoseconds
    responders: Mapping[str, Responder]
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)
    refusals: Sequence[str] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def settling(self) -> float:
        """When the memory begins to count [s]."""
        return min(SETTLING, round(SETTLING_SHARE * self.duration, 1))

    def excess(self) -> tuple[int, float]:
        """Return by how much the node misses more than the relay, and how much of it is chance.

        A pause of the machine hits either of the two, so under equal conditions the difference of
        their misses in a second is as likely positive as negative, whatever its size. The sum of
        N differences d of random sign has the standard deviation ``sqrt(sum(d**2))``, of which
        the margin is `SIGNIFICANCE`: by chance one run in 700 is beyond it, and a
        single pause, however long it is, is not.

        Returns
        -------
        excess : int
            Messages.
        margin : float
            Messages that are allowed.
        """
        if len(self.states) == 0:
            return 0, 0.0
        seconds = (self.states - self.states[0]) // WINDOW
        by_second = [
            np.bincount(seconds, weights=self.responders[name].latencies < 0)
            for name in (NODE, RELAY)
        ]
        differences = by_second[0] - by_second[1]
        margin = SIGNIFICANCE * math.sqrt(float((differences**2).sum()))
        return int(differences.sum()), margin

    def failures(self) -> list[str]:
        """Return why the run has failed; empty when it has not."""
        found = []
        if len(self.states) == 0:
            found.append('no joint state was recorded')
        growth = self.responders[NODE].growth_after(self.settling)
        if growth >= LARGEST_GROWTH:
            found.append(
                f'the memory of the node grew by {growth / 2**20:.2f} MB after '
                f'{self.settling:g} s: expected less than {LARGEST_GROWTH / 2**20:g} MB'
            )
        excess, margin = self.excess()
        if excess > margin:
            found.append(
                f'the node missed {excess} states more than the relay: expected at most '
                f'{margin:.0f}, {SIGNIFICANCE:g} standard deviations of chance'
            )
        found += [
            f'fault {name!r} reported {count} times: none was provoked'
            for name, count in sorted(self.faults.items())
        ]
        found += [f'the node refused a parameter: {reason}' for reason in self.refusals]
        return found

    def figures(self) -> dict[str, Any]:
        """Return all figures, as JSON has them; what is unknown is None."""

        def number(value: float) -> float | None:
            return finite_or_none(round(value, 2))

        excess, margin = self.excess()
        per_responder = {}
        for name, responder in self.responders.items():
            count = max(len(self.states), 1)
            memory = responder.memory
            settled = memory[responder.memory_times >= self.settling]
            per_responder[name] = {
                'answered': len(self.states) - responder.missed,
                'missed': responder.missed,
                'missed [%]': round(100.0 * responder.missed / count, 4),
                'latency p50 [us]': number(1e6 * responder.percentile(50)),
                'latency p99 [us]': number(1e6 * responder.percentile(99)),
                'latency max [us]': number(1e6 * responder.percentile(100)),
                'longest pause [ms]': number(1e-6 * responder.pause),
                'processor time per state [us]': number(1e6 * responder.processor_time / count),
                'RSS when settled [kB]': int(settled[0]) // 1024 if settled.size else None,
                'RSS at the end [kB]': int(memory[-1]) // 1024 if memory.size else None,
                'RSS growth [kB]': int(responder.growth_after(self.settling)) // 1024,
            }
        return {
            'duration [s]': round(self.duration, 1),
            'states': len(self.states),
            'states per second': number(len(self.states) / max(self.duration, 1e-9)),
            'settings': dict(self.settings),
            'counts': dict(self.counts),
            'growth counted from [s]': self.settling,
            'missed more than the relay': excess,
            'margin': number(margin),
            'faults': dict(self.faults),
            **self.remarks,
            'responders': per_responder,
            'RSS of the node [kB]': (self.responders[NODE].memory // 1024).astype(int).tolist(),
            'failures': self.failures(),
        }


def table(record: SoakRecord) -> str:
    """Return the figures of a run as text, the verdict last."""
    figures = record.figures()
    responders = figures.pop('responders')
    failures = figures.pop('failures')
    figures['settings'] = _words(figures['settings'])
    figures['counts'] = _words(figures['counts'])
    figures['faults'] = _words(figures['faults']) or 'none'
    memory = figures.pop('RSS of the node [kB]')
    figures['RSS of the node [kB]'] = ' '.join(map(str, _thinned(memory, 20)))
    names = list(responders)
    rows = [
        [key, *(_cell(responders[name][key]) for name in names)] for key in responders[names[0]]
    ]
    lines = [text_table([['', *names]], rows), '']
    lines.append(
        text_table([], [[key, _cell(value)] for key, value in figures.items()], is_text=True)
    )
    lines.append('')
    lines += [f'FAILED: {reason}' for reason in failures] or ['passed']
    return '\n'.join(lines)


def _words(values: Mapping[str, Any]) -> str:
    return ', '.join(f'{key} {value}' for key, value in values.items())


def _cell(value: Any) -> str:
    return '-' if value is None else str(value)


def _thinned(values: Sequence[Any], most: int) -> list[Any]:
    """Return evenly spaced values, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]


def checked_minutes(text: str) -> float:
    """Return a duration in minutes.

    Raises
    ------
    InputError
        When it is no number, or too short for a verdict.
    """
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not SHORTEST_MINUTES <= minutes < math.inf:
        raise InputError(f'minutes: expected a number >= {SHORTEST_MINUTES:g}, got {text!r}')
    return minutes


SHORTEST_MINUTES = 0.25
"""Fewer than some ten seconds could not tell a node that never answers from chance."""
