"""Columns of two joints that are exchanged: of positions, of efforts, or of both."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class SwappedJoints(Hypothesis):
    """Columns of two joints are exchanged.

    Attributes
    ----------
    code : str
    position, effort : bool
        Which columns are.
    penalty : float
    """

    code: str = 'joints-swapped'
    position: bool = True
    effort: bool = True
    penalty: float = 0.0

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        pairs: list[tuple[int, ...]] = list(itertools.combinations(log.everyone, 2))
        if self.position != self.effort:
            # Samples in which a joint stands do not count for it: paired with what another joint
            # measured, they would take that out of what has to be explained.
            pairs = [pair for pair in pairs if set(pair) <= set(log.moving)]
        return [self._test(log, pair) for pair in pairs]

    def _test(self, log: TestedLog, pair: Sequence[int]) -> Suspicion:
        first, second = log.get_names(pair)
        what = 'the two joints are exchanged'
        remedy = f'--rename {first}={second} --rename {second}={first}'
        if self.position != self.effort:
            columns = 'positions' if self.position else 'efforts'
            what = f'the {columns} of the two are exchanged'
            remedy = 'exchange these columns, or --repair'
        return self.suspect(
            log,
            pair,
            lambda reading: reading.with_swap(*pair, position=self.position, effort=self.effort),
            what,
            remedy,
            penalty=self.penalty,
        )


JOINTS_SWAPPED = SwappedJoints()
EFFORTS_SWAPPED = SwappedJoints('efforts-swapped', position=False)
POSITIONS_SWAPPED = SwappedJoints('positions-swapped', effort=False, penalty=1.0)
