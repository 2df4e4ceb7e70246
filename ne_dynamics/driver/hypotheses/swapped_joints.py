"""Columns of two joints that are exchanged."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class SwappedJoints(Hypothesis):
    """Positions and efforts of two joints are exchanged."""

    position: ClassVar[bool] = True
    effort: ClassVar[bool] = True
    penalty: float = 0.0

    code = 'joints-swapped'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        pairs: list[tuple[int, ...]] = list(itertools.combinations(log.everyone, 2))
        if self.position != self.effort:
            # Samples in which a joint stands do not count for it: paired with what another joint
            # measured, they would take that out of what has to be explained.
            pairs = [pair for pair in pairs if set(pair) <= set(log.moving)]
        return [self._test(log, pair) for pair in pairs]

    def describe(self, names: Sequence[str]) -> tuple[str, str]:
        """Return what was found, and what to do."""
        first, second = names
        remedy = f'--rename {first}={second} --rename {second}={first}'
        return 'the two joints are exchanged', remedy

    def _test(self, log: TestedLog, pair: Sequence[int]) -> Suspicion:
        first, second = pair
        return self.suspect(
            log,
            pair,
            lambda reading: reading.with_swap(
                first, second, position=self.position, effort=self.effort
            ),
            *self.describe(log.get_names(pair)),
            penalty=self.penalty,
        )
