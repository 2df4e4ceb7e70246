"""What looks like faults of a log, and is not: a load, another robot, coupled joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_faults import simulate_log

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file


@pytest.fixture(scope='module')
def given():
    """Return the shipped arm."""
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


def test_a_load_that_the_model_lacks_is_named_and_refuses_nothing(given):
    """It is no other robot, and its efforts are torques."""
    body = Inertia(3.0, 3.0 * np.array([0.1, 0.0, 0.1]), 0.2 * np.eye(3))
    log = simulate_log(given.with_payload(body), 3)
    diagnosis = diagnose_log(given, log)
    assert [(fault.code, fault.severity) for fault in diagnosis.faults] == [
        ('load-missing', 'warning')
    ]
    found = describe_driver(given, log)
    assert (found.effort.value, [fault.code for fault in found.faults]) == (
        'torque',
        ['load-missing'],
    )


@pytest.mark.parametrize('seed', [3, 5, 7])
def test_an_elbow_reported_against_the_horizon_is_not_repaired(given, seed):
    """What is found in its place leaves a part of the efforts: it is not certain."""
    log = simulate_log(given, seed)
    position = log.position.copy()
    position[:, 2] += position[:, 1]
    log = replace(log, position=position, velocity=None)
    diagnosis = diagnose_log(given, log)
    assert diagnosis.errors == diagnosis.remaining != ()
    np.testing.assert_array_equal(diagnosis.repaired.position, position)


def test_more_causes_than_a_log_has_are_none(given):
    """Four causes at once are named as what explains the log together, and not repaired."""
    log = simulate_log(given, 7)
    position, effort = log.position.copy(), log.effort.copy()
    position[:, 1] += 0.5 * np.pi
    position[:, 2] *= 1.3
    effort[:, 3] *= -1.0
    effort[:, 4] *= 4.0
    log = replace(log, position=position, effort=effort, velocity=None)
    (fault,) = diagnose_log(given, log).errors
    assert (fault.code, fault.is_certain) == ('effort-unexplained', False)
    for code in ('zero-offset', 'position-scaled', 'wrong-sign', 'effort-scaled', 'coupled'):
        assert code in fault.what


def test_a_dead_band_is_the_only_fault_of_its_joint(given):
    """What is left of the effort is neither scaled nor that of another joint."""
    log = simulate_log(given, 3)
    effort = log.effort.copy()
    largest = np.abs(effort[:, 4]).max()
    effort[np.abs(effort[:, 4]) < 0.7 * largest, 4] = 0.0
    diagnosis = diagnose_log(given, replace(log, effort=effort))
    assert [(fault.code, fault.joints) for fault in diagnosis.faults] == [
        ('effort-dead-band', (given.joint_names[4],))
    ]
