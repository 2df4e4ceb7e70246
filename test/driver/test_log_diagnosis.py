"""Logs that are right have no fault; a fault that is planted is found by cause and joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import planted_faults
import pytest
from planted_faults import PLANTED_FAULTS, excite, simulate_log
from recorded_robots import LOGS, load_ur10e, read_panda, read_ur10e
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.driver.diagnosis import diagnose_log
from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.samples.sample_faults import keep_samples
from ne_dynamics.model.robot import Inertia
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import with_hung_mass

PLANTED = {planted.name: planted for planted in PLANTED_FAULTS}


def errors(diagnosis):
    """Return code and joints of what is wrong."""
    return [(fault.code, fault.joints) for fault in diagnosis.errors]


def concerned(planted, names, joint):
    """Return the joints that a planted fault concerns; all for a fault of the whole log."""
    if not planted.by_joint:
        return set(names)
    other = (joint + planted.partners) % len(names)
    return {names[joint], names[other]}


def require_found(diagnosis, planted, names, joint):
    """Require the planted fault among the errors, and no error of another cause."""
    assert {fault.code for fault in diagnosis.errors} == {planted.code}, errors(diagnosis)
    for fault in diagnosis.errors:
        assert not fault.joints or set(fault.joints) == concerned(planted, names, joint)


def require_close(repaired, log, *, position=1e-3, effort=0.2):
    """Require a repaired log that is near another one, where it has samples."""
    for table, original, largest in (
        (repaired.position, log.position, position),
        (repaired.effort, log.effort, effort * np.sqrt(np.mean(log.effort**2, axis=0))),
    ):
        expected = np.stack([np.interp(repaired.times, log.times, c) for c in original.T], axis=1)
        assert (np.sqrt(np.mean((table - expected) ** 2, axis=0)) <= largest).all()


@pytest.fixture(scope='module')
def given():
    """Return the first three joints of the shipped arm."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def arm_log(given):
    """Return the log of an arm near the shipped one."""
    return simulate_log(given, 7)


@pytest.mark.kept(1)
@pytest.mark.parametrize('seed', range(4))
def test_correct_logs_have_no_fault(given, seed):
    """Links 30 % off, friction that no fit has, and noise of up to 5 % are no fault of a log."""
    log = simulate_log(
        given,
        seed,
        rate=(50.0, 100.0, 250.0)[seed % 3],
        stribeck=(0.0, 0.3, 0.6)[seed % 3],
        effort_noise=(0.01, 0.03, 0.05)[seed % 3],
    )
    diagnosis = diagnose_log(given, log)
    assert diagnosis.faults == ()
    np.testing.assert_array_equal(diagnosis.repaired.effort, log.effort)
    np.testing.assert_array_equal(diagnosis.repaired.position, log.position)


@pytest.mark.kept(1)
@pytest.mark.parametrize(('seed', 'displacement'), [(0, 0.002), (1, 0.03), (2, 0.1), (3, 0.4)])
def test_friction_that_turns_round_gradually_is_no_fault(given, seed, displacement):
    """It is late behind the velocity, and no effort is late; with a delay there is one."""
    log = simulate_log(given, seed, hysteresis=2.0, displacement=displacement)
    assert diagnose_log(given, log).faults == ()
    if displacement == 0.1:
        late = PLANTED['late 50 ms'].plant(log, 0)
        require_found(diagnose_log(given, late), PLANTED['late 50 ms'], given.joint_names, 0)


def test_a_gap_of_years_costs_nothing(given):
    """A log that went on years later is looked at as it is, without what was between."""
    log = simulate_log(given, 0)
    times = log.times + np.where(log.times > np.median(log.times), 1e8, 0.0)
    assert diagnose_log(given, replace(log, times=times)).faults == ()


def test_correct_log_of_a_joint_on_its_brake(given, monkeypatch):
    """What a joint that stands measures, nearly constant, is not what another one should have."""

    def stand(*arguments, **options):
        position, velocity, acceleration = excite(*arguments, **options)
        position[:, 1], velocity[:, 1], acceleration[:, 1] = 0.4, 0.0, 0.0
        return position, velocity, acceleration

    monkeypatch.setattr(planted_faults, 'excite', stand)
    log = simulate_log(given, 7)
    effort = log.effort.copy()
    effort[:, 1] = 3.0
    assert diagnose_log(given, replace(log, effort=effort)).faults == ()


@pytest.mark.kept(2)
@pytest.mark.parametrize('planted', PLANTED_FAULTS, ids=lambda planted: planted.name)
def test_planted_faults_are_found_and_repaired(given, arm_log, planted):
    """Each fault is named with its joint and nothing else, and the repair undoes it.

    A factor on all efforts is as well one of all masses: it is named, and not repaired.
    """
    joint = 2
    if planted.name == 'late 5 ms':  # no error where three joints tell it
        given = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
        arm_log = simulate_log(given, 7)
    diagnosis = diagnose_log(given, planted.plant(arm_log, joint))
    require_found(diagnosis, planted, given.joint_names, joint)
    if planted.code == 'efforts-scaled':
        assert diagnosis.remaining
        return
    assert not diagnosis.remaining
    require_close(diagnosis.repaired, arm_log)


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', ['wrong-sign', 'zero-offset', 'effort-scaled'])
def test_two_faults_are_both_found(given, arm_log, name):
    """A fault of one joint does not hide one of another."""
    first = next(planted for planted in PLANTED_FAULTS if planted.code == name)
    log = PLANTED['effort sign'].plant(first.plant(arm_log, 1), 2)
    diagnosis = diagnose_log(given, log)
    names = given.joint_names
    assert set(errors(diagnosis)) == {(name, (names[1],)), ('wrong-sign', (names[2],))}
    require_close(diagnosis.repaired, arm_log)


def test_zero_of_a_vertical_first_axis_cannot_be_told(given, arm_log):
    """No effort depends on where the first axis has its zero: that is said, and nothing found."""
    diagnosis = diagnose_log(given, PLANTED['zero + 90 deg'].plant(arm_log, 0))
    assert diagnosis.faults == ()
    assert any('zero' in text and given.joint_names[0] in text for text in diagnosis.untold)
    assert any('common factor' in text for text in diagnosis.untold)


def test_velocities_tell_a_position_sign_at_once(given, arm_log):
    """A position that runs against the log's own velocity is no effort of the wrong sign."""
    wrong = PLANTED['position sign'].plant(arm_log, 2)
    diagnosis = diagnose_log(given, replace(wrong, velocity=arm_log.velocity))
    assert errors(diagnosis) == [('position-sign', (given.joint_names[2],))]
    np.testing.assert_array_equal(diagnosis.repaired.velocity, arm_log.velocity)


def test_logs_that_tell_nothing_have_no_fault(given):
    """An arm that stands, efforts that are all zero and a log of a moment are left to the fit."""
    rng = np.random.default_rng(0)
    times = np.arange(500) * 0.01
    still = np.zeros((500, given.n))
    noise = rng.standard_normal(still.shape)
    moving = np.sin(times)[:, np.newaxis] + still
    for log in (
        Log.from_samples(given.joint_names, times, still, noise),
        Log.from_samples(given.joint_names, times, moving, still),
        Log.from_samples(given.joint_names, times[:5], moving[:5], noise[:5]),
    ):
        assert diagnose_log(given, log).faults == ()


def test_a_joint_without_effort_is_no_other_fault(given, arm_log):
    """A joint whose effort is 0 throughout does not make the others look wrong."""
    effort = arm_log.effort.copy()
    effort[:, 2] = 0.0
    log = Log.from_samples(given.joint_names, arm_log.times, arm_log.position, effort)
    assert diagnose_log(given, log).faults == ()


def test_other_joints_are_refused(given, arm_log):
    """A log of other joints is refused by name."""
    log = Log.from_samples(('a', 'b'), [0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(InputError, match='expected the joints'):
        diagnose_log(given, log)


# ---- logs of real robots


@pytest.fixture(scope='module')
def panda():
    """Return a Panda and its recorded log."""
    return read_panda()


@pytest.fixture(scope='module')
def ur10e(tmp_path_factory):
    """Return a UR10e."""
    return load_ur10e(tmp_path_factory.mktemp('ur10e'))


def test_recorded_panda_is_right(panda):
    """The bag has no error; whose stamps it has and the few repeated messages are mentioned."""
    robot, log = panda
    diagnosis = diagnose_log(robot, log)
    assert [(fault.severity, fault.code) for fault in diagnosis.faults] == [
        ('info', 'stamps-of-recorder'),
        ('info', 'samples-stale'),
    ]
    assert diagnosis.repaired.times.size == log.times.size - 14


@pytest.mark.kept(1)
@pytest.mark.parametrize('name', LOGS)
def test_recorded_ur10e_is_right(ur10e, name):
    """Currents times the published factors have no error; a delay of 10 to 14 ms is a warning."""
    diagnosis = diagnose_log(ur10e, read_ur10e(ur10e, name))
    assert {(fault.severity, fault.code) for fault in diagnosis.faults} <= {
        ('warning', 'effort-delay')
    }


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
    velocity = np.gradient(position, times, axis=0)
    acceleration = np.gradient(velocity, times, axis=0)
    loaded = with_hung_mass(ur10e, 1.0, np.array((0.05, 0.1, 0.08)))
    dynamics = ned.Dynamics(loaded, backend='python')
    effort = dynamics.inverse_dynamics(position, velocity, acceleration)
    effort += 0.02 * np.sqrt((effort**2).mean(axis=0)) * rng.standard_normal(effort.shape)
    log = Log.from_samples(ur10e.joint_names, times, position, factor * effort)
    found = diagnose_log(with_light_links(ur10e, 2), log).faults
    assert ('efforts-scaled' in {fault.code for fault in found}) == (factor != 1.0)


def test_currents_are_no_torques(ur10e):
    """Motor currents of a UR10e in the place of torques are named, and not repaired."""
    log = read_ur10e(ur10e, next(iter(LOGS)), 1.0)
    diagnosis = diagnose_log(ur10e, log)
    assert [fault.code for fault in diagnosis.remaining] == ['efforts-scaled']
    assert 'currents' in diagnosis.remaining[0].what


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('name', 'joint'),
    [
        ('effort sign', 4),
        ('effort x 3', 2),
        ('joints swapped', 1),
        ('zero + 90 deg', 3),
        ('position sign', 0),
        ('degrees', 0),
        ('milliseconds', 0),
        ('late 50 ms', 0),
    ],
)
@pytest.mark.parametrize('robot', ['panda', 'ur10e'])
def test_faults_planted_in_recorded_logs_are_found(request, robot, name, joint):
    """The same faults are found in logs of real robots."""
    if robot == 'panda':
        model, log = request.getfixturevalue('panda')
    else:
        model = request.getfixturevalue('ur10e')
        log = read_ur10e(model, next(iter(LOGS)))
    planted = PLANTED[name]
    diagnosis = diagnose_log(model, planted.plant(log, joint))
    require_found(diagnosis, planted, model.joint_names, joint)
    assert not diagnosis.remaining
