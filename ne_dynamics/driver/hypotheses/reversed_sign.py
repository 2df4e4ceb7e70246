"""Positions, efforts, or both with the opposite sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import (
    Hypothesis,
    Suspicion,
    TestedLog,
    get_option,
)
from ne_dynamics.logs import LogReading


@dataclass(frozen=True)
class ReversedSign(Hypothesis):
    """Columns of joints have the opposite sign.

    Attributes
    ----------
    code : str
    position, effort : bool
        Which columns have: of both the axis is reversed.
    penalty : float
    of_one, of_all : bool
        Whether it is tested of each joint that moves, and of all joints at once.
    """

    code: str = 'wrong-sign'
    position: bool = False
    effort: bool = True
    penalty: float = 0.0
    of_one: bool = True
    of_all: bool = False

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        single = [(joint,) for joint in log.moving]
        is_common = self.of_all and (self.of_one or len(single) > 1)
        groups = [log.everyone] * is_common + single * self.of_one
        return [self.test_joints(log, joints) for joints in groups]

    def test_joints(self, log: TestedLog, joints: Sequence[int]) -> Suspicion:
        """Test it of some joints at once."""
        whose = get_option(log.get_names(joints))
        columns = ['position'] * self.position + ['effort'] * self.effort
        options = [f'--position-sign {whose}'] * self.position + [f'--sign {whose}'] * self.effort
        what = 'position and effort both have' if len(columns) > 1 else f'the {columns[0]} has'
        return self.suspect(
            log,
            joints,
            lambda reading: self._turn(reading, joints),
            f'{what} the opposite sign',
            ' '.join(options),
            amount=-1.0,
            penalty=self.penalty,
        )

    def _turn(self, reading: LogReading, joints: Sequence[int]) -> LogReading:
        if self.position:
            reading = reading.with_position(joints, factor=-1.0)
        return reading.with_effort(joints, factor=-1.0) if self.effort else reading


EFFORT_REVERSED = ReversedSign(of_all=True)
POSITION_REVERSED = ReversedSign('position-sign', position=True, effort=False, penalty=1.0)
AXIS_REVERSED = ReversedSign('axis-sign', position=True, penalty=1.0)
POSITIONS_REVERSED = ReversedSign(
    'position-sign', position=True, effort=False, penalty=1.0, of_one=False, of_all=True
)
"""Of all joints at once: one by one these are not likelier."""
