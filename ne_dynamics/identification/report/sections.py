"""The sections of the report of an identification, in the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ne_dynamics.identification.fit_evidence import ShownLog
from ne_dynamics.identification.report.report import Identified, Report
from ne_dynamics.identification.report.words import (
    format_number,
    format_part,
    judge_joint,
)
from ne_dynamics.logs import Finding, LogDiagnosis
from ne_dynamics.report_page import Column, Item, Paragraph, Section, Table, Tone
from ne_dynamics.report_page.page import Items

INTERVAL = 1.96
"""Standard deviations to either side of a value, within which it is with 95 %."""

TONES = {'error': Tone.ERROR, 'warning': Tone.WARNING, 'info': Tone.PLAIN}
"""Of what is found, by severity."""


def describe_verdicts(result: Identified, shown: ShownLog) -> Section:
    """Return a sentence for each joint, and the same in figures."""
    report = result.report
    floors = shown.spectra.noise_floor
    held_out = report.held_out > 0
    rows = []
    for joint, floor in zip(report.joints, floors, strict=True):
        size, after = joint.before.rms_measured, joint.after.rms_difference
        figures = (size, joint.before.rms_difference, after, joint.cross_validated, floor)
        cells = (*map(format_number, figures), format_part(after, size))
        rows.append((joint.before.name, joint.before.unit, *cells))
    heads = (
        'measured',
        'residual, given model',
        'residual, identified',
        'residual, blocks',
        'noise floor',
        'residual / measured',
    )
    table = Table(
        'Root mean squares of the efforts '
        + ('on the part held out.' if held_out else 'on the log that was fitted.'),
        (Column('joint'), Column('unit'), *(Column(head, True) for head in heads)),
        tuple(rows),
    )
    judged = tuple(
        judge_joint(joint, floor, held_out)
        for joint, floor in zip(report.joints, floors, strict=True)
    )
    note = Paragraph(
        'The noise floor is the low-pass filtered noise of the efforts, assumed white. It is too '
        'small if the driver filters its efforts.'
    )
    return Section('Verdict, joint by joint', (Items(judged), table, note))


def describe_findings(
    findings: tuple[Finding, ...], diagnoses: Sequence[tuple[str, LogDiagnosis]]
) -> Section:
    """Return what is doubtful about logs, each with its name, and result, with what to do."""
    several = len(diagnoses) > 1
    named = [
        (f'{source}: ' * several + (', '.join(fault.joints) or 'log'), fault)
        for source, diagnosis in diagnoses
        for fault in diagnosis.faults
    ]
    named += [(finding.element, finding) for finding in findings]
    items = [
        Item(
            name,
            f'{finding.severity}, {finding.code}: {finding.what}. Remedy: {finding.remedy}.',
            TONES.get(finding.severity, Tone.PLAIN),
        )
        for name, finding in named
    ]
    if not items:
        return Section('Findings', (Paragraph('None.', Tone.GOOD),))
    untold = tuple(
        Item(f'not shown by {source if several else "this log"}', sentence)
        for source, diagnosis in diagnoses
        for sentence in diagnosis.untold
    )
    return Section('Findings', (Items((*items, *untold)),))


def describe_friction_values(report: Report) -> Table:
    """Return the numbers of friction and drives, given and identified."""
    rows = []
    for joint in report.joints:
        for key, (given, found, deviation) in joint.numbers.items():
            cells = tuple(map(format_number, (given, found, deviation)))
            rows.append((joint.before.name, key.replace('_', ' '), *cells))
    for drive in report.drives:
        for key, deviation in drive.deviations.items():
            numbers = (getattr(drive.before, key), getattr(drive.after, key), deviation)
            cells = tuple(map(format_number, numbers))
            rows.append((drive.after.formula, key.replace('_', ' '), *cells))
    heads = ('given', 'identified', 'standard deviation')
    return Table(
        'Friction and drives, in SI units of the joint.',
        (Column('joint'), Column('number'), *(Column(head, True) for head in heads)),
        tuple(rows),
    )


def describe_base_parameters(report: Report) -> Section:
    """Return the combinations of inertias that act on the efforts."""
    rows = []
    for parameter in report.base_parameters:
        reach = INTERVAL * parameter.deviation
        low, high = parameter.value - reach, parameter.value + reach
        found = (parameter.value, parameter.deviation, low, high)
        figures = (parameter.given, *found, parameter.identified)
        rows.append((parameter.name, parameter.unit, *map(format_number, figures)))
    heads = ('given', 'by the log', 'standard deviation', '95 % from', '95 % to', 'identified')
    table = Table(
        'Each is named by one of its parameters; others that act alike are part of it.',
        (Column('base parameter'), Column('unit'), *(Column(head, True) for head in heads)),
        tuple(rows),
    )
    clear = sum(
        abs(parameter.value) > INTERVAL * parameter.deviation
        for parameter in report.base_parameters
    )
    note = Paragraph(
        f'{clear} of {len(report.base_parameters)} 95 % intervals exclude 0. They include noise '
        'and its autocorrelation, not errors of the model structure.'
    )
    return Section('Base parameters', (note, table))


def describe_links(report: Report) -> Section:
    """Return what became of the links, and of which of them the log tells."""
    rows = []
    for body in report.bodies:
        moved = float(np.linalg.norm(body.after.center_of_mass - body.before.center_of_mass))
        figures = (body.before.mass, body.after.mass, body.mass_deviation, 1000.0 * moved)
        source = 'the log' if body.is_determined else 'the given model'
        rows.append(
            (body.name, *map(format_number, figures), f'{100.0 * body.determined:.0f} %', source)
        )
    heads = (
        'mass given [kg]',
        'mass identified [kg]',
        'standard deviation [kg]',
        'centre moved by [mm]',
        'determined',
    )
    table = Table(
        'Moving links, with links fixed to them. Determined: part of the ten parameters that '
        'comes from the log, for given ones uncertain by half.',
        (Column('link'), *(Column(head, True) for head in heads), Column('rests on')),
        tuple(rows),
    )
    kept = [body.name for body in report.bodies if not body.is_determined]
    tone = Tone.WARNING if kept else Tone.GOOD
    text = (
        f'Mostly from the given model, not determined by this log: {", ".join(kept)}.'
        if kept
        else 'All links are mostly determined by the log.'
    )
    return Section('Links', (Paragraph(text, tone), table, _describe_condition(report)))


def _describe_condition(report: Report) -> Paragraph:
    number = report.condition_number
    text = (
        f'The condition number of the weighted base regressor is {format_number(number)}: the '
        'ratio of the best to the least determined direction, parameters in units of their '
        'prior uncertainty.'
        if math.isfinite(number)
        else 'The weighted base regressor has no finite condition number: a direction is not '
        'identifiable.'
    )
    return Paragraph(
        f'{text} {report.determined} of {report.identifiable} identifiable directions are known '
        'better than to half of the given inertias.'
    )


def describe_samples(result: Identified, shown: ShownLog) -> Table:
    """Return what was used of the log, and what was not."""
    report, signals = result.report, shown.signals
    rows = [
        ('read', report.log),
        ('filtered samples, fitted before validation', str(report.fitted)),
        ('filtered samples, held out', str(report.held_out)),
        ('dropped: repeat the one before', str(report.repeated)),
        ('outliers: single efforts that count less than half', str(report.outliers)),
        ('low-pass [Hz]', format_number(report.cutoff_frequency)),
        ('relative uncertainty of the given inertias', format_number(report.spread)),
        ('blocks, each predicted from the others', str(report.blocks)),
        ('distance from the minimum [log-likelihood]', format_number(report.optimality_gap)),
    ]
    for joint, saturated in zip(report.joints, signals.saturated, strict=True):
        at_limit = f', {100.0 * saturated:.2g} % of the log at its limit' if saturated else ''
        rows.append(
            (
                f'efforts of {joint.before.name}',
                f'{joint.samples} fitted{at_limit}; autocorrelation time '
                f'{format_number(joint.correlation)} samples',
            )
        )
    return Table('Used and dropped.', (Column('what'), Column('amount')), tuple(rows))


def describe_doubts(report: Report) -> Section:
    """Return what not to believe."""
    kept = [body.name for body in report.bodies if not body.is_determined]
    items = [
        Item(
            'a single mass or inertia',
            'only sums of them act on the joints; what the log does not determine is that of the '
            'given model'
            + (f', here most of {", ".join(kept)}' if kept else '')
            + '. With the base mounted otherwise other sums count: record again.',
        ),
        Item(
            'rotor inertia of a vertical first joint',
            'it acts as the inertia of the first link about that axis; only the prior tells the '
            'two apart.',
        ),
        Item(
            'friction',
            'it holds for this temperature and load; a cold arm has more. Zero friction of a real '
            'gear means that the driver compensates it.',
        ),
        Item(
            'standard deviations',
            'they include noise and its autocorrelation, not a wrong model structure, nor a '
            'factor on all efforts, which equals one on all masses.',
        ),
        Item(
            'other motions',
            'the validation part is of the same log: run `ne_dynamics evaluate` on another one, '
            'with the load and speed of the application.',
        ),
    ]
    return Section('What not to believe', (Items(tuple(items)),))
