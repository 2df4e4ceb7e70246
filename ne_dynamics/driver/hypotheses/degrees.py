"""Angles in degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class Degrees(Hypothesis):
    """The positions of all joints that turn, or of one, are in degrees.

    Attributes
    ----------
    smallest : float
        Numbers that change by less are no degrees: the joint would hardly move.
    """

    smallest: float = 10.0

    code = 'degrees'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        ranges, turning = log.evidence.get_ranges(log.reading), log.turning
        if max((ranges[joint] for joint in turning), default=0.0) < self.smallest:
            return []
        groups = [turning] if turning else []
        if len(turning) > 1:
            groups += [
                (joint,)
                for joint in log.moving
                if joint in turning and ranges[joint] >= self.smallest
            ]
        return [self._test(log, joints) for joints in groups]

    def _test(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        degree = math.pi / 180.0
        return self.suspect(
            log,
            joints,
            lambda reading: reading.with_position(joints, factor=degree),
            'the position is in degrees',
            f'give radians, or {"--repair" if len(joints) == 1 else "--degrees"}',
            amount=degree,
        )
