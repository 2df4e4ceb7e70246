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
        groups = (log.everyone, *((joint,) for joint in log.moving))
        return [self.test_joints(log, joints) for joints in groups]

    def test_joints(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        """Test it of some joints at once."""
        return self.suspect(
            log,
            joints,
            lambda reading: reading.with_effort(joints, factor=-1.0),
            'the effort has the opposite sign',
            f'--sign {get_option(log.get_names(joints))}',
            amount=-1.0,
        )
