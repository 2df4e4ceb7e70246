"""Efforts with the opposite sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import (
    Hypothesis,
    Suspicion,
    TestedLog,
    get_option,
)


@dataclass(frozen=True)
class ReversedEffort(Hypothesis):
    """The efforts of all joints, or of one, have the opposite sign."""

    code = 'wrong-sign'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return [self._test(log, joints) for joints in (log.everyone, *((j,) for j in log.moving))]

    def _test(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        return self.suspect(
            log,
            joints,
            lambda reading: reading.with_effort(joints, factor=-1.0),
            'the effort has the opposite sign',
            f'--sign {get_option(log.get_names(joints))}',
            amount=-1.0,
        )
