"""What is wrong with logs, and the logs without what can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading
from ne_dynamics.logs.robot_logs import RobotLogs


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


@dataclass(frozen=True, eq=False)
class DiagnosedLogs:
    """Logs, and what is wrong with each.

    Attributes
    ----------
    source : RobotLogs
        As they were read.
    diagnoses : tuple of LogDiagnosis
    is_repaired : bool
        Whether the repaired ones are to be used.
    """

    source: RobotLogs
    diagnoses: tuple[LogDiagnosis, ...]
    is_repaired: bool

    @property
    def logs(self) -> tuple[Log, ...]:
        """The logs to be used."""
        repaired = tuple(diagnosis.repaired for diagnosis in self.diagnoses)
        return repaired if self.is_repaired else self.source.logs

    @property
    def refused(self) -> list[str]:
        """Names of logs with an error that is not repaired."""
        return [
            name for name, own in self.named if (own.remaining if self.is_repaired else own.errors)
        ]

    @property
    def named(self) -> list[tuple[str, LogDiagnosis]]:
        """Each log's name, and what is wrong with it."""
        pairs = zip(self.source.logs, self.diagnoses, strict=True)
        return [(log.source, own) for log, own in pairs]

    @property
    def remedy(self) -> str:
        """What can be done about logs that are wrong."""
        if any(diagnosis.remaining for diagnosis in self.diagnoses):
            return 'not all of it can be repaired: do what each line above says'
        return '--repair takes out what is wrong'

    @property
    def refusal(self) -> str:
        """Why nothing comes of logs that are wrong, and what to do."""
        return (
            f'the log cannot be used as it is: nothing was fitted; {self.remedy}, --force uses it '
            'all the same'
        )

    @property
    def diagnosis(self) -> Any:
        """What is wrong as data for JSON: of one log, or of each."""
        documents = [diagnosis.as_json() for diagnosis in self.diagnoses]
        return documents[0] if len(documents) == 1 else documents

    def as_json(self) -> dict[str, Any]:
        """Return what was read, and what is wrong with it, as data for JSON."""
        return {**self.source.as_json(), 'diagnosis': self.diagnosis}

    def lines(self) -> list[str]:
        """Return the same for people."""
        heads = [f'{log.source}: {log.summary()}' for log in self.source.logs]
        return [*heads, *self.source.lines(), '', *self.describe()]

    def describe(self) -> list[str]:
        """Return what is wrong in lines; of several logs each has its name before its faults."""
        each = self.describe_each()
        if len(each) == 1:
            return each[0]
        named = zip(self.source.logs, each, strict=True)
        return [line for log, own in named if own for line in (f'  {log.source}:', *own)]

    def describe_each(self) -> list[list[str]]:
        """Return for each log the lines on what is wrong, and what was repaired."""
        found = []
        for diagnosis in self.diagnoses:
            lines = [f'  {fault.text}' for fault in diagnosis.faults]
            repaired = [fault.code for fault in diagnosis.faults if fault.is_certain]
            if self.is_repaired and repaired:
                lines.append(f'  repaired: {", ".join(repaired)}')
            if lines:
                lines += [f'  this log does not show {sentence}' for sentence in diagnosis.untold]
            found.append(lines)
        return found
