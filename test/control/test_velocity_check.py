"""Velocities that are not those of the positions are found, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from ne_dynamics.control.guards.limits import GUARD_LIMITS
from ne_dynamics.control.guards.velocity_check import VelocityCheck
from ne_dynamics.model.robot import Joint, JointType

JOINTS = [Joint('a', JointType.REVOLUTE), Joint('b', JointType.CONTINUOUS)]
PERIOD = 0.002
TIMES = np.arange(0.0, 1.0, PERIOD)
SIXTEEN_BITS = 2.0 * np.pi / 2**16


def wave(times, amplitude=0.4, frequency=0.7):
    """Return positions and velocities of two joints that swing, from rest."""
    angle = 2.0 * np.pi * frequency * times
    position = amplitude * (1.0 - np.cos(angle))
    velocity = amplitude * 2.0 * np.pi * frequency * np.sin(angle)
    return np.column_stack((position, -position)), np.column_stack((velocity, -velocity))


def first_fault(times, positions, velocities):
    """Return when a fault is found, and its text."""
    check = VelocityCheck(JOINTS)
    for time, position, velocity in zip(times.tolist(), positions, velocities, strict=True):
        text = check.update(position, velocity, time)
        if text:
            return time, text
    return np.inf, ''


def quantised(positions, step=SIXTEEN_BITS):
    """Return what an encoder says of positions."""
    return np.round(positions / step) * step


def low_passed(velocities, lag, period=PERIOD):
    """Return velocities through a first-order filter."""
    filtered, value = [], np.zeros(velocities.shape[1])
    for velocity in velocities:
        value = value + (1.0 - np.exp(-period / lag)) * (velocity - value)
        filtered.append(value)
    return np.array(filtered)


@pytest.mark.parametrize(
    ('factor', 'words'),
    [
        (0.0, 'the velocity is zero'),
        (-1.0, 'the wrong sign'),
        (0.1, 'of it)'),
        (180.0 / np.pi, 'times too large: other units?'),
    ],
)
@pytest.mark.parametrize('step', [None, SIXTEEN_BITS])
def test_a_wrong_velocity_is_found_within_a_tenth_of_a_second(factor, words, step) -> None:
    """0.1 s after the motion has exceeded ten steps of the encoder it has been named."""
    positions, velocities = wave(TIMES)
    if step:
        positions = quantised(positions)
    moved = np.abs(positions - positions[0]).max(axis=1)
    begins = TIMES[np.argmax(moved > 10.0 * (step or GUARD_LIMITS.finest_step))]
    found, text = first_fault(TIMES, positions, factor * velocities)
    assert begins < found <= begins + 0.1
    assert words in text


def test_a_position_that_is_frozen_is_found_by_its_velocity() -> None:
    """At 1 rad/s a frozen position is found within 0.1 s."""
    moving = np.array([1.0, 0.0])
    positions = np.minimum(TIMES, 0.3)[:, np.newaxis] * moving
    found, text = first_fault(TIMES, positions, np.tile(moving, (TIMES.size, 1)))
    assert 0.3 < found <= 0.4
    assert "joint 'a'" in text
    assert 'the position does not move' in text


HONEST = {
    'exact': lambda q, v, rng: (q, v),
    '16 bits, differenced and filtered': lambda q, v, rng: (
        quantised(q),
        low_passed(np.gradient(quantised(q), axis=0) / PERIOD, 0.016),
    ),
    '12 bits, differenced': lambda q, v, rng: (
        quantised(q, 2.0 * np.pi / 2**12),
        np.gradient(quantised(q, 2.0 * np.pi / 2**12), axis=0) / PERIOD,
    ),
    'noise on both': lambda q, v, rng: (
        q + 3e-4 * rng.standard_normal(q.shape),
        v + 0.05 * rng.standard_normal(v.shape),
    ),
    'late by ten states': lambda q, v, rng: (q, np.vstack((v[:10] * 0.0, v[:-10]))),
    'a filter of 5 Hz': lambda q, v, rng: (q, low_passed(v, 0.032)),
    'off by 0.015 rad/s': lambda q, v, rng: (quantised(q), v + 0.015),
    'slow ones rounded to zero': lambda q, v, rng: (q, np.where(np.abs(v) < 0.02, 0.0, v)),
    'spikes': lambda q, v, rng: (q + 0.015 * (rng.random(q.shape) < 0.001), v),
}


@pytest.mark.parametrize('kind', list(HONEST))
def test_an_honest_velocity_is_left_alone(kind: str) -> None:
    """Rest, slow and fast swings, with what sensors do to them: no fault."""
    rng = np.random.default_rng(2)
    times = np.arange(0.0, 5.0, PERIOD)
    for amplitude in (0.0, 1e-3, 0.02, 0.5):
        positions, velocities = wave(times, amplitude, rng.uniform(0.05, 1.5))
        positions, velocities = HONEST[kind](positions, velocities, rng)
        assert first_fault(times, positions, velocities) == (np.inf, '')


def test_repeated_stamps_and_gaps_are_no_motion() -> None:
    """A state with the stamp of the last says nothing; after a gap the count begins anew."""
    check = VelocityCheck(JOINTS)
    time, position = 0.0, np.zeros(2)
    for step in range(200):
        time += 0.2 if step % 4 == 0 else PERIOD
        position = position + (0.5 if step % 4 == 0 else 0.0)
        for _ in range(2):
            assert check.update(position, np.zeros(2), time) == ''


def count_states(rate, said, *, period=PERIOD, disturbance=lambda k: 0.0 * k, step=0.0) -> float:
    """Return how many states of a motion of 4 s at a rate come before its velocity is wrong.

    The positions are disturbed by the number of the state, and in steps.
    """
    count = np.arange(4.0 / period)
    position = rate * period * count + disturbance(count)
    position = np.floor(position / step) * step if step else position
    both = [np.column_stack((one, 0.0 * count)) for one in (position, said + 0.0 * count)]
    return first_fault(period * count, *both)[0] / period


def is_wrong(*arguments, **options) -> bool:
    """Return whether the velocity of a motion is found wrong."""
    return np.isfinite(count_states(*arguments, **options))


@pytest.mark.parametrize(
    ('inside', 'outside', 'happens'),
    [
        pytest.param(2.91, 3.09, lambda factor: is_wrong(1.0, factor), id='velocity_largest'),
        pytest.param(0.0194, 0.0206, lambda rate: is_wrong(rate, 0.0), id='velocity_rounding'),
        pytest.param(
            0.9, 3.0, lambda n: is_wrong(n * 0.01 / 0.15, 0.0, step=0.01), id='segment_steps'
        ),
        pytest.param(
            3.0,
            6.0,
            lambda n: is_wrong(n * 0.004 / 0.15, 0.0, disturbance=lambda k: 0.001 * (-1) ** k),
            id='segment_noises',
        ),
    ],
)
def test_it_happens_beyond_the_limit_and_not_before(inside, outside, happens) -> None:
    """So fast, and so many encoder steps or noises in the longest segment, are none yet."""
    assert not happens(inside)
    assert happens(outside)


@pytest.mark.parametrize(('said', 'states'), [(0.0, 3 * 7), (-1.0, 3 * 6)])
def test_a_wrong_velocity_takes_so_many_slow_states(said: float, states: int) -> None:
    """Nine are for the noise to be known; then four segments of three, or three opposed ones."""
    assert count_states(1.0, said, period=0.01) == pytest.approx(states)


def test_noise_is_that_of_the_last_states() -> None:
    """A motion in what was noise is found once as many states were quiet."""
    found = count_states(0.1, 0.0, disturbance=lambda k: 0.002 * (-1) ** k * (k < 500))
    assert 0 < found - 500 < 170


def test_the_finest_step_of_an_encoder() -> None:
    """Positions of a simulation have steps of any size."""
    check = VelocityCheck(JOINTS)
    for k in range(40):
        check.update(np.full(2, 1e-9 * k), np.zeros(2), PERIOD * k)
    np.testing.assert_allclose(check.encoder_step, 1e-6)
