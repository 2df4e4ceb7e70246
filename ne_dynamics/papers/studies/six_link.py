"""The six-link manipulator of 000 section 4: joint torques of a trapezoidal motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ne_dynamics.algorithms.profiles import trapezoidal_profile
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers.studies.report import StudyReport, Table
from ne_dynamics.shipped import shipped_file

NAME = 'six-link'
POSE_A = (2.7533, 0.1502, 85.7259, -33.7722, -85.0428, 33.6731)
POSE_B = (10.4705, 8.7346, 44.3932, -17.1186, -51.8741, 13.6195)
"""Joint positions as printed [deg]."""

PRINTED_POSITIONS = ((-0.1, 0.35, 1.63), (-0.1, 0.35, 1.83))
"""Tip positions as printed [m]."""

DEFAULT_DURATION = 1.0
"""The document prints none [s]."""

SAMPLES = 601


@dataclass(frozen=True, eq=False)
class Torques:
    """Joint torques along the motion and what they consist of.

    Attributes
    ----------
    time : array, shape (N,)
        [s]
    total, inertia, coriolis, gravity : array, shape (N, 6)
        [N m]; total is the sum of the others.
    """

    time: FloatArray
    total: FloatArray
    inertia: FloatArray
    coriolis: FloatArray
    gravity: FloatArray


def study(duration: float = DEFAULT_DURATION) -> tuple[StudyReport, Torques]:
    """Compute the torques of the motion from pose A to pose B.

    Parameters
    ----------
    duration : float
        T [s]

    Raises
    ------
    InputError
        When the duration is not positive.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise InputError(f'duration: expected more than 0 s, got {duration}')
    dynamics = Dynamics(load_dh(shipped_file('six_link_dh.yaml')), backend='python')
    start, end = np.deg2rad(POSE_A), np.deg2rad(POSE_B)
    time = np.linspace(0.0, duration, SAMPLES)
    q, qd, qdd = trapezoidal_profile(start, end, duration, time)
    still = np.zeros_like(q)
    total = dynamics.inverse_dynamics(q, qd, qdd)
    gravity = dynamics.inverse_dynamics(q, still, still)
    coriolis = dynamics.inverse_dynamics(q, qd, still) - gravity
    torques = Torques(time, total, total - coriolis - gravity, coriolis, gravity)
    reached = [dynamics.forward_kinematics(pose)[:3, 3] for pose in (start, end)]
    return StudyReport(
        NAME, _make_tables(torques, reached, duration), _collect_data(torques, reached)
    ), torques


def _make_tables(
    torques: Torques, reached: list[FloatArray], duration: float
) -> tuple[Table, ...]:
    rows = []
    for name, printed, found in zip('AB', PRINTED_POSITIONS, reached, strict=True):
        off = float(np.linalg.norm(found - np.array(printed)))
        cells = ('(' + ', '.join(f'{x:.4f}' for x in point) + ')' for point in (printed, found))
        rows.append((name, *cells, f'{1e6 * off:.1f}'))
    poses = Table(
        'Poses of 000 section 4', ('pose', 'printed [m]', 'computed [m]', 'apart [um]'), rows
    )
    parts = Table(
        f'Largest torques from A to B in T = {duration:g} s [N m]',
        ('joint', 'total', 'inertia', 'Coriolis', 'gravity'),
        [
            (
                str(joint + 1),
                *(
                    f'{np.abs(values[:, joint]).max():.3f}'
                    for values in (
                        torques.total,
                        torques.inertia,
                        torques.coriolis,
                        torques.gravity,
                    )
                ),
            )
            for joint in range(6)
        ],
        'T/3 of constant acceleration 9 dq / (2 T^2), T/3 of coasting, T/3 of braking. T and the '
        'inertia tensors are not printed: slender rods, as config/six_link_dh.yaml says.',
    )
    return poses, parts


def _collect_data(torques: Torques, reached: list[FloatArray]) -> dict[str, object]:
    return {
        'duration': float(torques.time[-1]),
        'positions': {name: point.tolist() for name, point in zip('AB', reached, strict=True)},
        'time': torques.time.tolist(),
        **{
            name: getattr(torques, name).tolist()
            for name in ('total', 'inertia', 'coriolis', 'gravity')
        },
    }
