"""Positions of motors that move several joints."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class CoupledJoints(Hypothesis):
    """The position of a joint holds that of a neighbour, as by a parallelogram or a differential.

    Its effort is that of the joint, or that of the motor, which pushes the neighbour too. Friction
    of a coupled drive looks the same where weights and inertias matter little, as in a wrist; so
    they have to tell.

    Attributes
    ----------
    penalty, decisive : float
    telling_share : float
        Part of the effort of one of the joints by which the coupling has to change the efforts of
        the given model.
    """

    penalty: float = 3.0
    decisive: float = 10.0
    telling_share: float = 0.3

    code = 'joints-coupled'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        pairs = itertools.permutations(log.moving, 2)
        return [
            self._test(log, pair, ratio, of_motors)
            for pair in pairs
            if abs(pair[0] - pair[1]) == 1
            for ratio in (1.0, -1.0)
            if self._is_telling(log, pair, ratio)
            for of_motors in (False, True)
        ]

    def _is_telling(self, log: TestedLog, pair: tuple[int, int], ratio: float) -> bool:
        coupled = log.reading.with_coupling(*pair, ratio, False)
        changes = log.evidence.get_given_effort(coupled) - log.evidence.get_given_effort(
            log.reading
        )
        efforts = log.evidence.get_effort(log.reading)
        sizes = [np.sqrt(np.mean(each[:, pair] ** 2, axis=0)) for each in (changes, efforts)]
        return bool((sizes[0] > self.telling_share * sizes[1]).any())

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """See :class:`Hypothesis`: whichever of two joints is reported with the other."""
        return set(one.joints) == set(other.joints)

    def _test(
        self, log: TestedLog, pair: tuple[int, int], ratio: float, of_motors: bool
    ) -> Suspicion:
        names = log.get_names(pair)
        whose = 'motors' if of_motors else 'joints'
        return self.suspect(
            log,
            pair,
            lambda reading: reading.with_coupling(*pair, ratio, of_motors),
            f'the position of {names[0]} is its own {"+" if ratio > 0.0 else "-"} that of '
            f'{names[1]}, as by a parallelogram or a differential; efforts are those of the '
            f'{whose}',
            'give positions and efforts of the joints',
            amount=ratio,
            penalty=self.penalty,
            certainty=Certainty.LIKELY,
        )
