"""One fault of a log: its cause, whose it is, and what undoes it."""

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
