"""Positions that are multiples of the joints', with efforts that are parts of them or without."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ne_dynamics.driver.evidence.likeliest import search_near
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import LogReading


@dataclass(frozen=True)
class ScaledPosition(Hypothesis):
    """The position of a joint is a multiple of what it is: a wrong gear, of encoder or drive.

    With the gear of a drive its effort is the same part of what it is.

    Attributes
    ----------
    step, reach : float
        Logarithms of factors at which costs are compared first, and of the largest.
    smallest : float
        Factors nearer to 1 are not reported.
    smallest_of_drive : float
        The same of the gear of a drive: nearer to 1 it stands for masses that are off.
    penalty, decisive : float
    by_residuals : float
        What `decisive` is for what is left of the efforts alone: that the arm is nearer to the
        given one with a factor is none.
    """

    step: float = 0.05
    reach: float = 0.7
    smallest: float = 1.05
    smallest_of_drive: float = 1.15
    penalty: float = 3.0
    decisive: float = 15.0
    by_residuals: float = 10.0

    code = 'position-scaled'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        return [
            self._describe(log, joint, of_drive, factor)
            for joint in log.moving
            for of_drive in (False, True)
            if self._is_reported(factor := self._search(log, joint, of_drive), of_drive)
        ]

    def list_kinds(self, log: TestedLog, found: Suspicion) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        joint = log.robot.joint_names.index(found.joints[0])
        return [
            self._describe(log, joint, of_drive, found.amount)
            for of_drive in (False, True)
            if self._is_reported(found.amount, of_drive)
        ]

    def _is_reported(self, factor: float, of_drive: bool) -> bool:
        smallest = self.smallest_of_drive if of_drive else self.smallest
        return max(factor, 1.0 / factor) >= smallest

    def _search(self, log: TestedLog, joint: int, of_drive: bool) -> float:
        """Return the factor on the position that suits the efforts best; 1 for none."""

        def weigh(logarithm: float) -> float:
            return log.weigh(_read(log.reading, joint, math.exp(logarithm), of_drive))

        logarithm, _ = search_near(weigh, self.step, self.reach)
        return math.exp(logarithm)

    def _describe(self, log: TestedLog, joint: int, of_drive: bool, factor: float) -> Suspicion:
        reading = _read(log.reading, joint, factor, of_drive)
        cost = log.weigh(reading)
        return self.suspect(
            log,
            (joint,),
            lambda reading: _read(reading, joint, factor, of_drive),
            f'the position is {1.0 / factor:.3g} times what it should be'
            + (f', and the effort {factor:.3g} times' if of_drive else ''),
            f'set the gear ratio of its {"drive" if of_drive else "encoder"} in the driver, or '
            '--repair',
            amount=factor,
            cost=cost,
            penalty=self.penalty,
            is_decisive=cost < -self.decisive
            and log.weigh_residuals(reading) < -self.by_residuals,
        )


def _read(reading: LogReading, joint: int, factor: float, of_drive: bool) -> LogReading:
    scaled = reading.with_position((joint,), factor=factor)
    return scaled.with_effort((joint,), factor=1.0 / factor) if of_drive else scaled
