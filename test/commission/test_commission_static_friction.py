"""Friction at rest that is tried out: joints that lead their motion, and what is kept."""

import math
from dataclasses import replace

import numpy as np
import pytest
from small_arm import URDF, kept_folder, no_bar, simulated_small_arm, small_arm

import ne_dynamics as ned
from ne_dynamics.commission.fits.static_friction import (
    RiseTrial,
    choose_next_parts,
    choose_parts,
    find_leads,
    with_part_of_rise,
)
from ne_dynamics.commission.record import Record
from ne_dynamics.model.friction import FrictionModel
from ne_dynamics.simulation.hidden_errors import draw_hidden_errors

WIDTH = 0.1
RISING = FrictionModel(static_friction=9.0, stribeck_velocity=WIDTH)


def robot_with(friction):
    """Return the arm with the same friction in all joints, and Coulomb friction of 6 N m."""
    robot = ned.load_urdf(URDF)
    joints = tuple(
        replace(joint, coulomb_friction=6.0, friction=friction) for joint in robot.joints
    )
    return replace(robot, joints=joints)


def trial(parts, leads, errors):
    """Return a trial of the three joints."""
    return RiseTrial(np.array(parts), np.array(leads), np.array(errors))


@pytest.mark.parametrize('part', [0.7, 0.5])
def test_less_static_friction_is_a_wider_stribeck_effect(part):
    """At rest there is less; at the velocity at which it was known there is what there was."""
    robot = robot_with(RISING)
    lessened = with_part_of_rise(robot, np.array([1.0, part, part]))
    assert lessened.joints[0] == robot.joints[0]
    friction = lessened.joints[1].friction
    assert friction.static_friction == pytest.approx(6.0 + 3.0 * part)
    left = (friction.static_friction - 6.0) * math.exp(
        -((WIDTH / friction.stribeck_velocity) ** 2)
    )
    assert left == pytest.approx(3.0 * math.exp(-1.0))


def test_joints_without_a_rise_are_left_as_they_are():
    """There is nothing to take a part of."""
    robot = robot_with(FrictionModel())
    assert with_part_of_rise(robot, np.full(3, 0.5)).joints == robot.joints


def test_a_lead_is_told_from_a_lag_where_the_joint_is_slow():
    """One joint is ahead at its turns, one behind; one is ahead only when it is fast."""
    times = np.arange(0.0, 20.0, 0.004)
    desired = np.column_stack([0.5 * np.sin(times)] * 3)
    speed = 0.5 * np.cos(times)
    slow = np.exp(-((speed / WIDTH) ** 2))
    ahead = np.sign(speed) * np.column_stack([slow, -slow, 1.0 - slow]).T * 1e-3
    nothing = np.full_like(desired, np.nan)
    robot = robot_with(RISING)
    record = Record(
        robot.joint_names, times, desired + ahead.T, nothing, nothing, desired, desired
    )
    leads = find_leads(robot, record)
    assert leads[0] > 0.5
    assert leads[1] == pytest.approx(-leads[0])
    assert leads[2] < 0.5
    assert not find_leads(robot_with(FrictionModel()), record).any()
    standing = replace(record, desired=np.zeros_like(desired))
    assert not find_leads(robot, standing).any()


def test_joints_that_lag_are_not_tried_with_less():
    """When all do one motion is enough, and none where no friction rises."""
    robot = robot_with(RISING)
    assert choose_next_parts(robot, []).tolist() == [1.0, 1.0, 1.0]
    assert choose_next_parts(robot_with(FrictionModel()), []) is None
    lags = trial([1.0, 1.0, 1.0], [-0.2, -0.9, -0.3], [1.0, 1.0, 1.0])
    assert choose_next_parts(robot, [lags]) is None
    swings = trial([1.0, 1.0, 1.0], [0.3, -0.9, 0.0], [1.0, 1.0, 1.0])
    assert choose_next_parts(robot, [swings]).tolist() == [0.7, 1.0, 0.7]


def test_still_less_is_tried_where_less_has_helped():
    """In the first joint; the error of the second one fell by what the others do."""
    robot = robot_with(RISING)
    swings = trial([1.0, 1.0, 1.0], [0.3, -0.9, 0.0], [1.0, 1.0, 1.0])
    calmer = trial([0.7, 1.0, 0.7], [0.0, -0.9, -0.3], [0.9, 0.9, 1.1])
    assert choose_next_parts(robot, [swings, calmer]).tolist() == [0.5, 1.0, 1.0]
    worse = replace(calmer, rms_error=np.array([0.97, 0.9, 1.1]))
    assert choose_next_parts(robot, [swings, worse]) is None
    assert choose_next_parts(robot, [swings, calmer, calmer]) is None


@pytest.mark.parametrize(
    ('errors', 'kept'),
    [
        ((4.0, 3.0, 2.0), 0.5),
        ((4.0, 2.0, 3.0), 0.7),
        ((4.0, 3.6, 3.7), 1.0),
        ((1.18, 1.03, 1.48), 0.81),
    ],
)
def test_the_part_with_the_least_error_is_kept_where_it_is_worth_it(errors, kept):
    """Also between those tried; another joint keeps all of its rise, whatever its error became."""
    trials = [
        trial([part, 1.0, 1.0], [0.3, 0.0, 0.0], [error, other, other])
        for part, error, other in zip((1.0, 0.7, 0.5), errors, (5.0, 1.0, 0.5), strict=True)
    ]
    found = choose_parts(robot_with(RISING), trials).tolist()
    assert found == [pytest.approx(kept, abs=0.01), 1.0, 1.0]
    assert choose_parts(robot_with(FrictionModel()), []).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.long
def test_a_joint_that_swings_by_too_much_static_friction_is_calmed(tmp_path):
    """Found far too large by a fit, it is mended by what the arm does; nothing else changes."""
    pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    from ne_dynamics.commission.arm.one_process import OneProcessSession
    from ne_dynamics.commission.arm_steps import ArmSteps, Motions
    from ne_dynamics.commission.offline_steps import FITTED, IDENTIFIED

    subject = small_arm(tmp_path / 'model')
    errors = replace(draw_hidden_errors(subject.robot, 1), delay=0.008, encoder_bits=15)
    folder = kept_folder(tmp_path / 'run', subject)
    simulated = simulated_small_arm(subject, errors, folder.path)
    session = OneProcessSession(subject.robot, errors, simulated)
    work = ArmSteps(subject, folder, session, no_bar, Motions(excite=6.0, test=4.0))
    listened = {'rate': 250.0, 'reports_velocity': False}
    folder.finish('listen', {**listened, 'position': simulated['initial_position']})
    folder.finish('identify', {'efforts': {'state_effort': 'torque'}})
    gains = {
        'mode': 'computed_torque',
        'computed_torque.kp': [333.0],
        'computed_torque.kv': [31.0],
        'velocity_cutoff_frequency': 50.0,
    }
    folder.finish('gains', {'parameters': gains})
    true = errors.apply(subject.robot)
    friction = replace(true.joints[2].friction, static_friction=7.3, stribeck_velocity=0.087)
    wrong = (*true.joints[:2], replace(true.joints[2], friction=friction))
    for name in (FITTED, IDENTIFIED):
        subject.write(folder.file(name), replace(true, joints=wrong))
    before = work.test('before', work.after_parameters())['rms_error']
    tried = work.try_friction()
    after = work.test('after', work.after_parameters())['rms_error']
    assert tried['parts'][2] < 1.0
    assert 'bend: static friction' in tried['found'][-1]
    assert after[2] < 0.6 * before[2]
    kept = work.model(IDENTIFIED).robot.joints
    assert kept[2].friction.static_friction < 6.8
    assert kept[2].coulomb_friction == pytest.approx(true.joints[2].coulomb_friction)
