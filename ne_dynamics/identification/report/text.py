"""The report of ``ne_dynamics identify`` as lines of text."""

from __future__ import annotations

import math

import numpy as np

from ne_dynamics.identification.report.report import Identified, Report
from ne_dynamics.model.robot import Robot


def describe_identified(robot: Robot, result: Identified) -> list[str]:
    """Return the report on a given robot in lines."""
    report = result.report
    lines = [*_describe_log(report), '', *_describe_joints(robot, report)]
    lines += ['', *_describe_bodies(report)]
    if report.findings:
        lines.append('')
    for finding in report.findings:
        lines.append(f'  {finding.severity}  {finding.element}  {finding.code}  {finding.what}')
    return lines


def _describe_log(report: Report) -> list[str]:
    judged = f'{report.held_out} for validation' if report.held_out else 'none for validation'
    return [
        *(f'{source}: {summary}' for source, summary in report.logs),
        f'low-pass {report.cutoff_frequency:.4g} Hz; {report.fitted} samples fitted, {judged}; '
        f'{report.repeated} repeated ones dropped, {report.outliers} outliers among the efforts',
        f'relative uncertainty of the given inertias: {report.spread:g}'
        + (f', with {report.blocks} blocks' if report.blocks else ''),
        f'directions of the inertial parameters: {report.determined} determined of '
        f'{report.identifiable} identifiable ones; condition number '
        f'{report.condition_number:.3g}',
    ]


def _describe_joints(robot: Robot, report: Report) -> list[str]:
    width = max(len('RMS of the effort'), *(len(name) for name in robot.joint_names))
    heads = ('measured', 'before', 'after', 'in blocks', 'viscous', 'Coulomb', 'rotor inertia')
    lines = [f'  {"RMS of the effort":{width}}' + ''.join(f'  {head:>16}' for head in heads)]
    for joint in report.joints:
        figures = (
            joint.before.rms_measured,
            joint.before.rms_difference,
            joint.after.rms_difference,
            joint.cross_validated,
        )
        changes = (joint.viscous, joint.coulomb, joint.drive['rotor_inertia'])
        lines.append(
            f'  {joint.before.name:{width}}'
            + ''.join(
                f'  {f"{value:.4g}" if math.isfinite(value) else "-":>16}' for value in figures
            )
            + ''.join(f'  {f"{old:.3g} -> {new:.3g}":>16}' for old, new, _ in changes)
        )
    others = []
    for joint in report.joints:
        parts = [
            f'{key} {old:.3g} -> {new:.3g}'
            for key, (old, new, _) in joint.drive.items()
            if key != 'rotor_inertia' and old != new
        ]
        others += [f'  {joint.before.name}: {", ".join(parts)}'] * bool(parts)
    others += [
        f'  coupled drive of {drive.after.formula}: '
        + ', '.join(
            f'{key} {getattr(drive.before, key):.3g} -> {getattr(drive.after, key):.3g}'
            for key in drive.deviations
        )
        for drive in report.drives
    ]
    return [*lines, '', *others] if others else lines


def _describe_bodies(report: Report) -> list[str]:
    width = max(len(body.name) for body in report.bodies)
    columns = ('mass [kg]', 'centre of mass [m]', 'moved by', 'determined')
    lines = [
        f'  {"link":{width}}  {columns[0]:>18}  {columns[1]:>24}  {columns[2]:>10}  {columns[3]}'
    ]
    for body in report.bodies:
        old, new = body.before, body.after
        shift = float(np.linalg.norm(new.center_of_mass - old.center_of_mass))
        center = ' '.join(f'{value + 0.0:7.4f}' for value in new.center_of_mass)
        lines.append(
            f'  {body.name:{width}}  {f"{old.mass:.4g} -> {new.mass:.4g}":>18}  {center:>24}  '
            f'{shift:8.4f} m  {body.determined:9.0%}'
        )
    if report.base_parameters:
        clear = sum(
            abs(parameter.value) > 2.0 * parameter.deviation
            for parameter in report.base_parameters
        )
        lines.append(
            f'  base parameters: {clear} of {len(report.base_parameters)} are more than two '
            'standard deviations from 0 (all of them: --json)'
        )
    return lines
