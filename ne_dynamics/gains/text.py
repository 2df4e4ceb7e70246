"""A design of gains as text: what to take, what it is worth, and what bounds it."""

from __future__ import annotations

from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from ne_dynamics.gains.request import GainMode
from ne_dynamics.tables import name_error_unit, text_table

if TYPE_CHECKING:
    from ne_dynamics.gains.designed_gains import GainDesign, ModeDesign

TITLES = {
    GainMode.COMPUTED_TORQUE: 'the node, mode computed_torque [1/s^2, 1/s]',
    GainMode.FEEDFORWARD_PD: 'the node, mode feedforward_pd [N m/rad, N m s/rad; N/m, N s/m]',
    GainMode.JTC: 'joint_trajectory_controller, effort [N m/rad, N m s/rad; N/m, N s/m]',
    GainMode.MIT: 'drives that close the loop (MIT mode) [N m/rad, N m s/rad; N/m, N s/m]',
}


def describe_design(design: GainDesign) -> str:
    """Return the tables of all modes, and remarks."""
    request, plants = design.request, design.plants
    least, largest = request.payload_range
    steps = request.position_steps(len(design.joints))
    lines = [
        *(f'warning: {sentence}' for sentence in design.excessive_errors()),
        f'{len(plants.poses)} poses, masses within {100.0 * request.uncertainty:g} %, payload '
        f'{least:g} to {largest:g} kg; {request.rate:g} Hz, dead time '
        f'{1e3 * request.dead_time:.4g} ms, encoder steps up to {steps.max():.3g}',
        f'errors are those of: {design.motion.name}, {design.motion.duration:.3g} s',
    ]
    for mode, one in design.modes.items():
        lines += ['', TITLES[mode], _describe_loop(design, one), '', _table(design, mode, one)]
    remarks = [each for each in design.remarks() if each not in design.excessive_errors()]
    if remarks:
        lines += ['', *(f'remark: {remark}' for remark in remarks)]
    return '\n'.join(lines)


def _describe_loop(design: GainDesign, one: ModeDesign) -> str:
    choice = one.choice
    worst = choice.margins.worst()
    text = (
        f'all joints at once, the worst pose and model: {float(worst.phase):.0f} degrees, '
        f'gains times {_number(float(worst.gain))}'
    )
    if isfinite(float(worst.reduction)):
        text += f' or by {_rounded_down(float(worst.reduction))}'
    text += f', {1e3 * float(worst.delay):.3g} ms more of delay'
    if choice.kind.cutoff:
        text += f'; velocity_cutoff_frequency {choice.kind.cutoff:g} Hz'
    return text


def _table(design: GainDesign, mode: GainMode, one: ModeDesign) -> str:
    choice, margins = one.choice, one.joint_margins
    limits = design.request.limits(design.joints)
    has_integral = bool(choice.gains.ki.any())
    heading = ['', 'kp', 'kd', *['ki'] * has_integral]
    heading += ['rad/s', 'margin', 'gain', 'delay', 'sag', 'RMS', 'noise', 'overshoot', '']
    units = ['', '', '', *[''] * has_integral]
    error = name_error_unit(joint.type.is_prismatic for joint in design.joints)
    units += ['', 'deg', '', 'ms', error, error, '% limit', '%', 'limited by']
    rows = []
    for index, joint in enumerate(design.joints):
        row = [joint.name, *(_number(float(gain[index])) for gain in choice.gains[:2])]
        row += [_number(float(choice.gains.ki[index]))] * has_integral
        noise = 100.0 * one.noise[index] / limits[index]
        row += [
            _number(float(choice.frequency[index])),
            f'{margins.phase[index]:.0f}',
            _number(float(margins.gain[index])),
            _number(1e3 * float(margins.delay[index])),
            _number(1e3 * float(one.sag[index])),
            _number(1e3 * float(one.motion.rms[index])),
            _number(float(noise)),
            f'{max(100.0 * one.steps.overshoot[index], 0.0):.0f}',
            choice.active[index],
        ]
        rows.append(row)
    return text_table([heading, units], rows)


def _rounded_down(value: float) -> str:
    """Return a margin with three digits, and no larger than it is."""
    digit = 10.0 ** (floor(log10(value)) - 2)
    return f'{floor(value / digit) * digit:.3g}'


def _number(value: float) -> str:
    return f'{value:.3g}' if isfinite(value) else '-'
