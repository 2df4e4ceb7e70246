"""The report of a run: one page with its pictures."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ne_dynamics import __version__
from ne_dynamics.commission.record import Record
from ne_dynamics.model.robot import Robot
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
from ne_dynamics.tables import name_error_unit

MILLI = 1e3

SUBJECT = {
    'fingerprint': 'SHA-256 of the model, first 16 digits',
    'simulated': 'simulated arm',
    'seed': 'seed of its hidden errors',
    'reports': 'it reports as effort',
    'reversed_joint': 'joint with the wrong sign',
    'base_link': 'base link',
    'tip_link': 'tip link',
}
"""What the run is of, as it is called on the page."""


def sentence(found: Mapping[str, Any]) -> str:
    """Return a finding, as data for JSON, as one sentence for people, and what to do."""
    message = found['message']
    stop = '' if message.endswith('?') else '.'
    joints = ', '.join(found['joints'])
    return f'{joints} {message}{stop} {found["remedy"]}'.lstrip()


def make_report(
    robot: Robot,
    subject: Mapping[str, Any],
    results: Mapping[str, Mapping[str, Any]],
    logs: Mapping[str, Record],
    identified: Robot,
) -> Page:
    """Return the page on a run with a given model, of a subject as the folder has it.

    Results are of the steps, by name; logs `test_after`, and `test_before` if it was followed.
    """
    joint_names, unit = robot.joint_names, robot.position_unit
    milli = name_error_unit(joint.type.is_prismatic for joint in robot.joints)
    gains = results['gains']['parameters']
    return Page(
        title=f'Commissioning of {robot.name}',
        subtitle=f'{len(joint_names)} joints: {", ".join(joint_names)}',
        verdict=Paragraph(_compare_tests(results, milli), Tone.GOOD),
        sections=(
            Section('What the arm reports', (Items(tuple(_list_found(results))),)),
            Section('Joint by joint', (_joint_table(identified, milli, results),)),
            Section('The test motion', (_error_figures(joint_names, unit, milli, logs),)),
            Section(
                'Gains',
                (Items(tuple(Item(name, str(value)) for name, value in gains.items())),),
            ),
            Section('The run', (Items(tuple(_describe_run(subject))),)),
        ),
        footer='Written by ne_dynamics commission.',
    )


def _compare_tests(results: Mapping[str, Mapping[str, Any]], milli: str) -> str:
    """Return how the test motion was followed with the given and the identified model."""
    before, after = results['test_before'], results['test_after']
    if 'fault' in before:
        return (
            f'RMS error of the test motion: not completed with the given model '
            f'({before["fault"]}); '
            f'{_milli(after["overall_rms_error"])} {milli} with the identified one'
        )
    return (
        f'RMS error of the test motion: {_milli(before["overall_rms_error"])} {milli} with '
        f'the given model, {_milli(after["overall_rms_error"])} with the identified one, at '
        'the same gains'
    )


def _list_found(results: Mapping[str, Mapping[str, Any]]) -> list[Item]:
    """Return what the arm reports, and its friction."""
    tremble, listened = results['tremble'], results['listen']
    return [
        Item(
            'rate',
            f'{listened["rate"]:.4g} Hz, longest gap {MILLI * listened["longest_gap"]:.3g} ms',
        ),
        Item(
            'velocities',
            'reported'
            if listened['reports_velocity']
            else 'not reported: positions are differentiated',
        ),
        Item(
            'delay of commands',
            f'{MILLI * tremble["delay"]:.2f} +- {MILLI * tremble["deviation"]:.2f} ms',
        ),
        *(Item('effort', text) for text in results['identify']['found']),
        *(Item('friction', sentence(item)) for item in results['identify'].get('friction', ())),
        *(Item('friction', text) for text in results['try_friction']['found']),
    ]


def _describe_run(subject: Mapping[str, Any]) -> list[Item]:
    """Return what was run: enough to do it again."""
    return [
        *(Item(SUBJECT.get(key, key), _say_value(value)) for key, value in subject.items()),
        Item('written', datetime.now().astimezone().isoformat(timespec='seconds')),
        Item('ne_dynamics', __version__),
        Item('command line', shlex.join(sys.argv)),
    ]


def _say_value(value: Any) -> str:
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return 'none' if value is None else 'as the model has it' if value == '' else str(value)


def _joint_table(identified: Robot, milli: str, results: Mapping[str, Mapping[str, Any]]) -> Table:
    judge = results['judge']
    before = results['test_before'].get('rms_error', [float('nan')] * identified.n)
    after = results['test_after']['rms_error']
    rows = []
    for index, joint in enumerate(identified.joints):
        values = (
            MILLI * results['probe']['encoder_step'][index],
            joint.reflected_inertia,
            joint.viscous_friction,
            joint.coulomb_friction + joint.friction.hysteresis_friction,
            judge['left_by_given'][index],
            judge['left_by_identified'][index],
            MILLI * before[index],
            MILLI * after[index],
        )
        rows.append((joint.name, *(f'{value:.3g}' for value in values)))
    heads = (
        f'encoder step [{milli}]',
        'rotor inertia [kg m^2, kg]',
        'viscous [N m s/rad]',
        'Coulomb [N m, N]',
        'effort residual, given model [N m, N]',
        'effort residual, identified model',
        f'test motion RMS error, given model [{milli}]',
        f'test motion RMS error, identified model [{milli}]',
    )
    columns = (Column('joint'), *(Column(head, is_number=True) for head in heads))
    caption = 'Identified from the commands; RMS effort residuals on a validation motion'
    return Table(caption, columns, tuple(rows))


def _error_figures(
    names: Sequence[str], unit: str, milli: str, logs: Mapping[str, Record]
) -> Figures:
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
            top.plot(*thin_line(times, record.position[:, index]), color=colour(tone))
            if key == 'test_after':
                # On top, and dashed: what follows well lies on it.
                desired = thin_line(times, record.desired[:, index])
                top.plot(*desired, color=colour('ink'), linestyle=(0, (4, 6)), linewidth=0.9)
            bottom.plot(*thin_line(times, error), color=colour(tone), linewidth=0.9)
        label_axes(top, '', f'position [{unit}]')
        label_axes(bottom, 'time [s]', f'error [{milli}]')
        figures.append(Figure(name, draw_svg(figure), 'position above, position error below'))
    legend = (
        LegendEntry('ink', 'desired (dashed)'),
        LegendEntry('given', 'given model'),
        LegendEntry('model', 'identified model'),
    )
    return Figures(tuple(figures), legend)


def _milli(value: float) -> str:
    return f'{MILLI * value:.3g}' if np.isfinite(value) else 'no number'
