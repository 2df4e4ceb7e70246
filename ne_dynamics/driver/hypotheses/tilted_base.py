"""A base that stands otherwise than it is said to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ne_dynamics.driver.evidence.gravity_columns import turn_gravity
from ne_dynamics.driver.evidence.likeliest import search_near
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading

Tilt = tuple[float, float]


@dataclass(frozen=True)
class TiltedBase(Hypothesis):
    """The base is tilted, or hangs on a wall or the ceiling: gravity has another direction.

    Attributes
    ----------
    step, reach : float
        Angles to either side at which costs are compared first, and the largest [rad].
    smallest : float
        Angles below this are not reported: floors and flanges are no better [rad].
    turns : int
        How often one axis after the other is gone through.
    penalty : float
        Of two angles that are no quarters of a turn.
    decisive : float
    """

    step: float = 0.1
    reach: float = 0.8
    smallest: float = 0.07
    turns: int = 3
    penalty: float = 6.0
    decisive: float = 12.0

    code = 'base-tilted'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors or log.reading.without_gravity:
            return []
        quarter = 0.5 * math.pi
        mounted = ((2.0 * quarter, 0.0), (quarter, 0.0), (-quarter, 0.0), (0.0, quarter))
        found = [self._suspect(log, tilt) for tilt in (*mounted, (0.0, -quarter))]
        tilt, cost = self._search(log)
        if math.hypot(*tilt) >= self.smallest:
            found.append(self._suspect(log, tilt, cost, self.penalty))
        return found

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """See :class:`Hypothesis`: a base has one tilt."""
        return True

    def _suspect(
        self, log: TestedLog, tilt: Tilt, cost: float | None = None, penalty: float = 0.0
    ) -> Suspicion:
        angle = math.hypot(*tilt)

        def undo(reading: LogReading) -> LogReading:
            return _with_tilt(reading, tilt)

        total = undo(log.reading).tilt
        x, y, z = turn_gravity(log.evidence.given_gravity, total)
        return self.suspect(
            log,
            log.everyone,
            undo,
            f'the base is tilted by {math.degrees(angle):.0f} degrees beside how the model has it',
            f'give gravity in the axes of the base: --gravity {x:.4g} {y:.4g} {z:.4g}',
            amount=angle,
            cost=cost,
            penalty=penalty,
            certainty=Certainty.LIKELY,
        )

    def _search(self, log: TestedLog) -> tuple[Tilt, float]:
        tilt, least = [0.0, 0.0], 0.0
        for _ in range(self.turns):
            before = least
            for axis in (0, 1):

                def weigh(angle: float, axis: int = axis, base: float = least) -> float:
                    tried = list(tilt)
                    tried[axis] += angle
                    return log.weigh(_with_tilt(log.reading, (tried[0], tried[1]))) - base

                angle, gain = search_near(weigh, self.step, self.reach)
                tilt[axis] += angle
                least += gain
            if before - least < 0.5:
                break
        return (tilt[0], tilt[1]), least


def _with_tilt(reading: LogReading, tilt: Tilt) -> LogReading:
    return replace(reading, tilt=(reading.tilt[0] + tilt[0], reading.tilt[1] + tilt[1]))
