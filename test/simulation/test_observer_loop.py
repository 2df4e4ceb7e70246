"""What the momentum observer is worth in closed loop: the claims of doc/observer.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import demo_motion, shipped_arm

from studies.observer_study import (
    CASES,
    DURATION,
    ELASTIC_FREQUENCIES,
    ELASTIC_PERIOD,
    LABELS,
    LAWS,
    TABLES,
    count_false_alarms,
    largest_gain,
    replace_table,
    run_case,
    run_elastic,
    run_stiction,
    time_to_contact,
)

MOTION = demo_motion(shipped_arm(), DURATION)
CUTOFF = 3.0
ROUNDING = 1e-4
"""Errors below this are none [rad]."""


@cache
def errors(case: str, law: str):
    """Return the errors of a row of the table."""
    return run_case(CASES[case], law, MOTION)


@pytest.mark.kept(1)
@pytest.mark.parametrize('other', [law for law in LAWS if law != 'observer'])
@pytest.mark.parametrize('case', CASES)
def test_it_is_never_worse(case, other) -> None:
    ours, theirs = errors(case, 'observer'), errors(case, other)
    assert ours.moving <= theirs.moving
    assert ours.at_rest <= max(theirs.at_rest, ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize('masses', [1.0, 1.2])
@pytest.mark.parametrize(
    'frequencies', [ELASTIC_FREQUENCIES, (15.0,) * 6, (40.0,) * 6], ids=['both', '15 Hz', '40 Hz']
)
def test_elastic_joints_do_not_swing(frequencies, masses) -> None:
    found = run_elastic(
        MOTION,
        largest_gain(ELASTIC_PERIOD, CUTOFF) - 0.1,
        compensates=True,
        masses=masses,
        frequencies=frequencies,
    )
    assert not found.remarks
    assert found.swing < ROUNDING
    assert found.moving < 1e-3


@pytest.mark.long
def test_stiction_makes_no_joint_hunt() -> None:
    off, found = (run_stiction(MOTION, 1.5, mode, 10.0) for mode in ('off', 'compensate'))
    assert found.swing < 2e-4
    assert found.error < 0.5 * off.error


def test_gains_for_which_the_observer_is_too_much_are_warned_of() -> None:
    gain = largest_gain(ELASTIC_PERIOD, 0.0) - 0.1
    short = demo_motion(shipped_arm(), 1.0)
    assert not run_elastic(short, gain, compensates=False).remarks
    remarks = run_elastic(short, gain, compensates=True).remarks
    assert len(remarks) == 1
    assert 'observer.cutoff_frequency' in remarks[0]


@pytest.mark.kept(1)
@pytest.mark.parametrize('mode', ['estimate', 'compensate'])
def test_fast_motions_are_no_contact(mode) -> None:
    assert count_false_alarms(20.0, mode) == 0


@pytest.mark.kept(1)
@pytest.mark.parametrize('mode', ['estimate', 'compensate'])
@pytest.mark.parametrize('joint', range(6))
def test_a_push_is_seen_soon(joint, mode) -> None:
    times = [time_to_contact(joint, sign, mode, before=2.0) for sign in (1.0, -1.0)]
    assert np.max(times) <= 0.020


def test_the_document_has_a_row_for_each_case() -> None:
    text = (Path(__file__).parents[2] / 'doc' / 'observer.md').read_text(encoding='utf-8')
    for label in LABELS.values():
        assert label in text
    for case in CASES.values():
        assert f'| {case.label} | ' in text
    for name in TABLES:
        assert 'another table' in replace_table(text, name, 'another table')
