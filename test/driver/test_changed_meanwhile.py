"""What changes while a log is recorded is named, and no fault of another kind is repaired."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted_faults import simulate_log

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.shipped import shipped_file


@pytest.fixture(scope='module')
def given():
    """Return the shipped arm."""
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


@pytest.fixture(scope='module')
def arm_log(given):
    """Return the log of an arm near the shipped one."""
    return simulate_log(given, 7)


def slip(log, angle):
    """Return the log of an encoder of the last joint that slips from a third of it to two."""
    start, end = np.quantile(log.times, [1 / 3, 2 / 3])
    position = log.position.copy()
    position[:, 2] += angle * np.clip((log.times - start) / (end - start), 0.0, 1.0)
    return replace(log, position=position)


def weaken(log, factor):
    """Return the log of a torque sensor of the last joint whose gain falls half-way."""
    effort = log.effort.copy()
    effort[log.times > np.median(log.times), 2] *= factor
    return replace(log, effort=effort)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('change', 'amount'), [(slip, 0.3), (slip, 0.5), (weaken, 0.6)])
def test_a_change_is_named_and_nothing_is_repaired(given, arm_log, change, amount):
    """An encoder that slips has no zero that is off, whatever explains half of its log."""
    log = change(arm_log, amount)
    diagnosis = diagnose_log(given, log)
    assert any('something changed' in fault.text.lower() for fault in diagnosis.faults)
    assert not any(fault.is_certain for fault in diagnosis.faults)
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)
    np.testing.assert_array_equal(diagnosis.repaired.effort, log.effort)
    assert not any(fault.is_certain for fault in describe_driver(given, log).faults)


@pytest.mark.kept(1)
@pytest.mark.parametrize('angle', [0.26, np.pi])
def test_what_a_tilted_arm_reports_is_no_current(given, arm_log, angle):
    """A base that is tilted beside its model is neither another unit nor gravity taken out."""
    gravity = 9.80665 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    found = describe_driver(ned.Dynamics(given, gravity=gravity, backend='python'), arm_log)
    assert found.effort.value == 'torque'
    assert [fault.code for fault in found.faults] == ['base-tilted']
