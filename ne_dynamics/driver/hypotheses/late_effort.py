"""Efforts that were recorded later, or earlier, than positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.evidence import DELAYS
from ne_dynamics.driver.evidence.likeliest import find_deviation, search_minimum, search_near
from ne_dynamics.driver.hypotheses.hypothesis import (
    Hypothesis,
    Suspicion,
    TestedLog,
    get_option,
)


@dataclass(frozen=True)
class LateEffort(Hypothesis):
    """The efforts of all joints, or of one, are late against the positions.

    Attributes
    ----------
    of_all : float
        As `decisive`, of a delay of all efforts.
    near : float
        Delays to either side at which costs are compared first, of one joint [s].
    shortest : float
        Delays below this are not reported [s]: stamps are no better.
    deviations : float
        Standard deviations that a delay is off zero, at least.
    harmful, harmful_gain : float
        A delay is an error from this size on [s], or when the log is that much likelier without.
    penalty : float
    """

    of_all: float = 3.0
    near: float = 5e-3
    shortest: float = 3e-3
    deviations: float = 2.5
    harmful: float = 0.02
    harmful_gain: float = 25.0
    penalty: float = 3.0

    code = 'effort-delay'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        groups = [] if log.evidence.has_free_factors else [(joint,) for joint in log.moving]
        # One driver reads all currents; what is late in one alone is friction that is not
        # modelled.
        return [self.test_joints(log, joints) for joints in (*groups, log.everyone)]

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """Tell whether two delays are one: that of all holds that of each joint."""
        return one.joints == other.joints or max(len(one.joints), len(other.joints)) > 1

    def list_unidentifiable(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """See :class:`Hypothesis`."""
        delays = [
            self.deviations * one.deviation
            for one in tested
            if one.code == self.code and len(one.joints) == log.robot.n
        ]
        if not delays or not delays[0] > self.shortest:
            return []
        size = f' below {1e3 * delays[0]:.0f} ms' if math.isfinite(delays[0]) else ''
        return [f'a delay of the efforts{size}']

    def test_joints(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        """Return by how much later than the positions efforts of joints were recorded."""

        def weigh(delay: float) -> float:
            return log.weigh(log.reading.with_effort(joints, delay=delay))

        # Of one joint a short delay is looked for where it promises something; of all, the
        # deviation tells what is not shown.
        coarse = DELAYS[::4] if len(joints) == 1 else DELAYS[::2]
        costs = [weigh(value) for value in coarse]
        best = int(np.argmin(costs))
        delay, lowest, deviation = float(coarse[best]), costs[best], math.inf
        if len(joints) == 1 and delay == 0.0:
            delay, lowest = search_near(weigh, self.near, float(coarse[1] - coarse[0]))
            deviation = find_deviation(weigh, delay, lowest, 5e-3) if delay else math.inf
        elif lowest < -0.5 or coarse[best] == 0.0:
            low, high = coarse[max(best - 1, 0)], coarse[min(best + 1, coarse.size - 1)]
            delay, lowest = search_minimum(weigh, float(low), float(high))
            deviation = find_deviation(weigh, delay, lowest, 5e-3)
        decisive = self.decisive if len(joints) == 1 else self.of_all
        is_harmful = abs(delay) >= self.harmful or lowest < -self.harmful_gain
        return self.suspect(
            log,
            joints,
            lambda reading: reading.with_effort(joints, delay=delay),
            f'the effort is {"late" if delay > 0.0 else "early"} by {abs(1e3 * delay):.1f} +- '
            f'{1e3 * deviation:.1f} ms against the position',
            f'--delay {get_option(log.get_names(joints))}={delay:.4f}',
            amount=delay,
            cost=lowest,
            penalty=self.penalty,
            deviation=deviation,
            severity='error' if is_harmful else 'warning',
            is_decisive=lowest < -decisive
            and abs(delay) >= self.shortest
            and abs(delay) > self.deviations * deviation,
        )
