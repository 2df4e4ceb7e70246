"""A clock that begins anew, a zero that jumps, constants in efforts: each is named so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from log_arms import THREE, load, simulate

from ne_dynamics.driver.diagnosis import diagnose_log
from ne_dynamics.logs.log import Log


@pytest.fixture(scope='module')
def robot():
    """Return three joints of the shipped arm."""
    return load(THREE)


@pytest.fixture(scope='module')
def log():
    """Return the log of an arm near that one, from time 0 on."""
    recorded = simulate(THREE)
    return replace(recorded, times=recorded.times - recorded.times[0])


@pytest.mark.parametrize(('back', 'unit'), [(0.2, 1e3), (15.0, 1.0)])
def test_a_clock_that_begins_anew_is_named(robot, log, back, unit):
    """The time, by how much and what to do are said, nothing else is accused; no repair."""
    times = log.times - np.where(log.times >= 15.0, back, 0.0)
    cut = Log.from_samples(log.joint_names, unit * times, log.position, log.effort)
    diagnosis = diagnose_log(robot, cut)
    codes = [fault.code for fault in diagnosis.errors]
    assert codes == ['clock-set-back'] if unit == 1.0 else ['time-unit', 'clock-set-back']
    fault = diagnosis.errors[-1]
    assert f'goes back by {back - 0.01:.4g} s, from 14.99 ' in fault.what
    assert 'cut the log into two' in fault.remedy
    assert fault in diagnosis.remaining
    assert abs(fault.amount - 100.0 * back) <= 1.0


@pytest.mark.parametrize(('joint', 'degrees'), [(0, -30.0), (1, 5.0)])
def test_a_zero_that_jumps_is_named(robot, log, joint, degrees):
    """Joint, size and time are said, and no other fault, though half of it has another zero."""
    position = log.position.copy()
    position[1400:, joint] += np.deg2rad(degrees)
    diagnosis = diagnose_log(robot, replace(log, position=position))
    (fault,) = diagnosis.errors
    assert (fault.code, fault.joints) == ('zero-jumps', (robot.joint_names[joint],))
    assert f'jumps by {degrees:.3g} degrees at 14 s' in fault.what
    assert fault in diagnosis.remaining
    # The longer part is looked at, and its zeros are as they were.
    assert diagnosis.repaired.times[0] == log.times[1400]


def test_an_encoder_that_stands_still_is_named_and_left_out(robot, log):
    """What it repeats in full motion is no place of the joint, and the jump after it no zero."""
    position, joint = log.position.copy(), 2
    fast = 500 + int(np.argmax(np.abs(np.diff(log.position[500:2000, joint]))))
    position[fast : fast + 100, joint] = position[fast, joint]
    diagnosis = diagnose_log(robot, replace(log, position=position, velocity=None))
    (fault,) = diagnosis.errors
    assert (fault.code, fault.joints) == ('position-frozen', (robot.joint_names[joint],))
    assert not diagnosis.remaining
    assert not np.isin(log.times[fast + 1 : fast + 100], diagnosis.repaired.times).any()
    assert diagnosis.repaired.times.size == log.times.size - 99


def test_a_zero_that_jumps_while_its_joint_stands_is_no_frozen_encoder(robot, log):
    """A joint that comes to rest and gets another zero there was not measured wrongly before."""
    position, recorded = log.position.copy(), log.position[:, 2]
    rest = 500 + int(np.argmin(np.abs(np.diff(recorded[500:2000]))))
    position[rest:, 2] = recorded[rest]
    position[rest + 100 :, 2] = recorded[rest:-100] + 0.3
    faults = diagnose_log(robot, replace(log, position=position, velocity=None)).faults
    assert 'position-frozen' not in [fault.code for fault in faults]


@pytest.mark.parametrize('joints', [(1,), (0, 1, 2)])
def test_constants_of_efforts_are_named_and_taken_out(robot, log, joints):
    size = np.sqrt(np.mean(log.effort**2, axis=0))
    constants = np.zeros(robot.n)
    constants[list(joints)] = (0.7 * size * [1.0, -1.0, 1.0])[list(joints)]
    diagnosis = diagnose_log(robot, replace(log, effort=log.effort + constants))
    (fault,) = diagnosis.errors
    assert fault.code == 'effort-offset'
    assert fault.joints == tuple(robot.joint_names[joint] for joint in joints)
    assert not diagnosis.remaining
    off = (diagnosis.repaired.effort - log.effort).mean(axis=0)
    assert (np.abs(off) < 0.15 * size).all()
