"""Positions that are multiples of the joints'."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ne_dynamics.driver.evidence.likeliest import search_near
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class ScaledPosition(Hypothesis):
    """The position of a joint is a multiple of what it is: the gear of its encoder is wrong.

    Attributes
    ----------
    step, reach : float
        Logarithms of factors at which costs are compared first, and of the largest.
    smallest : float
        Factors nearer to 1 are not reported.
    penalty, decisive : float
    """

    step: float = 0.05
    reach: float = 0.7
    smallest: float = 1.05
    penalty: float = 3.0
    decisive: float = 10.0

    code = 'position-scaled'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        found = (self._search(log, joint) for joint in log.moving)
        return [one for one in found if one is not None]

    def _search(self, log: TestedLog, joint: int) -> Suspicion | None:
        def weigh(logarithm: float) -> float:
            return log.weigh(log.reading.with_position((joint,), factor=math.exp(logarithm)))

        logarithm, cost = search_near(weigh, self.step, self.reach)
        factor = math.exp(logarithm)
        if max(factor, 1.0 / factor) < self.smallest:
            return None
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_position((joint,), factor=factor),
            f'the position is {1.0 / factor:.3g} times what it should be',
            'set the gear ratio of its encoder in the driver, or --repair',
            amount=factor,
            cost=cost,
            penalty=self.penalty,
        )
