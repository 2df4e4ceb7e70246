"""What is wrong with a log, and the log without what can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading


@dataclass(frozen=True, eq=False)
class LogDiagnosis:
    """Faults found in a log, and the log with the certain ones repaired.

    Attributes
    ----------
    faults : tuple of Finding
    untold : tuple of str
        Faults that this log cannot show, one sentence each.
    repaired : Log
        The log with all faults repaired whose repair is certain.
    reading : LogReading
        The part of the repair that changes the interpretation of its columns.
    """

    faults: tuple[Finding, ...]
    untold: tuple[str, ...]
    repaired: Log
    reading: LogReading

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Faults that would make a fit wrong."""
        return tuple(fault for fault in self.faults if fault.severity == 'error')

    @property
    def remaining(self) -> tuple[Finding, ...]:
        """Errors that are still in the repaired log."""
        return tuple(fault for fault in self.errors if not fault.is_certain)

    def as_json(self) -> dict[str, Any]:
        """Return the diagnosis as data for JSON."""
        return {
            'faults': [fault.as_json() for fault in self.faults],
            'untold': list(self.untold),
        }
