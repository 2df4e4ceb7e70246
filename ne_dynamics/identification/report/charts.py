"""Drawings of an identification, each of one joint and without its name."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, MaxNLocator

from ne_dynamics.identification.report.effort_spectra import EffortSpectra
from ne_dynamics.identification.report.plots import break_at_gaps
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.report_page.chart import (
    colour,
    draw_svg,
    label_axes,
    make_panels,
    thin_line,
)


def draw_efforts(
    times: FloatArray,
    measured: FloatArray,
    models: dict[str, FloatArray],
    unit: str,
    held_from: float | None,
    noise_floor: float,
) -> str:
    """Draw as SVG an effort, what models make of it, and below what the last of them leaves.

    Times [s] and efforts [N m or N] have the shape (M,); those of models go by colour of the
    palette. From a time, `held_from`, on nothing was fitted [s]; None: all of it was. The noise
    floor is NaN where it is not known [N m or N].
    """
    figure, (above, below) = make_panels([1.7, 1.1])
    places, gaps = break_at_gaps(times)
    start = times[0]
    for axes in (above, below):
        if held_from is not None:
            axes.axvspan(held_from - start, times[-1] - start, color=colour('held'), linewidth=0.0)
        axes.axhline(0.0, color=colour('muted'), linewidth=0.6)
        axes.set_xlim(0.0, times[-1] - start)
        axes.yaxis.set_major_locator(MaxNLocator(5))

    def draw(axes: Axes, values: FloatArray, name: str, width: float, style: str) -> None:
        line = thin_line(places, np.insert(values, gaps, np.nan))
        axes.plot(*line, style, color=colour(name), linewidth=width)

    draw(above, measured, 'measured', 2.4, '-')
    for name, values in models.items():
        style = '--' if name == 'given' and len(models) > 1 else '-'
        draw(above, values, name, 1.0, style)
    name, values = list(models.items())[-1]
    draw(below, measured - values, name, 0.9, '-')
    if math.isfinite(noise_floor):
        for level in (-noise_floor, noise_floor):
            below.axhline(level, color=colour('noise'), linewidth=1.0, linestyle='--')
    label_axes(above, '', f'effort [{unit}]')
    label_axes(below, 'time [s]', f'residual [{unit}]')
    return draw_svg(figure)


def draw_blocks(residuals: FloatArray, held: float, noise_floor: float, unit: str) -> str:
    """Draw as SVG what is left of each block when it is predicted from the others.

    Residuals [N m or N] are NaN for a block without samples; `held` is that of the end that was
    held out, NaN where there is none, and the noise floor is NaN where it is not known.
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


def draw_friction(
    velocity: FloatArray,
    samples: FloatArray,
    curves: dict[str, tuple[FloatArray, FloatArray]],
    rate_unit: str,
    unit: str,
) -> str:
    """Draw as SVG friction over velocity: curves of models, and the samples of the log.

    Samples are measured efforts less those of the links, shape (M,) [N m or N], by velocity
    [rad/s or m/s]; curves, velocities and friction of models by colour of the palette.
    """
    figure, (axes,) = make_panels([2.4])
    step = max(1, math.ceil(velocity.size / IDENTIFICATION.most_dots))
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
    for name, curve in curves.items():
        style = '--' if name == 'given' else '-'
        axes.plot(*curve, style, color=colour(name), linewidth=1.6)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_axes(axes, f'velocity [{rate_unit}]', f'friction [{unit}]')
    return draw_svg(figure)


def draw_spectra(
    spectra: EffortSpectra, joint: int, cutoff_frequency: float, rate_unit: str, unit: str
) -> str:
    """Draw as SVG where in frequency a joint moves, its effort lies, and it was cut off [Hz]."""
    figure, (above, below) = make_panels([1.3, 1.3])
    noise = float(spectra.effort_noise[joint])
    for axes, values, name in (
        (above, spectra.velocity[:, joint], 'other'),
        (below, spectra.effort[:, joint], 'model'),
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
    label_axes(above, '', f'({rate_unit})/√Hz')
    label_axes(below, 'frequency [Hz]', f'({unit})/√Hz')
    return draw_svg(figure)
