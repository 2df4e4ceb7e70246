"""What a loop will do: sag at rest, step response, effort of an encoder step, errors in motion.

All of it is linear. Sag is exact for the worst of all models within the uncertainty, since gravity
is linear in the factors of the links and each of them may be at either end. Steps and motions go
through the sampled loop of :mod:`ne_dynamics.gains.loop`.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.gains.kind import Choice, corner_modes, make_modes
from ne_dynamics.gains.loop import close_loop
from ne_dynamics.gains.motion import MotionSamples
from ne_dynamics.gains.plants import (
    Plants,
    compute_part_efforts,
    compute_part_masses,
    compute_part_slopes,
)
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.thresholds import GAINS
from ne_dynamics.model.rigid_body import FloatArray

SETTLED = 0.05


class StepResponses(NamedTuple):
    """Of a position that is off by 1, joint by joint.

    Attributes
    ----------
    times : array, shape (K,)
        [s]
    error : array, shape (K, B, n)
        What is left of the joint's own error.
    overshoot : array, shape (n,)
        The most that any arm goes beyond the other side.
    settling_time : array, shape (n,)
        After which no arm is off by more than 5 % [s]; infinite when one is at the end.
    coupling : array, shape (n, n)
        By how much each joint, by its row, is off at the most for a step of another, by column.
    """

    times: FloatArray
    error: FloatArray
    overshoot: FloatArray
    settling_time: FloatArray
    coupling: FloatArray


def predict_sag(choice: Choice, plants: Plants, request: GainRequest) -> FloatArray:
    """Return the largest error at rest in any pose, by any model, shape (n,) [rad or m].

    From gravity that the model has wrong, the payload that it does not have, and friction that
    holds the joint. An integral takes it away in time; this is what it begins with.
    """
    wrong, parts = plants.compute_mass_errors(request), plants.part_gravity
    held = (1.0 + request.uncertainty) * plants.holding_friction
    kp, weights = choice.gains.kp, choice.kind.weights
    springs = np.diag(kp) if weights is None else weights * kp
    slopes = plants.corner_slopes(request, is_compensated=weights is not None)
    found = []
    for slope in np.split(slopes, 2):
        # (K + G) e = wrong: linear in the factor of each body, so that each has its worst sign.
        inverse = np.linalg.inv(springs + slope)
        each = np.abs(np.einsum('kij,kbj->kbi', inverse, parts))
        found.append(np.einsum('b,kbi->ki', wrong, each) + np.abs(inverse) @ held)
    return np.asarray(np.max(found, axis=(0, 1)), dtype=np.float64)


def predict_noise(choice: Choice, request: GainRequest, n: int) -> FloatArray:
    """Return what one step of every encoder does to the efforts at the most, shape (n,)."""
    steps = request.position_steps(n)
    rate = choice.kind.rate_per_step
    each = (choice.gains.kp + rate * choice.gains.kd) * steps
    if choice.kind.weights is None:
        return each
    return np.asarray((np.abs(choice.kind.weights) @ each).max(axis=0), dtype=np.float64)


def predict_steps(choice: Choice, plants: Plants, request: GainRequest) -> StepResponses:
    """Return how the lightest and the heaviest arm of each pose answer a step of each joint."""
    n = len(plants.joints)
    modes = corner_modes(choice.kind.mode, plants, request)
    loop = close_loop(modes, choice.kind.corner_weights, choice.gains, choice.kind.timing)
    period = choice.kind.timing.period
    fastest = float(choice.margins.crossover.max())
    slowest = float(choice.frequency.min()) * np.sqrt(choice.kind.heaviest)
    lasts = GAINS.step_periods * max(float(choice.damping.max()), 1.0) / slowest
    # First in steps that show the fastest direction, then in steps that reach the end.
    fine = max(1, round(GAINS.step_resolution / (fastest * period)))
    coarse = max(fine, int(np.ceil(lasts / (GAINS.response_steps * period))))
    state, time = loop.start, 0.0
    times, own = [], []
    largest = np.zeros((n, n))
    lowest, settled = np.zeros(n), np.zeros(n)
    for stride in (fine, coarse):
        matrix = np.linalg.matrix_power(loop.matrix, stride)
        for _ in range(GAINS.response_steps):
            error = loop.position @ state
            diagonal = np.diagonal(error, axis1=1, axis2=2)
            times.append(time)
            own.append(diagonal)
            lowest = np.minimum(lowest, diagonal.min(axis=0))
            largest = np.maximum(largest, np.abs(error).max(axis=0))
            time += stride * period
            settled = np.where((np.abs(diagonal) > SETTLED).any(axis=0), time, settled)
            state = matrix @ state
    np.fill_diagonal(largest, 0.0)
    return StepResponses(
        np.array(times),
        np.array(own),
        -lowest,
        np.where(settled < time, settled, np.inf),
        largest,
    )


class MotionErrors(NamedTuple):
    """Errors of a motion, joint by joint, of the worst model.

    Attributes
    ----------
    rms, peak : array, shape (n,)
        [rad or m]
    """

    rms: FloatArray
    peak: FloatArray


class _Models(NamedTuple):
    """Arms that the motion is followed by.

    Attributes
    ----------
    parts : array, shape (B, b + 1)
        By which factor each body is heavier than the model's, and, last, what is at the tip [kg].
    rotors : array, shape (B,)
        Likewise the rotors.
    """

    parts: FloatArray
    rotors: FloatArray


def _draw_models(request: GainRequest, bodies: int) -> _Models:
    u, largest = request.uncertainty, request.payload_range[1]
    rng = np.random.default_rng(request.seed)
    links = rng.choice((1.0 - u, 1.0 + u), (GAINS.random_models, bodies))
    rotors = rng.choice((1.0 - u, 1.0 + u), GAINS.random_models)
    loads = largest * rng.integers(0, 2, GAINS.random_models)
    ends = ((1.0 + u,) * bodies + (largest,), (1.0 - u,) * bodies + (0.0,))
    return _Models(
        np.concatenate((ends, np.c_[links, loads])), np.concatenate(((1.0 + u, 1.0 - u), rotors))
    )


def predict_motion(
    choice: Choice,
    dynamics: Dynamics,
    plants: Plants,
    request: GainRequest,
    motion: MotionSamples,
) -> MotionErrors:
    """Return the errors of a motion with the feed-forward of the model, of the worst model.

    Also without friction being known better than the links, and with the efforts late by dead
    time and half a period; to drives the positions come late as well.
    """
    models = _draw_models(request, len(dynamics.robot.bodies))
    q, qd, qdd = motion.position, motion.velocity, motion.acceleration
    by_body = compute_part_efforts(dynamics, request, q, qd, qdd)
    friction = dynamics.friction_torque(qd)
    by_rotor = plants.rotors * qdd + qdd @ plants.robot.coupled_inertia
    needed = np.einsum('Bb,kbn->kBn', models.parts, by_body)
    needed += models.rotors[:, np.newaxis] * (by_rotor + friction)[:, np.newaxis]
    known = by_body[:, :-1].sum(axis=1) + by_rotor + friction
    late = request.dead_time + 0.5 * request.period
    arrived = _late(motion.times, known, late)
    if choice.kind.mode is GainMode.MIT:
        behind, slower = _late(motion.times, q, late) - q, _late(motion.times, qd, late) - qd
        arrived += choice.gains.kp * behind + choice.gains.kd * slower
    missing = arrived[:, np.newaxis] - needed
    errors = _propagate(choice, plants, request, dynamics, motion, models, missing)
    rms = np.sqrt((errors**2).mean(axis=0)).max(axis=0)
    return MotionErrors(rms, np.abs(errors).max(axis=(0, 1)))


def _late(times: FloatArray, values: FloatArray, delay: float) -> FloatArray:
    """Return columns by a time later; what they begin with before that."""
    return np.stack([np.interp(times - delay, times, column) for column in values.T], axis=1)


def _propagate(
    choice: Choice,
    plants: Plants,
    request: GainRequest,
    dynamics: Dynamics,
    motion: MotionSamples,
    models: _Models,
    missing: FloatArray,
) -> FloatArray:
    """Return the errors that missing efforts make, shape (N, B, n), segment by segment."""
    (count, arms, n), timing = missing.shape, choice.kind.timing
    inner = max(1, round(request.period / timing.period))
    errors = np.empty((count, arms, n))
    bounds = np.linspace(0, count, min(GAINS.motion_segments, count) + 1).astype(int)
    places = motion.position[(bounds[:-1] + bounds[1:]) // 2]
    weights = None if choice.kind.weights is None else dynamics.mass_matrix(places)
    masses = np.einsum(
        'Bb,kbij->kBij', models.parts, compute_part_masses(dynamics, request, places)
    )
    rotors = np.diag(plants.rotors) + plants.robot.coupled_inertia
    masses += models.rotors[:, np.newaxis, np.newaxis] * rotors
    # Gravity goes on by the mean factor of the links; computed torque compensates the model's.
    slopes = compute_part_slopes(dynamics, request, places)
    slopes = np.stack((slopes[:, :-1].sum(axis=1), slopes[:, -1]), axis=1)
    factors = np.c_[models.parts[:, :-1].mean(axis=1), models.parts[:, -1]]
    factors[:, 0] -= 0.0 if weights is None else 1.0
    slopes = np.einsum('Bb,kbij->kBij', factors, slopes)
    state: FloatArray | None = None
    before: FloatArray | None = None
    for segment, (begin, end) in enumerate(itertools.pairwise(bounds)):
        modes = make_modes(plants, masses[segment], slopes[segment], request, models.rotors)
        loop = close_loop(
            modes,
            None if weights is None else np.broadcast_to(weights[segment], (arms, n, n)),
            choice.gains,
            timing,
        )
        if state is None or before is None:
            state = np.zeros((arms, loop.matrix.shape[1], 1))
        else:
            # The modes are others now: what moves is the same.
            for row in np.split(np.arange(2 * modes.squares.shape[1]), 2):
                state[:, row] = np.linalg.solve(modes.shapes, before @ state[:, row])
        before = modes.shapes
        for step in range(begin, end):
            errors[step] = (loop.position @ state)[..., 0]
            pushed = loop.load @ missing[step][..., np.newaxis]
            for _ in range(inner):
                state = loop.matrix @ state + pushed
    return errors
