"""The effort of one joint in another unit than the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.likeliest import find_deviation, search_minimum
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class ScaledEffort(Hypothesis):
    """The effort of one joint is a multiple of what the others show.

    Attributes
    ----------
    decades, steps : int
        Factors are tried from 10^-decades to 10^decades, so many a decade; then between them.
    smallest : float
        Factors nearer to 1 are not reported.
    known : float
        Standard deviation of a factor, as a part of it, up to which it is known.
    penalty : float
    shown : float
        By how much a cost has to change for a log to show something.
    """

    decades: int = 2
    steps: int = 3
    smallest: float = 1.3
    known: float = 0.1
    penalty: float = 3.0
    shown: float = 2.0

    code = 'effort-scaled'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        return [self._test(log, joint) for joint in log.moving]

    def list_unidentifiable(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return ['where the zeros of the positions are, and factors on efforts']
        names = [
            name
            for joint, name in enumerate(log.robot.joint_names)
            if min(log.weigh(log.reading.with_effort((joint,), factor=f)) for f in (0.5, 2.0))
            < self.shown
        ]
        return [f'a factor of 2 on the effort of {", ".join(names)}'] if names else []

    def _test(self, log: TestedLog, joint: int) -> Suspicion:
        """Return the factor on the effort of one joint that suits the others best."""

        def weigh(logarithm: float) -> float:
            return log.weigh(log.reading.with_effort((joint,), factor=math.exp(logarithm)))

        most = self.decades * self.steps
        grid = np.arange(-most, most + 1) * (math.log(10.0) / self.steps)
        costs = [weigh(value) for value in grid]
        best = int(np.argmin(costs))
        logarithm, lowest, deviation = float(grid[best]), costs[best], math.inf
        if lowest < -1.0:
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
            logarithm, lowest = search_minimum(weigh, float(low), float(high))
            deviation = find_deviation(weigh, logarithm, lowest, 0.05)
        factor = math.exp(logarithm)
        known = f' +- {deviation:.0%}' if math.isfinite(deviation) else ''
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_effort((joint,), factor=factor),
            f'the effort is {1.0 / factor:.3g} times of what the other joints show{known}',
            f'--scale {log.robot.joint_names[joint]}={factor:.4g}',
            amount=factor,
            cost=lowest,
            penalty=self.penalty,
            deviation=deviation,
            certainty=Certainty.KNOWN if deviation <= self.known else Certainty.LIKELY,
            is_decisive=lowest < -self.decisive and max(factor, 1.0 / factor) >= self.smallest,
        )
