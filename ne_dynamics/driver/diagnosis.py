"""What is wrong with a log, by cause and joint, before anything is fitted to it."""

from __future__ import annotations

from collections.abc import Mapping
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
    CHANGED_MEANWHILE,
    COMMON_FACTOR,
    HYPOTHESES,
    OTHER_MODEL,
    UNEXPLAINED,
    UNSIGNED,
)
from ne_dynamics.driver.hypotheses.shifted_zero import ShiftedZero
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import as_dynamics, require_joints
from ne_dynamics.logs import Certainty, Log, LogDiagnosis, LogReading
from ne_dynamics.logs.parts import change_in_parts
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.work import Work
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


def diagnose_log(
    model: Robot | Dynamics,
    log: Log,
    *,
    cutoff_frequency: float | None = None,
    has_free_factors: bool = False,
    has_load: bool = False,
    work: Work | None = None,
) -> LogDiagnosis:
    """Find faults of a log: units, signs, order, delays and single bad samples.

    Parameters
    ----------
    model : Robot or Dynamics
        Model of the arm. For a Robot, gravity is (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        Low-pass for positions and efforts [Hz]; default: chosen from the motion.
    has_free_factors : bool
        Whether the effort of each joint may have a unit of its own, such as motor currents: a
        factor is then not a fault.
    has_load : bool
        Whether the arm carries a load that the model does not have.
    work : Work, optional
        Executes the computations on parts of a long log; default: in this process.

    Returns
    -------
    LogDiagnosis

    Raises
    ------
    InputError
        When the log has other joints.
    """
    dynamics = as_dynamics(model)
    robot = dynamics.robot
    require_joints(robot, log)
    work = work or Work()
    repaired, faults = check_samples(robot, log, work)
    evidence = LogEvidence.find(
        dynamics,
        repaired,
        cutoff_frequency,
        has_free_factors=has_free_factors,
        has_load=has_load,
    )
    if evidence is None:
        # Too short or too slow to be filtered, which the fit itself refuses, or of an arm at rest.
        return LogDiagnosis(tuple(faults), (), repaired, LogReading.as_recorded(robot.n))
    named: dict[str, set[str]] = {}
    for fault in faults:
        named.setdefault(fault.code, set()).update(fault.joints)
    search = _FaultSearch(robot, evidence, SearchSettings(), named)
    search.run()
    if any(fault.is_certain for fault in search.faults):
        delay = float(np.abs(search.certain.effort_delay).max())
        repaired = change_in_parts(repaired, search.certain.read_log, work, delay)
    untold = tuple(search.list_untold())
    return LogDiagnosis((*faults, *search.faults), untold, repaired, search.certain)


class _FaultSearch:
    """Takes the likeliest fault, then the next one, until none is decisive.

    `reading` is the log without all faults found, `certain` without those whose repair is.
    `named` are the joints of what its samples show, by code.
    """

    def __init__(
        self,
        robot: Robot,
        evidence: LogEvidence,
        settings: SearchSettings,
        named: Mapping[str, set[str]],
    ) -> None:
        self._robot, self._evidence, self._settings = robot, evidence, settings
        self.reading = self.certain = LogReading.as_recorded(robot.n)
        self.faults: list[Suspicion] = []
        self._tested: list[tuple[Suspicion, Hypothesis]] = []
        self._jumped = named.get('zero-jumps', set())
        self._unrecorded = named.get('effort-dead-band', set())
        self._doubtful: set[str] = set()

    def run(self) -> None:
        """Find all."""
        self.faults += UNSIGNED.test(self._log)
        if self.faults:
            return
        self._find_single()
        for found in COMMON_FACTOR.test(self._log):
            if found.is_decisive:
                self.faults.append(found)
                self.reading = found.reading
                self._find_single()
        self._set_against_other_model()
        if len({fault.code for fault in self.faults}) > self._settings.most_credible:
            self.reading = self.certain = LogReading.as_recorded(self._robot.n)
            self.faults = [UNEXPLAINED.give_up(self._log, self.faults)]
            return
        for found in CHANGED_MEANWHILE.test(self._log):
            self.certain = LogReading.as_recorded(self._robot.n)
            self.faults = [*CHANGED_MEANWHILE.name_beside(self.faults), found]
        if UNEXPLAINED.is_doubtful(self._log):
            self.certain = LogReading.as_recorded(self._robot.n)
            self.faults = UNEXPLAINED.name_beside(self.faults)
        for found in UNEXPLAINED.test(self._log):
            # What does not make the log whole is not what is wrong, or not all.
            self._doubt_all()
            self.faults.append(found)

    def list_untold(self) -> list[str]:
        """Return what this log cannot show."""
        tested = [one for one, _ in self._tested]
        return [
            sentence
            for hypothesis in HYPOTHESES
            for sentence in hypothesis.list_untold(self._log, tested)
        ]

    def _set_against_other_model(self) -> None:
        """Set what was found against one cause of all of it: a description of another robot."""
        recorded = LogReading.as_recorded(self._robot.n)
        for other in OTHER_MODEL.test(TestedLog(self._evidence, self._robot, recorded)):
            # Such a description was compared with one factor on all efforts already.
            costs = (fault.cost for fault in self.faults if fault.code != COMMON_FACTOR.code)
            strongest = min(costs, default=0.0)
            if not other.is_decisive or other.cost > self._settings.comparable * strongest:
                continue
            alike = [fault.code in self._settings.like_other_model for fault in self.faults]
            if not 0 < len(alike) <= self._settings.few:
                self.faults = [name_rivals(other, self.faults)]
                self.reading, self.certain = other.reading, recorded
            elif sum(alike) > 1:
                self._doubt_all()
                self.faults = [
                    name_rivals(fault, [other] * is_alike)
                    for fault, is_alike in zip(self.faults, alike, strict=True)
                ]

    def _doubt_all(self) -> None:
        """Take nothing that was found for certain: nothing is repaired."""
        self.certain = LogReading.as_recorded(self._robot.n)
        self.faults = [replace(fault, certainty=Certainty.LIKELY) for fault in self.faults]

    @property
    def _log(self) -> TestedLog:
        return TestedLog(self._evidence, self._robot, self.reading)

    def _find_single(self) -> None:
        for _ in range(self._settings.most_faults):
            log = self._log
            tested = [
                (one, hypothesis) for hypothesis in HYPOTHESES for one in hypothesis.test(log)
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
            found, hypothesis = best
            rivals = [
                other
                for other, _ in self._tested
                if other.rank < found.rank + self._settings.clear
                and other.cost < 0.5 * found.cost
                and not (other.code == found.code and hypothesis.is_same(found, other))
            ]
            found = name_rivals(found, rivals)
            lasting = (
                [found] if self._is_lasting(found) else CHANGED_MEANWHILE.name_beside([found])
            )
            self.faults += lasting
            self.reading = found.reading
            if found.code == ShiftedZero.code and self._jumped.issuperset(found.joints):
                self.faults.pop()  # Of the jump that is named: which of the two zeros is right?
                continue
            if rivals:
                self._doubtful.update(found.joints, *(rival.joints for rival in rivals))
            if self.faults[-1].is_certain:
                self.certain = found.undo(self.certain)

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
        return max(rises) < self._settings.clear

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
        return recorded - otherwise < self._settings.still_likelier
