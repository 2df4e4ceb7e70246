"""Efforts that no arm like the given one explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class Unexplained(Hypothesis):
    """Efforts that have little to do with the motion, whatever the log is taken for.

    Attributes
    ----------
    most : float
        Part of an effort that must be left.
    heavy : float
        Effort that the model expects of a joint, as a part of the largest, for that to count:
        where it expects little, noise and what is not modelled may well be all there is.
    """

    most: float = 0.9
    heavy: float = 0.2

    code = 'effort-unexplained'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        left = log.evidence.explain(log.reading).left
        given = log.evidence.get_given_effort(log.reading)
        expected = rms(given - given.mean(axis=0))
        heavy = expected > self.heavy * max(float(expected.max()), 1e-9)
        poor = left > self.most
        if not (poor & heavy & log.evidence.get_effort(log.reading).any(axis=0)).any():
            return []
        return [
            self.suspect(
                log,
                np.flatnonzero(poor).tolist(),
                lambda reading: reading,
                f'no arm like the given one explains more than {1.0 - self.most**2:.0%} of the '
                'effort: it may not be a torque, or gravity and friction may be taken out of it',
                'give what the motors applied',
                certainty=Certainty.LIKELY,
                severity='error' if (poor | ~heavy).all() else 'warning',
                is_decisive=True,
            )
        ]
