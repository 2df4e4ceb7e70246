"""What ``ne_dynamics excite`` says of a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ne_dynamics.excitation import Excitation
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.model.robot import Robot

NEAREST = 5
"""Distances that are listed."""


def describe(excitation: Excitation, robot: Robot, written: str) -> list[str]:
    """Return the lines of the report."""
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
        lines.append(
            f'  {joint.name:{width}}  {excitation.start[index] + 0.0:9.4f}'
            f'  {_percent(excitation.range_shares[index])}'
            f'  {_percent(excitation.velocity_shares[index])}'
            f'  {_percent(excitation.effort_shares[index])}'
        )
    lines.append('  parts of the position range it may use, and of the speed and effort limits')
    if excitation.nearest:
        lines += ['', 'nearest']
        lines += [
            f'  {each.distance:.3f} m (to keep: {each.margin:.3f} m) at {each.time:.2f} s: '
            f'{each.name}'
            for each in excitation.nearest[:NEAREST]
        ]
    lines += ['', 'expected standard deviations']
    width = max(len(each.name) for each in excitation.parameters)
    lines += [
        f'  {each.name:{width}}  {each.value:10.4g} +- {each.deviation:8.2g} {each.unit}'
        for each in excitation.parameters
    ]
    return lines


def _percent(share: float) -> str:
    return f'{100.0 * share:5.0f}%'


def make_document(excitation: Excitation, robot: Robot, output: str) -> dict[str, Any]:
    """Return the report for programs."""
    trajectory, series = excitation.trajectory, excitation.series
    names = robot.joint_names
    condition = excitation.condition_number

    def by_joint(values: Any) -> dict[str, float]:
        return dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True))

    return {
        'output': output,
        'joints': list(names),
        'duration': excitation.duration,
        'points': len(trajectory),
        'base_frequency': series.base_frequency,
        'harmonics': series.harmonics,
        'objective': excitation.objective,
        'condition_number': finite_or_none(condition),
        'log_determinant': excitation.log_determinant,
        'start': by_joint(excitation.start),
        'range_shares': by_joint(excitation.range_shares),
        'velocity_shares': by_joint(excitation.velocity_shares),
        'effort_shares': by_joint(excitation.effort_shares),
        'effort_deviation': by_joint(trajectory.deviation),
        'nearest': [
            {
                'what': each.name,
                'distance': each.distance,
                'margin': each.margin,
                'time': each.time,
            }
            for each in excitation.nearest
        ],
        'parameters': [
            {
                'name': each.name,
                'unit': each.unit,
                'value': each.value,
                'deviation': each.deviation,
            }
            for each in excitation.parameters
        ],
        'notes': list(excitation.notes),
    }
