"""Efforts of which only the size was reported."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class UnsignedEffort(Hypothesis):
    """The efforts of all joints are absolute values, in whatever unit.

    Such a log tells nothing else: it is tested before all others.

    Attributes
    ----------
    decisive : float
        More than of a fault of columns: signs that are free explain more for that alone.
    turned : float
        Part of the samples of some joint that have either sign, at least: a joint that gravity
        loads one way has one sign by itself.
    """

    decisive: float = 20.0
    turned: float = 0.05

    code = 'unsigned'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        evidence = log.evidence
        if not evidence.is_one_sided:
            return []
        sizes = rms(evidence.get_effort(log.reading))
        factors = rms(evidence.get_given_effort(log.reading)) / np.where(
            sizes > 0.0, sizes, np.inf
        )
        reading = replace(log.reading, effort_factor=np.where(factors > 0.0, factors, 1.0))
        signs, cost = evidence.free_signs(reading)
        part = (signs < 0.0).mean(axis=0)
        if not ((part >= self.turned) & (part <= 1.0 - self.turned)).any():
            return []
        found = self.suspect(
            log,
            log.everyone,
            lambda reading: reading,
            'the efforts are absolute values: none is negative, though the motion takes efforts '
            'of both signs',
            'record efforts with their sign; no option puts it back',
            cost=cost,
            certainty=Certainty.LIKELY,
        )
        return [found] if found.is_decisive else []
