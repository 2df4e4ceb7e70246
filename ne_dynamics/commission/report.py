"""The report of a run: one page with its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ne_dynamics.commission.record import Record
from ne_dynamics.report_page import (
    Column,
    Figure,
    Item,
    LegendEntry,
    Page,
    Paragraph,
    Section,
    Table,
    Tone,
)
from ne_dynamics.report_page.chart import colour, draw_svg, label_axes, make_panels, thin_line
from ne_dynamics.report_page.page import Figures, Items

MILLI = 1e3


def make_report(
    robot_name: str,
    joint_names: Sequence[str],
    results: Mapping[str, Mapping[str, Any]],
    logs: Mapping[str, Record],
    friction: Sequence[Mapping[str, float]],
) -> Page:
    """Return the page.

    Parameters
    ----------
    robot_name : str
    joint_names : sequence of str
    results : mapping
        Of the steps, by name.
    logs : mapping of str to Record
        `test_after`, and `test_before` if it was followed.
    friction : sequence of mapping
        Of each joint `rotor`, `viscous`, `coulomb`, identified [SI].
    """
    before, after = results['test_before'], results['test_after']
    if 'fault' in before:
        verdict = (
            f'RMS error of the test motion: given up with the given model ({before["fault"]}); '
            f'{_milli(after["overall_rms_error"])} mrad (mm) with the identified one'
        )
    else:
        verdict = (
            f'RMS error of the test motion: {_milli(before["overall_rms_error"])} mrad (mm) with '
            f'the given model, {_milli(after["overall_rms_error"])} with the identified one, at '
            'the same gains'
        )
    tremble, listened = results['tremble'], results['listen']
    deviation = tremble['deviation']
    found = [
        Item(
            'rate',
            f'{listened["rate"]:.4g} Hz, longest gap {MILLI * listened["longest_gap"]:.3g} ms',
        ),
        Item(
            'velocities',
            'reported' if listened['reports_velocity'] else 'not reported: differences are taken',
        ),
        Item(
            'delay of commands',
            f'{MILLI * tremble["delay"]:.2f} ms'
            + (f' +- {MILLI * deviation:.2f} ms' if deviation == deviation else ''),
        ),
        *(Item('effort', sentence) for sentence in results['identify']['found']),
        *(Item('friction', sentence) for sentence in results['try_friction']['found']),
    ]
    gains = results['gains']['parameters']
    return Page(
        title=f'Commissioning of {robot_name}',
        subtitle=f'{len(joint_names)} joints: {", ".join(joint_names)}',
        verdict=Paragraph(verdict, Tone.GOOD),
        sections=(
            Section('What the arm reports', (Items(tuple(found)),)),
            Section('Joint by joint', (_joint_table(joint_names, results, friction),)),
            Section('The test motion', (_error_figures(joint_names, logs),)),
            Section(
                'Gains',
                (Items(tuple(Item(name, str(value)) for name, value in gains.items())),),
            ),
        ),
        footer='Written by ne_dynamics commission.',
    )


def _joint_table(
    names: Sequence[str],
    results: Mapping[str, Mapping[str, Any]],
    friction: Sequence[Mapping[str, float]],
) -> Table:
    judge = results['judge']
    before = results['test_before'].get('rms_error', [float('nan')] * len(names))
    after = results['test_after']['rms_error']
    rows = []
    for index, name in enumerate(names):
        row = friction[index]
        rows.append(
            (
                name,
                f'{MILLI * results["probe"]["encoder_step"][index]:.3g}',
                f'{row["rotor"]:.3g}',
                f'{row["viscous"]:.3g}',
                f'{row["coulomb"]:.3g}',
                f'{judge["left_by_given"][index]:.3g}',
                f'{judge["left_by_identified"][index]:.3g}',
                f'{MILLI * before[index]:.3g}',
                f'{MILLI * after[index]:.3g}',
            )
        )
    heads = (
        'encoder step [mrad, mm]',
        'rotor inertia [kg m^2, kg]',
        'viscous [N m s/rad]',
        'Coulomb [N m, N]',
        'effort left by the given model [N m, N]',
        'by the identified one',
        'test motion, given [mrad, mm]',
        'identified',
    )
    columns = (Column('joint'), *(Column(head, is_number=True) for head in heads))
    caption = 'Identified from the commands; efforts left on a motion that was not fitted, RMS'
    return Table(caption, columns, tuple(rows))


def _error_figures(names: Sequence[str], logs: Mapping[str, Record]) -> Figures:
    shown = {'test_before': 'given', 'test_after': 'model'}
    figures = []
    for index, name in enumerate(names):
        figure, (top, bottom) = make_panels((1.5, 1.5))
        for key, tone in shown.items():
            if key not in logs:
                continue
            record = logs[key].answered
            times = record.times - record.times[0]
            error = MILLI * (record.desired - record.position)[:, index]
            if key == 'test_after':
                top.plot(*thin_line(times, record.desired[:, index]), color=colour('muted'))
            top.plot(*thin_line(times, record.position[:, index]), color=colour(tone))
            bottom.plot(*thin_line(times, error), color=colour(tone), linewidth=0.9)
        label_axes(top, '', 'position [rad, m]')
        label_axes(bottom, 'time [s]', 'error [mrad, mm]')
        figures.append(Figure(name, draw_svg(figure), 'position above, position error below'))
    legend = (
        LegendEntry('muted', 'desired'),
        LegendEntry('given', 'given model'),
        LegendEntry('model', 'identified model'),
    )
    return Figures(tuple(figures), legend)


def _milli(value: float) -> str:
    return f'{MILLI * value:.3g}' if np.isfinite(value) else 'no number'
