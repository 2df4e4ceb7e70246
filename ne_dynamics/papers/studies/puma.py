"""The simulation of 003 section 5: a Puma under the computed-torque law, read in two ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from ne_dynamics.algorithms.profiles import quintic_profile
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.dh import load_dh
from ne_dynamics.papers.forms import computed_torque_law
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.recovered_arm import arm_from_robot
from ne_dynamics.papers.studies.puma_simulation import (
    BIT,
    GRAVITY,
    KP,
    KV,
    PERIOD,
    PROFILES,
    STEPS_A_PERIOD,
    LawEvaluation,
    PumaRun,
    Sensor,
    count_sign_changes,
    ends,
    run,
)
from ne_dynamics.papers.studies.report import Progress, ReportTable, StudyReport, ignore_progress
from ne_dynamics.shipped import shipped_file

NAME = 'puma'

DURATIONS = (1.0, 2.0, 4.0, 8.0)
"""Of the motions whose errors are compared [s]."""

JUMP_DURATION = 1.0
"""Of the trapezoid whose acceleration jumps [s]."""

JUMP_STEPS = (1, 2, 4)
"""Runge-Kutta steps in a sampling time that are compared where the acceleration jumps."""

SWEPT = {
    'held': (LawEvaluation.HELD, Sensor.EXACT, False),
    'held_rotors': (LawEvaluation.HELD, Sensor.EXACT, True),
    'held_12_bits': (LawEvaluation.HELD, Sensor.CONVERTER, False),
    'inside': (LawEvaluation.INSIDE, Sensor.EXACT, False),
    'inside_12_bits': (LawEvaluation.INSIDE, Sensor.CONVERTER, False),
}
"""Reading, sensor and whether there are rotors, of the runs of each duration and profile."""

Picture = dict[tuple[LawEvaluation, str], PumaRun]
"""Runs by reading and profile, with the converter."""


_Find = Callable[[str, float, LawEvaluation, Sensor, bool], PumaRun]
"""The run of a profile, duration, reading and sensor, and whether there are rotors."""


def load_arm() -> Arm:
    """Return the shipped Puma 560 without friction, which the document leaves out."""
    arm = arm_from_robot(load_dh(shipped_file('puma560_standard_dh.yaml')))
    links = [replace(link, viscous_friction=0.0, coulomb_friction=0.0) for link in arm.links]
    return replace(arm.with_links(links), name='Puma 560')


def study(
    duration: float = 4.0, progress: Progress = ignore_progress
) -> tuple[StudyReport, Picture]:
    """Simulate the motion under both readings, with each profile, and compare both laws on it.

    Parameters
    ----------
    duration : float
        Duration of the motion that is shown joint by joint [s]; the document prints neither that
        nor the profile.
    progress : Progress
        In simulated seconds.

    Returns
    -------
    StudyReport
    dict
        The runs to be drawn.

    Raises
    ------
    InputError
        When the duration is shorter than a sampling period.
    """
    arm = load_arm()
    rigid, with_rotors = (Dynamics(one.robot(), gravity=GRAVITY) for one in (arm.rigid(), arm))
    total = len(PROFILES) * (len(SWEPT) * sum(DURATIONS) + 4 * duration)
    done = 0.0

    @cache
    def find(
        profile: str, seconds: float, reading: LawEvaluation, sensor: Sensor, has_rotors: bool
    ) -> PumaRun:
        nonlocal done
        dynamics = with_rotors if has_rotors else rigid
        found = run(dynamics, PROFILES[profile], seconds, reading, sensor)
        done = min(done + seconds, total)
        progress(done, total)
        return found

    # The one that was asked for first: a duration that makes no sense must not show at the end.
    joints, joint_data = _tabulate_joints(find, duration)
    sweep, sweep_data = _tabulate_sweep(find)
    jump, jump_data = _tabulate_jump(rigid)
    picture = {
        (reading, profile): find(profile, duration, reading, Sensor.CONVERTER, False)
        for reading in LawEvaluation
        for profile in PROFILES
    }
    data: dict[str, object] = {
        'duration': duration,
        'bound': BIT,
        **joint_data,
        'largest_error_by_duration': sweep_data,
        'largest_error_by_step': jump_data,
        'runs': [
            {
                'reading': reading.value,
                'profile': profile,
                'sensor': Sensor.CONVERTER.value,
                'time': drawn.time.tolist(),
                'error': drawn.error.tolist(),
            }
            for (reading, profile), drawn in picture.items()
        ],
    }
    return StudyReport(NAME, (sweep, joints, jump), data), picture


def _tabulate_sweep(find: _Find) -> tuple[ReportTable, list[dict[str, object]]]:
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, object]] = []
    for duration in DURATIONS:
        for profile in PROFILES:
            found = {
                name: _largest(find(profile, duration, *case)) for name, case in SWEPT.items()
            }
            rows.append((f'{duration:g}', profile, *map(_format_error, found.values())))
            data.append({'duration': duration, 'profile': profile, **found})
    steps = {reading: 1e3 * PERIOD / count for reading, count in STEPS_A_PERIOD.items()}
    table = ReportTable(
        'Largest error of any joint in 003 section 5 [1e-4 rad]; the document: below '
        f'{1e4 * BIT:.2f}, one bit',
        (
            'motion time [s]',
            'profile',
            'effort held',
            'held, with rotors',
            'held, 12 bits',
            'law inside',
            'inside, 12 bits',
        ),
        rows,
        f'Kp = {KP[0][0]:g}/s^2, Kv = {KV[0][0]:g}/s, sampled every {1e3 * PERIOD:g} ms; no '
        'friction, no rotors but in their column. Held: the effort of a sample acts until the '
        f'next one, Runge-Kutta steps of {steps[LawEvaluation.HELD]:g} ms. Inside: each of the '
        f'four stages of a Runge-Kutta step of {steps[LawEvaluation.INSIDE]:g} ms evaluates the '
        'law. 12 bits: positions are read in whole bits, velocities exactly.',
    )
    return table, data


def _tabulate_joints(find: _Find, duration: float) -> tuple[ReportTable, dict[str, object]]:
    rows, data = [], []
    for reading in LawEvaluation:
        for sensor in Sensor:
            error = find('quintic', duration, reading, sensor, False).error
            peak = np.abs(error).max(axis=0)
            changes = count_sign_changes(error)
            rows.append(
                (
                    reading.value,
                    sensor.value,
                    *map(_format_error, peak),
                    f'{peak.max() / BIT:.2f}',
                    str(changes),
                )
            )
            data.append(
                {
                    'reading': reading.value,
                    'sensor': sensor.value,
                    'largest_error': peak.tolist(),
                    'sign_changes': changes,
                }
            )
    apart, relative, states = compare_laws(
        load_arm().rigid(),
        find('quintic', duration, LawEvaluation.HELD, Sensor.EXACT, False),
        duration,
    )
    table = ReportTable(
        f'Largest errors of each joint, quintic of {duration:g} s [1e-4 rad]',
        (
            'reading',
            'positions',
            *(f'joint {i + 1}' for i in range(6)),
            'largest / bit',
            'changes of sign',
        ),
        rows,
        'Noise: uniform, one bit from end to end, before rounding. Changes of sign: of the joint '
        'that has most; errors below 1e-6 rad have none. At '
        f'{states} states of the held motion the efforts of the explicit Lagrangian law (4.1) '
        'and of substitution into the recursion (4.4) agree within '
        f'{_next_power_of_ten(relative)} of the largest.',
        in_document=False,
    )
    return table, {'largest_effort_difference': apart, 'joints': data}


def _tabulate_jump(dynamics: Dynamics) -> tuple[ReportTable, list[dict[str, float]]]:
    start, end = ends()
    # 000 section 4: a = 9 D / (2 T^2), of the joints that go farthest.
    jump = 4.5 * float(np.abs(end - start).max()) / JUMP_DURATION**2
    frequency = float(np.sqrt(KP[0][0]))
    rows, data = [], []
    for count in JUMP_STEPS:
        step = PERIOD / count
        profile = PROFILES['trapezoid']
        found = _largest(
            run(
                dynamics,
                profile,
                JUMP_DURATION,
                LawEvaluation.INSIDE,
                steps_a_period=count,
            )
        )
        # A step that the jump falls into weighs both sides in sixths, here by 1/6 wrong: the
        # velocity is off by a h / 6, and the critically damped error peaks at 1 / (w e) of that.
        expected = jump * step / 6.0 / (frequency * np.e)
        rows.append((f'{1e3 * step:g}', _format_error(found), _format_error(expected)))
        data.append({'step': step, 'error': found, 'expected': expected})
    return (
        ReportTable(
            f'Trapezoid of {JUMP_DURATION:g} s with the law inside the integrator, '
            'largest error [1e-4 rad]',
            ('Runge-Kutta step h [ms]', 'simulated', 'a h / (6 w e)'),
            rows,
            'a: acceleration that jumps, 9 D / (2 T^2); w = 10/s: square root of Kp; e = 2.718.',
            in_document=False,
        ),
        data,
    )


def compare_laws(arm: Arm, motion: PumaRun, duration: float) -> tuple[float, float, int]:
    """Evaluate the law in both of its forms at states of a motion with the quintic profile.

    Returned are the largest difference of the efforts of (4.1) and (4.4) [N m], the same by the
    largest effort, and how many states were compared. The duration is that of the motion [s].
    """
    chosen = np.unique(np.linspace(0, len(motion.time) - 1, 20).astype(int))
    desired = quintic_profile(*ends(), duration, motion.time[chosen])
    apart = largest = 0.0
    for index, *wanted in zip(chosen, *desired, strict=True):
        state = [motion.position[index], motion.velocity[index], *wanted]
        substituted, explicit = (
            np.array(
                law(arm, *(values.tolist() for values in state), kp=KP, kv=KV, gravity=GRAVITY),
                dtype=float,
            )
            for law in (computed_torque_law.by_substitution, computed_torque_law.explicit)
        )
        apart = max(apart, float(np.abs(substituted - explicit).max()))
        largest = max(largest, float(np.abs(explicit).max()))
    return apart, apart / largest, len(chosen)


def _largest(motion: PumaRun) -> float:
    return float(np.abs(motion.error).max())


def _format_error(value: float) -> str:
    """Return an error in 1e-4 rad, of which what cannot be seen is a power of ten."""
    scaled = 1e4 * value
    return f'{scaled:.3f}' if scaled >= 0.0005 or scaled == 0.0 else f'{scaled:.0e}'


def _next_power_of_ten(value: float) -> str:
    """Return the next higher power of ten."""
    return f'1e{int(np.ceil(np.log10(max(value, 1e-16)))):d}'
