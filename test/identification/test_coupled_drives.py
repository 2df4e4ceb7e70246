"""Drives that turn with two joints: fitted where given, found where a log shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loaded_motion import alter, record

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.identification.evaluation import evaluate
from ne_dynamics.identification.run import identify
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.shipped import shipped_file

ARM = shipped_file('six_axis_arm.urdf')
NUMBERS = {'rotor_inertia': 0.35, 'viscous_friction': 1.6, 'coulomb_friction': 2.4}


def make_truth(given, names, ratio, seed=0):
    """Return an arm of other inertias and friction, with a drive of two joints."""
    drive = CoupledDrive('hidden', names, (1.0, ratio), smoothing_velocity=0.02, **NUMBERS)
    return replace(alter(given, seed), coupled_drives=(drive,))


def assert_numbers(drive, tolerance=0.15):
    """Assert that a drive has about the numbers that were hidden."""
    for key, value in NUMBERS.items():
        found = drive.reflected_inertia if key == 'rotor_inertia' else getattr(drive, key)
        assert found == pytest.approx(value, rel=tolerance), key


@pytest.mark.long
@pytest.mark.parametrize(('first', 'ratio'), [(4, 1.0), (4, -1.0), (3, 1.0)])
def test_a_log_shows_which_joints_share_a_drive(given, first, ratio):
    """Joints, sign and numbers come out, and what is left of both joints is noise."""
    names = given.joint_names[first : first + 2]
    truth = make_truth(given, names, ratio)
    result = identify(given, record(truth, 0))
    (drive,) = result.robot.coupled_drives
    assert drive.items == ((names[0], 1.0), (names[1], ratio))
    assert_numbers(drive)
    other = record(truth, 5)
    without = identify(replace(given, coupled_drives=()), record(alter(given, 0), 0)).robot
    left = [joint.rms_difference for joint in evaluate(result.robot, other).joints]
    bare = [joint.rms_difference for joint in evaluate(without, other).joints]
    for index in (first, first + 1):
        # The noise of the efforts is 0.2, of which the low-pass leaves a part.
        assert left[index] < 0.2
        assert bare[index] > 5.0 * left[index]


@pytest.mark.kept(1)
@pytest.mark.parametrize(('first', 'ratio'), [(4, 0.5), (3, -1.6)])
def test_a_log_shows_the_ratio_of_a_drive(given, first, ratio):
    """To five per cent, and the numbers come out as with one that is tried first."""
    names = given.joint_names[first : first + 2]
    result = identify(given, record(make_truth(given, names, ratio), 0))
    (drive,) = result.robot.coupled_drives
    assert drive.joints == names
    assert drive.ratios == (1.0, pytest.approx(ratio, rel=0.05))
    assert_numbers(drive)


def test_a_given_drive_is_fitted(given):
    """With the ratios that it is given with, which no search would try."""
    names = (given.joint_names[1], given.joint_names[4])
    truth = make_truth(given, names, -2.0)
    known = CoupledDrive('wrist', names, (1.0, -2.0), gear_ratio=10.0)
    result = identify(replace(given, coupled_drives=(known,)), record(truth, 0))
    (drive,) = result.robot.coupled_drives
    assert (drive.name, drive.items, drive.gear_ratio) == ('wrist', known.items, 10.0)
    assert_numbers(drive)
    (change,) = result.report.drives
    assert (change.before, change.after) == (known, drive)
    for key, deviation in change.deviations.items():
        assert 0.0 < deviation < 0.2 * getattr(drive, key)


def test_the_command_writes_what_it_found(given, tmp_path, capsys):
    """Into the extras beside the URDF, with a line of its own in the text."""
    truth = make_truth(given, given.joint_names[4:], 1.0)
    log = record(truth, 0)
    path = tmp_path / 'log.csv'
    heads = [
        'time',
        *(f'{name}.position' for name in log.joint_names),
        *(f'{name}.effort' for name in log.joint_names),
    ]
    table = np.column_stack([log.times, log.position, log.effort])
    np.savetxt(path, table, delimiter=',', header=','.join(heads), comments='')
    output = tmp_path / 'fitted.urdf'
    command = ['identify', '--model', str(ARM), '--tip', 'tcp', str(path)]
    assert main([*command, '-o', str(output)]) == 0
    first, second = given.joint_names[4:]
    assert f'coupled drive of {first} + {second}: viscous_friction 0 ->' in capsys.readouterr().out
    (drive,) = ned.load_urdf(output, tip_link='tcp').coupled_drives
    assert_numbers(drive)
