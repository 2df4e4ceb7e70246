"""The simulated Puma of 003 section 5, under two readings of how its program ran.

The document prints gains, sampling time, initial and final angles, and the resolution of a
converter. It prints neither motion time, nor profile, nor when the law is evaluated; its flow
chart (figure 2) is lost in the scan. Two readings are simulated:

held
    The law is evaluated once in a sampling time, and the effort held until the next sample, as
    a digital controller does it.
inside
    The law is part of the differential equation: each stage of a Runge-Kutta step evaluates it
    anew. One step is one sampling time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.profiles import (
    ProfileSamples,
    cubic_profile,
    quintic_profile,
    trapezoidal_profile,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers.forms.computed_torque_law import check_gains, substituted_acceleration
from ne_dynamics.papers.forms.generic_scalars import Scalar, Scalars
from ne_dynamics.papers.forms.rk4 import simulate

START = (90.0, 0.0, 90.0, 0.0, 0.0, 0.0)
END = (45.0, 30.0, 0.0, 45.0, 60.0, 90.0)
"""Joint positions as printed [deg]."""

TO_MODEL = (180.0, 180.0, -180.0, 0.0, 0.0, 0.0)
"""From the authors' angles to those of the shipped model, whose frames are turned [deg]."""

BIT = 4.26e-4
"""Resolution of the authors' converter of 12 bits [rad]: 100 degrees in 4096 parts."""

KP = (100.0 * np.eye(6)).tolist()
KV = (20.0 * np.eye(6)).tolist()
"""Gains as printed [1/s^2, 1/s]."""

PERIOD = 0.01
"""Sampling time as printed [s]."""

GRAVITY = (0.0, 0.0, -9.8)


PROFILES: dict[str, Callable[..., ProfileSamples]] = {
    'trapezoid': trapezoidal_profile,
    'cubic': cubic_profile,
    'quintic': quintic_profile,
}


class LawEvaluation(enum.Enum):
    """When the law is evaluated."""

    HELD = 'effort held'
    INSIDE = 'law inside the integrator'


STEPS_A_PERIOD = {LawEvaluation.HELD: 2, LawEvaluation.INSIDE: 1}
"""Runge-Kutta steps in a sampling time."""


class Sensor(enum.Enum):
    """How the law sees the positions; velocities are exact."""

    EXACT = 'exact'
    CONVERTER = '12 bits'
    NOISE = '12 bits, noise'


@dataclass(frozen=True, eq=False)
class PumaRun:
    """A simulated motion at the samples of the controller.

    Attributes
    ----------
    time : array, shape (N,)
        [s]
    position, velocity : array, shape (N, 6)
        Of the model's joints [rad], [rad/s].
    error : array, shape (N, 6)
        Desired less real position [rad].
    """

    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    error: FloatArray


def ends() -> tuple[FloatArray, FloatArray]:
    """Return the postures in which the motion begins and ends, of the model's joints [rad]."""
    return np.deg2rad(np.add(START, TO_MODEL)), np.deg2rad(np.add(END, TO_MODEL))


def run(
    dynamics: Dynamics,
    profile: Callable[..., ProfileSamples],
    duration: float,
    reading: LawEvaluation,
    sensor: Sensor = Sensor.EXACT,
    *,
    steps_a_period: int | None = None,
) -> PumaRun:
    """Simulate the arm under the law (4.4); law and arm have the same model.

    Parameters
    ----------
    dynamics : Dynamics
        Of a Puma in the frames of the shipped model.
    profile : callable
        Of :mod:`ne_dynamics.algorithms.profiles`.
    duration : float
        Of the motion [s]; the simulation ends with the last whole sampling time in it.
    reading : LawEvaluation
    sensor : Sensor
        The noise is seeded, uniform, one bit from end to end, added before rounding.
    steps_a_period : int, optional
        Runge-Kutta steps in a sampling time; those of :data:`STEPS_A_PERIOD` when omitted.

    Raises
    ------
    InputError
        When the motion is shorter than a sampling time, or there is no step.
    """
    check_gains(KP, KV)
    if not (np.isfinite(duration) and duration >= PERIOD):
        raise InputError(f'duration: expected {PERIOD} s or more, got {duration}')
    steps = STEPS_A_PERIOD[reading] if steps_a_period is None else steps_a_period
    if steps < 1:
        raise InputError(f'steps_a_period: expected 1 or more, got {steps}')
    periods = int(duration / PERIOD + 1e-9)
    # What is desired at begin, middle and end of each step.
    motion = profile(*ends(), duration, np.arange(2 * steps * periods + 1) * 0.5 * PERIOD / steps)
    desired = list(zip(*(values.tolist() for values in motion), strict=True))
    measure = make_sensor(sensor)

    def compute_effort(instant: int, q: Scalars, qd: Scalars) -> FloatArray:
        seen = measure(np.array(q, dtype=np.float64))
        wanted = substituted_acceleration(seen.tolist(), qd, *desired[instant], kp=KP, kv=KV)
        return dynamics.inverse_dynamics(seen, np.array(qd), np.array(wanted))

    q, qd = ends()[0].tolist(), [0.0] * 6
    states = [(q, qd)]
    for period in range(periods):
        first = 2 * steps * period
        held = compute_effort(first, q, qd) if reading is LawEvaluation.HELD else None

        def acceleration(
            time: float,
            q: list[Scalar],
            qd: list[Scalar],
            first: int = first,
            held: FloatArray | None = held,
        ) -> Scalars:
            tau = held
            if tau is None:
                tau = compute_effort(first + round(2.0 * steps * time / PERIOD), q, qd)
            found: list[Scalar] = dynamics.forward_dynamics(
                np.array(q), np.array(qd), tau
            ).tolist()
            return found

        piece = simulate(acceleration, q, qd, step=PERIOD / steps, steps=steps)
        q, qd = piece.q[-1].tolist(), piece.qd[-1].tolist()
        states.append((q, qd))
    position, velocity = (np.array(values) for values in zip(*states, strict=True))
    time = PERIOD * np.arange(periods + 1, dtype=np.float64)
    return PumaRun(time, position, velocity, motion.position[:: 2 * steps] - position)


def make_sensor(sensor: Sensor) -> Callable[[FloatArray], FloatArray]:
    """Return what the law sees of positions, shape (6,) to (6,), of the model's joints [rad].

    The converter gives whole bits, counted from the authors' zeros of the joints.
    """
    if sensor is Sensor.EXACT:
        return lambda q: q
    zeros = np.deg2rad(TO_MODEL)
    noise = 0.5 if sensor is Sensor.NOISE else 0.0
    rng = np.random.default_rng(0)

    def convert(q: FloatArray) -> FloatArray:
        parts = (q - zeros) / BIT
        return zeros + BIT * np.round(parts + noise * rng.uniform(-1.0, 1.0, len(parts)))

    return convert


def count_sign_changes(error: FloatArray) -> int:
    """Return how often the error, shape (N, n) [rad], changes its sign, of the joint where most.

    Errors have the shape (N, n) [rad]; what is smaller than `smallest_error` has no sign.
    """
    changes = []
    for values in error.T:
        # Smaller errors [rad] have no sign.
        signs = np.sign(values[np.abs(values) >= 1e-6])
        changes.append(int((np.diff(signs) != 0.0).sum()))
    return max(changes)
