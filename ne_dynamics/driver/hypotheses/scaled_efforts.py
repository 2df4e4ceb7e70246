"""All efforts in another unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading


@dataclass(frozen=True)
class ScaledEfforts(Hypothesis):
    """All efforts are one multiple of the given model's; a log alone does not tell it from masses.

    Attributes
    ----------
    doubtful, wrong : float
        Factors that are doubtful, and wrong.
    deviations : float
        Standard deviations that the logarithm of a factor is off zero, at least.
    has_to_explain : bool
        Whether the log has to be likelier with the factor, as with other causes.
    """

    doubtful: float = 1.7
    wrong: float = 2.0
    deviations: float = 2.0
    has_to_explain: bool = False

    code = 'efforts-scaled'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        found = compare_with_given(log.evidence, log.reading)
        factor, ratio = found.middle, max(found.middle, 1.0 / found.middle)

        def undo(reading: LogReading) -> LogReading:
            return reading.with_effort(log.everyone, factor=1.0 / factor)

        cost = log.weigh(undo(log.reading))
        return [
            self.suspect(
                log,
                log.everyone,
                undo,
                f'all efforts are about {factor:.3g} of what the given model takes (joints differ '
                f'from that by a factor of {found.spread:.2g} in the mean): motor currents, '
                'another unit, '
                'efforts before the gear, or a model with wrong masses; the log alone cannot tell '
                'which',
                'give torques: --scale all=FACTOR, or joint by joint (about '
                f'{1.0 / factor:.3g} would suit the given model)',
                amount=1.0 / factor,
                certainty=Certainty.LIKELY,
                severity='error' if ratio >= self.wrong else 'warning',
                cost=cost,
                is_decisive=(cost < -self.decisive or not self.has_to_explain)
                and ratio >= self.doubtful
                and abs(math.log(factor)) > self.deviations * found.deviation,
            )
        ]

    def list_unidentifiable(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        return ['one common factor on all efforts, beyond what the given masses say']
