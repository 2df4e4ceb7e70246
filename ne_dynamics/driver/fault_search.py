"""The one pass of hypotheses through a log: the likeliest fault, then the next one.

Efforts are torques, as :func:`~ne_dynamics.driver.diagnosis.diagnose_log` takes them, or what they
mean is found along (:func:`find_meaning`): then no unit, sign or delay of them is a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.hypotheses.hypothesis import (
    Hypothesis,
    Suspicion,
    TestedLog,
    name_rivals,
)
from ne_dynamics.driver.hypotheses.row import (
    BEFORE_MEANING,
    BESIDE_MEANING,
    CHANGED_MEANWHILE,
    COLUMN_HYPOTHESES,
    COMMON_FACTOR,
    HYPOTHESES,
    OTHER_MODEL,
    UNEXPLAINED,
    UNSIGNED,
)
from ne_dynamics.driver.hypotheses.shifted_zero import ShiftedZero
from ne_dynamics.driver.meaning import (
    Meaning,
    MeaningSearch,
    find_delay,
    prepare_for_delay,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Certainty, Finding, Log, LogReading
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True)
class SearchSettings:
    """How faults are chosen.

    Attributes
    ----------
    clear : float
        Logarithm of how many times likelier one fault is than another: below it both are named,
        and none is repaired.
    most_faults : int
    still_likelier : float
        By how much a log must be likelier without a fault once friction that turns round over a
        displacement is among the explanations.
    most_credible : int
        More causes than these in one log are none: something explains it that was not tried.
    few : int
        As many faults, or fewer, are taken for themselves, though a description of another robot
        would explain them.
    comparable : float
        Part of what the strongest of the faults explains that such a description has to.
    like_other_model : tuple of str
        Codes of what a description of another robot looks like.
    """

    clear: float = 3.0
    most_faults: int = 8
    still_likelier: float = 1.0
    most_credible: int = 3
    few: int = 2
    comparable: float = 0.25
    like_other_model: tuple[str, ...] = ('effort-scaled', 'efforts-scaled', 'position-scaled')


SEARCH = SearchSettings()
"""Those that count."""


def find_meaning(
    evidence: LogEvidence | None,
    dynamics: Dynamics,
    log: Log,
    of_samples: Sequence[Finding] = (),
) -> tuple[Meaning | None, list[Suspicion]]:
    """Return what the efforts of a log mean, and what is wrong with it beside.

    Parameters
    ----------
    evidence : LogEvidence or None
        Of the log; None where nothing can be told.
    dynamics : Dynamics
    log : Log
    of_samples : sequence of Finding
        What its samples show.

    Returns
    -------
    meaning : Meaning or None
        None where the log does not tell it: the first finding, if there is one, says why.
    faults : list of Suspicion
    """
    robot = dynamics.robot
    if evidence is None:
        return None, []
    joints = np.flatnonzero(evidence.moves & (np.ptp(log.effort, axis=0) > 0.0)).tolist()
    if not joints:
        return None, []
    meanings = MeaningSearch(evidence, robot, joints)
    search = FaultSearch(robot, evidence, of_samples, meanings)
    search.run()
    if search.is_unidentifiable:
        return None, search.faults
    delay = find_delay(prepare_for_delay(dynamics, log), robot, search.reading)
    return meanings.compare_kinds(*delay), search.faults


class FaultSearch:
    """Takes the likeliest fault, then the next one, until none is decisive.

    Parameters
    ----------
    robot : Robot
    evidence : LogEvidence
        Of a log that is telling.
    of_samples : sequence of Finding
        What its samples show.
    meanings : MeaningSearch, optional
        Finds what the efforts mean, anew beside each fault; default: they are torques.

    Attributes
    ----------
    reading, certain : LogReading
        The log without all faults found, and without those whose repair is certain.
    faults : list of Suspicion
    is_unidentifiable : bool
        Whether something makes it impossible to tell what the efforts mean.
    """

    def __init__(
        self,
        robot: Robot,
        evidence: LogEvidence,
        of_samples: Sequence[Finding] = (),
        meanings: MeaningSearch | None = None,
    ) -> None:
        self._robot, self._evidence = robot, evidence
        self._meanings = meanings
        self.reading = self.certain = self._recorded = LogReading.as_recorded(robot.n)
        self._plain = self._recorded
        self.faults: list[Suspicion] = []
        self.is_unidentifiable = False
        self._tested: list[tuple[Suspicion, Hypothesis]] = []
        self._jumped, self._unrecorded = (
            {name for one in of_samples if one.code == code for name in one.joints}
            for code in ('zero-jumps', 'effort-dead-band')
        )
        self._doubtful: set[str] = set()

    def run(self) -> None:
        """Find all."""
        self.faults += UNSIGNED.test(self._log)
        if self.faults:
            self.is_unidentifiable = True
            return
        if self._meanings is None:
            self._find_beside_torques()
        else:
            self._find_beside_meaning(self._meanings)
        self._set_against_other_model()
        if len({fault.code for fault in self.faults}) > SEARCH.most_credible:
            self._take_other(UNEXPLAINED.give_up(self._look(self._recorded), self.faults))
            return
        for found in CHANGED_MEANWHILE.test(self._log):
            self.certain = self._recorded
            self.faults = [*CHANGED_MEANWHILE.name_beside(self.faults), found]
        if UNEXPLAINED.is_doubtful(self._log):
            self.certain = self._recorded
            self.faults = UNEXPLAINED.name_beside(self.faults)
        for found in UNEXPLAINED.test(self._log):
            if self._unrecorded.issuperset(found.joints):
                continue
            # What does not make the log whole is not what is wrong, or not all.
            self._doubt_all()
            self.faults.append(found)

    def list_unidentifiable(self) -> list[str]:
        """Return what this log cannot show."""
        tested = [one for one, _ in self._tested]
        return [
            sentence
            for hypothesis in HYPOTHESES
            for sentence in hypothesis.list_unidentifiable(self._log, tested)
        ]

    def _find_beside_torques(self) -> None:
        self._find_single(HYPOTHESES)
        for found in COMMON_FACTOR.test(self._log):
            if found.is_decisive:
                self.faults.append(found)
                self._take(found)
                self._find_single(HYPOTHESES)

    def _find_beside_meaning(self, meanings: MeaningSearch) -> None:
        """Find faults whatever the efforts mean.

        First what is the likeliest of efforts that are torques, if it explains more than what they
        may mean: another unit, reversed efforts, or gravity that is taken out would stand for it.
        """
        self.reading = meanings.settle(self._plain)
        for _ in range(SEARCH.most_faults):
            tested = [
                (one, hypothesis.decisive)
                for hypothesis in (*BEFORE_MEANING, *COLUMN_HYPOTHESES)
                for one in hypothesis.test(self._look(self._plain))
                if one.is_decisive
            ]
            likeliest = min(tested, key=lambda pair: pair[0].rank, default=None)
            if likeliest is None:
                break
            found, decisive = likeliest
            if meanings.weigh(found.reading) + found.penalty > meanings.cost - decisive:
                break
            self.faults.append(found)
            self._take(found)
        self._find_single(BESIDE_MEANING)
        self.faults += meanings.find_filter()

    def _set_against_other_model(self) -> None:
        """Set what was found against one cause of all of it: a description of another robot."""
        others = [] if self._meanings is None else self._meanings.list_causes()
        for other in self._test_other_model(bool(others)):
            # Such a description was compared with one factor on all efforts already.
            costs = (fault.cost for fault in self.faults if fault.code != COMMON_FACTOR.code)
            strongest = min(costs, default=0.0)
            # As likely as units that are found along, it is among the causes.
            is_likely = other.is_decisive or any(one.code == COMMON_FACTOR.code for one in others)
            if not is_likely or other.cost > SEARCH.comparable * strongest:
                continue
            alike = [fault.code in SEARCH.like_other_model for fault in self.faults]
            if others or not 0 < len(alike) <= SEARCH.few:
                self._take_other(name_rivals(other, [*self.faults, *others]))
            elif sum(alike) > 1:
                self._doubt_all()
                self.faults = [
                    name_rivals(fault, [other] * is_alike)
                    for fault, is_alike in zip(self.faults, alike, strict=True)
                ]

    def _test_other_model(self, is_suspect: bool) -> list[Suspicion]:
        log = self._look(self._recorded)
        if self._meanings is None:
            return OTHER_MODEL.test(log)
        if is_suspect or self.faults or UNEXPLAINED.is_doubtful(self._log):
            return [OTHER_MODEL.compare(log, self._meanings.weigh)]
        return []

    def _take_other(self, other: Suspicion) -> None:
        """Take one cause in the place of all that was found."""
        self.faults, self.certain, self._plain = [other], self._recorded, self._recorded
        self._take(other)
        self.is_unidentifiable = True

    def _doubt_all(self) -> None:
        """Take nothing that was found for certain: nothing is repaired."""
        self.certain = self._recorded
        self.faults = [replace(fault, certainty=Certainty.LIKELY) for fault in self.faults]

    def _take(self, found: Suspicion) -> None:
        """Read the log without one more fault; take its efforts for what they mean then."""
        self._plain = found.undo(self._plain)
        self.reading = self._plain
        if self._meanings is not None:
            self.reading = self._meanings.settle(self._plain)

    def _look(self, reading: LogReading) -> TestedLog:
        return TestedLog(self._evidence, self._robot, reading)

    @property
    def _log(self) -> TestedLog:
        return self._look(self.reading)

    def _find_single(self, hypotheses: Sequence[Hypothesis]) -> None:
        for _ in range(SEARCH.most_faults):
            log = self._log
            tested = [
                (one, hypothesis) for hypothesis in hypotheses for one in hypothesis.test(log)
            ]
            self._tested = sorted(tested, key=lambda pair: pair[0].rank)
            # What follows from a choice between two causes is no fault of its own.
            best = next(
                (
                    pair
                    for pair in self._tested
                    if pair[0].is_decisive
                    and not self._doubtful.issuperset(pair[0].joints)
                    and not self._is_of_unrecorded(pair[0])
                    and not self._is_friction(pair[0])
                ),
                None,
            )
            if best is None:
                return
            found, hypothesis = self._choose_kind(*best), best[1]
            rivals = [
                other
                for other, _ in self._tested
                if other.rank < found.rank + SEARCH.clear
                and other.cost < 0.5 * found.cost
                and not (other.code == found.code and hypothesis.is_same(found, other))
                and not (other.rank < found.rank and self._is_friction(other))
            ]
            found = name_rivals(found, rivals)
            lasting = (
                [found] if self._is_lasting(found) else CHANGED_MEANWHILE.name_beside([found])
            )
            self.faults += lasting
            self._take(found)
            if found.code == ShiftedZero.code and self._jumped.issuperset(found.joints):
                self.faults.pop()  # Of the jump that is named: which of the two zeros is right?
                continue
            if rivals:
                self._doubtful.update(found.joints, *(rival.joints for rival in rivals))
            if self.faults[-1].is_certain:
                self.certain = found.undo(self.certain)

    def _choose_kind(self, found: Suspicion, hypothesis: Hypothesis) -> Suspicion:
        """Return which kind of a fault leaves efforts that mean the likeliest.

        Where they may be in any unit, the effort of one joint by itself tells no kind.
        """
        meanings = self._meanings
        if meanings is None:
            return found
        kinds = hypothesis.list_kinds(self._log, found)
        if len(kinds) == 1:
            return found
        return min(kinds, key=lambda one: meanings.weigh(one.undo(self._plain)))

    def _is_of_unrecorded(self, suspicion: Suspicion) -> bool:
        """Tell whether a fault is of single joints of which efforts were not recorded."""
        is_single = len(suspicion.joints) < self._robot.n
        return is_single and not self._unrecorded.isdisjoint(suspicion.joints)

    def _is_lasting(self, found: Suspicion) -> bool:
        """Tell whether neither half of the log is likelier with a fault than without it."""
        rises = [
            half.explain(found.reading).cost - half.explain(self.reading).cost
            for half in self._halves
        ]
        return max(rises) < SEARCH.clear

    @cached_property
    def _halves(self) -> tuple[LogEvidence, LogEvidence]:
        return self._evidence.split_in_halves()

    @cached_property
    def _with_path(self) -> LogEvidence:
        return self._evidence.with_paths()

    def _is_friction(self, suspicion: Suspicion) -> bool:
        """Return whether a fault is none once friction may turn round over a displacement.

        Such friction is late behind the velocity, as a late effort is; and what it leaves of an
        effort, another fault may explain a little of.
        """
        recorded, otherwise = (
            self._with_path.explain(reading).cost for reading in (self.reading, suspicion.reading)
        )
        return recorded - otherwise < SEARCH.still_likelier
