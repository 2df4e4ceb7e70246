"""Efforts that nothing that was tried explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Certainty
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True)
class Unexplained(Hypothesis):
    """Efforts that have other causes than the motion, whatever the log is taken for.

    Attributes
    ----------
    tried : tuple of str
        Codes of the hypotheses that were tested before.
    most : float
        Part of an effort that must be left.
    nothing : float
        The same from which the effort has nothing to do with the motion.
    doubtful : float
        The same from which nothing that was found is certain enough to be repaired.
    heavy : float
        Effort that the model expects of a joint, as a part of the largest, for that to count:
        where it expects little, noise and what is not modelled may well be all there is, unless
        the joint stands out.
    outstanding : float
        How many times what is left of the other joints' efforts is left where a joint stands out.
    """

    tried: tuple[str, ...] = ()
    most: float = 0.3
    nothing: float = 0.9
    doubtful: float = 0.15
    heavy: float = 0.2
    outstanding: float = 5.0

    code = 'effort-unexplained'
    rival = 'something that was not tried, because much of the efforts is left'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        left = log.evidence.explain(log.reading).left
        heavy = self._find_heavy(log)
        poor, lost = left > self.most, left > self.nothing
        if not (poor & heavy).any():
            return []
        chosen = lost if (lost & heavy).any() else poor & heavy
        is_error = (lost & heavy).any() and (lost | ~heavy).all()
        return [self._describe(log, np.flatnonzero(chosen).tolist(), left, bool(is_error))]

    def is_doubtful(self, log: TestedLog) -> bool:
        """Tell whether so much is left of an effort that the log is not whole."""
        left = log.evidence.explain(log.reading).left
        return bool(((left > self.doubtful) & self._find_heavy(log) | (left > self.most)).any())

    def _find_heavy(self, log: TestedLog) -> NDArray[np.bool_]:
        given = log.evidence.get_given_effort(log.reading)
        expected = rms(given - given.mean(axis=0))
        heavy: NDArray[np.bool_] = expected > self.heavy * max(float(expected.max()), 1e-9)
        effort = log.evidence.get_effort(log.reading)
        sizes = log.evidence.explain(log.reading).left * rms(effort)
        heavy |= sizes > self.outstanding * np.median(sizes)
        return heavy & effort.any(axis=0)

    def give_up(self, log: TestedLog, faults: Sequence[Suspicion]) -> Suspicion:
        """Return that nothing explains a log but more causes than one log has."""
        together = '; '.join(f'{fault.code} ({", ".join(fault.joints)})' for fault in faults)
        return self.suspect(
            log,
            log.everyone,
            lambda reading: reading,
            f'only {len(faults)} faults together would explain the efforts, which is not '
            f'credible: {together}. The description may be of another robot, or joints '
            'may be coupled (a parallelogram, a differential wrist)',
            'compare positions and efforts of some poses with the arm',
            certainty=Certainty.LIKELY,
            is_decisive=True,
        )

    def _describe(
        self, log: TestedLog, joints: list[int], left: FloatArray, is_error: bool
    ) -> Suspicion:
        part = 1.0 - min(float(left[joints].max()), 1.0) ** 2
        return self.suspect(
            log,
            joints,
            lambda reading: reading,
            f'no arm like the given one explains more than {part:.0%} of the effort, whichever '
            f'of these is taken out: {", ".join(self.tried)}. It may not be a torque, something '
            'else may act on the joint (a cable, a spring, a brake), or the description may be of '
            'another robot',
            'move the joint by hand with its brake released and look what else acts on it; give '
            'what the motors applied, and the description of this robot',
            certainty=Certainty.LIKELY,
            severity='error' if is_error else 'warning',
            is_decisive=True,
        )
