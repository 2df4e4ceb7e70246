"""``ne_dynamics ik``."""

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

SIX_LINK = str(shipped_file('six_link_dh.yaml'))
ARM = str(shipped_file('six_axis_arm.urdf'))

POSE_A = ['--position', '-0.1', '0.35', '1.63', '--quaternion', '0.5', '0.5', '0.5', '-0.5']
"""The printed pose A of the six-link arm: n = (0, 0, 1), o = (1, 0, 0)."""

PRINTED_A = np.deg2rad([2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731])


def test_the_printed_pose_has_the_printed_joint_positions(ask):
    start = ['0', '1e-3', '1.5', '-5.9e-1', '-1.5E0', '-1e-05']  # as JSON writes small numbers
    report = ask('ik', SIX_LINK, *POSE_A, '--from', *start)
    np.testing.assert_allclose(report['positions'], [PRINTED_A], rtol=0.0, atol=2e-5)
    assert max(report['position_errors'] + report['orientation_errors']) < 1e-9
    assert report['link'] == 'link_6'


def test_all_positions_are_listed(ask):
    report = ask('ik', SIX_LINK, *POSE_A, '--all')
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
def test_the_link_of_the_pose_is_named(options, link, call):
    code, out, _ = call('ik', ARM, '--position', '0.5', '0', '0.4', *options)
    assert code == 0
    assert out.endswith(f' rad by {link}\n')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('--position', '9', '0', '0'), 'error: --position: expected a pose that'),
        ((*POSE_A, '--from', '0', '0'), '--from: expected 6 joint positions, joint_1, joint_2'),
        ((*POSE_A, '--all', '--from', '0'), '--all: expected no --from beside it'),
        ((*POSE_A[:4], '--quaternion', '0', '0', '0', '0'), '--quaternion: expected four'),
        ((*POSE_A, '--link', 'nose'), "error: --link: no link 'nose'"),
        ((*POSE_A, '--link', 'base'), "got 'base', which is fixed"),
    ],
)
def test_what_cannot_be_is_a_message(arguments, message, refused):
    assert refused(message, 'ik', '--model', SIX_LINK, *arguments) == ''
