"""``ne_dynamics ik``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.model.rigid_body import axis_angle_rotation
from ne_dynamics.shipped import shipped_file

SIX_LINK = str(shipped_file('six_link_dh.yaml'))
PUMA = str(shipped_file('puma560_standard_dh.yaml'))
ARM = str(shipped_file('six_axis_arm.urdf'))

POSE_A = ('--position', '-0.1', '0.35', '1.63', '--quaternion', '0.5', '0.5', '0.5', '-0.5')
"""The printed pose A of the six-link arm: n = (0, 0, 1), o = (1, 0, 0)."""

PRINTED_A = np.deg2rad([2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731])


def call(*arguments):
    """Run the subcommand and return its exit code."""
    return main(['ik', *map(str, arguments)])


def read_json(capsys, *arguments):
    """Run the subcommand with --json and return what it printed."""
    assert call(*arguments, '--json') == 0
    return json.loads(capsys.readouterr().out)


def test_the_printed_pose_has_the_printed_joint_positions(capsys):
    start = ['0', '1e-3', '1.5', '-5.9e-1', '-1.5E0', '-1e-05']  # as JSON writes small numbers
    report = read_json(capsys, '--model', SIX_LINK, *POSE_A, '--from', *start)
    np.testing.assert_allclose(report['positions'], [PRINTED_A], rtol=0.0, atol=2e-5)
    assert max(report['position_errors'] + report['orientation_errors']) < 1e-9
    assert report['link'] == 'link_6'


def test_all_positions_are_listed(capsys):
    report = read_json(capsys, '--model', SIX_LINK, *POSE_A, '--all')
    expected = ned.inverse_kinematics_branches(
        ned.Dynamics(ned.load_dh(SIX_LINK), backend='python'), np.array(report['target_pose'])
    )
    np.testing.assert_array_equal(report['positions'], expected)
    differences = np.array(report['positions']) - PRINTED_A
    assert np.abs((differences + np.pi) % (2.0 * np.pi) - np.pi).max(axis=1).min() < 2e-5


@pytest.mark.parametrize(
    ('options', 'link'),
    [((), 'flange'), (('--tip-link', 'tcp'), 'tcp'), (('--link', 'wrist_2'), 'wrist_2')],
)
def test_the_link_of_the_pose_is_named(options, link, capsys):
    assert call(ARM, '--position', '0.5', '0', '0.4', *options) == 0
    assert capsys.readouterr().out.endswith(f' rad by {link}\n')


def test_roll_pitch_and_yaw_are_those_of_urdf(capsys):
    x, y, z = np.eye(3)
    position = ('--position', '0.5', '0.1', '0.3')
    report = read_json(capsys, '--model', PUMA, *position, '--rpy', '3.0', '0.2', '0.3')
    expected = np.eye(4)
    expected[:3, :3] = (
        axis_angle_rotation(z, 0.3) @ axis_angle_rotation(y, 0.2) @ axis_angle_rotation(x, 3.0)
    )
    expected[:3, 3] = 0.5, 0.1, 0.3
    np.testing.assert_allclose(report['target_pose'], expected, atol=1e-15)
    dynamics = ned.Dynamics(ned.load_dh(PUMA), backend='python')
    found = dynamics.forward_kinematics(report['positions'][0])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-9)
    report = read_json(capsys, '--model', PUMA, '--position', '0.3', '0.2', '1.2')
    np.testing.assert_array_equal(np.array(report['target_pose'])[:3, :3], np.eye(3))


def test_the_table_has_a_row_for_each_joint(capsys):
    assert call('--model', SIX_LINK, *POSE_A, '--from', *PRINTED_A.round(1)) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines[:-1]] == [f'joint_{i}' for i in range(1, 7)]
    assert [float(line[3]) for line in lines[:-1]] == pytest.approx(
        np.rad2deg(PRINTED_A), abs=0.0011
    )
    assert lines[-1][:2] == ['met', 'within']
    assert call('--model', SIX_LINK, *POSE_A, '--all') == 0
    first, *rows = capsys.readouterr().out.splitlines()
    count = int(first.split()[0])
    assert count > 1
    assert all(len(row.split()) == count + 2 for row in rows[:6])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('--position', '9', '0', '0'), 'misses it by'),
        ((*POSE_A, '--from', '0', '0'), '--from: expected 6 joint positions, joint_1, joint_2'),
        ((*POSE_A, '--all', '--from', '0'), '--all: expected no --from beside it'),
        ((*POSE_A[:4], '--quaternion', '0', '0', '0', '0'), '--quaternion: expected four'),
        ((*POSE_A, '--link', 'nose'), "link: no link 'nose'"),
        ((*POSE_A, '--link', 'base'), "got 'base', which is fixed"),
    ],
)
def test_what_cannot_be_is_a_message(arguments, message, capsys):
    assert call('--model', SIX_LINK, *arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.startswith('ne_dynamics ik: error: ')
    assert message in captured.err
