"""What is wrong with a log, and the log without what can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading


@dataclass(frozen=True, eq=False)
class LogDiagnosis:
    """What is wrong with a log.

    Attributes
    ----------
    faults : tuple of Finding
    untold : tuple of str
        What this log cannot show, each a sentence.
    repaired : Log
        The log without the faults whose repair is certain.
    reading : LogReading
        What was repaired of it by reading its columns otherwise.
    """

    faults: tuple[Finding, ...]
    untold: tuple[str, ...]
    repaired: Log
    reading: LogReading

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Faults with which a fit would be wrong."""
        return tuple(fault for fault in self.faults if fault.severity == 'error')

    @property
    def remaining(self) -> tuple[Finding, ...]:
        """Errors that are left when all faults are repaired whose repair is certain."""
        return tuple(fault for fault in self.errors if not fault.is_certain)

    def as_json(self) -> dict[str, Any]:
        """Return the diagnosis as what JSON can hold."""
        return {
            'faults': [fault.as_json() for fault in self.faults],
            'untold': list(self.untold),
        }
