"""Efforts that a driver has taken gravity out of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading


@dataclass(frozen=True)
class RemovedGravity(Hypothesis):
    """The driver takes gravity out of the efforts of all joints.

    Attributes
    ----------
    penalty : float
    decisive : float
        More than of a fault of columns: an arm that is much lighter than the given one has little
        gravity, too.
    smallest : float
        Part of an effort that must be left where gravity is taken to be in it: where less is,
        gravity is in it.
    """

    penalty: float = 3.0
    decisive: float = 20.0
    smallest: float = 0.05

    code = 'gravity-removed'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors or log.reading.without_gravity:
            return []
        # The driver's own model of gravity is unknown, too.
        cost, left = log.weigh_unknowns(_undo(log.reading)), log.evidence.explain(log.reading).left
        return [
            self.suspect(
                log,
                log.everyone,
                _undo,
                'gravity is not in the efforts: the driver takes it out',
                'record what the motors apply, gravity included; the node takes such efforts with '
                'state_effort: torque_without_gravity',
                cost=cost,
                penalty=self.penalty,
                certainty=Certainty.LIKELY,
                is_decisive=cost < -self.decisive and bool((left > self.smallest).any()),
            )
        ]


def _undo(reading: LogReading) -> LogReading:
    return replace(reading, without_gravity=True)
