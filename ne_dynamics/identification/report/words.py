"""What an identification came to, in sentences."""

from __future__ import annotations

import math

from ne_dynamics.identification.report.report import JointChange, Report
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.report_page import Item, Paragraph, Tone


def format_number(value: float) -> str:
    """Return a figure as the page shows it; a dash for what is no number."""
    return f'{value + 0.0:.3g}' if math.isfinite(value) else '-'


def format_part(value: float, whole: float) -> str:
    """Return a part in per cent; a dash where there is no whole."""
    if not (whole > 0.0 and math.isfinite(value)):
        return '-'
    part = 100.0 * value / whole
    return f'{part:.0f} %' if part >= 10.0 else f'{part:.2g} %'


def judge_joint(joint: JointChange, noise_floor: float, held_out: bool) -> Item:
    """Return a sentence on what the identified model is worth for a joint.

    The noise floor is NaN where it is not known [N m or N]; `held_out` says whether the model was
    judged by a part of the log that was not fitted.
    """
    size, unit = joint.before.rms_measured, joint.before.unit
    before, after = joint.before.rms_difference, joint.after.rms_difference
    part = 'on the part held out' if held_out else 'on the log that was fitted'
    floor = (
        f'the noise floor is {format_number(noise_floor)} {unit}'
        if math.isfinite(noise_floor)
        else 'the noise floor is not known'
    )
    figures = (
        f'measured {format_number(size)} {unit} RMS; residual {part}: given model '
        f'{format_number(before)} {unit} ({format_part(before, size)}), identified model '
        f'{format_number(after)} {unit} ({format_part(after, size)}); {floor}. '
    )
    if not joint.samples:
        tone, verdict = Tone.WARNING, 'No sample was fitted: its friction stays as given.'
    elif after > max(
        IDENTIFICATION.worse_residual * before, before + IDENTIFICATION.negligible_residual * size
    ):
        tone, verdict = Tone.WARNING, 'Worse than before: keep the given values of this joint.'
    elif after <= IDENTIFICATION.noise_floor_times * noise_floor:
        tone, verdict = Tone.GOOD, 'The residual is about the noise.'
    elif after <= IDENTIFICATION.well_explained * size:
        tone = Tone.GOOD
        verdict = 'Well explained; the residual is more than noise: friction, elasticity, cables.'
    elif after < before / IDENTIFICATION.worse_residual:
        tone = Tone.WARNING
        verdict = 'Better than before, but with a large residual that the model has no term for.'
    else:
        tone, verdict = Tone.WARNING, 'Hardly better than before.'
    return Item(joint.before.name, figures + verdict, tone)


def rate_report(report: Report, doubts: int) -> Paragraph:
    """Return the verdict on all of it.

    `doubts` counts what was found wrong with the log before it was fitted, beside the findings.
    """
    if report.has_errors:
        codes = ', '.join(
            sorted({finding.code for finding in report.findings if finding.severity == 'error'})
        )
        return Paragraph(
            f'Refused: the log cannot be used ({codes}). Nothing was written.', Tone.ERROR
        )
    better = sum(
        joint.after.rms_difference < joint.before.rms_difference / IDENTIFICATION.worse_residual
        for joint in report.joints
    )
    warnings = doubts + sum(finding.severity == 'warning' for finding in report.findings)
    part = 'on the part of the log held out' if report.held_out else 'on the log it was fitted to'
    text = (
        f'Identified: better than the given model in {better} of {len(report.joints)} joints, '
        f'{part}. {report.determined} of {report.identifiable} directions of the inertial '
        f'parameters are determined by this log; {warnings or "no"} '
        f'warning{"s" if warnings != 1 else ""}.'
    )
    return Paragraph(text, Tone.WARNING if warnings or better < len(report.joints) else Tone.GOOD)
