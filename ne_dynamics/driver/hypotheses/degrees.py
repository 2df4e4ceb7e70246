"""Angles in degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class Degrees(Hypothesis):
    """The positions of all joints that turn, or of one, are in degrees."""

    code = 'degrees'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        turning = log.turning
        groups = [turning] if turning else []
        if len(turning) > 1:
            groups += [(joint,) for joint in log.moving if joint in turning]
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
