"""Each limit of what is taken for a fault of a log: so just inside it, otherwise just outside."""

from __future__ import annotations

import math
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from driver_arms import load_shipped

from ne_dynamics.driver.evidence.effort_fit import Explained
from ne_dynamics.driver.hypotheses import scaled_efforts
from ne_dynamics.driver.hypotheses.changed_meanwhile import ChangedMeanwhile
from ne_dynamics.driver.hypotheses.coupled_joints import CoupledJoints
from ne_dynamics.driver.hypotheses.degrees import Degrees
from ne_dynamics.driver.hypotheses.drifting_effort import DriftingEffort
from ne_dynamics.driver.hypotheses.effort_offset import EffortOffset
from ne_dynamics.driver.hypotheses.hypothesis import TestedLog
from ne_dynamics.driver.hypotheses.late_effort import FILTERED, LateEffort
from ne_dynamics.driver.hypotheses.missing_load import MissingLoad
from ne_dynamics.driver.hypotheses.other_model import OtherModel
from ne_dynamics.driver.hypotheses.removed_gravity import RemovedGravity
from ne_dynamics.driver.hypotheses.reversed_sign import EFFORT_REVERSED
from ne_dynamics.driver.hypotheses.scaled_effort import ScaledEffort
from ne_dynamics.driver.hypotheses.scaled_efforts import ScaledEfforts
from ne_dynamics.driver.hypotheses.scaled_position import ScaledPosition
from ne_dynamics.driver.hypotheses.shifted_zero import ShiftedZero
from ne_dynamics.driver.hypotheses.tilted_base import TiltedBase
from ne_dynamics.driver.hypotheses.unexplained import Unexplained
from ne_dynamics.driver.hypotheses.unsigned_effort import UnsignedEffort
from ne_dynamics.logs import LogReading

ROBOT = load_shipped('forearm')
ONES = np.ones(3)


class Evidence:
    """A log of three joints: what it costs, and what it leaves, is a function of the reading."""

    has_free_factors = has_load = False
    is_one_sided = True
    duration = 10.0
    given_gravity = np.array([0.0, 0.0, -9.80665])
    coupled = 0.0
    moves = ONES > 0.0

    def __init__(self, cost=lambda reading: 0.0, left=lambda reading: 0.01 * ONES, **others):
        self.cost, self.left = cost, left
        self.effort = self.given = np.array([ONES, -ONES])
        vars(self).update(others)

    def explain(self, reading):
        return Explained(self.cost(reading), self.left(reading), 0.0, ONES)

    def count(self, reading):
        return 100.0 * ONES

    def get_effort(self, reading):
        return self.effort

    def get_given_effort(self, reading):
        return self.given + self.coupled * bool(reading.couplings) * self.effort

    def get_ranges(self, reading):
        return self.ranges * ONES

    def find_constants(self, reading):
        return self.constant * ONES, self.deviation * ONES

    def free_signs(self, reading):
        return self.signs, self.free

    def split_in_halves(self):
        return self.halves


def examine(hypothesis, *arguments, **others):
    """Return what a hypothesis says of a log."""
    log = TestedLog(Evidence(*arguments, **others), ROBOT, LogReading.as_recorded(3))
    return hypothesis.test(log)


def is_decisive(hypothesis, *arguments, **others):
    """Tell whether a fault is said."""
    return any(one.is_decisive for one in examine(hypothesis, *arguments, **others))


def dip(get, place, depth, width=None):
    """Return a cost that is lowest, by a depth, where something of a reading has a value."""
    width = abs(place) / math.sqrt(2.0 * depth) if width is None else width
    return lambda reading: 0.5 * ((get(reading) - place) / width) ** 2 - depth


def where(is_there, depth):
    """Return a cost that is lower by a depth where something is so of a reading."""
    return lambda reading: -depth * bool(is_there(reading))


def zero(angle, depth=50.0):
    """Tell whether a zero of the first joint that is off by an angle is a fault."""
    found = examine(ShiftedZero(), dip(lambda one: one.position_offset[0], angle, depth))
    return any(one.is_decisive and abs(one.amount - angle) < 0.01 for one in found)


def gear(factor, of_drive=False, depth=50.0, less=1.0):
    """Tell whether a position that is a multiple of what it should be is a fault."""

    def cost(reading):
        scaled = math.log(reading.position_factor[0])
        other = math.log(reading.effort_factor[0]) + of_drive * scaled
        width = abs(math.log(factor)) / math.sqrt(2.0 * depth)
        return 0.5 * ((scaled - math.log(factor)) / width) ** 2 - depth + 1e4 * other**2

    def left(reading):
        return 0.1 * ONES * math.exp(-less * (reading.position_factor[0] != 1.0))

    return is_decisive(ScaledPosition(), cost, left)


def late(delay, depth=10.0, joints=(0, 1, 2), deviation=None):
    """Return what is said of efforts that are late [s]."""
    cost = dip(lambda one: one.effort_delay[joints[0]], delay, depth, deviation)
    log = TestedLog(Evidence(cost), ROBOT, LogReading.as_recorded(3))
    return LateEffort().test_joints(log, joints)


def low_pass(gain):
    """Tell whether a low-pass that is likelier than a delay is said in its place."""
    delay = dip(lambda one: one.effort_delay[0], 0.05, 30.0)
    lag = dip(lambda one: one.effort_lag[0], 0.06, 30.0 + gain)
    log = TestedLog(
        Evidence(lambda one: lag(one) if one.effort_lag[0] else delay(one)),
        ROBOT,
        LogReading.as_recorded(3),
    )
    return LateEffort().test_filter(log, (0, 1, 2)).code == FILTERED


def is_one_zero(off):
    """Tell whether two angles of one joint that are so far apart are one fault [rad]."""
    one, other = (SimpleNamespace(joints=('a',), amount=amount) for amount in (1.0, 1.0 + off))
    return ShiftedZero().is_same(one, other)


def factor_of_one(factor, deviation=0.05, depth=50.0):
    """Return what is said of the first effort, a multiple of what it should be."""
    cost = dip(lambda one: math.log(one.effort_factor[0]), -math.log(factor), depth, deviation)
    return examine(ScaledEffort(), cost)[0]


def factor_of_all(factor, deviation=0.01):
    """Return what is said of efforts that are all a multiple of the model's."""
    found = SimpleNamespace(
        middle=factor, spread=1.0, deviation=deviation, factors=ONES, weights=ONES
    )
    with mock.patch.object(scaled_efforts, 'compare_with_given', return_value=found):
        return examine(ScaledEfforts())[0]


def tilt(angle, depth=50.0):
    """Tell whether a base that is tilted [rad] is a fault."""
    found = examine(TiltedBase(), dip(lambda one: one.tilt[0], angle, depth))
    return any(one.is_decisive and abs(one.amount - angle) < 0.01 for one in found)


def unexplained(left, sizes=ONES):
    """Return what is said where a part of the efforts is left, of joints that bear so much."""
    given = np.array([sizes, -np.asarray(sizes)])
    return examine(Unexplained(), left=lambda reading: left * ONES, given=given, effort=given)


def outstanding(times):
    """Tell whether a joint that bears little counts, whose residual is so many times others'."""
    table = np.array([[1.0, 1.0, 0.1], [-1.0, -1.0, -0.1]])
    left = np.array([0.01, 0.01, 0.1 * times])
    return examine(Unexplained(), left=lambda reading: left, given=table, effort=table)


def doubtful(left):
    """Tell whether so much is left that no repair is certain."""
    log = TestedLog(Evidence(left=lambda reading: left * ONES), ROBOT, LogReading.as_recorded(3))
    return Unexplained().is_doubtful(log)


def unsigned(part, gain=30.0):
    """Tell whether efforts are absolute values, of which a part would be negative."""
    signs = np.where(np.arange(1000) < 1000 * part, -1.0, 1.0)[:, np.newaxis] * ONES
    return examine(UnsignedEffort(), signs=signs, free=-gain)


def changed(gain):
    """Tell whether something changed, where halves by themselves are so much likelier."""
    half = Evidence(left=lambda reading: 0.5 * math.exp(-gain / 200.0) * ONES)
    return examine(ChangedMeanwhile(), left=lambda reading: 0.5 * ONES, halves=(half, half))


def drift(depth, less):
    """Tell whether a drift is a fault, by its cost and by what is left of the efforts."""
    cost = dip(lambda one: one.effort_drift[0], 0.02, depth)

    def left(reading):
        return 0.5 * ONES * math.exp(-less / 300.0 * bool(reading.effort_drift[0]))

    return is_decisive(DriftingEffort(), cost, left)


def other_model(gain):
    """Tell whether inertias of other orders of magnitude are a fault."""
    log = TestedLog(Evidence(), ROBOT, LogReading.as_recorded(3))
    return OtherModel().compare(log, where(lambda one: one.doubt > 1.0, gain)).is_decisive


ROWS = {
    'decisive': (
        lambda gain: is_decisive(EFFORT_REVERSED, where(lambda o: o.effort_factor[0] < 0.0, gain)),
        8.0,
        4.0,
    ),
    'Degrees.smallest': (lambda size: examine(Degrees(), ranges=size), 15.0, 7.0),
    'ShiftedZero.smallest': (zero, 0.15, 0.07),
    'ShiftedZero.decisive_angle': (lambda gain: zero(0.3, gain), 14.0, 7.0),
    'ShiftedZero.near': (is_one_zero, 0.2, 0.45),
    'ScaledPosition.smallest': (gear, 1.08, 1.03),
    'ScaledPosition.smallest_of_drive': (lambda factor: gear(factor, True), 1.25, 1.1),
    'ScaledPosition.decisive': (lambda gain: gear(1.2, depth=gain), 20.0, 10.0),
    'ScaledPosition.by_residuals': (lambda less: gear(1.2, less=less / 300.0), 14.0, 7.0),
    'LateEffort.shortest': (lambda delay: late(delay).is_decisive, 4.5e-3, 2e-3),
    'LateEffort.deviations': (
        lambda size: late(0.01, deviation=0.01 / size).is_decisive,
        3.5,
        2.0,
    ),
    'LateEffort.of_all': (lambda gain: late(0.05, gain).is_decisive, 4.5, 2.0),
    'LateEffort.decisive': (lambda gain: late(0.05, gain, (0,)).is_decisive, 8.0, 4.5),
    'LateEffort.harmful': (lambda delay: late(delay).severity == 'error', 0.03, 0.015),
    'LateEffort.harmful_gain': (lambda gain: late(0.01, gain).severity == 'error', 35.0, 18.0),
    'LateEffort.of_filter': (low_pass, 9.0, 4.0),
    'EffortOffset.smallest': (
        lambda size: examine(EffortOffset(), constant=size, deviation=0.01),
        0.45,
        0.2,
    ),
    'EffortOffset.deviations': (
        lambda size: examine(EffortOffset(), constant=0.5, deviation=0.5 / size),
        6.0,
        3.0,
    ),
    'ScaledEffort.smallest': (lambda factor: factor_of_one(factor).is_decisive, 1.5, 1.2),
    'ScaledEffort.known': (lambda size: factor_of_one(3.0, size).is_certain, 0.07, 0.15),
    'ScaledEfforts.doubtful': (lambda factor: factor_of_all(factor).is_decisive, 2.0, 1.5),
    'ScaledEfforts.wrong': (lambda factor: factor_of_all(factor).severity == 'error', 3.0, 1.8),
    'ScaledEfforts.deviations': (
        lambda size: factor_of_all(math.e, 1.0 / size).is_decisive,
        3.0,
        1.5,
    ),
    'DriftingEffort.decisive': (lambda gain: drift(gain, 50.0), 14.0, 7.0),
    'DriftingEffort.decisive, by residuals': (lambda less: drift(50.0, less), 14.0, 7.0),
    'TiltedBase.smallest': (tilt, 0.1, 0.05),
    'TiltedBase.decisive': (lambda gain: tilt(0.3, gain), 17.0, 9.0),
    'CoupledJoints.telling_share': (
        lambda size: examine(CoupledJoints(), coupled=size),
        0.45,
        0.2,
    ),
    'CoupledJoints.decisive': (
        lambda gain: is_decisive(CoupledJoints(), where(lambda o: o.couplings, gain), coupled=1.0),
        14.0,
        7.0,
    ),
    'RemovedGravity.smallest': (
        lambda part: is_decisive(
            RemovedGravity(),
            where(lambda one: one.without_gravity, 50.0),
            lambda reading: part * ONES,
        ),
        0.07,
        0.035,
    ),
    'RemovedGravity.decisive': (
        lambda gain: is_decisive(
            RemovedGravity(), where(lambda o: o.without_gravity, gain), lambda reading: ONES
        ),
        28.0,
        14.0,
    ),
    'MissingLoad.decisive': (
        lambda gain: is_decisive(MissingLoad(), where(lambda o: o.has_load, gain)),
        28.0,
        14.0,
    ),
    'OtherModel.decisive': (other_model, 17.0, 9.0),
    'Unexplained.most': (unexplained, 0.45, 0.2),
    'Unexplained.nothing': (lambda left: unexplained(left)[0].severity == 'error', 0.95, 0.8),
    'Unexplained.doubtful': (doubtful, 0.22, 0.1),
    'Unexplained.heavy': (
        lambda part: len(unexplained(0.5, [1.0, 1.0, part])[0].joints) == 3,
        0.3,
        0.15,
    ),
    'Unexplained.outstanding': (outstanding, 7.0, 3.5),
    'UnsignedEffort.turned': (unsigned, 0.07, 0.03),
    'UnsignedEffort.decisive': (lambda gain: unsigned(0.5, gain), 28.0, 14.0),
    'ChangedMeanwhile.decisive': (changed, 28.0, 14.0),
}
"""By the name of a limit: what is so inside it and not outside, and two values."""


@pytest.mark.parametrize('name', ROWS)
def test_a_limit_of_what_is_a_fault_is_where_it_is(name):
    """At twice the limit, or half of it, one of the two would be otherwise."""
    is_so, inside, outside = ROWS[name]
    assert is_so(inside)
    assert not is_so(outside)
