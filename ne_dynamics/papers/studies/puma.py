"""The simulation of 003 section 5: a Puma under the computed-torque law in two forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers.forms import computed_torque_law, strobing
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.computed_torque_law import Gain
from ne_dynamics.papers.forms.recovered_arm import arm_from_robot
from ne_dynamics.papers.forms.rk4 import arm_acceleration, simulate
from ne_dynamics.papers.studies.report import StudyReport, Table
from ne_dynamics.shipped import shipped_file

NAME = 'puma'
START = (90.0, 0.0, 90.0, 0.0, 0.0, 0.0)
END = (45.0, 30.0, 0.0, 45.0, 60.0, 90.0)
"""Joint positions as printed [deg]."""

TO_MODEL = (180.0, 180.0, -180.0, 0.0, 0.0, 0.0)
"""From the authors' angles to those of the shipped model, whose frames are turned [deg]."""

BOUND = 4.26e-4
"""One bit of the authors' converter [rad]."""

KP, KV = 100.0, 20.0
PERIOD = 0.01
"""Sampling time [s]."""

GRAVITY = (0.0, 0.0, -9.8)
DEFAULT_DURATION = 4.0
"""The document prints neither motion time nor profile [s]."""

STEPS_A_PERIOD = 2

DURATIONS = (2.0, 4.0, 6.0, 8.0)
"""Of which the errors are compared [s]."""

LAWS: dict[str, Callable[..., list[Any]]] = {
    'substitution into the recursion, (4.4)': computed_torque_law.by_substitution,
    'explicit Lagrangian law, (4.1)': computed_torque_law.explicit,
}


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated motion, sampled when the controller samples.

    Attributes
    ----------
    time : array, shape (N,)
        [s]
    error : array, shape (N, 6)
        Desired less real position [rad].
    effort : array, shape (N - 1, 6)
        Held until the next sample [N m].
    """

    time: FloatArray
    error: FloatArray
    effort: FloatArray


def quintic(
    start: FloatArray, end: FloatArray, duration: float, time: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return position, velocity and acceleration of the quintic from rest to rest."""
    s = min(max(time / duration, 0.0), 1.0)
    span = end - start
    position = start + span * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    velocity = span * (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4) / duration
    acceleration = span * (60.0 * s - 180.0 * s**2 + 120.0 * s**3) / duration**2
    return position, velocity, acceleration


def load_puma() -> Arm:
    """Return the shipped Puma 560 without friction and rotors, which the document leaves out."""
    return arm_from_robot(load_dh(shipped_file('puma560_standard_dh.yaml'))).rigid()


def run(
    arm: Arm,
    law: Callable[..., list[Any]],
    duration: float,
    progress: Callable[[float], None] = lambda time: None,
    forward_dynamics: Callable[..., Sequence[Any]] = strobing.forward_dynamics,
) -> Run:
    """Simulate the arm under a law, the effort held over each sampling period.

    Parameters
    ----------
    arm : Arm
    law : callable
        Of :mod:`ne_dynamics.papers.forms.computed_torque_law`.
    duration : float
        Of the motion [s].
    progress : callable
        ``progress(time)``.
    forward_dynamics : callable
        Of the plant.
    """
    start = np.deg2rad(np.add(START, TO_MODEL))
    end = np.deg2rad(np.add(END, TO_MODEL))
    kp, kv = (KP * np.eye(6)).tolist(), (KV * np.eye(6)).tolist()
    periods = round(duration / PERIOD)
    q, qd = start.tolist(), [0.0] * 6
    errors, efforts = [np.zeros(6)], []
    for index in range(periods):
        desired = [values.tolist() for values in quintic(start, end, duration, index * PERIOD)]
        tau = law(arm, q, qd, *desired, kp=kp, kv=kv, gravity=GRAVITY)
        acceleration = arm_acceleration(
            arm, _hold(tau), gravity=GRAVITY, forward_dynamics=forward_dynamics
        )
        motion = simulate(acceleration, q, qd, step=PERIOD / STEPS_A_PERIOD, steps=STEPS_A_PERIOD)
        q, qd = motion.q[-1].tolist(), motion.qd[-1].tolist()
        wanted, _, _ = quintic(start, end, duration, (index + 1) * PERIOD)
        errors.append(wanted - np.array(q))
        efforts.append(np.array(tau, dtype=float))
        progress((index + 1) * PERIOD)
    time = np.array([PERIOD * index for index in range(periods + 1)], dtype=np.float64)
    return Run(time, np.array(errors), np.array(efforts))


def _hold(tau: list[float]) -> Callable[..., list[float]]:
    return lambda time, q, qd: tau


def compute_errors_by_duration() -> dict[float, tuple[float, float]]:
    """Return the largest error for each of :data:`DURATIONS`, without and with rotors [rad].

    Both law and plant are the production recursion, with the shipped model's rotor inertia or
    without.
    """
    full = arm_from_robot(load_dh(shipped_file('puma560_standard_dh.yaml')))
    frictionless = full.with_links(
        [replace(link, viscous_friction=0.0, coulomb_friction=0.0) for link in full.links]
    )
    found = {}
    for duration in DURATIONS:
        largest = []
        for arm in (full.rigid(), frictionless):
            dynamics = Dynamics(arm.robot(), gravity=GRAVITY)

            def law(
                arm: Arm,
                *state: list[float],
                kp: Gain,
                kv: Gain,
                gravity: Sequence[float],
                dyn: Dynamics = dynamics,
            ) -> list[float]:
                wanted = computed_torque_law.substituted_acceleration(*state, kp=kp, kv=kv)
                return list(dyn.inverse_dynamics(state[0], state[1], np.array(wanted)).tolist())

            def plant(
                arm: Arm,
                q: Sequence[float],
                qd: Sequence[float],
                tau: Sequence[float],
                *,
                gravity: Sequence[float],
                dyn: Dynamics = dynamics,
            ) -> list[float]:
                return list(dyn.forward_dynamics(q, qd, tau).tolist())

            result = run(arm, law, duration, forward_dynamics=plant)
            largest.append(float(np.abs(result.error).max()))
        found[duration] = (largest[0], largest[1])
    return found


def study(
    duration: float = DEFAULT_DURATION,
    progress: Callable[[float, float], None] = lambda done, total: None,
) -> tuple[StudyReport, dict[str, Run]]:
    """Simulate the motion under both laws.

    Parameters
    ----------
    duration : float
        Of the motion [s].
    progress : callable
        ``progress(done, total)``, in simulated seconds over both runs.

    Raises
    ------
    InputError
        When the duration is shorter than a sampling period.
    """
    if not (np.isfinite(duration) and duration >= PERIOD):
        raise InputError(f'duration: expected {PERIOD} s or more, got {duration}')
    arm = replace(load_puma(), name='Puma 560')
    total = duration * len(LAWS)
    runs = {}
    for index, (name, law) in enumerate(LAWS.items()):
        runs[name] = run(arm, law, duration, _shift_progress(progress, index * duration, total))
    first, second = runs.values()
    apart = float(np.abs(first.effort - second.effort).max())
    relative = apart / float(np.abs(first.effort).max())
    rows = []
    for name, result in runs.items():
        peak = np.abs(result.error).max(axis=0)
        rows.append((name, *(f'{1e4 * value:.3f}' for value in peak), f'{peak.max() / BOUND:.2f}'))
    table = Table(
        f'Largest errors of 003 section 5 [1e-4 rad]; the document: below {1e4 * BOUND:.2f}',
        ('law', *(f'joint {i + 1}' for i in range(6)), 'largest / bound'),
        rows,
        f'Kp = {KP:g}/s^2, Kv = {KV:g}/s, sampled every {1e3 * PERIOD:g} ms, efforts held in '
        f'between; Runge-Kutta steps of {1e3 * PERIOD / STEPS_A_PERIOD:g} ms. Motion time and '
        f'profile are not printed: a quintic from rest to rest in {duration:g} s. The efforts of '
        f'both laws agree within {_next_power_of_ten(relative)} of the largest. No friction, no '
        'rotors.',
    )
    by_duration = compute_errors_by_duration()
    sweep = Table(
        f'Largest error of any joint by motion time [1e-4 rad]; the document: below '
        f'{1e4 * BOUND:.2f}',
        ('motion time [s]', 'links only', 'with the rotors of the shipped model'),
        [
            (f'{seconds:g}', f'{1e4 * bare:.2f}', f'{1e4 * driven:.2f}')
            for seconds, (bare, driven) in by_duration.items()
        ],
        'Production recursion as law and as plant. The error comes from holding the effort for a '
        'sampling period; the wrist joints, light without their rotors, move most in it.',
    )
    data = {
        'largest_error_by_duration': {
            f'{key:g}': list(value) for key, value in by_duration.items()
        },
        'duration': duration,
        'bound': BOUND,
        'largest_effort_difference': apart,
        'laws': {
            name: {
                'largest_error': np.abs(result.error).max(axis=0).tolist(),
                'time': result.time.tolist(),
                'error': result.error.tolist(),
            }
            for name, result in runs.items()
        },
    }
    return StudyReport(NAME, (table, sweep), data), runs


def _shift_progress(
    progress: Callable[[float, float], None], before: float, total: float
) -> Callable[[float], None]:
    return lambda time: progress(before + time, total)


def _next_power_of_ten(value: float) -> str:
    """Return the next higher power of ten."""
    return f'1e{int(np.ceil(np.log10(max(value, 1e-16)))):d}'
