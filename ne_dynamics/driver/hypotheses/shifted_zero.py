"""Zeros of positions that are off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.evidence.likeliest import search_near
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class ShiftedZero(Hypothesis):
    """The zero of the position of a joint is off: by quarters of a turn, or by any angle.

    Attributes
    ----------
    step, reach : float
        Angles to either side at which costs are compared first, and the largest that is not a
        quarter of a turn [rad].
    smallest : float
        Angles below this are not reported: so far may centres of mass be off [rad].
    near : float
        Angles that differ by less are one fault [rad].
    penalty, decisive_angle : float
        Of any angle.
    shown : float
        By how much a cost has to change for a log to show something.
    """

    step: float = 0.15
    reach: float = 1.0
    smallest: float = 0.1
    near: float = 0.3
    penalty: float = 3.0
    decisive_angle: float = 10.0
    shown: float = 2.0

    code = 'zero-offset'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []  # with a factor of its own the load turns the effort of a joint as well
        quarter = 0.5 * math.pi
        found = []
        for joint in log.moving:
            if joint in log.turning:
                found += [self._suspect(log, joint, n * quarter) for n in (1, 2, -1)]
                found += self._search(log, joint)
        return found

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """Tell whether two angles are one: a quarter of a turn, and the likeliest near it."""
        near = abs(math.remainder(one.amount - other.amount, 2.0 * math.pi)) < self.near
        return one.joints == other.joints and near

    def _search(self, log: TestedLog, joint: int) -> list[Suspicion]:
        """Return the likeliest angle that is not a quarter of a turn."""

        def weigh(angle: float) -> float:
            return log.weigh(log.reading.with_position((joint,), offset=angle))

        angle, cost = search_near(weigh, self.step, self.reach)
        if abs(angle) < self.smallest:
            return []
        return [self._suspect(log, joint, angle, cost)]

    def _suspect(
        self, log: TestedLog, joint: int, angle: float, cost: float | None = None
    ) -> Suspicion:
        name = log.robot.joint_names[joint]
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_position((joint,), offset=angle),
            f'the zero of the position is off by {math.degrees(-angle):.0f} degrees',
            f'--zero {name}={angle:.6g}',
            amount=angle,
            cost=cost,
            penalty=0.0 if cost is None else self.penalty,
            is_decisive=None if cost is None else cost < -self.decisive_angle,
        )

    def list_unidentifiable(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """See :class:`Hypothesis`."""
        largest: dict[tuple[str, ...], float] = {}
        for one in tested:
            if one.code == self.code:
                largest[one.joints] = max(one.cost, largest.get(one.joints, -math.inf))
        zeros = [name for (name,), cost in largest.items() if cost < self.shown]
        if not zeros:
            return []
        return [f'where the zero of {", ".join(zeros)} is: its efforts do not depend on it']
