"""Constants that were added to efforts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class EffortOffset(Hypothesis):
    """A constant is in the efforts of all joints that show one, or of one of them.

    Attributes
    ----------
    smallest, deviations : float
        Constants below this part of the effort, or this many standard deviations, are taken for
        friction that differs by direction.
    penalty : float
        Of each.
    """

    smallest: float = 0.3
    deviations: float = 4.0
    penalty: float = 3.0

    code = 'effort-offset'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        constant, deviation = log.evidence.find_constants(log.reading)
        size = rms(log.evidence.get_effort(log.reading))
        deviation = np.where(deviation > 0.0, deviation, np.inf)
        least = np.maximum(self.smallest * size, self.deviations * deviation)
        joints = tuple(np.flatnonzero(np.abs(constant) > least).tolist())
        groups = {joints, *((joint,) for joint in joints)} if joints else set()
        return [self._test(log, group, -constant[list(group)]) for group in sorted(groups)]

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """See :class:`Hypothesis`: one zero of the sensors."""
        return True

    def _test(self, log: TestedLog, joints: Sequence[int], amounts: FloatArray) -> Suspicion:
        sizes = ', '.join(f'{-value:.3g}' for value in amounts)
        found = self.suspect(
            log,
            joints,
            lambda reading: reading.with_effort_offset(joints, amounts.tolist()),
            f'a constant of {sizes} N m or N is in the effort{"s" * (len(joints) > 1)}',
            'set the zero of the torque sensors anew, or --repair, which takes it out',
            amount=float(max(amounts, key=abs)),
            penalty=self.penalty * len(joints),
        )
        return replace(found, is_decisive=found.rank < -self.decisive)
