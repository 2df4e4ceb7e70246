"""The figures of the report of an identification: a picture a joint, beside one another."""

from __future__ import annotations

from typing import cast

import numpy as np

from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import (
    Evaluation,
    model_effort,
    without_joint_friction,
)
from ne_dynamics.identification.fit_evidence import ShownLog
from ne_dynamics.identification.report.charts import (
    draw_blocks,
    draw_efforts,
    draw_friction,
    draw_spectra,
)
from ne_dynamics.identification.report.effort_spectra import EffortSpectra
from ne_dynamics.identification.report.report import Identified
from ne_dynamics.identification.report.words import format_number
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.report_page import Figure, LegendEntry, Paragraph, Section
from ne_dynamics.report_page.page import Figures

MEASURED = LegendEntry('measured', 'measured')
GIVEN = LegendEntry('given', 'given model', 'dashes')
HELD_OUT = LegendEntry('held', 'held out for validation', 'area')
NOISE = LegendEntry('noise', 'noise floor', 'dashes')


def show_efforts(result: Identified, shown: ShownLog, robot: Robot) -> Section:
    """Return measured and modelled efforts over time, and what is left."""
    report, signals = result.report, shown.signals
    held = shown.held_from
    figures = []
    for index, (joint, change) in enumerate(zip(robot.joints, report.joints, strict=True)):
        unit = change.before.unit
        svg = draw_efforts(
            signals.times,
            signals.effort[:, index],
            {'given': shown.given_effort[:, index], 'model': shown.tested_effort[:, index]},
            unit,
            held,
            float(shown.spectra.noise_floor[index]),
        )
        alternative = (
            f'effort over time, {format_number(change.before.rms_measured)} {unit} RMS measured; '
            f'residual RMS {format_number(change.before.rms_difference)} {unit} of the given, '
            f'{format_number(change.after.rms_difference)} {unit} of the identified one (below)'
        )
        figures.append(Figure(joint.name, svg, alternative))
    legend = [MEASURED, GIVEN]
    below = 'Below: residual of the identified model.'
    if not report.held_out:
        text = 'No validation part: the model is shown on the log that it was fitted to.'
        legend.append(LegendEntry('model', 'identified'))
    else:
        text = (
            'The identified model shown here was fitted to the first part alone; the one that is '
            'written is fitted to the whole log.'
        )
        legend += [LegendEntry('model', 'identified from the first part'), HELD_OUT]
    if len(report.logs) > 1 or shown.source != report.logs[0][0]:
        text = f'Shown is {shown.source}. {text}'
    legend.append(NOISE)
    return Section(
        'Efforts over time', (Paragraph(f'{text} {below}'), Figures(tuple(figures), tuple(legend)))
    )


def show_evaluation(result: Evaluation, spectra: EffortSpectra, robot: Robot) -> Section:
    """Return measured efforts and those of one model over time, and what is left."""
    figures = []
    for index, joint in enumerate(result.joints):
        svg = draw_efforts(
            result.signals.times,
            result.signals.effort[:, index],
            {'given': result.model_effort[:, index]},
            joint.unit,
            None,
            float(spectra.noise_floor[index]),
        )
        alternative = (
            f'effort over time, {format_number(joint.rms_measured)} {joint.unit} RMS measured, '
            f'{format_number(joint.rms_difference)} {joint.unit} residual of the given model'
        )
        figures.append(Figure(robot.joints[index].name, svg, alternative))
    legend = (MEASURED, LegendEntry('given', 'given model; below: its residual'), NOISE)
    return Section('Efforts over time', (Figures(tuple(figures), legend),))


def show_blocks(result: Identified, shown: ShownLog) -> Section:
    """Return what is left of each block that was predicted from the others."""
    evidence, report = result.evidence, result.report
    if not report.blocks:
        text = 'No cross-validation: the log is too short.'
        return Section('Blocks', (Paragraph(text),))
    figures = []
    for index, change in enumerate(report.joints):
        residuals = evidence.block_residual[:, index]
        held = float(evidence.end_residual[index])
        floor = float(shown.spectra.noise_floor[index])
        unit = change.before.unit
        alternative = (
            'RMS residual of each block: '
            + ', '.join(map(format_number, residuals.tolist()))
            + f' {unit}; of the validation part {format_number(held)}, noise floor '
            + f'{format_number(floor)} {unit}'
        )
        svg = draw_blocks(residuals, held, floor, unit)
        figures.append(Figure(change.before.name, svg, alternative))
    legend = [LegendEntry('model', 'block, predicted from the others', 'area')]
    if report.held_out:
        legend.append(LegendEntry('other', 'validation part, predicted from the rest', 'area'))
    text = (
        'One measure for all: the residual of the samples that were fitted or would have been, '
        'outliers counted less. If blocks differ much from one another or from the validation '
        'part, the arm changes (warms up, is touched), or the motion does not excite the same in '
        'all of them.'
    )
    return Section(
        'Cross-validation by blocks',
        (Paragraph(text), Figures(tuple(figures), (*legend, NOISE))),
    )


def show_friction(
    result: Identified, shown: ShownLog, given: Robot, dynamics: Dynamics
) -> tuple[Paragraph, Figures]:
    """Return friction over velocity, given and identified, with the samples of the log.

    `dynamics` are of the given robot, with gravity as it was.
    """
    signals = shown.signals
    identified = Dynamics(result.robot, dynamics.gravity, 'python', dynamics.tolerance)
    rigid = without_joint_friction(identified)
    samples = signals.effort - model_effort(rigid, signals)
    load = np.array(rigid.bias_torque(signals.position, signals.velocity))
    figures = []
    for index, (old, new) in enumerate(zip(given.joints, result.robot.joints, strict=True)):
        used = signals.usable[:, index]
        reach = float(np.abs(signals.velocity[:, index]).max(initial=1e-6))
        usual = float(np.median(np.abs(load[:, index])))
        velocity = np.linspace(-reach, reach, IDENTIFICATION.curve_points)
        svg = draw_friction(
            signals.velocity[used, index],
            samples[used, index],
            {
                'given': (velocity, _compute_curve(old, velocity, usual)),
                'model': (velocity, _compute_curve(new, velocity, usual)),
            },
            _rate_unit(new),
            new.type.effort_unit,
        )
        figures.append(Figure(new.name, svg, _describe_friction(old, new, reach)))
    legend = (
        LegendEntry('measured', 'samples: measured effort minus that of the links', 'dot'),
        GIVEN,
        LegendEntry('model', 'identified'),
    )
    text = (
        'Fitted samples, without those in which a joint stands or creeps. Load-dependent friction '
        'is drawn at the median load.'
    )
    return Paragraph(text), Figures(tuple(figures), legend)


def _describe_friction(given: Joint, identified: Joint, reach: float) -> str:
    """Return what a picture of friction shows, in words."""
    return (
        f'friction over velocity up to {format_number(reach)} {_rate_unit(identified)}; Coulomb '
        f'{format_number(given.coulomb_friction)} given, '
        f'{format_number(identified.coulomb_friction)} identified [{identified.type.effort_unit}]'
    )


def show_spectra(
    spectra: EffortSpectra, robot: Robot, cutoff_frequency: float
) -> tuple[Paragraph, ...] | tuple[Paragraph, Figures]:
    """Return at which frequencies the joints move and their efforts lie, with the cut-off."""
    if not spectra.frequency.size:
        return (Paragraph('The log is too short for a spectrum.'),)
    figures = tuple(
        Figure(
            joint.name,
            draw_spectra(
                spectra, index, cutoff_frequency, _rate_unit(joint), joint.type.effort_unit
            ),
            f'amplitude densities of velocity and effort up to '
            f'{format_number(float(spectra.frequency[-1]))} Hz, with the cut-off at '
            f'{format_number(cutoff_frequency)} Hz',
        )
        for index, joint in enumerate(robot.joints)
    )
    legend = (
        LegendEntry('other', 'velocity'),
        LegendEntry('model', 'effort'),
        NOISE,
        LegendEntry('ink', f'low-pass, {format_number(cutoff_frequency)} Hz', 'dashes'),
    )
    text = (
        'Amplitude densities before the low-pass. The cut-off should be above the frequencies of '
        'the motion and below those where the effort is only noise.'
    )
    return Paragraph(text), Figures(figures, legend)


def _compute_curve(joint: Joint, velocity: FloatArray, load: float) -> FloatArray:
    friction = compute_friction(
        joint.friction,
        joint.viscous_friction,
        joint.coulomb_friction,
        velocity,
        np.full(velocity.size, load),
        np.sign(velocity),
    )
    return np.broadcast_to(cast('FloatArray', friction), velocity.shape)


def _rate_unit(joint: Joint) -> str:
    return 'm/s' if joint.type.is_prismatic else 'rad/s'
