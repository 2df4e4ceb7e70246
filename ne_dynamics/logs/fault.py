"""Faults of a log: their causes, whose they are, and what undoes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHOWN = 3
"""Names in a line, at most."""


@dataclass(frozen=True)
class LogFault:
    """What is wrong with a log.

    Attributes
    ----------
    severity : str
        'error' (a fit would be wrong), 'warning' (a fit is hardly touched), 'info' (nothing is
        lost).
    code : str
        Cause, a short stable identifier, e.g. 'wrong-sign'.
    joints : tuple of str
        Whose columns are wrong; empty when it is the log as a whole.
    message : str
        What was found.
    remedy : str
        What to do.
    is_certain : bool
        Whether the repair is: the log leaves no other cause, and tells the amount.
    amount : float
        Of the repair: factor, angle [rad], delay [s] or number of samples; 0 where there is none.
    """

    severity: str
    code: str
    joints: tuple[str, ...]
    message: str
    remedy: str
    is_certain: bool
    amount: float = 0.0

    @property
    def text(self) -> str:
        """One line for people."""
        place = f'joint {", ".join(self.joints)}' if self.joints else 'log'
        if len(self.joints) > SHOWN:
            place = f'{len(self.joints)} joints'
        return f'{self.severity}  {place}  {self.code}  {self.message}: {self.remedy}'

    def as_json(self) -> dict[str, Any]:
        """Return the fault as what JSON can hold."""
        return {
            'severity': self.severity,
            'code': self.code,
            'joints': list(self.joints),
            'message': self.message,
            'remedy': self.remedy,
            'certain': self.is_certain,
            'amount': self.amount,
        }


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What is wrong with a log.

    Attributes
    ----------
    faults : tuple of LogFault
    untold : tuple of str
        What this log cannot show, each a sentence.
    """

    faults: tuple[LogFault, ...]
    untold: tuple[str, ...]

    @property
    def errors(self) -> tuple[LogFault, ...]:
        """Faults with which a fit would be wrong."""
        return tuple(fault for fault in self.faults if fault.severity == 'error')

    @property
    def remaining(self) -> tuple[LogFault, ...]:
        """Errors that are left when all faults are repaired whose repair is certain."""
        return tuple(fault for fault in self.errors if not fault.is_certain)

    def as_json(self) -> dict[str, Any]:
        """Return the diagnosis as what JSON can hold."""
        return {
            'faults': [fault.as_json() for fault in self.faults],
            'untold': list(self.untold),
        }
