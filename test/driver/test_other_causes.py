"""What looks like faults of a log, and is not: a load, another robot, coupled joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from example_robots import example_robots_folder
from planted_faults import simulate_log
from recorded_motion import altered

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.logs import Log
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

HEAVY = (
    ('panda_description/urdf/panda.urdf', 'panda_link8', 15.0),
    ('ur_description/urdf/ur10_robot.urdf', 'tool0', 9.0),
)


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


@pytest.mark.kept(1)
@pytest.mark.parametrize(('file', 'tip', 'mass'), HEAVY)
def test_a_load_nearly_as_heavy_as_its_arm_is_named(file, tip, mass):
    """It is no other unit, and no other robot."""
    given = ned.load_urdf(example_robots_folder() / file, tip_link=tip)
    body = Inertia(mass, np.array([0.05, 0.02, 0.1]), 0.01 * mass * np.eye(3))
    log = simulate_log(given.with_payload(body), 3)
    found = describe_driver(given, log)
    assert found.effort.value == 'torque'
    for faults in (diagnose_log(given, log).faults, found.faults):
        assert [(fault.code, fault.severity) for fault in faults] == [('load-missing', 'warning')]


@pytest.mark.kept(2)
@pytest.mark.parametrize('of_motors', [False, True])
@pytest.mark.parametrize('seed', [3, 5, 7])
def test_an_elbow_reported_against_the_horizon_is_not_repaired(given, seed, of_motors):
    """Its coupling is named, with efforts of the joints or of motors: that may be meant."""
    log = simulate_log(given, seed)
    position, effort = log.position.copy(), log.effort.copy()
    position[:, 2] += position[:, 1]
    effort[:, 1] -= of_motors * effort[:, 2]
    log = replace(log, position=position, effort=effort, velocity=None)
    diagnosis = diagnose_log(given, log)
    described = describe_driver(given, log)
    for faults in (diagnosis.faults, described.faults):
        (fault,) = faults
        assert (fault.code, fault.is_certain) == ('joints-coupled', False)
        assert fault.joints == (given.joint_names[2], given.joint_names[1])
        assert ('those of the motors' in fault.what) == of_motors
    assert diagnosis.errors == diagnosis.remaining != ()
    np.testing.assert_array_equal(diagnosis.repaired.position, position)
    assert described.obstacles()


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


def test_the_short_log_of_a_slow_arm_has_no_opposite_sign():
    """A sign is chosen by what is left: such a log has fewer independent efforts than unknowns."""
    robot = ned.load_urdf(
        example_robots_folder() / 'ur_description/urdf/ur5_robot.urdf', tip_link='tool0'
    )
    rng = np.random.default_rng(29)
    times = np.arange(0.0, 20.0, 0.01)
    frequency = np.array([0.05, 0.11, 0.17, 0.26, 0.38]) * (
        1.0 + 0.25 * rng.uniform(-1, 1, (6, 5))
    )
    rates, sizes = 2.0 * np.pi * frequency, rng.uniform(0.4, 1.0, (6, 5)) / frequency
    phases = rates * times[:, np.newaxis, np.newaxis] + rng.uniform(0.0, 6.28, (6, 5))
    reach = np.array([1.9, 0.9, 1.8, 1.9, 1.9, 1.9])
    sizes *= (reach / np.abs((sizes * np.sin(phases)).sum(axis=2)).max(axis=0))[:, np.newaxis]
    position, velocity, acceleration = (
        (sizes * rates**order * part).sum(axis=2)
        for order, part in enumerate((np.sin(phases), np.cos(phases), -np.sin(phases)))
    )
    position[:, 1] -= 1.35
    effort = ned.Dynamics(altered(robot, 29), backend='python').inverse_dynamics(
        position, velocity, acceleration
    )
    limits = robot.limits('effort_limit')
    effort += limits * (0.03 * np.tanh(velocity / 0.01) + 0.01 * velocity)
    effort += 0.004 * limits * rng.standard_normal(effort.shape)
    found = describe_driver(
        robot, Log.from_samples(robot.joint_names, times, position, effort, velocity)
    )
    assert (found.effort.value, found.faults) == ('torque', ())
    assert not found.obstacles()


@pytest.mark.parametrize('stiffness', [3.0, 8.0])
def test_a_wrist_that_a_spring_holds_is_named(given, stiffness):
    """Though the model expects little of it, what is left of it stands out."""
    log = simulate_log(given, 3)
    effort = log.effort.copy()
    effort[:, 4] += stiffness * log.position[:, 4]
    (fault,) = diagnose_log(given, replace(log, effort=effort)).faults
    assert (fault.code, fault.severity) == ('effort-unexplained', 'warning')
    assert fault.joints == (given.joint_names[4],)
    assert 'a spring' in fault.what
