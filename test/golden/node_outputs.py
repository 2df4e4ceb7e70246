"""What a node did: commands and what goes with them, faults, diagnostics, answers, in order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from rclpy.logging import LoggingSeverity
from virtual_world import BEGIN

COMMANDS = '/effort_controller/commands'
DESIRED = '/computed_torque/effort'
EXTERNAL = '/computed_torque/external_torque'
CONTACT = '/computed_torque/contact'
DIAGNOSTICS = '/diagnostics'

LEVELS = ('OK', 'WARN', 'ERROR', 'STALE')

KEPT_KEYS = ('state', 'mode', 'saturated in the last second', 'missed cycles')
"""Of the values of a diagnostic status, beside counts: what is no sentence and no latency."""


class Event(tuple):
    """Time [ns], name, value: anything that is no stream of numbers."""

    def __str__(self) -> str:
        """Return a line."""
        return f'{1e-9 * self[0]:.6f} s {self[1]}: {self[2]}'


class NodeOutputs:
    """Takes what a node publishes and logs, from a time on.

    Parameters
    ----------
    clock : callable
        Returns the time [ns] since the begin.

    Attributes
    ----------
    commands : list of (int, array)
        Time [ns], and what a command carries.
    desired : list of (int, array, shape (2, n))
        Stamp of the state [ns], desired position and velocity that it was answered with.
    external : list of (int, array)
        Time [ns], and the efforts from outside.
    events : list of Event
    lines : list of (int, severity, str)
        Time [ns], and the log.
    """

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self.commands: list[tuple[int, np.ndarray]] = []
        self.desired: list[tuple[int, np.ndarray]] = []
        self.external: list[tuple[int, np.ndarray]] = []
        self.events: list[Event] = []
        self.lines: list[tuple[int, Any, str]] = []
        self._errors: list[tuple[int, str]] = []
        self._levels: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._faults: Counter[str] = Counter()

    def note(self, name: str, value: Any) -> None:
        """Take note of an event."""
        self.events.append(Event((self._clock(), name, str(value))))

    def hear(self, topic: str, message: Any) -> None:
        """Take what is published."""
        if topic == COMMANDS:
            data = message.data if hasattr(message, 'data') else message.effort
            self.commands.append((self._clock(), np.array(data, dtype=np.float64)))
        elif topic == DESIRED:
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec - BEGIN
            self.desired.append((stamp, np.array([message.position, message.velocity])))
        elif topic == EXTERNAL:
            self.external.append((self._clock(), np.array(message.effort)))
        elif topic == CONTACT:
            self.note('contact', message.data)
        elif topic == DIAGNOSTICS:
            for status in message.status:
                self._hear_status(status)

    def log(self, severity: Any, text: str) -> None:
        """Take a line of the log: an error has a time there that the diagnostics do not have."""
        self.lines.append((self._clock(), severity, text))
        if severity is LoggingSeverity.ERROR:
            self._errors.append((self._clock(), text))

    def _hear_status(self, status: Any) -> None:
        name, level = status.name.rpartition('/')[2], LEVELS[ord(status.level)]
        if self._levels.get(name) != level:
            self.note(f'level of {name}', level)
        self._levels[name] = level
        faults = Counter()
        for item in status.values:
            if item.key.startswith('faults '):
                faults[item.key.removeprefix('faults ')] = int(item.value)
            elif item.key in KEPT_KEYS or item.key.endswith((' dropped', ' received')):
                self._values[item.key] = item.value
                continue
        if name == 'computed_torque':
            for fault, count in sorted((faults - self._faults).items()):
                self._note_fault(fault, count)
            self._faults = faults
            self._errors.clear()

    def _note_fault(self, fault: str, count: int) -> None:
        """Take note of a fault at the times of its lines in the log, or of the report."""
        times = [time for time, text in self._errors if fault in text][:count]
        times += [self._clock()] * (count - len(times))
        self.events += [Event((time, 'fault', fault)) for time in times]

    def finish(self) -> None:
        """Take note of the last values of the diagnostics."""
        for key, value in sorted(self._values.items()):
            self.note(f'at the end: {key}', value)
        self.events.sort(key=lambda event: event[0])

    @property
    def faults(self) -> list[tuple[str, float]]:
        """Name and time [s] of each fault."""
        return [(name, 1e-9 * time) for time, kind, name in self.events if kind == 'fault']
