"""Motions of a run, the delay and the meaning of efforts, on what is known."""

from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.commission.fits.reading import (
    describe_recorded_driver,
    read_efforts,
    read_stamps,
    tell_efforts,
)
from ne_dynamics.commission.motions import (
    FITTED_SHARES,
    plan_probe,
    plan_sines,
    plan_tremble,
    plan_way,
    room_around,
    velocity_limits,
)
from ne_dynamics.commission.node_settings import sticking_parameters
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.report import make_report
from ne_dynamics.driver import CommandLog
from ne_dynamics.driver.command import find_delay_by_motion
from ne_dynamics.driver.steps import find_steps
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.report_page import render_page
from ne_dynamics.shipped import shipped_file

ROBOT = ned.load_urdf(str(shipped_file('six_axis_arm.urdf')), tip_link='tcp')
DYNAMICS = ned.Dynamics(ROBOT, backend='python')
START = np.array([0.3, -0.6, 0.7, 0.4, 0.7, -0.5])
SHORT = ned.Dynamics(ned.load_urdf(short_arm()), backend='python')
"""The first three joints."""

PERIOD = 0.002


def sampled(motion, period=PERIOD):
    """Return times, and positions with their derivatives there."""
    times = np.arange(0.0, motion.duration, period)
    return times, *motion.between.sample_many(times)


@pytest.fixture(scope='module')
def swept():
    """Times, positions and derivatives of joints that tremble, one after the other."""
    return sampled(plan_probe(ROBOT, START, trembles=True))


def find_delay(times, position, command):
    """Return the delay, and its standard deviation, that a run takes for that of its commands."""
    commands = CommandLog.from_samples(ROBOT.joint_names, times, command)
    return find_delay_by_motion(DYNAMICS, times, position, commands, 15.0)


@pytest.mark.parametrize('delay', [0.0, 0.002, 0.0053, 0.012])
def test_the_delay_is_found_whatever_the_friction(swept, delay):
    """To 0.2 ms, with encoders of 16 bits and a model that is off by a tenth."""
    times, position, _, _ = swept
    # What acts half a period after a state is what was sent `delay` before it.
    ahead = delay + 0.5 * PERIOD
    moved = np.stack([np.interp(times + ahead, times, row) for row in position.T], axis=1)
    speed = np.gradient(moved, PERIOD, axis=0)
    rigid = DYNAMICS.inverse_dynamics(moved, speed, np.gradient(speed, PERIOD, axis=0))
    off = np.linspace(0.9, 1.1, ROBOT.n)
    step = 2.0 * np.pi / 2**16
    found, deviation = find_delay(
        times, np.round(position / step) * step, rigid * off + 5.0 * speed + 8.0 * np.sign(speed)
    )
    assert found == pytest.approx(delay, abs=2e-4)
    assert deviation < 4e-4


@pytest.mark.parametrize('moves', [False, True])
def test_commands_that_do_not_move_the_arm_tell_no_delay(swept, moves):
    """NaN, not a number."""
    times, position, _, _ = swept
    noise = np.random.default_rng(0).normal(size=position.shape)
    found, deviation = find_delay(times, position if moves else np.full_like(position, 0.5), noise)
    assert np.isnan(found)
    assert np.isinf(deviation)


@pytest.mark.parametrize('seed', range(4))
def test_motions_stay_within_what_the_model_allows(seed):
    """Positions, velocities and efforts, at all points and between them."""
    motion = plan_sines(DYNAMICS, START, 8.0, seed)
    _, position, velocity, acceleration = sampled(motion, 0.02)
    assert (np.abs(position - START) <= room_around(ROBOT, START) + 1e-6).all()
    assert (np.abs(velocity) <= 0.52 * velocity_limits(ROBOT)).all()
    effort = DYNAMICS.inverse_dynamics(position, velocity, acceleration)
    assert (np.abs(effort) <= 0.8 * ROBOT.limits('effort_limit')).all()
    for rows in (motion.velocities, motion.accelerations):
        assert not rows[[0, -1]].any()
    np.testing.assert_allclose(motion.positions[[0, -1]], [START, START], atol=1e-9)


def test_a_pose_that_takes_too_much_to_hold_is_one_error():
    """The joint is named, and what to do."""
    weak = ned.Dynamics(ROBOT, gravity=(0.0, 0.0, -60.0), backend='python')
    with pytest.raises(InputError, match='joint_3: no motion from this pose takes less than 75%'):
        plan_sines(weak, START, 8.0, 1)


def with_friction_at_rest(effort):
    """Return the arm with Coulomb friction in its third joint, which gravity loads already."""
    joints = list(ROBOT.joints)
    joints[2] = replace(joints[2], coulomb_friction=effort)
    return ned.Dynamics(replace(ROBOT, joints=tuple(joints)), backend='python')


def test_a_fitted_arm_moves_though_gravity_and_friction_take_much():
    """Of both together more than of gravity that nobody has weighed; but not all there is."""
    limits = ROBOT.limits('effort_limit')
    held = np.abs(DYNAMICS.gravity_torque(START)[2])
    tired = with_friction_at_rest(0.77 * limits[2] - held)
    with pytest.raises(InputError, match='joint_3: no motion from this pose takes less than 75%'):
        plan_sines(tired, START, 8.0, 1)
    motion = plan_sines(tired, START, 8.0, 1, shares=FITTED_SHARES)
    assert np.ptp(motion.positions[:, 2]) > 0.1
    _, *states = sampled(motion, 0.02)
    assert (np.abs(tired.inverse_dynamics(*states)) <= 0.87 * limits).all()
    stuck = with_friction_at_rest(0.87 * limits[2] - held)
    with pytest.raises(InputError, match='joint_3: no motion from this pose takes less than 85%'):
        plan_sines(stuck, START, 8.0, 1, shares=FITTED_SHARES)


def test_sweeps_that_tremble_are_as_long_as_the_efforts_allow():
    """All of the reach, less where the elbow lifts much, and never less than the smallest."""
    free = plan_tremble(DYNAMICS, START, 0.5)
    np.testing.assert_allclose(np.ptp(free.positions, axis=0), 1.0, atol=0.05)
    effort = DYNAMICS.inverse_dynamics(free.positions, free.velocities, free.accelerations)
    assert (np.abs(effort) <= 0.75 * ROBOT.limits('effort_limit')).all()
    for gravity, bent in ((24.0, 0.51), (35.0, 0.4)):
        heavy = ned.Dynamics(ROBOT, gravity=(0.0, 0.0, -gravity), backend='python')
        ways = np.ptp(plan_tremble(heavy, START, 0.5).positions, axis=0)
        assert ways[2] == pytest.approx(bent, abs=0.02)
        assert (ways > 0.39).all()


@pytest.mark.parametrize('kp', [1e6, 300.0, 1.0])
def test_a_joint_may_stick_as_far_as_its_gains_let_it(kp):
    """No less than 0.06 rad, no more than 0.15."""
    stuck = FrictionModel(static_friction=12.0, stribeck_velocity=0.1)
    joints = tuple(replace(joint, coulomb_friction=9.0, friction=stuck) for joint in ROBOT.joints)
    dynamics = ned.Dynamics(replace(ROBOT, joints=joints), backend='python')
    inertia = np.diag(dynamics.mass_matrix(START))
    found = sticking_parameters(dynamics, START, {'computed_torque.kp': [kp] * ROBOT.n})
    way = np.clip(12.0 / (kp * inertia), 0.06, 0.15)
    expected = np.maximum(way, 0.02 * velocity_limits(ROBOT))
    np.testing.assert_allclose(found['following_error.frozen'], expected)


def test_a_way_takes_as_long_as_its_slowest_joint():
    """Three tenths of the velocity limit at the most."""
    motion = plan_way(ROBOT, START, np.add(START, [2.0, 0.0, 0.0, 0.0, 0.0, 0.1]))
    assert 1.875 * 2.0 / motion.duration == pytest.approx(0.3 * velocity_limits(ROBOT)[0])


def excite(dynamics):
    """Return times, positions and commands of an excitation."""
    motion = plan_sines(dynamics, START[: dynamics.n], 6.0, 1)
    times, position, velocity, acceleration = sampled(motion, 0.004)
    friction = 10.0 * np.tanh(velocity / 0.01)
    command = dynamics.inverse_dynamics(position, velocity, acceleration) + friction
    return times, position, command


@pytest.fixture(scope='module')
def moved():
    """Return the excitation of the first three joints."""
    return excite(SHORT)


def late(values, samples=3):
    """Return values that come a few samples late."""
    return np.concatenate([np.repeat(values[:1], samples, axis=0), values[:-samples]])


def read_reports(moved, reported, dynamics=SHORT):
    """Return what is told of reports, which the driver profile does not contradict."""
    times, position, command = moved
    nothing = np.full_like(position, np.nan)
    names = dynamics.robot.joint_names
    record = Record(names, times, position, nothing, reported, command, position)
    described = describe_recorded_driver(dynamics, record)
    reading = read_efforts(described)
    profile = yaml.safe_load(described.profile())['/**']['ros__parameters']
    assert profile['state_effort'] == reading['state_effort']
    remarks = tell_efforts(described)[
        1 + len(reading['reversed_joints'] + list(reading['scales'])) :
    ]
    return SimpleNamespace(**reading, remarks=remarks)


class TestEfforts:
    """Reports of an excitation, made from commands."""

    @pytest.mark.kept(1)
    @pytest.mark.parametrize('factor', [0.7, 0.82, 0.9, 1.0, 1.12, 1.22, 1.4])
    def test_run_and_profile_never_contradict_each_other(self, moved, factor):
        """Efforts reported at command / factor: one answer, whatever the factor is."""
        reading = read_reports(moved, late(moved[2]) / factor)
        is_torque = 0.8 <= factor <= 1.25
        assert reading.meaning == ('torque' if is_torque else 'current')
        assert reading.state_effort == ('torque' if is_torque else 'ignore')

    def test_torques_of_which_one_has_the_wrong_sign(self, moved):
        """It is named, and the node does not begin with them."""
        reading = read_reports(moved, late(moved[2]) * [1, 1, -1])
        assert (reading.meaning, reading.reversed_joints) == ('torque', ['joint_3'])
        assert reading.state_effort == 'ignore'

    def test_currents(self, moved):
        """With the scale of each joint."""
        scales = np.array([12.0, 11.0, 6.0])
        noise = np.random.default_rng(1).normal(scale=0.05, size=moved[2].shape)
        reading = read_reports(moved, late(moved[2]) / scales + noise)
        assert (reading.meaning, reading.reversed_joints) == ('current', [])
        np.testing.assert_allclose(list(reading.scales.values()), scales, rtol=0.02)

    @pytest.mark.kept(1)
    @pytest.mark.parametrize(
        ('dynamics', 'is_gravity_missing'),
        [(SHORT, False), (DYNAMICS, False), (DYNAMICS, True)],
    )
    def test_torques_with_much_noise(self, dynamics, is_gravity_missing):
        """Of half their standard deviation: meaning and signs are told all the same."""
        moved = excite(dynamics)
        torques = moved[2] - is_gravity_missing * dynamics.gravity_torque(moved[1])
        noise = np.random.default_rng(4).normal(size=torques.shape) * torques.std(axis=0)
        signs = np.where(np.arange(dynamics.n) == 1, -1, 1)
        reading = read_reports(moved, late(torques) * signs + 0.5 * noise, dynamics)
        expected = 'torque_without_gravity' if is_gravity_missing else 'torque'
        assert (reading.meaning, reading.reversed_joints) == (expected, ['joint_2'])

    def test_an_effort_limited_to_45_per_cent(self, moved):
        """Its joint is named on the page; so is a motor that gives half of its torque."""
        limits = np.where(np.arange(SHORT.n) == 1, 0.45 * np.abs(moved[2]).max(axis=0), np.inf)
        reading = read_reports(moved, np.clip(late(moved[2]), -limits, limits))
        (remark,) = reading.remarks
        assert remark.startswith('joint_2: the effort does not go beyond')
        reading = read_reports(moved, late(moved[2]) * [1, 1, 0.5])
        (remark,) = reading.remarks
        assert remark.startswith('joint_3: the effort is 0.5 of what is commanded')


def test_steps_of_encoders_are_found():
    """Of each joint its own."""
    rng = np.random.default_rng(3)
    steps = 2.0 * np.pi / np.array([2**14, 2**17])
    position = np.round(np.cumsum(rng.normal(size=(2000, 2)), axis=0) * 1e-3 / steps) * steps
    np.testing.assert_allclose(find_steps(position), steps, rtol=1e-6)


def test_stamps_that_stand_still_have_no_rate():
    """Nor does a single state."""
    assert read_stamps([(5, 1), (5, 2)])['rate'] == 0.0
    assert read_stamps([])['rate'] == 0.0
    assert read_stamps([(k * 4_000_000, k) for k in range(1, 99)])['rate'] == pytest.approx(250.0)


def test_the_planned_excitation_stays_within_its_reach(monkeypatch):
    """A model without shapes is an error; with none asked for, it is planned."""
    pytest.importorskip('scipy', reason='needs SciPy')
    pytest.importorskip('coal', reason='needs coal')
    from ne_dynamics.commission.telling_motion import plan_telling_motion

    file = str(shipped_file('six_axis_arm.urdf'))
    dynamics = ned.Dynamics(ned.load_urdf(file, tip_link='forearm'), backend='python')
    start = START[: dynamics.n]
    told = []
    with pytest.raises(ModelError, match='expected collision shapes'):
        plan_telling_motion(dynamics, file, start, 6.0, 0.3, told.append)
    module = 'ne_dynamics.commission.telling_motion'
    monkeypatch.setattr(f'{module}.load_solids', lambda *given, **options: ())
    motion = plan_telling_motion(dynamics, file, start, 6.0, 0.3, told.append)
    _, position, _, _ = sampled(motion, 0.02)
    assert (np.abs(position - start) <= 0.3 + 1e-3).all()
    np.testing.assert_allclose(motion.positions[[0, -1]], [start, start], atol=1e-6)
    assert motion.duration == pytest.approx(6.0)
    assert motion.times[0] == 0.0
    assert told[-1] <= 1.0


def _report(subject):
    """Return the page of a whole run."""
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    rows = [0.1] * ROBOT.n
    errors = {'overall_rms_error': 0.1, 'rms_error': rows}
    results = {
        'listen': {'rate': 500.0, 'longest_gap': 0.002, 'reports_velocity': False},
        'probe': {'encoder_step': rows},
        'tremble': {'delay': 0.004, 'deviation': 1e-4},
        'identify': {'found': ['efforts are torques of the motors, with gravity']},
        'judge': {'left_by_given': rows, 'left_by_identified': rows},
        'gains': {'parameters': {'computed_torque.kp': 100.0}},
        'try_friction': {'found': []},
        'test_before': errors,
        'test_after': errors,
    }
    return make_report(ROBOT, subject, results, {}, ROBOT)


def test_the_page_says_what_was_run():
    """Simulated or not, model, hash, seed, version, date, command; one unit for all joints."""
    subject = {'model': '/arms/arm.urdf', 'fingerprint': '0123456789abcdef', 'simulated': True}
    page = _report({**subject, 'seed': 7})
    html = render_page(page)
    (run,) = (section for section in page.sections if section.heading == 'The run')
    shown = {item.term: item.text for item in run.blocks[0].items}
    assert shown['model'] == '/arms/arm.urdf'
    assert shown['SHA-256 of the model, first 16 digits'] == '0123456789abcdef'
    assert shown['simulated arm'] == 'yes'
    assert shown['seed of its hidden errors'] == '7'
    assert shown['ne_dynamics'] == ned.__version__
    assert shown['command line']
    assert datetime.fromisoformat(shown['written']).tzinfo is not None
    assert '100 mrad with the given model' in html
    assert ' mm' not in html


@pytest.mark.kept(2)
@pytest.mark.parametrize(
    ('value', 'text'),
    [(True, 'yes'), (False, 'no'), (None, 'none'), ('', 'as the model has it')]
    + [(seed, str(seed)) for seed in (0, 1, 2)],
)
def test_a_seed_is_a_number_on_the_page(value, text):
    """Seeds 0 and 1 equal False and True, and are not said as these."""
    page = _report({'seed': value})
    (run,) = (section for section in page.sections if section.heading == 'The run')
    assert run.blocks[0].items[0].text == text
