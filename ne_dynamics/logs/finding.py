"""What is found of a log, a driver or an arm: the cause, whose it is, how sure, what to do."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ne_dynamics.logs.thresholds import LOGS


class Certainty(str, enum.Enum):
    """How sure something is; the values are the words that are printed."""

    KNOWN = 'known'
    LIKELY = 'likely'
    UNKNOWN = 'cannot be told'


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing that is found.

    Attributes
    ----------
    code : str
        Cause, a short stable identifier, e.g. 'wrong-sign'.
    joints : tuple of str
        Whose it is; empty when it is of the log, or of the arm, as a whole.
    what : str
        What was found, in words, with figures.
    amount : float
        Of what undoes it: factor, angle [rad], delay [s] or number of samples; 0 where there is
        none.
    certainty : Certainty
        Known where nothing else explains it and the amount is told: then it can be undone.
    remedy : str
        What to do.
    severity : str
        'error' (a fit would be wrong), 'warning' (a fit is hardly touched), 'info' (nothing is
        lost).
    link : str
        Of which link it is, where it is of one.
    """

    code: str
    joints: tuple[str, ...]
    what: str
    amount: float = 0.0
    certainty: Certainty = Certainty.LIKELY
    remedy: str = ''
    severity: str = 'error'
    link: str = ''

    @property
    def is_certain(self) -> bool:
        """Whether it can be undone: the log leaves no other cause, and tells the amount."""
        return self.certainty is Certainty.KNOWN

    @property
    def element(self) -> str:
        """What it is about, e.g. ``joint 'elbow'``."""
        if self.link:
            return f'link {self.link!r}'
        return f'joint {", ".join(map(repr, self.joints))}' if self.joints else 'log'

    @property
    def text(self) -> str:
        """One line for people."""
        place = f'joint {", ".join(self.joints)}' if self.joints else 'log'
        if self.link:
            place = f'link {self.link}'
        if len(self.joints) > LOGS.shown_names:
            place = f'{len(self.joints)} joints'
        return f'{self.severity}  {place}  {self.code}  {self.what}: {self.remedy}'

    def as_json(self) -> dict[str, Any]:
        """Return the finding as what JSON can hold."""
        return {
            'severity': self.severity,
            'code': self.code,
            'joints': list(self.joints),
            **({'link': self.link} if self.link else {}),
            'message': self.what,
            'remedy': self.remedy,
            'certain': self.is_certain,
            'amount': self.amount,
        }
