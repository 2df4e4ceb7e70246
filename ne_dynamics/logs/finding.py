"""What is found of a log, a driver or an arm: the cause, whose it is, how sure, what to do."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ne_dynamics.logs.thresholds import LOGS


class Certainty(str, enum.Enum):
    """Certainty of a finding; the values are the words that are printed."""

    KNOWN = 'known'
    LIKELY = 'likely'
    UNKNOWN = 'cannot be told'


@dataclass(frozen=True, eq=False)
class Finding:
    """One finding about a log, a driver or an arm: cause, joints, certainty and remedy.

    Attributes
    ----------
    code : str
        Short stable identifier of the cause, e.g. 'wrong-sign'.
    joints : tuple of str
        Joints it concerns; empty if it concerns the whole log or arm.
    what : str
        Description for people, with figures.
    amount : float
        Amount of the correction (factor, angle [rad], delay [s], number of samples), or the value
        that it is about [SI]; 0 if there is none.
    certainty : Certainty
        KNOWN if nothing else explains it and the amount is known: then it can be corrected.
    remedy : str
        What to do.
    severity : str
        'error' (a fit would be wrong), 'warning' (a fit is hardly affected), 'info' (nothing is
        lost).
    link : str
        Link it concerns; '' if none.
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
        """Whether it can be corrected: there is no other cause, and the amount is known."""
        return self.certainty is Certainty.KNOWN

    @property
    def element(self) -> str:
        """The joint, link or log it concerns, e.g. ``joint 'elbow'``."""
        if self.link:
            return f'link {self.link!r}'
        return f'joint {", ".join(map(repr, self.joints))}' if self.joints else 'log'

    @property
    def text(self) -> str:
        """The finding as one line for people."""
        place = f'joint {", ".join(self.joints)}' if self.joints else 'log'
        if self.link:
            place = f'link {self.link}'
        if len(self.joints) > LOGS.shown_names:
            place = f'{len(self.joints)} joints'
        return f'{self.severity}  {place}  {self.code}  {self.what}: {self.remedy}'

    def as_json(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
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
