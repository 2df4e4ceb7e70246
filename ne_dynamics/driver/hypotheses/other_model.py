"""A description of another robot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading


@dataclass(frozen=True)
class OtherModel(Hypothesis):
    """The given model is of another robot: its inertias are farther off than any one cause has it.

    Attributes
    ----------
    doubts : tuple of float
        How many times farther than usual inertias may be off: what is tried.
    penalty, decisive : float
    """

    doubts: tuple[float, ...] = (4.0, 16.0)
    penalty: float = 6.0
    decisive: float = 12.0

    code = 'other-model'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors or log.reading.doubt > 1.0:
            return []
        # One factor on all inertias is as well one on all efforts.
        factor = compare_with_given(log.evidence, log.reading).middle

        def weigh(reading: LogReading) -> float:
            # With its freedom: what is doubted more explains more for that alone.
            explained = log.evidence.explain(reading)
            return explained.cost + explained.freedom

        scaled = weigh(log.reading.with_effort(log.everyone, factor=1.0 / factor))
        return [self.compare(log, weigh, scaled)]

    def compare(
        self,
        log: TestedLog,
        weigh: Callable[[LogReading], float],
        otherwise: float = math.inf,
    ) -> Suspicion:
        """Return how likely it is.

        Parameters
        ----------
        log : TestedLog
        weigh : callable
            Cost of a reading, with its freedom.
        otherwise : float
            Of the log as it is in another explanation.
        """
        cost, doubt = min(
            (weigh(replace(log.reading, doubt=doubt)), doubt) for doubt in self.doubts
        )
        return self.suspect(
            log,
            log.everyone,
            lambda reading: replace(reading, doubt=doubt),
            'the efforts are not those of an arm like the given one: it takes inertias of '
            'other orders of magnitude to explain them',
            'give the description of this robot, with its tool',
            cost=cost - min(weigh(log.reading), otherwise),
            penalty=self.penalty,
            certainty=Certainty.LIKELY,
        )
