"""Rotor inertias, offsets and friction of other kinds come out, and masses stay what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loaded_motion import record_swings, with_drives

import ne_dynamics as ned
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.run import identify
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file


@pytest.fixture(scope='module')
def arm() -> Robot:
    """Return the first three joints of the shipped arm, what is beyond them fixed."""
    return ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='forearm')


def test_rotor_inertia_and_offset_are_found_and_masses_stay(arm):
    """Drives that the given model lacks go into rotors and offsets, and into no mass."""
    truth = with_drives(arm)
    bare = replace(arm, joints=tuple(replace(joint, gear_ratio=100.0) for joint in arm.joints))
    result = identify(bare, record_swings(truth, 0))
    for found, joint in zip(result.robot.joints, result.report.joints, strict=True):
        assert found.friction.friction_offset == pytest.approx(0.8, abs=0.15)
        _, rotor, deviation = joint.drive['rotor_inertia']
        assert rotor == found.rotor_inertia
        assert deviation > 0.0
    # About a vertical axis, a rotor is no other thing than inertia of the link.
    for joint in result.robot.joints[1:]:
        assert joint.reflected_inertia == pytest.approx(3.0, abs=0.8)
    for body in result.report.bodies:
        assert body.after.mass == pytest.approx(body.before.mass, rel=0.5)
    assert 'mass-implausible' not in {finding.code for finding in result.report.findings}


def test_what_is_reported_is_what_the_robot_has(arm):
    """The numbers of the report are those of the robot; offsets of the measurement are not."""
    log = record_swings(with_drives(arm), 1)
    for offsets in (False, True):
        result = identify(arm, log, offsets=offsets)
        for joint, report in zip(result.robot.joints, result.report.joints, strict=True):
            assert report.viscous[1] == joint.viscous_friction
            assert report.coulomb[1] == joint.coulomb_friction
            for key, (_, after, _) in report.drive.items():
                owner = joint if key == 'rotor_inertia' else joint.friction
                assert after == (getattr(owner, key) or 0.0)
            assert (joint.friction.friction_offset == 0.0) == offsets
            assert report.offset == pytest.approx(0.8, abs=0.15)


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('key', 'changes'),
    [
        ('load_coefficient', {'load_coefficient': 0.08}),
        ('square_root_friction', {'square_root_friction': 30.0}),
    ],
)
def test_friction_of_another_kind_is_chosen_where_it_is_there(arm, key, changes):
    """What held-out blocks ask for is in the model, and another motion is predicted the better."""
    truth = with_drives(arm, **changes)
    result = identify(arm, record_swings(truth, 2))
    assert any(getattr(joint.friction, key) > 0.0 for joint in result.robot.joints)
    other = record_swings(truth, 3)
    left = [joint.rms_difference for joint in evaluate(result.robot, other).joints]
    assert np.mean(left) < 0.5


def test_hysteresis_is_found_with_its_size(arm):
    """Friction of the path is no other friction, and another motion is predicted with it."""
    truth = with_drives(arm, hysteresis_friction=12.0, hysteresis_displacement=0.1)
    result = identify(arm, record_swings(truth, 2))
    for joint in result.robot.joints:
        assert joint.friction.hysteresis_friction == pytest.approx(12.0, rel=0.1)
        assert joint.friction.hysteresis_displacement == 0.1
    other = record_swings(truth, 3)
    left = [joint.rms_difference for joint in evaluate(result.robot, other).joints]
    assert np.mean(left) < 0.5
    # Once given it is kept, and found no second time.
    again = identify(result.robot, other)
    for joint, before in zip(again.robot.joints, result.robot.joints, strict=True):
        assert joint.friction.hysteresis_friction == before.friction.hysteresis_friction


def test_outliers_count_little(arm):
    """Efforts that are wrong by far for some samples hardly move the model."""
    log = record_swings(with_drives(arm), 5)
    effort = log.effort.copy()
    rng = np.random.default_rng(6)
    for start in rng.integers(0, effort.shape[0] - 20, 8):
        effort[start : start + 5, 1] += 150.0
    clean = identify(arm, log)
    soiled = identify(arm, replace(log, effort=effort))
    assert soiled.report.outliers > clean.report.outliers
    other = record_swings(with_drives(arm), 7)
    for one, two in zip(
        evaluate(soiled.robot, other).joints, evaluate(clean.robot, other).joints, strict=True
    ):
        assert one.rms_difference < 2.0 * two.rms_difference + 0.5
