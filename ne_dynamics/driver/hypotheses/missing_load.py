"""A load that the given model lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading


@dataclass(frozen=True)
class MissingLoad(Hypothesis):
    """The arm carries a tool or a load that is not in the given model.

    Attributes
    ----------
    penalty, decisive : float
    """

    penalty: float = 6.0
    decisive: float = 20.0

    code = 'load-missing'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        evidence = log.evidence
        if evidence.has_free_factors or evidence.has_load or log.reading.has_load:
            return []
        return [
            self.suspect(
                log,
                log.everyone,
                _undo,
                'the arm carries something at its end that the given model lacks',
                'give the model with its tool or load; `identify --payload` tells its mass',
                cost=log.weigh_unknowns(_undo(log.reading)),
                penalty=self.penalty,
                certainty=Certainty.LIKELY,
                severity='warning',
            )
        ]


def _undo(reading: LogReading) -> LogReading:
    return replace(reading, has_load=True)
