"""What is said of a driver: a value, how sure it is, and what would tell where it is not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ne_dynamics.driver.thresholds import EFFORTS
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class Verdict:
    """One thing that a recording tells of a driver, or does not.

    Attributes
    ----------
    value : str, float, bool or None
        None where it cannot be told.
    level : Certainty
    text : str
        In words, with figures.
    experiment : str
        What would tell, or tell better; '' where nothing is open.
    deviation : float
        Standard deviation of a number; NaN where there is none.
    """

    value: str | float | bool | None
    level: Certainty
    text: str
    experiment: str = ''
    deviation: float = math.nan

    @property
    def is_identifiable(self) -> bool:
        """Whether there is a value."""
        return self.level is not Certainty.UNKNOWN

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as what JSON can hold."""
        value = self.value
        return {
            'value': finite_or_none(value) if isinstance(value, float) else value,
            'level': self.level.value,
            'text': self.text,
            'experiment': self.experiment,
            'deviation': finite_or_none(self.deviation),
        }


def unknown(text: str, experiment: str) -> Verdict:
    """Return a verdict that there is none, and what would give one."""
    return Verdict(None, Certainty.UNKNOWN, text, experiment)


def level_of(gain: float) -> Certainty:
    """Return how sure something is that makes a recording e^gain times likelier than all else."""
    if gain >= EFFORTS.known_gain:
        return Certainty.KNOWN
    return Certainty.LIKELY if gain >= EFFORTS.likely_gain else Certainty.UNKNOWN


def least_sure(*levels: Certainty) -> Certainty:
    """Return the least sure of some levels."""
    order = (Certainty.UNKNOWN, Certainty.LIKELY, Certainty.KNOWN)
    return min(levels, key=order.index)
