"""What a hypothesis on a log is tested on, and what a test comes to."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.logs import Certainty, Finding, LogReading
from ne_dynamics.model.robot import Robot

Undo = Callable[[LogReading], LogReading]
"""From a reading that has a fault to the same without it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Suspicion(Finding):
    """A finding that the efforts of a log bear out, or not.

    Attributes
    ----------
    undo : callable
    reading : LogReading
        The log as it is read so far, without this fault.
    cost : float
        Of the log in that reading, less its cost as it is.
    penalty : float
        What the fault costs beforehand: an amount that is free to be chosen, and what seldom
        happens.
    deviation : float
        Standard deviation of the amount, of a factor as a part of it; 0 where it is exact.
    is_decisive : bool
        Whether the log is so much likelier without it that it is said.
    """

    undo: Undo
    reading: LogReading
    cost: float
    penalty: float = 0.0
    deviation: float = 0.0
    is_decisive: bool = False

    @property
    def rank(self) -> float:
        """Cost with what the fault costs beforehand."""
        return self.cost + self.penalty


@dataclass(frozen=True, eq=False)
class TestedLog:
    """A log as it is read so far: what hypotheses of one more fault are tested on.

    Attributes
    ----------
    evidence : LogEvidence
    robot : Robot
        The given model.
    reading : LogReading
        What has been found so far.
    """

    __test__ = False  # of pytest

    evidence: LogEvidence
    robot: Robot
    reading: LogReading

    @cached_property
    def cost(self) -> float:
        """Of the log in that reading."""
        return self.evidence.explain(self.reading).cost

    @property
    def everyone(self) -> tuple[int, ...]:
        """All joints."""
        return tuple(range(self.robot.n))

    @property
    def turning(self) -> tuple[int, ...]:
        """Joints whose positions are angles."""
        return tuple(j for j in self.everyone if not self.robot.joints[j].type.is_prismatic)

    @property
    def moving(self) -> tuple[int, ...]:
        """Joints that move."""
        moves = self.evidence.moves[self.reading.position_source]
        return tuple(joint for joint in self.everyone if moves[joint])

    def weigh(self, reading: LogReading) -> float:
        """Return the cost of the log in another reading, less that in the present one."""
        return self.evidence.explain(reading).cost - self.cost

    def weigh_unknowns(self, reading: LogReading) -> float:
        """Return what :meth:`weigh` does for a reading with more unknowns, less what these win.

        More unknowns explain more for that alone.
        """
        more = self.evidence.explain(reading).freedom
        return self.weigh(reading) + more - self.evidence.explain(self.reading).freedom

    def weigh_residuals(self, reading: LogReading) -> float:
        """Return what :meth:`weigh` does for what is left of the efforts alone.

        The rest of that is how far the arm is from the given one.
        """
        before, after = (
            np.log(np.maximum(self.evidence.explain(one).left, EVIDENCE.smallest_sigma))
            for one in (self.reading, reading)
        )
        return float(self.evidence.count(self.reading) @ (after - before))

    def get_names(self, joints: Sequence[int]) -> tuple[str, ...]:
        """Return the names of joints."""
        return tuple(self.robot.joint_names[joint] for joint in joints)


class Hypothesis(abc.ABC):
    """One cause of what is wrong with a log. One class a file.

    What a subclass takes for likely, decisive or small are its fields.
    """

    code: str
    """Of its findings."""

    rival: str = ''
    """What it says of itself where it may stand behind another finding."""

    decisive: float = 6.0
    """Logarithm of how many times likelier a log must be without a fault, for that to be said."""

    @abc.abstractmethod
    def test(self, log: TestedLog) -> list[Suspicion]:
        """Return what the fault may be: of which joints, by how much, how likely each."""

    def list_unidentifiable(self, log: TestedLog, tested: Sequence[Suspicion]) -> list[str]:
        """Return what a log cannot show of this cause, each a sentence.

        Parameters
        ----------
        log : TestedLog
            Without all faults that were found.
        tested : sequence of Suspicion
            All that came of the last test.
        """
        return []

    def name_beside(self, faults: Sequence[Suspicion]) -> list[Suspicion]:
        """Return faults behind which this cause may stand, with it; none is certain."""
        return [
            fault
            if fault.what.endswith(self.rival)
            else replace(
                fault, what=f'{fault.what}; or else {self.rival}', certainty=Certainty.LIKELY
            )
            for fault in faults
        ]

    def list_kinds(self, log: TestedLog, found: Suspicion) -> list[Suspicion]:
        """Return a fault of this cause in each of its kinds, by the same amount."""
        return [found]

    def is_same(self, one: Suspicion, other: Suspicion) -> bool:
        """Tell whether two suspicions of this cause are one fault."""
        return one.joints == other.joints and one.amount == other.amount

    def suspect(
        self,
        log: TestedLog,
        joints: Sequence[int],
        undo: Undo,
        what: str,
        remedy: str,
        *,
        amount: float = 0.0,
        cost: float | None = None,
        penalty: float = 0.0,
        deviation: float = 0.0,
        certainty: Certainty = Certainty.KNOWN,
        severity: str = 'error',
        is_decisive: bool | None = None,
    ) -> Suspicion:
        """Return a suspicion, its cost computed where it is not given."""
        reading = undo(log.reading)
        cost = log.weigh(reading) if cost is None else cost
        return Suspicion(
            self.code,
            log.get_names(joints),
            what,
            amount,
            certainty,
            remedy,
            severity,
            undo=undo,
            reading=reading,
            cost=cost,
            penalty=penalty,
            deviation=deviation,
            is_decisive=cost < -self.decisive if is_decisive is None else is_decisive,
        )


def get_option(names: Sequence[str]) -> str:
    """Return whose an option of `identify` is: the joint's name, or all."""
    return names[0] if len(names) == 1 else 'all'


def name_rivals(found: Suspicion, rivals: Sequence[Finding], most: int = 3) -> Suspicion:
    """Return a fault with what explains the log about as well, `most` of that at most."""
    if not rivals:
        return found
    others = '; '.join(
        sorted({f'{rival.what} ({", ".join(rival.joints)})' for rival in rivals[:most]})
    )
    what = f'{found.what}; or else, which this log does not tell apart: {others}'
    return replace(found, what=what, certainty=Certainty.LIKELY)
