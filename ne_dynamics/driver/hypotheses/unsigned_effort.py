"""Efforts of which only the size was reported."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog
from ne_dynamics.logs import Certainty, LogReading


@dataclass(frozen=True)
class UnsignedEffort(Hypothesis):
    """The efforts of all joints are absolute values.

    Attributes
    ----------
    decisive : float
        More than of a fault of columns: signs that are free explain more for that alone.
    turned : float
        Part of the samples of some joint whose sign has to be another, at least: a joint that
        gravity loads one way has one sign by itself.
    """

    decisive: float = 20.0
    turned: float = 0.05

    code = 'unsigned'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        if log.reading.is_unsigned or not log.evidence.is_one_sided:
            return []
        signed, recorded = (
            log.evidence.get_effort(reading) for reading in (_undo(log.reading), log.reading)
        )
        turned = (signed * recorded < 0.0).mean(axis=0)
        if turned.max() < self.turned or turned.min() > 1.0 - self.turned:
            return []
        return [
            self.suspect(
                log,
                log.everyone,
                _undo,
                'the efforts are absolute values: none is negative, though the motion takes '
                'efforts of both signs',
                'record efforts with their sign; no option puts it back',
                certainty=Certainty.LIKELY,
            )
        ]


def _undo(reading: LogReading) -> LogReading:
    return replace(reading, is_unsigned=True)
