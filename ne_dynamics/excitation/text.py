"""A planned excitation as text and as data for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ne_dynamics.excitation.plan import Excitation
from ne_dynamics.excitation.thresholds import EXCITATION
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.robot import Robot

SHARES = ('range_shares', 'velocity_shares', 'effort_shares')


def describe_excitation(excitation: Excitation, robot: Robot, written: str) -> list[str]:
    """Return the lines of the report; `written` says where the trajectory is."""
    trajectory, series = excitation.trajectory, excitation.series
    highest = series.base_frequency * series.harmonics
    lines = [
        f'{robot.name}: {excitation.duration:.4g} s, {series.harmonics} frequencies up to '
        f'{highest:.3g} Hz; {len(trajectory)} points: {written}',
        f'condition number {excitation.condition_number:.4g}, log det '
        f'{excitation.log_determinant:.4g} ({len(excitation.parameters)} parameters)',
        '',
    ]
    width = max(len(joint.name) for joint in robot.joints)
    lines.append(f'  {"":{width}}  {"start":>9}  {"range":>6}  {"speed":>6}  {"effort":>6}')
    for index, joint in enumerate(robot.joints):
        parts = ''.join(f'  {100.0 * getattr(excitation, key)[index]:5.0f}%' for key in SHARES)
        lines.append(f'  {joint.name:{width}}  {excitation.start[index] + 0.0:9.4f}{parts}')
    lines.append('  parts of the position range it may use, and of the speed and effort limits')
    if excitation.nearest:
        lines += ['', 'nearest']
        lines += [
            f'  {each.distance:.3f} m (to keep: {each.margin:.3f} m) at {each.time:.2f} s: '
            f'{each.name}'
            for each in excitation.nearest[: EXCITATION.most_distances]
        ]
    lines += ['', 'expected standard deviations']
    width = max(len(each.name) for each in excitation.parameters)
    lines += [
        f'  {each.name:{width}}  {each.value:10.4g} +- {each.deviation:8.2g} {each.unit}'
        for each in excitation.parameters
    ]
    return lines


def make_document(excitation: Excitation, robot: Robot) -> dict[str, Any]:
    """Return the report as data for JSON; numbers that are not finite become None."""
    trajectory, series = excitation.trajectory, excitation.series
    by_joint = {key: getattr(excitation, key) for key in ('start', *SHARES)}
    by_joint['effort_deviation'] = trajectory.deviation
    return {
        'joints': list(robot.joint_names),
        'duration': excitation.duration,
        'points': len(trajectory),
        'base_frequency': series.base_frequency,
        'harmonics': series.harmonics,
        'objective': excitation.objective,
        'condition_number': finite_or_none(excitation.condition_number),
        'log_determinant': excitation.log_determinant,
        **{
            key: dict(zip(robot.joint_names, map(float, values), strict=True))
            for key, values in by_joint.items()
        },
        'nearest': [
            {
                'what': each.name,
                **{key: getattr(each, key) for key in ('distance', 'margin', 'time')},
            }
            for each in excitation.nearest
        ],
        'parameters': [asdict(each) for each in excitation.parameters],
    }
