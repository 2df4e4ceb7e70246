"""An identification as ``ne_dynamics identify`` has it: written, for programs, and in lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import JointResidual
from ne_dynamics.identification.fit_evidence import ShownLog, show_log
from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.report.report import Identified, Report
from ne_dynamics.identification.writing.written_model import WrittenModel
from ne_dynamics.logs.diagnosis import DiagnosedLogs
from ne_dynamics.logs.parts import get_last
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class LogsFit:
    """A model that was fitted to the logs of a robot.

    Attributes
    ----------
    found : DiagnosedLogs
    dynamics : Dynamics
        Of the given model.
    logs : FilteredLogs
    result : Identified
    written : WrittenModel or None
        What is to be written of it.
    rest : tuple of JointResidual
        What that leaves of the logs.
    """

    found: DiagnosedLogs
    dynamics: Dynamics
    logs: FilteredLogs
    result: Identified
    written: WrittenModel | None = None
    rest: tuple[JointResidual, ...] = ()

    @cached_property
    def shown(self) -> ShownLog:
        """The last part of the last log."""
        last = get_last(self.found.logs[-1], self.logs.cutoff_frequency)
        result = self.result
        return show_log(self.dynamics, result.evidence, self.logs, result.report.fitted, last)

    def as_json(self) -> dict[str, Any]:
        """Return the fit as data for JSON."""
        return {
            'as_written': [joint.as_json() for joint in self.rest],
            'locked': self.found.source.locked,
            'diagnosis': self.found.diagnosis,
            **self.result.report.as_json(),
            'noise_floor': self.shown.spectra.noise_floor,
            **self.result.evidence.as_json(),
        }

    def lines(self) -> list[str]:
        """Return the fit for people."""
        notes = [*self.found.source.lines(), *self.found.describe()]
        lines = describe_identified(self.dynamics.robot, self.result)
        return [*lines, *[''] * bool(notes), *notes]

    def write(self, urdf: Path) -> list[str]:
        """Write the model, if there is one to be written, and say so in lines."""
        if self.written is None:
            return []
        extras = self.written.write(urdf)
        beside = '' if extras is None else f' and {extras.name} beside it'
        width = max(len(joint.name) for joint in self.rest)
        return [
            '',
            f'written: {urdf}{beside}',
            '  RMS residual of these files on the whole log:',
            *(
                f'  {joint.name:{width}}  {joint.rms_difference:10.4g} {joint.unit}'
                for joint in self.rest
            ),
        ]


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
