"""What efforts mean that go with a motion: the likeliest reading, and how likely others are.

An effort e_j that is reported, or commanded, is read as

    e_j = sign_j * factor_j * (torque_j - gravity_j or not) + constant_j

with the torque of an arm near the given one, friction of its own included (zero where the driver
takes it out). Gravity is in the efforts of all joints or of none. A factor is 1, in N m, or any:
of a motor current, of a torque before the gear, of another unit; beforehand it is within
e^(+-`factor_prior_scale`). Each of the four kinds is fitted
(:class:`~ne_dynamics.driver.evidence.evidence.LogEvidence`), with the signs and a delay. Kinds are
compared by cost and freedom, and by how far factors are from those of other joints.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.evidence.effort_fit import JointTerms
from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.evidence.likeliest import choose_signs, search_minimum
from ne_dynamics.driver.evidence.thresholds import EVIDENCE
from ne_dynamics.driver.hypotheses.hypothesis import Suspicion, TestedLog
from ne_dynamics.driver.hypotheses.late_effort import FILTERED, LateEffort
from ne_dynamics.driver.hypotheses.reversed_sign import AXIS_REVERSED, EFFORT_REVERSED
from ne_dynamics.driver.thresholds import MEANING
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import rms
from ne_dynamics.logs import Finding, Log, LogReading
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot

SAME_UNIT = math.log(1.6)
OTHER_UNIT = math.log(2.0)
"""Factors within the first are none: so far may the given masses be off. From the second on they
are another unit."""

REACH = math.log(3.0)
"""How far a factor is looked for each time."""

PROFILE = np.array([-6, -4.5, -3, -2, -1.4, -1.05, -0.7, -0.45, -0.2])
PROFILE = np.concatenate([PROFILE, [0.0], -PROFILE[::-1]])
"""Logarithms of factors at which costs are compared."""

ANY_DELAY = LateEffort(shortest=1e-3)
"""Taken out, where it is decisive, before kinds are compared."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """The likeliest reading of the efforts of a log, and how much likelier it is than others.

    Gains are logarithms of how many times likelier.

    Attributes
    ----------
    reading : LogReading
        Its factors turn what is reported into N m or N.
    gravity_gain : float
        Of gravity in the efforts, or not in them, whichever is likelier, over the other.
    unit_gain : float
        Of efforts in N m over another unit of all of them; negative: of another unit.
    joint_unit_gains : array, shape (n,)
        The same of each joint, given the others.
    sign_gains : array, shape (n,)
        Of the sign of each effort over the other one.
    factor_deviations : array, shape (n,)
        Standard deviations of the logarithms of the factors, given the others'; the masses of the
        given model apart.
    left : array, shape (n,)
        Part of each effort that stays unexplained.
    terms : JointTerms
        Of the reading, in N m or N.
    size : array, shape (n,)
        Root mean square of the efforts in the reading [N m or N].
    gravity_share : array, shape (n,)
        Part of them that gravity makes by the given model.
    delay, delay_deviation : float
        Of the efforts behind the motion [s].
    """

    reading: LogReading
    gravity_gain: float
    unit_gain: float
    joint_unit_gains: FloatArray
    sign_gains: FloatArray
    factor_deviations: FloatArray
    left: FloatArray
    terms: JointTerms
    size: FloatArray
    gravity_share: FloatArray
    delay: float
    delay_deviation: float

    @property
    def without_gravity(self) -> bool:
        """Whether gravity was taken out of the efforts."""
        return self.reading.without_gravity

    @property
    def signs(self) -> FloatArray:
        """Sign of each effort, shape (n,)."""
        signs: FloatArray = np.sign(self.reading.effort_factor)
        return signs


@dataclass(frozen=True, eq=False)
class _Trial:
    reading: LogReading
    cost: float
    is_free: bool
    filter: Suspicion | None


def prepare_for_delay(
    dynamics: Dynamics, log: Log, cutoff_frequency: float = MEANING.delay_cutoff
) -> LogEvidence | None:
    """Return what a delay is told from; None where the log has no such samples.

    Parameters
    ----------
    dynamics : Dynamics
    log : Log
    cutoff_frequency : float
        [Hz]; less where the log has too few samples for it.

    Returns
    -------
    LogEvidence or None
    """
    rate = 1.0 / float(np.median(np.diff(log.times)))
    cutoff = min(cutoff_frequency, rate / EVIDENCE.samples_per_cutoff)
    return LogEvidence.find(dynamics, log, cutoff, reversal_margin=MEANING.reversal_margin)


def find_delay(
    evidence: LogEvidence | None, robot: Robot, reading: LogReading
) -> tuple[float, float]:
    """Return the delay of the efforts behind the motion, and its standard deviation [s].

    Parameters
    ----------
    evidence : LogEvidence or None
        See :func:`prepare_for_delay`.
    robot : Robot
    reading : LogReading
        Of the efforts, whatever delays it has.

    Returns
    -------
    tuple of float
        NaN and infinity without evidence.
    """
    if evidence is None:
        return math.nan, math.inf
    delays = reading.effort_delay - np.median(reading.effort_delay)
    log = TestedLog(evidence, robot, replace(reading, effort_delay=delays))
    found = LateEffort().test_joints(log, log.everyone)
    return found.amount, found.deviation


class MeaningSearch:
    """What the efforts of a log mean: the four kinds of reading, each at its likeliest.

    Parameters
    ----------
    evidence : LogEvidence
        Of the log, and telling.
    robot : Robot
    joints : list of int
        Those that move and report an effort that changes.
    """

    def __init__(self, evidence: LogEvidence, robot: Robot, joints: list[int]) -> None:
        self._evidence, self._robot, self._joints = evidence, robot, joints
        self._trials: list[_Trial] = []
        self._own = np.ones(robot.n)

    @property
    def cost(self) -> float:
        """Of the likeliest kind of the reading that was settled on last."""
        return self._best.cost

    def settle(self, base: LogReading) -> LogReading:
        """Return a reading with the efforts as they are likeliest.

        Parameters
        ----------
        base : LogReading
            Without the faults that were found; its efforts are else as recorded.
        """
        self._trials = self._run(base)
        return self._best.reading

    def weigh(self, base: LogReading) -> float:
        """Return the cost of the likeliest kind in another reading, without settling on it."""
        return min(trial.cost for trial in copy.copy(self)._run(base))

    def find_filter(self) -> list[Suspicion]:
        """Return the low-pass of all efforts in what was settled on, where there is one."""
        return [self._best.filter] if self._best.filter is not None else []

    def list_causes(self) -> list[Finding]:
        """Return what makes the efforts of what was settled on no torques, as causes."""
        names, found = self._robot.joint_names, []
        if self._best.is_free:
            what = 'the efforts are in other units, as motor currents are'
            found.append(Finding('efforts-scaled', names, what, remedy='give efforts in N m'))
        turned = np.flatnonzero(self._best.reading.effort_factor < 0.0)
        if turned.size:
            what = 'the effort has the opposite sign'
            joints = tuple(names[joint] for joint in turned)
            found.append(Finding('wrong-sign', joints, what, remedy='turn its sign round'))
        return found

    @property
    def _best(self) -> _Trial:
        return min(self._trials, key=lambda trial: trial.cost)

    def _run(self, base: LogReading) -> list[_Trial]:
        self._own = np.abs(base.effort_factor)
        trials, starts = list[_Trial](), []
        for without_gravity in (False, True):
            start = replace(base, without_gravity=without_gravity)
            factors = compare_with_given(self._evidence, start).factors
            starts.append((start, factors))
            trials.append(self._fit(start, factors, False))
        least = min(trial.cost for trial in trials)
        return trials + [
            self._fit(start, factors, True)
            for (start, factors), trial in zip(starts, trials, strict=True)
            if trial.cost < least + MEANING.hopeless_cost
        ]

    def _cost(self, reading: LogReading) -> float:
        """Return the cost of a reading with its freedom, and with what factors cost beforehand."""
        explained = self._evidence.explain(reading)
        sizes = self._get_logarithms(reading, self._joints) / MEANING.factor_prior_scale
        return explained.cost + explained.freedom + 0.5 * float(sizes @ sizes)

    def _get_logarithms(self, reading: LogReading, joints: list[int]) -> FloatArray:
        """Return the logarithms of the sizes of factors, those of faults apart."""
        logarithms: FloatArray = np.log(np.abs(reading.effort_factor) / self._own)[joints]
        return logarithms

    def _fit(self, start: LogReading, factors: FloatArray, is_free: bool) -> _Trial:
        chosen = np.zeros(factors.size, dtype=bool)
        chosen[self._joints] = True
        sizes = np.abs(factors) if is_free else np.ones_like(factors)
        sizes = np.clip(np.where(sizes > 0.0, sizes, 1.0), 1e-4, 1e4)
        first = np.where(chosen, np.where(factors < 0.0, -1.0, 1.0) / sizes, 1.0)
        begin = replace(start, effort_factor=start.effort_factor * first)
        reading = self._refine(begin, is_free)
        log = TestedLog(self._evidence, self._robot, reading)
        delay = ANY_DELAY.test_filter(log, log.everyone)
        if delay.is_decisive:
            reading = self._refine(delay.reading, is_free)
        cost = self._cost(reading)
        if is_free:
            cost += len(self._joints) * math.log(MEANING.factor_prior_scale / MEANING.factor_known)
            cost += MEANING.current_without_gravity * start.without_gravity
            logs = self._get_logarithms(reading, self._joints) / MEANING.unlike_drives
            cost += 0.5 * float(((logs - logs.mean()) ** 2).sum())
        return _Trial(reading, cost, is_free, delay if delay.code == FILTERED else None)

    def _refine(self, reading: LogReading, is_free: bool) -> LogReading:
        before = self._cost(reading)
        for _ in range(MEANING.passes):
            # Whatever the sign, there are as many unknowns.
            reading, _ = choose_signs(
                lambda one: self._evidence.explain(one).cost, reading, self._joints
            )
            cost = self._cost(reading)
            if is_free:
                for joints in ([joint] for joint in self._joints):
                    reading, cost = self._search_factor(reading, cost, joints)
                reading, cost = self._search_factor(reading, cost, self._joints)
            if before - cost < 0.1:
                break
            before = cost
        return reading

    def _search_factor(
        self, reading: LogReading, cost: float, joints: list[int]
    ) -> tuple[LogReading, float]:
        def cost_of(logarithm: float) -> float:
            return self._cost(reading.with_effort(joints, factor=math.exp(logarithm)))

        place, found = search_minimum(cost_of, -REACH, REACH, MEANING.factor_step)
        if found >= cost:
            return reading, cost
        return reading.with_effort(joints, factor=math.exp(place)), found

    def compare_kinds(self, delay: float, deviation: float) -> Meaning:
        """Return the likeliest kind of what was settled on, with what tells it from others.

        Parameters
        ----------
        delay, deviation : float
            See :func:`find_delay`.
        """
        evidence, best, n = self._evidence, self._best, self._robot.n
        reading, costs = best.reading, dict[bool, float]()
        other = math.inf
        for trial in self._trials:
            if trial.reading.without_gravity == reading.without_gravity:
                costs[trial.is_free] = trial.cost
            else:
                other = min(other, trial.cost)
        gains, deviations = np.zeros(n), np.full(n, math.inf)
        for joint in self._joints:
            gains[joint], deviations[joint] = self._compare_units(reading, [joint])
        common, _ = self._compare_units(reading, self._joints)
        kinds = costs[True] - costs[False] if True in costs else math.inf
        # N m is one value; one other factor of all efforts costs something beforehand.
        supposed = common + math.log(MEANING.factor_prior_scale / MEANING.factor_known)
        if kinds > 0.0:
            unit_gain = max(min(kinds, supposed), 0.0)
        else:
            unit_gain = min(max(kinds, common), 0.0)
        size = np.maximum(rms(evidence.get_effort(reading)), 1e-12)
        with_gravity, without = (
            evidence.get_given_effort(replace(reading, without_gravity=is_out))
            for is_out in (False, True)
        )
        return Meaning(
            reading=reading,
            gravity_gain=other - best.cost,
            unit_gain=unit_gain,
            joint_unit_gains=gains,
            sign_gains=np.array([self._compare_signs(reading, joint) for joint in range(n)]),
            factor_deviations=deviations,
            left=evidence.explain(reading).left,
            terms=evidence.get_joint_terms(reading),
            size=size,
            gravity_share=rms(with_gravity - without) / size,
            delay=delay,
            delay_deviation=math.hypot(MEANING.delay_inflation * deviation, MEANING.delay_floor),
        )

    def _compare_units(self, reading: LogReading, joints: list[int]) -> tuple[float, float]:
        """Return how much likelier factors of some joints are none than another unit.

        And the standard deviation of the logarithm of a factor about where it is likeliest.
        """
        # All factors move together: their middle is what counts.
        present = float(np.median(self._get_logarithms(reading, joints)))
        places = np.union1d(PROFILE, np.round(present + 0.25 * np.arange(-2, 3), 6))
        costs = np.array(
            [
                self._cost(reading.with_effort(joints, factor=math.exp(place - present)))
                for place in places
            ]
        )
        inside = costs[np.abs(places) <= SAME_UNIT].min()
        outside = costs[np.abs(places) >= OTHER_UNIT].min()
        best = int(np.argmin(costs))
        near = np.abs(places - places[best]) <= 0.8
        deviation = math.inf
        if near.sum() >= 3:
            curve = np.polyfit(places[near] - places[best], costs[near], 2)[0]
            deviation = 1.0 / math.sqrt(2.0 * curve) if curve > 0.0 else math.inf
        return float(outside - inside), deviation

    def _compare_signs(self, reading: LogReading, joint: int) -> float:
        """Return how much likelier the sign of an effort is than the other one."""
        if joint not in self._joints:
            return 0.0
        log = TestedLog(self._evidence, self._robot, reading)
        gain = EFFORT_REVERSED.test_joints(log, (joint,)).cost
        if reading.effort_factor[joint] < 0.0:
            # Or it is the position that has the opposite sign.
            gain = min(
                gain, AXIS_REVERSED.test_joints(log, (joint,)).cost + MEANING.position_trust
            )
        return gain
