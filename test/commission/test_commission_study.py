"""Which runs the study of simulated arms does, and its table."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')
pytest.importorskip('matplotlib', reason='the study draws a picture')

from studies.commission_study import ARMS, chosen_arms, run_name, table


def test_every_arm_runs_once_with_its_own_seed():
    """By its name alone."""
    assert chosen_arms(None, None) == list(ARMS)
    assert [run_name(arm) for arm in ARMS] == [arm.name for arm in ARMS]


def test_other_seeds_are_runs_of_their_own():
    """An arm's own seed is the run that it has without."""
    runs = chosen_arms(['UR5', 'Z1'], [1, 2])
    assert [run_name(arm) for arm in runs] == ['UR5', 'Z1 1', 'UR5 2', 'Z1 2']


def test_the_table_has_a_row_for_a_run_that_ended_early():
    """What is not known is a dash."""
    row = {'arm': 'UR5', 'joints': 6, 'planted_meaning': 'current', 'planted_delay': 0.004}
    last = table([row]).splitlines()[-1]
    assert last == '| UR5 | 6 | current, - | 4, - | - | - | - | - | - |'
