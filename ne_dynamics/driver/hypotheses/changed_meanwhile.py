"""Something that changed while the log was recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty


@dataclass(frozen=True)
class ChangedMeanwhile(Hypothesis):
    """The halves of the log are each explained by themselves, but not by one arm.

    Attributes
    ----------
    decisive : float
        Of the effort of one joint: two arms explain noise and what is not modelled a little better
        than one.
    """

    decisive: float = 20.0

    code = 'changed-meanwhile'
    rival = 'something changed while the log was recorded'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.evidence.has_free_factors:
            return []
        whole = log.evidence.explain(log.reading)
        least = EVIDENCE.smallest_sigma * whole.size
        together = np.maximum(whole.left * whole.size, least)
        gains, alone = np.zeros(log.robot.n), []
        for half in log.evidence.split_in_halves():
            explained = half.explain(log.reading)
            alone.append(np.maximum(explained.left * explained.size, least))
            gains += half.count(log.reading) * np.log(together / alone[-1])
        chosen = np.flatnonzero(gains > self.decisive).tolist()
        if not chosen:
            return []
        most = int(np.argmax(gains))
        first, second, both = (float(part[most] / whole.size[most]) for part in (*alone, together))
        return [
            self.suspect(
                log,
                chosen,
                lambda reading: reading,
                f'the halves of the log contradict each other, most at '
                f'{log.robot.joint_names[most]}: by themselves they leave {first:.1%} and '
                f'{second:.1%} of its effort unexplained, together {both:.1%}. Something changed: '
                'a joint or encoder that slips, a contact, a load, friction that warms up, the '
                'gain of a sensor',
                'look for what changed, and give the parts of the log one by one',
                cost=-float(gains.max()),
                certainty=Certainty.LIKELY,
                severity='warning',
            )
        ]
