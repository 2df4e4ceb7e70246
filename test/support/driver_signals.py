"""Velocities that a driver reports, and what efforts of a driver may mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ne_dynamics as ned
from ne_dynamics.driver.evidence.effort_fit import JointTerms
from ne_dynamics.driver.meaning import Meaning
from ne_dynamics.driver.recording import DriverRecording
from ne_dynamics.driver.velocity import describe_velocities, low_pass_log
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading

RATE = 250.0
TIMES = np.arange(2500) / RATE
SPEED = np.stack([np.cos(1.3 * TIMES + 0.3), 1.4 * np.cos(2.1 * TIMES)], axis=1)
PLACE = np.stack([np.sin(1.3 * TIMES + 0.3) / 1.3, 1.4 * np.sin(2.1 * TIMES) / 2.1], axis=1)


def positions(bits):
    """Return positions of an encoder."""
    step = 2.0 * np.pi / 2**bits
    return np.round(PLACE / step) * step


def share_of(cutoff):
    """Return the share of the new value in a first-order low-pass."""
    return 1.0 - np.exp(-2.0 * np.pi * cutoff / RATE)


def differenced(samples, cutoff=None):
    """Return what differences the positions of a 15 bit encoder, behind a filter or not."""
    places = positions(15)
    velocity = np.zeros_like(places)
    velocity[samples:] = (places[samples:] - places[:-samples]) * RATE / samples
    if cutoff is not None:
        for index in range(1, len(velocity)):
            velocity[index] = velocity[index - 1] + share_of(cutoff) * (
                velocity[index] - velocity[index - 1]
            )
    return velocity


def describe(velocity, bits=15, moves=True):
    """Return the velocities that are found."""
    place = positions(bits) if moves else np.zeros_like(PLACE)
    log = Log.from_samples(('a', 'b'), TIMES, place, np.ones_like(PLACE), velocity)
    has = np.isfinite(velocity).any(axis=0)
    return describe_velocities(log, has, low_pass_log(log))


def meaning_of(n, factor, gain):
    """Return a meaning with gravity, of a factor to N m; a gain below 0 is of another unit."""
    ones = np.ones(n)
    terms = JointTerms(ones, ones, ones, 0.01 * ones, 0.01 * ones, 0.01 * ones, ones, ones)
    reading = replace(LogReading.as_recorded(n), effort_factor=factor * ones)
    return Meaning(
        reading,
        gravity_gain=20.0,
        unit_gain=gain,
        joint_unit_gains=gain * ones,
        sign_gains=20.0 * ones,
        factor_deviations=0.1 * ones,
        left=0.05 * ones,
        terms=terms,
        size=10.0 * ones,
        gravity_share=0.8 * ones,
        delay=0.0,
        delay_deviation=1e-3,
    )


def sine_recording(robot, standing=(), friction=(0.5, 2.0), duration=12.0, rate=200.0):
    """Return exact states and torques of a motion of three joints, of which some stand.

    Friction is viscous [N m s/rad] and Coulomb friction [N m].
    """
    rng = np.random.default_rng(0)
    times = np.arange(round(duration * rate)) / rate
    rates = np.array([1.1, 1.7, 2.3]) + rng.uniform(0.0, 0.2, robot.n)
    size = np.where(np.isin(robot.joint_names, standing), 0.0, 0.6)
    phase = np.outer(times, rates) + rng.uniform(0.0, 3.0, robot.n)
    position, velocity = size * np.sin(phase), size * rates * np.cos(phase)
    acceleration = -size * rates**2 * np.sin(phase)
    dynamics = ned.Dynamics(robot, backend='python')
    effort = np.asarray(dynamics.inverse_dynamics(position, velocity, acceleration))
    effort += friction[1] * np.tanh(velocity / 0.02) + friction[0] * velocity
    effort += 0.01 * rng.standard_normal(effort.shape)
    return DriverRecording.from_samples(robot.joint_names, times, position, velocity, effort)
