"""What the record of a motion tells of why it was not followed: hard stops and vibrations."""

from dataclasses import replace

import numpy as np
import pytest

from ne_dynamics.commission.hard_stop import find_hard_stops
from ne_dynamics.commission.record import Record
from ne_dynamics.commission.vibration import find_vibrations

TIMES = 0.002 * np.arange(2000)
LENGTHS = np.ones(2)


def record(position, desired, command):
    """Return a record of two joints, of which the second stands."""
    rows = [np.column_stack([values, np.zeros_like(TIMES)]) for values in (position, desired)]
    nothing = np.full_like(rows[0], np.nan)
    effort = np.column_stack([command, np.zeros_like(TIMES)])
    return Record(('turn', 'lift'), TIMES, rows[0], nothing, nothing, effort, rows[1])


def sent():
    """Return a way to 0.5 rad and back, twice."""
    return 0.25 * (1.0 - np.cos(np.pi * TIMES))


def held_at(place, side=1.0):
    """Return a motion to one side that ends at a place."""
    return record(side * np.minimum(sent(), place), side * sent(), sent())


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_place_that_a_joint_does_not_pass_is_a_hard_stop(side):
    """On either side."""
    (found,) = find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.31, side)])
    assert (found.code, found.joints, found.amount) == ('hard-stop', ('turn',), side * 0.3)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_place_that_it_has_passed_in_another_motion_is_none(side):
    """The joint stuck there."""
    assert not find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.4, side)])
    assert find_hard_stops(held_at(0.3, side), LENGTHS, [held_at(0.4, -side)])


def shaken(frequency, amplitude, is_sent):
    """Return a motion with a swing, sent there or not, that takes 100 N m a radian."""
    swing = amplitude * np.sin(2.0 * np.pi * frequency * TIMES)
    return record(sent() + swing, sent() + is_sent * swing, 10.0 * sent() + 100.0 * swing)


def test_a_joint_that_swings_where_it_was_not_sent_vibrates():
    """Its frequency is told; a swing that was planned is none, nor a small one."""
    limits = np.array([40.0, 40.0])
    (found,) = find_vibrations(shaken(12.0, 0.1, False), limits)
    assert (found.code, found.joints) == ('vibration', ('turn',))
    assert found.amount == pytest.approx(12.0, abs=0.5)
    assert not find_vibrations(shaken(12.0, 0.1, True), limits)
    assert not find_vibrations(shaken(12.0, 0.02, False), limits)
    assert not find_vibrations(shaken(1.0, 0.3, False), limits)
    short = shaken(12.0, 0.1, False).part(slice(50))
    assert not find_vibrations(short, limits)
    silent = replace(short, command=np.full_like(short.command, np.nan))
    assert not find_vibrations(silent, limits)
