"""Velocities, steps and times of drivers: each kind is planted, and found or not told."""

from __future__ import annotations

import numpy as np
import pytest
from driver_signals import PLACE, RATE, SPEED, TIMES, describe, differenced, positions, share_of

from ne_dynamics.driver.recording import DriverRecording
from ne_dynamics.driver.steps import describe_step, find_step
from ne_dynamics.driver.timing import describe_timing


def noisy(table, size=0.002):
    """Return a table with noise."""
    return table + size * np.random.default_rng(2).standard_normal(table.shape)


@pytest.mark.parametrize(
    ('velocity', 'sources', 'lag'),
    [
        (differenced(1), {'differentiated'}, 0.5 / RATE),
        (differenced(4), {'differentiated'}, 2.0 / RATE),
        (differenced(1, 20.0), {'differentiated'}, (0.5 + 1.0 / share_of(20.0) - 1.0) / RATE),
        (noisy(SPEED), {'measured'}, 0.0),
        (noisy(np.roll(SPEED, 3, axis=0)), {'filtered'}, 3.0 / RATE),
    ],
    ids=['backward', 'over four', 'filtered difference', 'measured', 'late'],
)
def test_velocities_that_can_be_used(velocity, sources, lag):
    """What a velocity is made of is found, and by how much it is late."""
    for joint in describe(velocity):
        assert joint.source.value in sources, joint.source.text
        assert joint.lag == pytest.approx(lag, abs=1e-3)
        assert joint.can_be_used


@pytest.mark.parametrize(
    ('velocity', 'source', 'text'),
    [
        (np.zeros_like(SPEED), 'zero', 'always 0'),
        (-noisy(SPEED), 'wrong', 'opposite sign'),
        (np.rad2deg(noisy(SPEED)), 'wrong', 'degrees'),
        (0.4 * noisy(SPEED), 'wrong', '0.4 times'),
        (noisy(SPEED)[:, ::-1], 'wrong', 'that of joint'),
        (np.full_like(SPEED, np.nan), 'absent', 'none'),
    ],
)
def test_velocities_that_cannot_be_used(velocity, source, text):
    """Zeros, signs, units and other joints are named."""
    for joint in describe(velocity):
        assert joint.source.value == source
        assert text in joint.source.text
        assert not joint.can_be_used


def test_a_joint_that_stands_tells_no_velocity():
    """Nothing is said of a velocity of a joint that does not move."""
    for joint in describe(noisy(SPEED), moves=False):
        assert not joint.source.is_identifiable


@pytest.mark.parametrize('bits', [12, 14, 17, 19, 21])
def test_bits_of_an_encoder_are_found(bits):
    """Steps that are a power of two a turn are known, behind a zero of its own too."""
    for column in (positions(bits) + 0.1234).T:
        assert f'{bits} bits' in describe_step(column, 'rad', True).text


def test_numbers_without_a_step_have_none():
    """Noise has no step, rounded numbers have that of their digits, what stands tells nothing."""
    noise = np.random.default_rng(1).standard_normal(1000)
    assert find_step(noise) == 0.0
    assert find_step(np.round(noise, 2)) == pytest.approx(0.01)
    assert not describe_step(np.ones(100), 'N m', False).is_identifiable
    assert find_step(330.0 * np.sign(noise)) == pytest.approx(660.0)


def test_gaps_bursts_and_clocks_are_counted():
    """Lost states, states in pairs, stamps that stand and another clock are all in the times."""
    stamps = TIMES.copy()
    kept = np.ones(stamps.size, dtype=bool)
    kept[1000:1010] = False
    stamps[1500:1600:2] = stamps[1501:1601:2] - 1e-4
    stamps[2000] = stamps[1999]
    recording = DriverRecording.from_samples(
        ('a', 'b'), stamps[kept], PLACE[kept], received=stamps[kept] + 1.7e9
    )
    timing = describe_timing(recording, 100, 400)
    assert timing.rate == pytest.approx(RATE, rel=0.02)
    assert timing.gaps == 1
    assert timing.longest_gap == pytest.approx(11.0 / RATE)
    assert timing.bursts == pytest.approx(50 / kept.sum(), rel=0.1)
    assert timing.standing == 1
    assert timing.sensor_rate == pytest.approx(0.75 * timing.rate)
    assert timing.has_other_clock
    assert timing.lines()
