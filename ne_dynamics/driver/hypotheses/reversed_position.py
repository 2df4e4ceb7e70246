"""Positions with the opposite sign."""

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
class ReversedPosition(Hypothesis):
    """The position of a joint has the opposite sign."""

    penalty: float = 1.0

    code = 'position-sign'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return [self.test_joints(log, (joint,)) for joint in log.moving]

    def test_joints(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        """Test it of some joints at once."""
        return self.suspect(
            log,
            joints,
            lambda reading: reading.with_position(joints, factor=-1.0),
            'the position has the opposite sign',
            f'--position-sign {get_option(log.get_names(joints))}',
            amount=-1.0,
            penalty=self.penalty,
        )


@dataclass(frozen=True)
class ReversedPositions(ReversedPosition):
    """The positions of all joints have the opposite sign: one by one these are not likelier."""

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return [self.test_joints(log, log.everyone)] if len(log.moving) > 1 else []
