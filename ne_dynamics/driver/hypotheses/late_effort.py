"""Efforts that were recorded later, or earlier, than positions, or behind a low-pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.driver.evidence.evidence import DELAYS
from ne_dynamics.driver.evidence.likeliest import find_deviation, search_minimum, search_near
from ne_dynamics.driver.hypotheses.hypothesis import (
    Hypothesis,
    Suspicion,
    TestedLog,
    get_option,
)
from ne_dynamics.logs import Certainty

FILTERED = 'effort-filtered'
"""Code of what is late by a low-pass."""


@dataclass(frozen=True)
class LateEffort(Hypothesis):
    """The efforts of all joints, or of one, are late against the positions.

    Attributes
    ----------
    of_all : float
        As `decisive`, of a delay of all efforts.
    of_filter : float
        The same of a low-pass in the place of a delay: slow motions do not tell them apart.
    longest_lag : float
        Time constant of a low-pass, at most, by the delay that is found in its place.
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
    of_filter: float = 6.0
    longest_lag: float = 4.0
    near: float = 5e-3
    shortest: float = 3e-3
    deviations: float = 2.5
    harmful: float = 0.02
    harmful_gain: float = 25.0
    penalty: float = 3.0

    code = 'effort-delay'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return [*self.test_single(log), *self._test_both(log, log.everyone)]

    def test_single(self, log: TestedLog) -> list[Suspicion]:
        """Return what :meth:`test` does of each joint alone."""
        # One driver reads all currents; what is late in one alone is friction that is not
        # modelled.
        groups = [] if log.evidence.has_free_factors else [(joint,) for joint in log.moving]
        return [found for joints in groups for found in self._test_both(log, joints)]

    def test_filter(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        """Return what :meth:`test_joints` does, or a low-pass where that is clearly likelier."""
        return self._test_both(log, joints)[-1]

    def _test_both(self, log: TestedLog, joints: Sequence[int]) -> list[Suspicion]:
        """Return what :meth:`test_joints` does, and a low-pass where that is clearly likelier."""
        late = self.test_joints(log, joints)
        if not late.is_decisive or late.amount < 0.0:
            return [late]

        def weigh(lag: float) -> float:
            return log.weigh(log.reading.with_effort_lag(joints, lag))

        lag, cost = search_minimum(weigh, 0.0, self.longest_lag * late.amount)
        if cost > late.cost - self.of_filter:
            return [late]
        deviation = find_deviation(weigh, lag, cost, 0.1 * lag)
        filtered = replace(
            self.suspect(
                log,
                joints,
                lambda reading: reading.with_effort_lag(joints, lag),
                f'the effort is behind a low-pass of {0.5 / math.pi / lag:.2g} Hz (time constant '
                f'{1e3 * lag:.0f} +- {1e3 * deviation:.1f} ms)',
                'record efforts that are not filtered, or set the filter in the driver to a '
                'multiple of that frequency',
                amount=lag,
                cost=cost,
                penalty=self.penalty,
                deviation=deviation,
                certainty=Certainty.LIKELY,
                severity=late.severity,
                is_decisive=True,
            ),
            code=FILTERED,
        )
        return [late, filtered]

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


@dataclass(frozen=True)
class LateJoint(LateEffort):
    """The effort of one joint is late, where a delay of all is part of what efforts mean."""

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return self.test_single(log)
