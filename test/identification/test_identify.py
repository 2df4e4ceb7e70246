"""Identification from logs that MuJoCo made: no equation is shared with what is identified."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is missing')

from recorded_motion import PERIOD, altered, fourier_series, recorded
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.regression.lumped_inertia import with_body_inertias
from ne_dynamics.identification.regression.pseudo_inertia import is_body, pseudo_inertia
from ne_dynamics.identification.run import identify
from ne_dynamics.logs.log import Log
from ne_dynamics.model.checks import check_robot
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.shipped import shipped_file

FILTERED_NOISE = 0.2 * np.sqrt(2.0 * 10.0 * PERIOD)
"""What a low-pass of 10 Hz leaves of white noise of 0.2 N m."""

SPREAD = 0.5
"""A prior scale, where a test is not about the one that is chosen."""


POSTURE = np.array([0.3, -0.6, 0.9])


@pytest.fixture(scope='module')
def given():
    """Return the first three joints of the shipped arm, as their description has them."""
    return ned.load_urdf(short_arm())


@pytest.fixture(scope='module')
def truth(given):
    """Return them as they are."""
    return altered(given, 3)


@pytest.fixture(scope='module')
def log(truth):
    """Return 20 s of them, with noise on the efforts and a coarse encoder."""
    return recorded(truth, 20.0)


@pytest.fixture(scope='module')
def result(given, log):
    """Return what the log makes of the given model."""
    return identify(given, log)


def require_bodies(robot):
    """Require that every link with a mass is one that can exist."""
    for link in robot.links:
        if link.inertia.mass != 0.0:
            assert is_body(pseudo_inertia(link.inertia.parameters)), link.name
    for joint in robot.joints:
        assert joint.viscous_friction >= 0.0
        assert joint.coulomb_friction >= 0.0
    assert not [finding for finding in check_robot(robot) if finding.severity == 'error']


def relative_error(robot, truth, seed=9):
    """Return how far the efforts of motions never seen are off, without friction, shape (n,)."""
    rng = np.random.default_rng(seed)
    motion = rng.uniform(-2.0, 2.0, (3, 300, truth.n))
    efforts = [
        ned.Dynamics(model.without_friction(), backend='python').inverse_dynamics(*motion)
        for model in (robot, truth)
    ]
    size = np.sqrt((efforts[1] ** 2).mean(axis=0))
    return np.sqrt(((efforts[0] - efforts[1]) ** 2).mean(axis=0)) / size


def finding_codes(result):
    """Return the codes of the findings."""
    return {finding.code for finding in result.report.findings}


def test_held_out_efforts_are_predicted_to_the_noise(result):
    """On the part that was not fitted the residual falls to the noise of the measured effort."""
    for joint in result.report.joints:
        assert joint.before.rms_difference > 20.0 * FILTERED_NOISE
        assert joint.after.rms_difference < 2.0 * FILTERED_NOISE
    assert result.report.findings == ()
    held_out = result.report.held_out
    assert held_out == round(0.25 * (result.report.fitted + held_out)) > 30


def test_base_parameters_are_near_the_truth(given, truth, result):
    """Efforts of random motions, far from the log's, come out at least five times as well."""
    before, after = relative_error(given, truth), relative_error(result.robot, truth)
    assert (after < before / 5.0).all()
    assert (after < 0.01).all()
    require_bodies(result.robot)


def test_friction_is_near_the_truth(truth, result):
    """Viscous and Coulomb friction come out within 4 of the standard deviations reported."""
    for found, joint in zip(result.report.joints, truth.joints, strict=True):
        assert abs(found.viscous[1] - joint.viscous_friction) < 4.0 * found.viscous[2]
        assert abs(found.coulomb[1] - joint.coulomb_friction) < 4.0 * found.coulomb[2]


def test_what_the_log_does_not_tell_stays(given, result):
    """The mass of a link that turns about the vertical only is left as it was given."""
    before, after = given.bodies[0].inertia, result.robot.bodies[0].inertia
    assert abs(after.mass - before.mass) < 0.02 * before.mass
    assert result.report.bodies[0].determined < 0.05


def test_true_model_is_hardly_changed(given):
    """A log of the very robot that is given moves it by no more than the noise tells."""
    result = identify(given, recorded(given, 16.0))
    assert (relative_error(result.robot, given) < 0.01).all()
    assert result.report.findings == ()


def still_log(robot, seconds=6.0):
    """Return the log of an arm that stands, with noise on all there is."""
    rng = np.random.default_rng(1)
    times = np.arange(0.0, seconds, PERIOD)
    efforts = ned.Dynamics(robot, backend='python').gravity_torque(POSTURE)
    noise = rng.standard_normal((2, times.size, robot.n))
    return Log.from_samples(
        robot.joint_names, times, POSTURE + 1e-5 * noise[0], efforts + 0.2 * noise[1]
    )


def test_no_excitation_changes_nothing(given, truth):
    """A robot that stands tells nothing: the model is the given one, and a warning says so."""
    result = identify(given, still_log(truth))
    assert finding_codes(result) == {'no-excitation'}
    assert not result.report.has_errors
    for old, new in zip(given.links, result.robot.links, strict=True):
        assert np.array_equal(old.inertia.parameters, new.inertia.parameters)
    assert [joint.coulomb_friction for joint in result.robot.joints] == [0.0] * given.n


def test_one_joint_alone():
    """With one joint moving, the others' friction stays, each is reported, bodies still exist."""
    given = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    truth, times = altered(given, 3), np.arange(0.0, 20.0, PERIOD)
    motion = np.zeros((3, times.size, given.n))
    motion[0] = [*POSTURE, 0.4, 0.7, -0.5]
    phase = 2.0 * np.pi * 0.3 * times
    for order, part in enumerate((np.sin(phase), np.cos(phase), -np.sin(phase))):
        motion[order, :, 1] += 0.5 * (2.0 * np.pi * 0.3) ** order * part
    efforts = ned.Dynamics(truth, backend='python').inverse_dynamics(*motion)
    noise = 0.2 * np.random.default_rng(4).standard_normal(efforts.shape)
    result = identify(
        given, Log.from_samples(given.joint_names, times, motion[0], efforts + noise)
    )
    require_bodies(result.robot)
    assert finding_codes(result) == {'joint-still', 'excitation-poor'}
    joint = result.report.joints[1]
    assert joint.after.rms_difference < 0.2 * joint.before.rms_difference
    assert result.report.joints[0].coulomb[1] == given.joints[0].coulomb_friction


def test_wrong_sign_is_an_error(given, log):
    """Efforts that run against the model make the result unusable, and still physical."""
    result = identify(given, replace(log, effort=-log.effort), spread=SPREAD)
    assert result.report.has_errors
    assert 'wrong-sign' in finding_codes(result)
    require_bodies(result.robot)


def test_robot_that_reports_no_effort(given, log):
    """Zeros for all efforts are an error, of a robot that moves and of one that stands."""
    for each in (log, still_log(given)):
        result = identify(given, replace(each, effort=np.zeros_like(each.effort)))
        assert result.report.has_errors
        codes = [finding.code for finding in result.report.findings]
        assert codes.count('effort-zero') == given.n
        assert (relative_error(result.robot, given) == 0.0).all()


def test_saturated_efforts_are_left_out(given, log):
    """Efforts at the limit, which hide what was asked for, do not pull the model."""
    limit = float(np.quantile(np.abs(log.effort[:, 1]), 0.9))
    joints = [replace(joint) for joint in given.joints]
    joints[1] = replace(joints[1], effort_limit=limit)
    limited = replace(given, joints=tuple(joints))
    effort = log.effort.copy()
    effort[:, 1] = np.clip(effort[:, 1], -limit, limit)
    result = identify(limited, replace(log, effort=effort), holdout=0.0, spread=SPREAD)
    assert 'effort-saturated' in finding_codes(result)
    full = identify(given, log, holdout=0.0, spread=SPREAD)
    assert result.report.joints[1].samples < full.report.joints[1].samples
    assert (relative_error(result.robot, full.robot) < 0.02).all()


def test_constant_errors_of_the_effort(given, truth, log):
    """With offsets, a constant error of each effort is found and does not go into the model."""
    constants = np.array([1.0, -2.0, 3.0])
    result = identify(given, replace(log, effort=log.effort + constants), offsets=True)
    found = np.array([joint.offset for joint in result.report.joints])
    assert np.abs(found - constants).max() < 0.3
    assert (relative_error(result.robot, truth) < relative_error(given, truth) / 4.0).all()


def test_given_inertia_that_no_body_has(given, log, truth):
    """Point masses in the given model become bodies, with a warning, and the fit is as good."""
    points = given.with_links(
        replace(
            link,
            inertia=Inertia(link.inertia.mass, link.inertia.center_of_mass, np.zeros((3, 3))),
        )
        for link in given.links
    )
    result = identify(points, log)
    assert 'given-inertia-impossible' in finding_codes(result)
    for joint in result.report.joints:
        assert joint.after.rms_difference < 0.1 * joint.before.rms_difference
    for body in result.robot.bodies:
        assert is_body(pseudo_inertia(body.inertia.parameters)), body.name


def test_body_without_mass_is_left_alone(given, log):
    """A moving link without any mass is named and stays as it is."""
    light = given.with_links(
        replace(link, inertia=Inertia.zero()) if link.name == 'forearm' else link
        for link in given.links
    )
    result = identify(light, log, spread=SPREAD)
    assert 'body-without-mass' in finding_codes(result)
    assert result.robot.link('forearm').inertia.is_zero


def test_gravity_of_a_tilted_base(given, truth):
    """An arm on a wall is identified with the gravity of its base axes, and not without."""
    gravity = (9.80665, 0.0, 0.0)
    straight = recorded(truth, 10.0, effort_noise=0.0, resolution=0.0)
    dynamics = ned.Dynamics(truth, gravity, backend='python')
    motion = np.gradient(straight.position, PERIOD, axis=0)
    efforts = dynamics.inverse_dynamics(
        straight.position, motion, np.gradient(motion, PERIOD, axis=0)
    )
    log = replace(straight, effort=efforts)
    tilted = evaluate(ned.Dynamics(truth, gravity, backend='python'), log)
    upright = evaluate(truth, log)
    assert tilted.joints[1].explained > 0.99
    assert upright.joints[1].rms_difference > 20.0 * tilted.joints[1].rms_difference
    turned = ned.Dynamics(given, gravity, backend='python')
    for joint in identify(turned, log, spread=SPREAD).report.joints:
        assert joint.after.rms_difference < 0.1 * joint.before.rms_difference


def test_velocity_of_the_log_that_disagrees(given, log):
    """A velocity in degrees is noticed; it never was used."""
    rates = np.gradient(log.position, log.times, axis=0)
    plain = identify(given, log, spread=SPREAD)
    for factor, codes in ((1.0, set()), (57.3, {'velocity-disagrees'})):
        result = identify(given, replace(log, velocity=factor * rates), spread=SPREAD)
        assert finding_codes(result) == codes
        assert result.robot.joints[0].viscous_friction == plain.robot.joints[0].viscous_friction


def test_refusals(given, log):
    """Options out of range, other joints and a cut-off beyond the rate are refused by name."""
    with pytest.raises(InputError, match=r'holdout: expected a part from 0 to 0\.9, got 1'):
        identify(given, log, holdout=1.0)
    with pytest.raises(InputError, match='spread: expected a finite number > 0, got nan'):
        identify(given, log, spread=float('nan'))
    with pytest.raises(InputError, match=r'expected the joints joint_1, .*, got joint_2'):
        identify(given, replace(log, joint_names=log.joint_names[1:]))
    with pytest.raises(InputError, match='at most 125, a quarter of the rate'):
        identify(given, log, cutoff_frequency=200.0)


def test_evaluation_explains_the_truth(given, truth, log):
    """The true model explains all but the noise; the given one leaves what identify reports."""
    for joint in evaluate(truth, log).joints:
        assert joint.rms_difference < 8.0 * FILTERED_NOISE
        assert joint.explained > 0.99
    worst = min(joint.explained for joint in evaluate(given, log).joints)
    assert worst < 0.5


def test_load_that_turns_the_effort_of_a_light_joint_around(given):
    """A weight on the other side than the model's turns an effort around; its sign is right.

    So far from the given model the last fit is as good as those of the blocks before it.
    """
    robots = []
    for side in (0.1, -0.1):
        last = given.bodies[-1].inertia
        weight = Inertia(2.0, np.array([side, side, 0.0]), last.inertia_about_com)
        robots.append(with_body_inertias(given, {given.n - 1: weight}))
    truth = replace(
        robots[0],
        joints=tuple(
            replace(joint, viscous_friction=0.1, coulomb_friction=0.1) for joint in given.joints
        ),
    )
    times, motion = fourier_series(given, 16.0, 3)
    effort = ned.Dynamics(truth, backend='python').inverse_dynamics(*motion)
    result = identify(
        robots[1], Log.from_samples(given.joint_names, times[::5], motion[0][::5], effort[::5])
    )
    measured, model = effort[:, -1], ned.Dynamics(robots[1]).inverse_dynamics(*motion)[:, -1]
    assert measured @ model < -0.5 * np.linalg.norm(measured) * np.linalg.norm(model)
    assert 'wrong-sign' not in finding_codes(result)
    for joint in result.report.joints:
        assert joint.after.rms_difference < 0.01 * joint.before.rms_difference


def test_report_of_a_model_without_masses_is_json(given, log):
    """A body without a mass has no deviation of it: null, where JSON has no other word."""
    bare = given.with_links(
        replace(link, inertia=Inertia(0.0, np.zeros(3), np.zeros((3, 3)))) for link in given.links
    )
    document = json.loads(
        json.dumps(identify(bare, log, spread=SPREAD).report.as_json(), allow_nan=False)
    )
    assert [body['mass_deviation'] for body in document['bodies']] == [None] * given.n
