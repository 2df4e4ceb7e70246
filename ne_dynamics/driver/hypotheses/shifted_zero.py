"""Zeros of positions that are off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class ShiftedZero(Hypothesis):
    """The zero of the position of a joint is off by a quarter of a turn, or two.

    Attributes
    ----------
    shown : float
        By how much a cost has to change for a log to show something.
    """

    shown: float = 2.0

    code = 'zero-offset'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []  # with a factor of its own the load turns the effort of a joint as well
        quarter = 0.5 * math.pi
        return [
            self._test(log, joint, quarters * quarter)
            for joint in log.moving
            if joint in log.turning
            for quarters in (1, 2, -1)
        ]

    def list_untold(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """See :class:`Hypothesis`."""
        largest: dict[tuple[str, ...], float] = {}
        for one in tested:
            if one.code == self.code:
                largest[one.joints] = max(one.cost, largest.get(one.joints, -math.inf))
        zeros = [name for (name,), cost in largest.items() if cost < self.shown]
        if not zeros:
            return []
        return [f'where the zero of {", ".join(zeros)} is: its efforts do not depend on it']

    def _test(self, log: TestedLog, joint: int, angle: float) -> Suspicion:
        name = log.robot.joint_names[joint]
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_position((joint,), offset=angle),
            f'the zero of the position is off by {math.degrees(-angle):.0f} degrees',
            f'--zero {name}={angle:.6g}',
            amount=angle,
        )
