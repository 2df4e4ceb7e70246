"""Names of a log and of a model: matched, changed by hand, and said when they do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ne_dynamics as ned
from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.names import find_still, find_unrecorded, match_names, name_misfit, rename

ARM = Path(__file__).resolve().parents[2] / 'config' / 'six_axis_arm.urdf'
NAMES = tuple(f'joint_{index}' for index in range(1, 7))


@pytest.fixture(scope='module')
def arm():
    """Return the shipped arm."""
    return ned.load_urdf(ARM, tip_link='tcp')


def test_renames_by_name_and_by_pattern(arm):
    matched = match_names(
        arm, ['r_1', 'r_2', 'wrist'], [('r_*', 'joint_*'), ('wrist', 'joint_6')], ''
    )
    assert matched == {'joint_1': 'r_1', 'joint_2': 'r_2', 'joint_6': 'wrist'}
    # No letter counts for both ends.
    assert rename('ab*ba', 'joint_*', 'aba') is None
    assert rename('ab*ba', 'joint_*', 'ab2ba') == 'joint_2'


@pytest.mark.parametrize(
    ('renames', 'message'),
    [
        ([('none', 'joint_1')], r'rename none=joint_1: expected a joint of the log, which has'),
        ([('joint_1', 'joint_2')], r"expected each joint once, got 'joint_2'"),
        ([('joint_1', 'none')], r'expected a joint of the model, which has .*, got none'),
    ],
)
def test_renames_that_do_not_fit(arm, renames, message):
    """A rename names joints of the log and of the model, each once."""
    with pytest.raises(InputError, match=message):
        match_names(arm, NAMES, renames, 'log')


def test_a_name_that_is_nearly_right_is_not_locked(arm):
    """A joint that the log may have under another name, or a log of few joints, locks nothing."""
    recorded = [*NAMES[:5], 'Joint_6']
    assert find_unrecorded(arm, recorded, {name: name for name in NAMES[:5]}) == {}
    assert find_unrecorded(arm, NAMES[:1], {'joint_1': 'joint_1'}) == {}
    short = ned.load_urdf(ARM, tip_link='upper_arm')
    assert find_unrecorded(short, NAMES[:1], {'joint_1': 'joint_1'}) == {'joint_2': 0.0}


def test_misfit_names_both_and_proposes(arm):
    """What does not fit is listed, with the rename that would make it fit."""
    recorded = [f'left_{name}' for name in NAMES]
    text = name_misfit(arm, recorded, {})
    assert 'left_joint_3' in text
    assert "--rename 'left_*=*'" in text


def test_still_joints_at_the_end(arm):
    """A joint that never moves, nor anything beyond it, is found with its position."""
    rng = np.random.default_rng(0)
    position = rng.uniform(-1.0, 1.0, (50, 6))
    position[:, [2, 5]] = 0.3
    for shift, found in ((0.0, ['joint_6']), (0.9e-3, ['joint_6']), (1.5e-3, [])):
        position[7, 5] = 0.3 + shift
        log = Log.from_samples(NAMES, np.arange(50.0), position, position)
        assert find_still(arm, log) == dict.fromkeys(found, pytest.approx(0.3))
    standing = Log.from_samples(NAMES, np.arange(50.0), 0.0 * position, position)
    assert find_still(arm, standing) == {}


def make_chain(count):
    """Return an arm of so many joints, one behind the other."""
    links = ''.join(f'<link name="link_{index}"/>' for index in range(count + 1))
    joints = ''.join(
        f'<joint name="joint_{index}" type="continuous"><parent link="link_{index - 1}"/>'
        f'<child link="link_{index}"/><axis xyz="0 0 1"/></joint>'
        for index in range(1, count + 1)
    )
    return ned.load_urdf(f'<robot name="chain">{links}{joints}</robot>')


@pytest.mark.parametrize(('recorded', 'locked'), [(2, 0), (3, 5), (5, 3)])
def test_three_joints_of_a_long_arm_are_enough_to_lock_the_others(recorded, locked):
    names = [f'joint_{index}' for index in range(1, recorded + 1)]
    found = find_unrecorded(make_chain(8), names, dict(zip(names, names, strict=True)))
    assert len(found) == locked
