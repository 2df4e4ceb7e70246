"""The figures of the report of an identification: a picture a joint, beside one another."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, MaxNLocator

from ne_dynamics.algorithms.joint_friction import compute_friction
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import (
    Evaluation,
    model_effort,
    without_joint_friction,
)
from ne_dynamics.identification.fit_evidence import ShownLog
from ne_dynamics.identification.report.effort_spectra import EffortSpectra
from ne_dynamics.identification.report.plots import break_at_gaps
from ne_dynamics.identification.report.report import Identified
from ne_dynamics.identification.report.words import format_number
from ne_dynamics.logs import Signals
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.report_page import Figure, LegendEntry, Paragraph, Section
from ne_dynamics.report_page.chart import (
    colour,
    draw_svg,
    label_axes,
    make_panels,
    thin_line,
)
from ne_dynamics.report_page.page import Figures

MEASURED = LegendEntry('measured', 'measured')
GIVEN = LegendEntry('given', 'given model', 'dashes')
HELD_OUT = LegendEntry('held', 'held out for validation', 'area')
NOISE = LegendEntry('noise', 'noise floor', 'dashes')


def show_efforts(result: Identified, shown: ShownLog, robot: Robot) -> Section:
    """Return measured and modelled efforts over time, and what is left."""
    report = result.report
    figures = []
    for index, (joint, change) in enumerate(zip(robot.joints, report.joints, strict=True)):
        unit = change.before.unit
        efforts = {'given': shown.given_effort, 'model': shown.tested_effort}
        svg = _draw_efforts(shown.signals, efforts, shown.spectra, index, unit, shown.held_from)
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
        efforts = {'given': result.model_effort}
        svg = _draw_efforts(result.signals, efforts, spectra, index, joint.unit, None)
        alternative = (
            f'effort over time, {format_number(joint.rms_measured)} {joint.unit} RMS measured, '
            f'{format_number(joint.rms_difference)} {joint.unit} residual of the given model'
        )
        figures.append(Figure(robot.joints[index].name, svg, alternative))
    legend = (MEASURED, LegendEntry('given', 'given model; below: its residual'), NOISE)
    return Section('Efforts over time', (Figures(tuple(figures), legend),))


def _draw_efforts(
    signals: Signals,
    models: dict[str, FloatArray],
    spectra: EffortSpectra,
    joint: int,
    unit: str,
    held_from: float | None,
) -> str:
    """Draw an effort, what models make of it, and below what the last of them leaves.

    Efforts of models, shape (M, n) [N m or N], go by colour. From a time, `held_from`, on nothing
    was fitted [s]; None: all of it was.
    """
    figure, (above, below) = make_panels([1.7, 1.1])
    times, measured = signals.times, signals.effort[:, joint]
    places, gaps = break_at_gaps(times)
    for axes in (above, below):
        if held_from is not None:
            begin, end = held_from - times[0], times[-1] - times[0]
            axes.axvspan(begin, end, color=colour('held'), linewidth=0.0)
        axes.axhline(0.0, color=colour('muted'), linewidth=0.6)
        axes.set_xlim(0.0, times[-1] - times[0])
        axes.yaxis.set_major_locator(MaxNLocator(5))

    def draw(axes: Axes, values: FloatArray, name: str, width: float, style: str) -> None:
        line = thin_line(places, np.insert(values, gaps, np.nan))
        axes.plot(*line, style, color=colour(name), linewidth=width)

    draw(above, measured, 'measured', 2.4, '-')
    for name, table in models.items():
        style = '--' if name == 'given' and len(models) > 1 else '-'
        draw(above, table[:, joint], name, 1.0, style)
    name, table = list(models.items())[-1]
    draw(below, measured - table[:, joint], name, 0.9, '-')
    floor = float(spectra.noise_floor[joint])
    if math.isfinite(floor):
        for level in (-floor, floor):
            below.axhline(level, color=colour('noise'), linewidth=1.0, linestyle='--')
    label_axes(above, '', f'effort [{unit}]')
    label_axes(below, 'time [s]', f'residual [{unit}]')
    return draw_svg(figure)


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
        svg = _draw_blocks(residuals, held, floor, unit)
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


def _draw_blocks(residuals: FloatArray, held: float, noise_floor: float, unit: str) -> str:
    """Draw what is left of each block, and of the end that was held out [N m or N].

    A residual is NaN for a block without samples, `held` and the floor where there are none.
    """
    figure, (axes,) = make_panels([1.9])
    names = [str(index + 1) for index in range(residuals.size)]
    values, colours = residuals.tolist(), [colour('model')] * residuals.size
    if math.isfinite(held):
        names, values = [*names, 'end'], [*values, held]
        colours.append(colour('other'))
    places = np.arange(len(values))
    axes.bar(places, np.nan_to_num(values), 0.62, color=colours)
    if math.isfinite(noise_floor):
        axes.axhline(noise_floor, color=colour('noise'), linewidth=1.4, linestyle='--')
    axes.set_xticks(places, names)
    axes.grid(False, axis='x')
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.set_ylim(bottom=0.0)
    label_axes(axes, 'block of the log', f'RMS residual [{unit}]')
    return draw_svg(figure)


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
        velocity = np.linspace(-reach, reach, 201)
        dots = signals.velocity[used, index], samples[used, index]
        svg = _draw_friction(*dots, velocity, {'given': old, 'model': new}, usual)
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


def _draw_friction(
    velocity: FloatArray,
    samples: FloatArray,
    grid: FloatArray,
    joints: dict[str, Joint],
    load: float,
) -> str:
    """Draw friction over velocity: samples, and curves of joints, by colour, at a load."""
    figure, (axes,) = make_panels([2.4])
    step = max(1, math.ceil(velocity.size / 400))
    axes.axhline(0.0, color=colour('muted'), linewidth=0.6)
    axes.plot(
        velocity[::step],
        samples[::step],
        linestyle='none',
        marker='o',
        markersize=2.2,
        markeredgewidth=0.0,
        color=colour('measured'),
    )
    for name, joint in joints.items():
        style = '--' if name == 'given' else '-'
        friction = compute_friction(
            joint.friction,
            joint.viscous_friction,
            joint.coulomb_friction,
            grid,
            np.full(grid.size, load),
            np.sign(grid),
        )
        curve = np.broadcast_to(cast('FloatArray', friction), grid.shape)
        axes.plot(grid, curve, style, color=colour(name), linewidth=1.6)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_axes(
        axes,
        f'velocity [{_rate_unit(joints["model"])}]',
        f'friction [{joints["model"].type.effort_unit}]',
    )
    return draw_svg(figure)


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
            _draw_spectra(spectra, index, joint, cutoff_frequency),
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


def _draw_spectra(
    spectra: EffortSpectra, index: int, joint: Joint, cutoff_frequency: float
) -> str:
    """Draw where in frequency a joint moves, its effort lies, and it was cut off [Hz]."""
    figure, (above, below) = make_panels([1.3, 1.3])
    noise = float(spectra.effort_noise[index])
    for axes, values, name in (
        (above, spectra.velocity[:, index], 'other'),
        (below, spectra.effort[:, index], 'model'),
    ):
        drawn = np.where(values > 0.0, values, np.nan)
        axes.set_xscale('log')
        axes.xaxis.set_major_formatter(FormatStrFormatter('%g'))
        if np.isfinite(drawn).any():
            axes.set_yscale('log')
            axes.plot(spectra.frequency, drawn, color=colour(name), linewidth=1.4)
        axes.axvline(cutoff_frequency, color=colour('ink'), linewidth=1.2, linestyle=':')
        axes.minorticks_off()
    if noise > 0.0:
        below.axhline(noise, color=colour('noise'), linewidth=1.4, linestyle='--')
    label_axes(above, '', f'({_rate_unit(joint)})/√Hz')
    label_axes(below, 'frequency [Hz]', f'({joint.type.effort_unit})/√Hz')
    return draw_svg(figure)


def _rate_unit(joint: Joint) -> str:
    return 'm/s' if joint.type.is_prismatic else 'rad/s'
