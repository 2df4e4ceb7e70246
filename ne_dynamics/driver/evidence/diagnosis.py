"""What is wrong with a log, by cause and joint, before anything is fitted to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.evidence.evidence import LogEvidence, choose_evidence_cutoff
from ne_dynamics.driver.evidence.fault_words import describe_fault
from ne_dynamics.driver.evidence.hypotheses import (
    Hypothesis,
    list_offsets,
    weigh_hypotheses,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import as_dynamics, require_joints, rms
from ne_dynamics.logs import Diagnosis, Log, LogFault, LogReading
from ne_dynamics.logs.parts import change_in_parts, join, look
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

DECISIVE = 6.0
"""Logarithm of how many times likelier a log must be with a fault than without, to report it."""

CLEAR = 3.0
"""The same, of one fault against another: below it both are named, and none is repaired."""

MOST_FAULTS = 8

DELAY_DECISIVE = 3.0
"""The same as DECISIVE, of a delay of all efforts."""

STILL_LIKELIER = 1.0
"""The same, of any fault, once friction that turns round over a displacement is among the
explanations."""

SHORTEST_DELAY = 3e-3
"""Delays below this are not reported [s]: stamps are no better."""

DELAY_DEVIATIONS = 2.5
"""Standard deviations that a delay is off zero, at least."""

SMALLEST_FACTOR = 1.3
"""Factors on the effort of one joint nearer to 1 than this are not reported."""

DOUBTFUL_COMMON = 1.7
WRONG_COMMON = 2.0
"""Factors between all efforts and those of the given model that are doubtful, and wrong."""

UNEXPLAINED = 0.9
"""Part of an effort that must be left for it to be called unexplained."""

SHOWN = 2.0
"""By how much a cost must change for a log to show something."""


@dataclass(frozen=True, eq=False)
class LogDiagnosis(Diagnosis):
    """What is wrong with a log in memory.

    Attributes
    ----------
    repaired : Log
        The log without the faults whose repair is certain.
    reading : LogReading
        What was repaired of it by reading its columns otherwise.
    """

    repaired: Log
    reading: LogReading


def diagnose_log(
    model: Robot | Dynamics,
    log: Log,
    *,
    cutoff_frequency: float | None = None,
    has_free_factors: bool = False,
    has_load: bool = False,
    work: Work | None = None,
) -> LogDiagnosis:
    """Find what is wrong with a log: units and causes in parts of a long one, samples in all.

    Parameters
    ----------
    model : Robot or Dynamics
        The given model. A Robot stands upright: gravity (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        Low-pass for positions and efforts [Hz]; default: from the motion.
    has_free_factors : bool
        Whether the effort of each joint is in a unit of its own, as motor currents are: a factor
        on it is no fault then.
    has_load : bool
        Whether the arm is said to carry something that the given model has not.
    work : Work, optional
        How the parts of a long log are looked at; default: by this process.

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
    looked = look(repaired)
    if cutoff_frequency is None and len(looked) > 1:
        cutoff_frequency = max(map(choose_evidence_cutoff, looked))
    weighed = weigh_log(
        dynamics,
        join(looked),
        cutoff_frequency,
        has_free_factors=has_free_factors,
        has_load=has_load,
    )
    if weighed is None:
        return LogDiagnosis(tuple(faults), (), repaired, LogReading.as_recorded(robot.n))
    others, untold, reading = weighed
    if any(fault.is_certain for fault in others):
        delay = float(np.abs(reading.effort_delay).max())
        repaired = change_in_parts(repaired, reading.read_log, work, delay)
    return LogDiagnosis((*faults, *others), untold, repaired, reading)


def weigh_log(
    dynamics: Dynamics,
    log: Log,
    cutoff_frequency: float | None = None,
    *,
    has_free_factors: bool = False,
    has_load: bool = False,
) -> tuple[tuple[LogFault, ...], tuple[str, ...], LogReading] | None:
    """Find what is wrong with a log by what explains its efforts best.

    Parameters
    ----------
    dynamics : Dynamics
        The given model.
    log : Log
        Without faults that samples show by themselves.
    cutoff_frequency : float, optional
        [Hz]
    has_free_factors, has_load : bool
        As :func:`diagnose_log` takes them.

    Returns
    -------
    faults, untold, reading
        What was found, what the log cannot show, and how it is to be read so that the faults are
        gone whose repair is certain. None for a log that tells nothing.
    """
    try:
        evidence = LogEvidence(dynamics, log, cutoff_frequency, has_free_factors, has_load)
    except InputError:
        # Too short or too slow to be filtered, which the fit itself refuses.
        return None
    if not evidence.is_telling:
        return None

    def find_evidence_with_path() -> LogEvidence:
        return LogEvidence(
            dynamics, log, cutoff_frequency, has_free_factors, has_load, has_path=True
        )

    search = _Search(dynamics.robot, evidence, find_evidence_with_path)
    search.run()
    return tuple(search.faults), tuple(search.list_untold()), search.certain


class _Search:
    """Takes the likeliest fault, then the next one, until none is decisive.

    `reading` is the log without all faults found, `certain` without those whose repair is.
    """

    def __init__(
        self, robot: Robot, evidence: LogEvidence, with_path: Callable[[], LogEvidence]
    ) -> None:
        self._robot, self._evidence = robot, evidence
        self._find_with_path = with_path
        self._with_path: LogEvidence | None = None
        self.reading = self.certain = LogReading.as_recorded(robot.n)
        self.faults: list[LogFault] = []
        self._last: list[Hypothesis] = []
        self._doubtful: set[int] = set()

    def run(self) -> None:
        """Find all."""
        self._find_single()
        if not self._evidence.has_free_factors and self._find_common_factor():
            self._find_single()
        self._find_unexplained()

    def _find_single(self) -> None:
        for _ in range(MOST_FAULTS):
            weighed = weigh_hypotheses(self._evidence, self._robot, self.reading)
            if not self._evidence.has_free_factors:
                weighed += list_offsets(self._evidence, self.reading)
                weighed.sort(key=lambda hypothesis: hypothesis.rank)
            self._last = weighed
            # What follows from a choice between two causes is no fault of its own.
            best = next(
                (
                    hypothesis
                    for hypothesis in weighed
                    if _is_decisive(hypothesis)
                    and not self._doubtful.issuperset(hypothesis.joints)
                    and not self._is_friction(hypothesis)
                ),
                None,
            )
            if best is None:
                return
            rivals = [
                other
                for other in weighed
                if other.rank < best.rank + CLEAR
                and other.cost < 0.5 * best.cost
                and not _is_same(other, best)
            ]
            self.faults.append(describe_fault(self._robot, best, rivals))
            self.reading = best.reading
            if rivals:
                self._doubtful.update(best.joints, *(rival.joints for rival in rivals))
            if self.faults[-1].is_certain:
                self.certain = _repeat(self.certain, best)

    def _is_friction(self, hypothesis: Hypothesis) -> bool:
        """Return whether a fault is none once friction may turn round over a displacement.

        Such friction is late behind the velocity, as a late effort is; and what it leaves of an
        effort, another fault may explain a little of.
        """
        if self._with_path is None:
            self._with_path = self._find_with_path()
        recorded, otherwise = (
            self._with_path.explain(reading).cost for reading in (self.reading, hypothesis.reading)
        )
        return recorded - otherwise < STILL_LIKELIER

    def _find_common_factor(self) -> bool:
        factor, spread = self._compare_with_given()
        ratio = max(factor, 1.0 / factor)
        if ratio < DOUBTFUL_COMMON:
            return False
        severity = 'error' if ratio >= WRONG_COMMON else 'warning'
        everyone = tuple(range(self._robot.n))
        self.faults.append(
            LogFault(
                severity,
                'efforts-scaled',
                self._robot.joint_names,
                f'all efforts are about {factor:.3g} of what the given model takes (from joint '
                f'to joint within a factor of {spread:.2g}): motor currents, another unit, '
                'efforts before the gear, or a model with wrong masses; the log alone cannot tell '
                'which',
                f'give torques: --scale all=FACTOR, or joint by joint (about {1.0 / factor:.3g} '
                'would suit the given model)',
                False,
                1.0 / factor,
            )
        )
        self.reading = self.reading.with_effort(everyone, factor=1.0 / factor)
        return True

    def _compare_with_given(self) -> tuple[float, float]:
        """Return the factor between measured efforts and the given model's, and its spread."""
        found = compare_with_given(self._evidence, self.reading)
        return found.middle, found.spread

    def _find_unexplained(self) -> None:
        left = self._evidence.explain(self.reading).left
        given = self._evidence.get_given_effort(self.reading)
        measured = self._evidence.get_effort(self.reading)
        poor = left > UNEXPLAINED
        names = tuple(np.array(self._robot.joint_names)[poor])
        # Where the model expects little, noise and what is not modelled may well be all there is.
        expected: FloatArray = rms(given - given.mean(axis=0))
        heavy = expected > 0.2 * np.maximum(expected.max(), 1e-9)
        if not (poor & heavy & measured.any(axis=0)).any():
            return
        self.faults.append(
            LogFault(
                'error' if (poor | ~heavy).all() else 'warning',
                'effort-unexplained',
                names,
                f'no arm like the given one explains more than {1.0 - UNEXPLAINED**2:.0%} of the '
                'effort: it may not be a torque, or gravity and friction may be taken out of it',
                'give what the motors applied',
                False,
            )
        )

    def list_untold(self) -> list[str]:
        """Return what this log cannot show."""
        names = self._robot.joint_names
        sentences = []
        zeros = []
        for joint in range(self._robot.n):
            costs = [
                hypothesis.cost
                for hypothesis in self._last
                if hypothesis.cause == 'zero-offset' and hypothesis.joints == (joint,)
            ]
            if costs and max(costs) < SHOWN:
                zeros.append(names[joint])
        if zeros:
            sentences.append(
                f'where the zero of {", ".join(zeros)} is: its efforts do not depend on it'
            )
        if self._evidence.has_free_factors:
            sentences.append('where the zeros of the positions are, and factors on efforts')
        else:
            sentences += self._list_untold_factors()
        delays = [
            DELAY_DEVIATIONS * hypothesis.deviation
            for hypothesis in self._last
            if hypothesis.cause == 'effort-delay' and len(hypothesis.joints) == self._robot.n
        ]
        if delays and delays[0] > SHORTEST_DELAY:
            size = f' below {1e3 * delays[0]:.0f} ms' if math.isfinite(delays[0]) else ''
            sentences.append(f'a delay of the efforts{size}')
        if not self._evidence.has_free_factors:
            sentences.append('one common factor on all efforts, beyond what the given masses say')
        return sentences

    def _list_untold_factors(self) -> list[str]:
        base = self._evidence.explain(self.reading).cost
        factors = []
        for joint, name in enumerate(self._robot.joint_names):
            costs = [
                self._evidence.explain(self.reading.with_effort((joint,), factor=factor)).cost
                for factor in (0.5, 2.0)
            ]
            if min(costs) < base + SHOWN:
                factors.append(name)
        return [f'a factor of 2 on the effort of {", ".join(factors)}'] if factors else []


def _is_decisive(hypothesis: Hypothesis) -> bool:
    if hypothesis.cause == 'effort-delay':
        return (
            hypothesis.cost < -(DECISIVE if len(hypothesis.joints) == 1 else DELAY_DECISIVE)
            and abs(hypothesis.amount) >= SHORTEST_DELAY
            and abs(hypothesis.amount) > DELAY_DEVIATIONS * hypothesis.deviation
        )
    if hypothesis.cause == 'effort-offset':
        return hypothesis.rank < -DECISIVE
    if hypothesis.cause == 'effort-scaled':
        ratio = max(hypothesis.amount, 1.0 / hypothesis.amount)
        return hypothesis.cost < -DECISIVE and ratio >= SMALLEST_FACTOR
    return hypothesis.cost < -DECISIVE


def _is_same(one: Hypothesis, other: Hypothesis) -> bool:
    """Tell whether two hypotheses are of one cause; a delay of all holds that of each joint."""
    if one.cause != other.cause:
        return False
    if one.cause == 'effort-offset':
        return True
    if one.cause == 'effort-delay':
        return one.joints == other.joints or max(len(one.joints), len(other.joints)) > 1
    return one.joints == other.joints and one.amount == other.amount


def _repeat(reading: LogReading, hypothesis: Hypothesis) -> LogReading:
    """Return a reading with what a hypothesis changes, as it changes its own."""
    joints, amount = hypothesis.joints, hypothesis.amount
    match hypothesis.cause:
        case 'wrong-sign' | 'effort-scaled':
            return reading.with_effort(joints, factor=amount)
        case 'position-sign' | 'degrees':
            return reading.with_position(joints, factor=amount)
        case 'axis-sign':
            flipped = reading.with_position(joints, factor=amount)
            return flipped.with_effort(joints, factor=amount)
        case 'zero-offset':
            return reading.with_position(joints, offset=amount)
        case 'effort-delay':
            return reading.with_effort(joints, delay=amount)
        case 'effort-offset':
            return reading.with_effort_offset(joints, hypothesis.amounts)
    first, second = joints
    return reading.with_swap(
        first,
        second,
        position=hypothesis.cause != 'efforts-swapped',
        effort=hypothesis.cause != 'positions-swapped',
    )
