"""Logs that are right, or that tell nothing, have no fault: what looks like one is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from log_arms import FILES, LIGHT, PLANTED, SIX, THREE, load, require_planted, simulate
from planted_faults import simulate_log
from recorded_motion import altered
from recorded_robots import LOGS, load_ur10e, read_ur10e

import ne_dynamics as ned
from ne_dynamics.driver import describe_driver, diagnose_log
from ne_dynamics.logs.log import Log, keep_samples
from ne_dynamics.model.robot import Inertia
from ne_dynamics.simulation.altered_robot import with_hung_mass


def move(robot, log, position, noise=0.0, seed=0):
    """Return the log of an arm that moves otherwise, at the same times."""
    velocity = np.gradient(position, log.times, axis=0)
    acceleration = np.gradient(velocity, log.times, axis=0)
    dynamics = ned.Dynamics(robot, backend='python')
    effort = dynamics.inverse_dynamics(position, velocity, acceleration)
    size = np.sqrt((effort**2).mean(axis=0))
    effort = effort + noise * size * np.random.default_rng(seed).standard_normal(effort.shape)
    return Log.from_samples(robot.joint_names, log.times, position, effort, velocity)


@pytest.mark.kept(4)
@pytest.mark.parametrize('name', [THREE, SIX, *FILES])
@pytest.mark.parametrize('seed', [21, 22, 23])
def test_good_logs_of_six_arms_raise_no_alarm(name, seed):
    """Links 30 % off, friction that no fit has, noise and other rates are no fault."""
    log = simulate_log(
        load(name),
        seed,
        rate=(50.0, 100.0, 250.0)[seed % 3],
        stribeck=(0.0, 0.3, 0.6)[seed % 3],
        effort_noise=(0.01, 0.03, 0.05)[seed % 3],
        hysteresis=(0.0, 1.0)[seed % 2],
    )
    diagnosis = diagnose_log(load(name), log)
    assert diagnosis.faults == ()
    np.testing.assert_array_equal(diagnosis.repaired.effort, log.effort)
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('seed', 'displacement'), [(0, 0.002), (1, 0.03), (2, 0.1), (3, 0.4)])
def test_friction_that_turns_round_gradually_is_no_fault(seed, displacement):
    """It is late behind the velocity, and no effort is late; with a delay there is one."""
    robot = load(LIGHT)
    log = simulate_log(robot, seed, hysteresis=2.0, displacement=displacement)
    assert diagnose_log(robot, log).faults == ()
    if displacement == 0.1:
        late = PLANTED['late 50 ms']
        require_planted(diagnose_log(robot, late.plant(log, 0)), late, robot.joint_names, 0)


def hold(log):
    """Return the log of an arm whose second joint is on its brake, with whatever effort."""
    position = log.position.copy()
    position[:, 1] = 0.4
    held = move(altered(load(THREE), 7), log, position, noise=0.01)
    return replace(held, effort=np.where([False, True, False], 3.0, held.effort))


TELL_NOTHING = {
    'a gap of years': lambda log: replace(
        log, times=log.times + np.where(log.times > np.median(log.times), 1e8, 0.0)
    ),
    'a joint on its brake': hold,
    'a joint without effort': lambda log: replace(log, effort=log.effort * [1.0, 1.0, 0.0]),
    'an arm that stands': lambda log: replace(
        log,
        position=0.0 * log.position,
        velocity=None,
        effort=np.random.default_rng(0).standard_normal(log.effort.shape),
    ),
    'no effort at all': lambda log: replace(log, effort=0.0 * log.effort),
    'a moment': lambda log: log.at(slice(5)),
}


@pytest.mark.parametrize('name', TELL_NOTHING)
def test_what_a_log_does_not_tell_is_no_fault(name):
    """It is left to the fit, and does not make other joints look wrong."""
    assert diagnose_log(load(THREE), TELL_NOTHING[name](simulate(THREE))).faults == ()


def test_zero_of_a_vertical_first_axis_cannot_be_told():
    """No effort depends on where the first axis has its zero: that is said, and nothing found."""
    robot = load(THREE)
    diagnosis = diagnose_log(robot, PLANTED['zero + 90 deg'].plant(simulate(THREE), 0))
    assert diagnosis.faults == ()
    assert any('zero' in text and robot.joint_names[0] in text for text in diagnosis.untold)
    assert any('common factor' in text for text in diagnosis.untold)


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', [THREE, 'ur5', SIX])
def test_efforts_of_one_sign_by_themselves_are_no_absolute_values(name):
    """Of joints that gravity loads one way, and that alone move."""
    robot, log = load(name), simulate(name)
    weight = ned.Dynamics(robot, backend='python').gravity_torque(log.position)
    loaded = np.argmax(np.abs(weight).mean(axis=0))
    position = np.tile(log.position[:1], (log.times.size, 1))
    position[:, loaded] += 0.1 * np.sin(2.0 * log.times)
    one_sided = move(robot, log, position)
    kept = replace(one_sided, effort=np.abs(one_sided.effort))
    assert 'unsigned' not in {fault.code for fault in diagnose_log(robot, kept).faults}


def test_the_short_log_of_a_slow_arm_has_no_opposite_sign():
    """A sign is chosen by what is left: such a log has fewer independent efforts than unknowns."""
    robot, rng = load('ur5'), np.random.default_rng(29)
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
    log = Log.from_samples(robot.joint_names, times, position, effort, velocity)
    found = describe_driver(robot, log)
    assert (found.effort.value, found.faults) == ('torque', ())
    assert not found.obstacles()


# ---- logs of real robots


@pytest.fixture(scope='module')
def ur10e(tmp_path_factory):
    """Return a UR10e."""
    return load_ur10e(tmp_path_factory.mktemp('ur10e'))


@pytest.mark.long
@pytest.mark.parametrize('name', list(LOGS)[1:])
def test_a_fold_of_a_recorded_ur10e_has_no_turns(ur10e, name):
    """Without ten seconds of it, in which the base turns by more than 4.7 rad, a log is right."""
    log = read_ur10e(ur10e, name)
    moved = np.abs(log.position[1000:, 0] - log.position[:-1000, 0])
    assert moved.max() > 4.7
    kept = np.ones(log.times.size, dtype=bool)
    kept[moved.argmax() + 1 : moved.argmax() + 1000] = False
    diagnosis = diagnose_log(ur10e, keep_samples(log, kept, 'fold'))
    assert 'angles-wrapped' not in {fault.code for fault in diagnosis.faults}


def with_light_links(robot, count):
    """Return an arm of which the last links weigh a thousandth."""
    links = list(robot.links)
    for index in range(len(links) - count, len(links)):
        inertia = links[index].inertia
        light = Inertia(
            1e-3 * inertia.mass, inertia.center_of_mass, 1e-3 * inertia.inertia_about_com
        )
        links[index] = replace(links[index], inertia=light)
    return robot.with_links(links)


def test_a_recorded_arm_whose_wrist_has_no_mass_in_its_model(ur10e):
    """With a load that the model has not, joints of which it expects nothing have no vote."""
    log = read_ur10e(ur10e, 'ur-20_02_19_14harm50secLoad.csv')
    diagnosis = diagnose_log(with_light_links(ur10e, 2), log)
    assert 'efforts-scaled' not in {fault.code for fault in diagnosis.faults}


@pytest.mark.kept(1)
@pytest.mark.parametrize(('shoulder', 'factor'), [(0.0, 1.0), (0.5, 1.0), (0.5, 10.0)])
def test_joints_of_which_the_model_expects_nothing_have_no_vote(ur10e, shoulder, factor):
    """Where the wrist alone moves a factor is not told; a factor on all joints is found."""
    rng = np.random.default_rng(4)
    times = np.arange(2000) / 100.0
    rates, phases = rng.uniform(0.6, 2.5, 6), rng.uniform(0.0, 6.0, 6)
    amplitude = np.array((shoulder, shoulder, shoulder, shoulder, 0.8, 0.8))
    middle = np.array((0.0, -1.0, 1.2, 0.3, 0.4, 0.0))
    position = middle + amplitude * np.sin(rates * times[:, np.newaxis] + phases)
    loaded = with_hung_mass(ur10e, 1.0, np.array((0.05, 0.1, 0.08)))
    clock = Log.from_samples(ur10e.joint_names, times, position, position)
    log = move(loaded, clock, position, noise=0.02, seed=4)
    log = replace(log, effort=factor * log.effort, velocity=None)
    found = diagnose_log(with_light_links(ur10e, 2), log).faults
    assert ('efforts-scaled' in {fault.code for fault in found}) == (factor != 1.0)
