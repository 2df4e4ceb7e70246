"""How a motion that is given up comes to rest: the one stop, whoever asks for it. No ROS.

A stop begins with the velocity and the acceleration of the motion it ends, so that neither makes
a step, and leads along it: with the time s from 0 to 1 and the duration T every joint has the
velocity

    v0 (1 - s)^2 (1 + 2 s) + a0 T s (1 - s)^2.

It is the shortest whose decelerations stay within their limits and whose efforts, computed along
it with the model, leave the feedback a share of the motors. Where its end would be beyond a
joint's position limit a shorter one is taken, with more effort.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.motion.joined_states import evaluate_segments, scaled_coefficients
from ne_dynamics.motion.joint_limits import DemandLimits
from ne_dynamics.motion.motion import Motion
from ne_dynamics.motion.thresholds import MOTION
from ne_dynamics.motion.waypoints import DesiredState

DURATIONS = np.geomspace(0.02, 4.0, 40)
"""Durations that are tried [s]."""

SAMPLES = np.array([0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])
"""Where on the way efforts and decelerations are looked at, as parts of the duration."""


Efforts = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Efforts of positions, velocities and accelerations, all of shape (N, n) [N m or N]."""


def stop(
    state: DesiredState,
    limits: DemandLimits,
    compute_efforts: Efforts,
    *,
    now: float,
    longest: float = np.inf,
) -> Motion:
    """Return the motion that brings a state to rest and stays there.

    Parameters
    ----------
    state : DesiredState
        At `now`.
    limits : DemandLimits
    compute_efforts : callable
        Efforts of the model along a stop; what is not finite counts as too much.
    now : float
        [s]
    longest : float
        Longest duration [s]; where it is too short for the limits they are exceeded.
    """
    begin, speed, acceleration = state
    if not (speed.any() or acceleration.any()):
        return Motion.hold(begin, now=now)
    ways = _way(state, DURATIONS[:, np.newaxis])
    if np.abs(ways[0]).max() <= MOTION.shortest_stop:
        return Motion.hold(begin, now=now)
    chosen = _choose(state, ways, limits, compute_efforts)
    duration = min(float(DURATIONS[chosen]), longest)
    return Motion.to_rest(state, begin + _way(state, duration), duration, now=now)


def _way(state: DesiredState, duration: float | FloatArray) -> FloatArray:
    """Return how far stops lead [rad or m]."""
    return duration * state.velocity / 2.0 + duration**2 * state.acceleration / 12.0


def _choose(
    state: DesiredState, ways: FloatArray, limits: DemandLimits, compute_efforts: Efforts
) -> int:
    """Return the index of the duration."""
    # A limit that the arm is beyond, or that the shortest stop goes beyond, says nothing.
    ends = state.position + ways
    beyond = ((ends < limits.lower) | (ends > limits.upper)) & ~(
        (ends[0] < limits.lower) | (ends[0] > limits.upper)
    )
    within = np.flatnonzero(~beyond.any(axis=1))
    forced = int(np.searchsorted(DURATIONS, MOTION.shortest_forced_stop))
    longest = max(int(within[-1]) if within.size else 0, forced)

    positions, velocities, accelerations = _sample_stops(state, ends)
    allowed = np.maximum(limits.decelerations_from(state.velocity), np.abs(state.acceleration))
    excess = (np.abs(accelerations) / allowed).max(axis=(1, 2))
    shape = accelerations.shape
    flat = [values.reshape(-1, shape[-1]) for values in (positions, velocities, accelerations)]
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = np.abs(compute_efforts(*flat)).reshape(shape)
        loads = (efforts / (MOTION.stop_effort_share * limits.effort)).max(axis=(1, 2))
    excess = np.maximum(excess, np.where(np.isnan(loads), np.inf, loads))
    possible = np.flatnonzero(excess <= 1.0)
    best = int(possible[0]) if possible.size else int(np.argmin(excess))
    return min(best, longest)


def _sample_stops(state: DesiredState, ends: FloatArray) -> DesiredState:
    """Return the stop of every duration at the samples, shapes (durations, samples, n)."""
    begin = DesiredState(*(np.broadcast_to(values, ends.shape) for values in state))
    still = np.zeros_like(ends)
    with np.errstate(over='ignore', invalid='ignore'):
        scaled = scaled_coefficients([2], DURATIONS, begin, DesiredState(ends, still, still))
        shares = np.broadcast_to(SAMPLES, (DURATIONS.size, SAMPLES.size))
        position, rate, change = evaluate_segments(scaled.swapaxes(0, 1), shares)
    duration = DURATIONS[:, np.newaxis, np.newaxis]
    return DesiredState(position, rate / duration, change / duration**2)
