"""The driver profile: what of the node's parameters follows from what a driver reports.

It is a parameter file like those in `config/driver_*.yaml`, for any namespace; a file of one's own
comes after it and wins. What the recording does not tell is not in it, and keeps its default.
"""

from __future__ import annotations

import math
from typing import Any

import yaml

from ne_dynamics.driver.command import find_command_faults
from ne_dynamics.driver.effort import (
    NOTHING,
    OTHER_UNIT,
    TORQUE,
    WITHOUT_GRAVITY,
)
from ne_dynamics.driver.findings import DriverFindings
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.logs import Certainty
from ne_dynamics.printable import escape_controls

POSITION_CODES = (
    'degrees',
    'position-sign',
    'axis-sign',
    'zero-offset',
    'position-scaled',
    'joints-swapped',
    'positions-swapped',
    'joints-coupled',
)
"""Faults of positions that a driver has, and no recording alone."""


Reasoned = dict[str, tuple[Any, str]]
"""Parameter -> value, and why."""


def find_parameters(findings: DriverFindings) -> Reasoned:
    """Return the node's parameters that follow, each with its reason.

    Parameters
    ----------
    findings : DriverFindings

    Returns
    -------
    dict
    """
    found: Reasoned = {'state_effort': _find_state_effort(findings)}
    found |= _find_timeout(findings)
    obstacles = find_obstacles(findings)
    if obstacles:
        found['state_effort'] = 'ignore', obstacles[0]
        return found
    found |= _find_velocity(findings)
    command = findings.command
    for name, verdict in (('gravity', command.gravity), ('friction', command.friction)):
        # That a driver adds something has to be sure: an arm without it falls.
        if verdict.value is True or (verdict.value is False and verdict.level is Certainty.KNOWN):
            found[f'terms.{name}'] = bool(verdict.value), f'{verdict.level.value}: {verdict.text}'
    return found


def find_obstacles(findings: DriverFindings) -> list[str]:
    """Return why no parameter makes the node right for this driver; none where some do.

    Positions that are not the joints' own, in rad or m, and commands that move other joints, push
    the other way or are not in N m or N: an arm that the node controls would move wrongly.

    Parameters
    ----------
    findings : DriverFindings

    Returns
    -------
    list of str
        Lines for people.
    """
    found = [
        fault.text
        for fault in findings.faults
        if fault.severity == 'error' and fault.code in POSITION_CODES
    ]
    return found + find_command_faults(findings.command)


def write_profile(findings: DriverFindings) -> str:
    """Return the parameter file, as text.

    Parameters
    ----------
    findings : DriverFindings

    Returns
    -------
    str
    """
    lines = [
        '# Driver profile of the node, written by `ne_dynamics whatis` from',
        *_comment(findings.source, ''),
        '#',
        '#     ros2 launch ne_dynamics computed_torque.launch.py params_file:=THIS_FILE',
        '#',
        '# A parameter file of your own comes after this one and wins. What is not here could not',
        '# be told, and keeps its default.',
        *_obstacles(findings),
        *_remarks(findings),
        '/**:',
        '  ros__parameters:',
    ]
    groups: set[str] = set()
    parameters = find_parameters(findings)
    # Parameters of one group stand together, below its name.
    for name in sorted(parameters, key=lambda name: (name.partition('.')[0], name)):
        value, reason = parameters[name]
        group, _, inner = name.rpartition('.')
        indent = '    ' + '  ' * bool(group)
        if group and group not in groups:
            groups.add(group)
            lines.append(f'    {group}:')
        lines += _comment(reason, indent)
        lines.append(f'{indent}{inner}: {_encode(value)}')
    return '\n'.join(lines) + '\n'


def _find_state_effort(findings: DriverFindings) -> tuple[str, str]:
    reversed_joints = [joint.name for joint in findings.joints if joint.effort.sign.value == -1.0]
    verdict = findings.effort
    if reversed_joints:
        return 'ignore', f'the sign of {", ".join(reversed_joints)} is the opposite'
    silent = [joint.name for joint in findings.joints if joint.effort.meaning.value == NOTHING]
    stands = [
        joint.name
        for joint in findings.joints
        if not (joint.moved or joint.effort.meaning.is_told)
    ]
    if verdict.value in (TORQUE, WITHOUT_GRAVITY) and stands and not silent:
        return 'ignore', (
            f'{verdict.value} as far as the others tell, but sign and unit of the effort of '
            f'{", ".join(stands)} were not seen: no motion of it was recorded'
        )
    wrong = [
        fault
        for fault in findings.faults
        if fault.code in ('efforts-swapped', 'effort-dead-band', 'unsigned', 'other-model')
    ]
    if wrong:
        return 'ignore', wrong[0].text
    strange = [joint.name for joint in findings.joints if joint.effort.is_unexplained]
    if strange:
        return 'ignore', f'no arm like the given one explains the effort of {", ".join(strange)}'
    if verdict.value in (TORQUE, WITHOUT_GRAVITY) and not silent:
        return str(verdict.value), f'{verdict.level.value}: {verdict.text}'
    if silent and verdict.value != NOTHING:
        return 'ignore', f'{", ".join(silent)}: none is reported'
    if verdict.value is None:
        return 'ignore', f'what the efforts are cannot be told: {verdict.text}'
    return 'ignore', f'{verdict.level.value}: {verdict.value}, {verdict.text}'


def _find_timeout(findings: DriverFindings) -> Reasoned:
    timing = findings.timing
    if not math.isfinite(timing.period):
        return {}
    wanted = max(STATES.timeout_periods * timing.period, STATES.timeout_gaps * timing.longest_gap)
    value = min(max(wanted, STATES.shortest_timeout), STATES.longest_timeout)
    value = math.ceil(1000.0 * value - 1e-6) / 1000.0
    reason = f'states come {timing.period * 1e3:.4g} ms apart'
    if timing.gaps:
        reason += f', with gaps of up to {timing.longest_gap * 1e3:.4g} ms'
    if wanted > STATES.longest_timeout:
        reason += ': too rarely for a feedback loop'
    return {'state_timeout': (value, reason)}


def _find_velocity(findings: DriverFindings) -> Reasoned:
    joints = findings.joints
    unusable = [joint for joint in joints if not joint.velocity.can_be_used]
    told = [joint for joint in unusable if joint.velocity.source.is_told]
    if told:
        first = told[0]
        rate = findings.timing.rate
        cutoff = (
            min(STATES.velocity_cutoff, STATES.velocity_cutoff_share * rate)
            if math.isfinite(rate)
            else STATES.velocity_cutoff
        )
        names = ', '.join(joint.name for joint in told)
        reason = (
            f'velocity of {names}: {first.velocity.source.value}: {first.velocity.source.text}'
        )
        return {
            'velocity_source': ('estimated', reason),
            'velocity_cutoff_frequency': (
                round(cutoff, 3),
                f'the default, or a tenth of the rate of {rate:.4g} Hz',
            ),
        }
    if len(unusable) == len(joints):
        return {}
    lags = [
        joint.velocity.lag
        for joint in joints
        if joint.velocity.can_be_used
        and joint.velocity.lag > STATES.lag_deviations * joint.velocity.lag_deviation
    ]
    untold = [joint.name for joint in joints if not joint.velocity.source.is_told]
    found: Reasoned = {
        'velocity_source': (
            'measured',
            'velocities are those of the motion'
            + (f'; not told: {", ".join(untold)}' if untold else ''),
        )
    }
    largest = max(lags, default=0.0)
    if largest >= STATES.shortest_node_lag:
        found['observer.velocity_lag'] = (
            round(min(largest, STATES.longest_node_lag), 5),
            f'velocities are late by up to {1e3 * largest:.2g} ms',
        )
    return found


def _obstacles(findings: DriverFindings) -> list[str]:
    obstacles = find_obstacles(findings)
    if not obstacles:
        return []
    lines = ['#', '# WRONG, and no parameter of the node makes it right:']
    for text in obstacles:
        lines += _comment(f'- {text}', '')
    return lines


def _remarks(findings: DriverFindings) -> list[str]:
    """Return what was found and has no parameter."""
    lines = ['#', '# Found, and no parameter of the node:']
    for name, verdict in (
        ('delay from command to effect', findings.command.delay),
        ('its jitter', findings.command.jitter),
        ('delay of the efforts behind the motion', findings.effort_delay),
    ):
        lines += _comment(f'- {name}: {verdict.level.value}: {verdict.text}', '')
    if findings.effort.value == OTHER_UNIT:
        scale = findings.effort_scale
        lines += _comment(f'- unit of the efforts: {scale.level.value}: {scale.text}', '')
    for joint in findings.joints:
        for what in joint.list_unseen():
            lines += _comment(f'- not seen, since {joint.name} did not move: {what}', '')
    return lines


def _comment(text: str, indent: str) -> list[str]:
    """Return lines of a comment; a line end in a name does not end it."""
    words, lines = escape_controls(' '.join(text.split())).split(' '), ['']
    for word in words:
        if len(lines[-1]) + len(word) > 92 and lines[-1]:
            lines.append('')
        lines[-1] = f'{lines[-1]} {word}'.strip()
    return [f'{indent}# {line}' for line in lines]


def _encode(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True)
    return text.removesuffix('\n').removesuffix('\n...').strip()
