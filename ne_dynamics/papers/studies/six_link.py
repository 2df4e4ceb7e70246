"""The six-link manipulator of 000 section 4: joint torques from pose A to pose B, both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.dh import load_dh
from ne_dynamics.model.robot import FloatArray
from ne_dynamics.papers.studies.report import ReportTable, StudyReport
from ne_dynamics.papers.studies.six_link_paths import (
    POSE_A,
    POSE_B,
    PRINTED_POSITIONS,
    Departure,
    JointMotion,
    measure_departures,
    trace_joints,
    trace_line,
)
from ne_dynamics.shipped import shipped_file

NAME = 'six-link'

PATHS = {
    'line': 'tip on the line',
    'joint': 'joints on trapezoids',
}
"""The two ways from A to B, and what is prescribed of each."""


@dataclass(frozen=True, eq=False)
class Torques:
    """Joint torques along the motion and what they consist of.

    Attributes
    ----------
    total, inertia, coriolis, gravity : array, shape (N, 6)
        [N m]; total is the sum of the others.
    """

    total: FloatArray
    inertia: FloatArray
    coriolis: FloatArray
    gravity: FloatArray


class Way(NamedTuple):
    """One of the two ways from A to B.

    Attributes
    ----------
    motion : JointMotion
    torques : Torques
    departure : Departure
        Largest.
    distances, angles : array, shape (N,)
        Of the tip from the line [m] and from the printed orientation [rad].
    """

    motion: JointMotion
    torques: Torques
    departure: Departure
    distances: FloatArray
    angles: FloatArray


def study(duration: float = 1.0, path: str = 'line') -> tuple[StudyReport, dict[str, Way]]:
    """Compute the torques of the motion from pose A to pose B, both ways.

    Parameters
    ----------
    duration : float
        T [s]; the document prints none.
    path : str
        Motion of picture and data: tip on a straight line, or trapezoids of the joint
        velocities. The document prescribes both, and the tables have both.

    Returns
    -------
    StudyReport
    dict of str to Way
        By path, the one that was asked for first.

    Raises
    ------
    InputError
        When the duration is not positive, or the path unknown.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise InputError(f'duration: expected more than 0 s, got {duration}')
    if path not in PATHS:
        raise InputError(f'path: expected one of {", ".join(PATHS)}, got {path!r}')
    dynamics = Dynamics(load_dh(shipped_file('six_link_dh.yaml')), backend='python')
    time = np.linspace(0.0, duration, 601)
    motions = {
        'line': trace_line(dynamics, duration, time),
        'joint': trace_joints(duration, time),
    }
    ways = {
        name: _compute_way(dynamics, motions[name])
        for name in (path, *(other for other in PATHS if other != path))
    }
    reached = [dynamics.forward_kinematics(np.deg2rad(pose))[:3, 3] for pose in (POSE_A, POSE_B)]
    tables = (
        _tabulate_poses(reached),
        _tabulate_departures(ways),
        *(_tabulate_torques(name, ways[name].torques, duration) for name in PATHS),
    )
    return StudyReport(NAME, tables, _collect_data(path, ways, reached)), ways


def _compute_way(dynamics: Dynamics, motion: JointMotion) -> Way:
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    still = np.zeros_like(q)
    total = dynamics.inverse_dynamics(q, qd, qdd)
    gravity = dynamics.inverse_dynamics(q, still, still)
    coriolis = dynamics.inverse_dynamics(q, qd, still) - gravity
    torques = Torques(total, total - coriolis - gravity, coriolis, gravity)
    return Way(motion, torques, *measure_departures(dynamics, motion))


def _tabulate_poses(reached: list[FloatArray]) -> ReportTable:
    rows = []
    for name, printed, found in zip('AB', PRINTED_POSITIONS, reached, strict=True):
        off = float(np.linalg.norm(found - np.array(printed)))
        cells = ('(' + ', '.join(f'{x:.4f}' for x in point) + ')' for point in (printed, found))
        rows.append((name, *cells, f'{1e6 * off:.1f}'))
    return ReportTable(
        'Poses of 000 section 4', ('pose', 'printed [m]', 'computed [m]', 'apart [um]'), rows
    )


def _tabulate_departures(ways: dict[str, Way]) -> ReportTable:
    return ReportTable(
        'What each way from A to B keeps of what 000 section 4 prescribes: largest departures',
        ('way', 'tip off the line [mm]', 'off its orientation [deg]', 'joint off trapezoid [deg]'),
        [
            (
                f'{name}: {prescribed}',
                f'{1e3 * ways[name].departure.from_line:.3f}',
                f'{np.rad2deg(ways[name].departure.from_orientation):.3f}',
                f'{np.rad2deg(ways[name].departure.from_trapezoid):.3f}',
            )
            for name, prescribed in PATHS.items()
        ],
        'The document prescribes the straight line with constant orientation and, in figure 6, '
        'trapezoids of the joint velocities; no motion is both.',
    )


def _tabulate_torques(name: str, torques: Torques, duration: float) -> ReportTable:
    parts = (torques.total, torques.inertia, torques.coriolis, torques.gravity)
    note = {
        'line': 'T/3 of constant acceleration of the tip, T/3 of coasting, T/3 of braking; joint '
        'velocities and accelerations from the Jacobian and its rate. T and the inertia tensors '
        'are not printed: slender rods, as config/six_link_dh.yaml says. With the orientation '
        'constant, links 5 and 6 stay in one vertical plane that holds the axis of joint 5 and '
        'the forces on them, and link 6 hangs straight from joint 6: both torques are zero, '
        'whatever the masses and axial moments.',
        'joint': 'T/3 of constant acceleration 9 dq / (2 T^2) of each joint, T/3 of coasting, T/3 '
        'of braking.',
    }
    return ReportTable(
        f'Largest torques from A to B in T = {duration:g} s [N m], {PATHS[name]}',
        ('joint', 'total', 'inertia', 'Coriolis', 'gravity'),
        [
            (str(joint + 1), *(f'{np.abs(values[:, joint]).max():.4f}' for values in parts))
            for joint in range(6)
        ],
        note[name],
        in_document=name == 'line',
    )


def _collect_data(path: str, ways: dict[str, Way], reached: list[FloatArray]) -> dict[str, object]:
    motion, torques = ways[path].motion, ways[path].torques
    return {
        'path': path,
        'duration': float(motion.time[-1]),
        'positions': {name: point.tolist() for name, point in zip('AB', reached, strict=True)},
        'departures': {name: vars(way.departure) for name, way in ways.items()},
        'largest_torques': {
            name: np.abs(way.torques.total).max(axis=0).tolist() for name, way in ways.items()
        },
        'time': motion.time.tolist(),
        **{name: getattr(motion, name).tolist() for name in ('q', 'qd', 'qdd')},
        **{
            name: getattr(torques, name).tolist()
            for name in ('total', 'inertia', 'coriolis', 'gravity')
        },
    }
