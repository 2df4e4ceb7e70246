"""Efforts to which something is added that grows while the log is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.driver.evidence.likeliest import search_near
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class DriftingEffort(Hypothesis):
    """The zero of a torque sensor, or of a current, drifts as the time goes on.

    Attributes
    ----------
    step, reach : float
        Drifts over the log at which costs are compared first, and the largest, by the effort.
    penalty, decisive : float
    """

    step: float = 0.05
    reach: float = 0.5
    penalty: float = 3.0
    decisive: float = 10.0

    code = 'effort-drift'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        sizes = rms(log.evidence.get_effort(log.reading)) / max(log.evidence.duration, 1e-9)
        return [self._test(log, joint, float(sizes[joint])) for joint in log.moving]

    def _test(self, log: TestedLog, joint: int, size: float) -> Suspicion:
        def weigh(part: float) -> float:
            return log.weigh(log.reading.with_effort_drift(joint, part * size))

        part, cost = search_near(weigh, self.step, self.reach)
        drift = part * size
        reading = log.reading.with_effort_drift(joint, drift)
        amount = -drift * log.evidence.duration
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_effort_drift(joint, drift),
            f'the effort drifts by {amount:.3g} N m or N from the begin of the log to its end',
            'let sensors and drives warm up first, or give shorter logs',
            amount=amount,
            cost=cost,
            penalty=self.penalty,
            certainty=Certainty.LIKELY,
            is_decisive=cost < -self.decisive and log.weigh_residuals(reading) < -self.decisive,
        )
