"""What a driver reports, and how late, joint by joint: as text, JSON, and parameters of the node.

The driver profile is a parameter file like those in `config/driver_*.yaml`, for any namespace; a
file of one's own comes after it and wins. What the recording does not tell is not in it, and keeps
its default.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from ne_dynamics.driver.command import CommandEffect, find_command_faults
from ne_dynamics.driver.effort import (
    NOTHING,
    OTHER_UNIT,
    TORQUE,
    WITHOUT_GRAVITY,
    JointEffort,
)
from ne_dynamics.driver.hypotheses.late_effort import LateEffort
from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.driver.timing import Timing
from ne_dynamics.driver.velocity import JointVelocity
from ne_dynamics.driver.verdict import Verdict
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.logs import Certainty, Finding
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

EFFORT_CODES = (
    'efforts-swapped',
    'effort-dead-band',
    'effort-drift',
    'unsigned',
    'other-model',
)
"""Faults with which efforts are not what the motors exert: no command begins with them."""

Reasoned = dict[str, tuple[Any, str]]
"""Parameter -> value, and why."""


@dataclass(frozen=True)
class JointDriver:
    """What a driver publishes of one joint.

    Attributes
    ----------
    name : str
    effort : JointEffort
    velocity : JointVelocity
    position_step, velocity_step, effort_step : Verdict
        Resolutions, in the unit of each.
    moved : bool
        Whether the joint moved; otherwise effort and velocity cannot be checked.
    """

    name: str
    effort: JointEffort
    velocity: JointVelocity
    position_step: Verdict
    velocity_step: Verdict
    effort_step: Verdict
    moved: bool = True

    def list_unseen(self) -> tuple[str, ...]:
        """Return what could not be checked because the joint did not move."""
        if self.moved:
            return ()
        found = (
            []
            if self.effort.meaning.is_identifiable
            else ['what its effort is, its sign and unit']
        )
        found += [] if self.velocity.source.is_identifiable else ['where its velocity comes from']
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """Return the verdicts as data for JSON."""
        return {
            'joint': self.name,
            'moved': self.moved,
            **{
                f'effort_{key}': value.as_json()
                for key, value in self.effort.get_verdicts().items()
            },
            'velocity': self.velocity.source.as_json(),
            'velocity_lag': finite_or_none(self.velocity.lag),
            'velocity_lag_deviation': finite_or_none(self.velocity.lag_deviation),
            'velocity_gain': finite_or_none(self.velocity.gain),
            'position_step': self.position_step.as_json(),
            'velocity_step': self.velocity_step.as_json(),
            'effort_step': self.effort_step.as_json(),
        }


@dataclass(frozen=True, eq=False)
class DriverDescription:
    """What a driver publishes, with which delay, and the resulting settings of the node.

    Attributes
    ----------
    source : str
        Name of the recording.
    joints : tuple of JointDriver
    timing : Timing
    effort : Verdict
        Meaning of the efforts of all joints together.
    effort_scale : Verdict
        Effort per reported unit of all joints together, if it is another unit [N m or N].
    effort_delay : Verdict
        Delay of the reported efforts behind the motion [s].
    command : CommandEffect
    faults : tuple of Finding
        Faults of the samples and positions, without the meaning of the efforts.
    """

    source: str
    joints: tuple[JointDriver, ...]
    timing: Timing
    effort: Verdict
    effort_scale: Verdict
    effort_delay: Verdict
    command: CommandEffect
    faults: tuple[Finding, ...]

    def parameters(self) -> dict[str, Any]:
        """Return the resulting parameters of the node, by their dotted names."""
        return {name: value for name, (value, _) in find_parameters(self).items()}

    def profile(self) -> str:
        """Return the driver profile: a commented parameter file of the node."""
        return write_profile(self)

    def obstacles(self) -> list[str]:
        """Return why no parameters make the node work with this driver; empty if some do."""
        return find_obstacles(self)

    def as_json(self) -> dict[str, Any]:
        """Return the description as data for JSON."""
        return {
            'source': self.source,
            'timing': self.timing.as_json(),
            'effort': self.effort.as_json(),
            'effort_scale': self.effort_scale.as_json(),
            'effort_delay': self.effort_delay.as_json(),
            'command': self.command.as_json(),
            'joints': [joint.as_json() for joint in self.joints],
            'not_seen': {
                joint.name: list(unseen)
                for joint in self.joints
                if (unseen := joint.list_unseen())
            },
            'faults': [fault.as_json() for fault in self.faults],
            'parameters': self.parameters(),
            'obstacles': self.obstacles(),
        }

    def text(self) -> str:
        """Return the description as text for people."""
        return '\n'.join(_write_lines(self))


def _write_lines(described: DriverDescription) -> list[str]:
    """Return what is known, joint by joint, and what would tell more, in lines for people."""
    command = described.command
    lines = [f'{described.source}:', *(f'  {line}' for line in described.timing.lines())]
    lines += ['', *_write('effort', described.effort)]
    lines += _write('effort behind the motion', described.effort_delay)
    lines += _write('from command to effect', command.delay)
    if any(verdict.is_identifiable for verdict in vars(command).values()):
        lines += _write('  by the motion', command.by_motion)
        lines += _write('  by the reported effort', command.by_effort)
        lines += _write('  jitter', command.jitter)
        lines += _write('efforts are the commands', command.echo)
        lines += _write('commands are in their order', command.order)
        lines += _write('sign of the commands', command.sign)
        lines += _write('unit of the commands', command.unit)
        lines += _write('commands contain gravity', command.gravity)
        lines += _write('commands contain friction', command.friction)
    for joint in described.joints:
        lines += ['', f'joint {joint.name}', *_write_joint(joint)]
    unseen = {joint.name: ', '.join(joint.list_unseen()) for joint in described.joints}
    if any(unseen.values()):
        lines += ['', 'not seen, since the joint did not move']
        lines += [f'  {name}: {what}' for name, what in unseen.items() if what]
    wrong = [fault.text for fault in described.faults] + find_command_faults(described.command)
    if wrong:
        lines += [
            '',
            'what is wrong (options are those of `identify`)',
            *(f'  {text}' for text in wrong),
        ]
    experiments = _list_experiments(described)
    if experiments:
        lines += ['', 'what would tell more', *(f'  - {line}' for line in experiments)]
    return lines


def _write_joint(joint: JointDriver) -> list[str]:
    effort = joint.effort
    lines = _write('effort', effort.meaning)
    if effort.gravity is not effort.sign:
        for name in ('gravity', 'friction', 'sign', 'scale', 'offset'):
            lines += _write(f'  {name}', getattr(effort, name))
    lines += _write('velocity', joint.velocity.source)
    lines += _write('position step', joint.position_step)
    for name, verdict in (
        ('velocity step', joint.velocity_step),
        ('effort step', joint.effort_step),
    ):
        if verdict.is_identifiable:
            lines += _write(name, verdict)
    return lines


def _write(name: str, verdict: Verdict) -> list[str]:
    value = ''
    if isinstance(verdict.value, str):
        value = f'{verdict.value}: '
    return [f'  {name:26}{verdict.level.value:>15}  {value}{verdict.text}']


def _list_experiments(described: DriverDescription) -> list[str]:
    """Return each experiment once, with what it would tell of which joints."""
    wanted: dict[str, list[str]] = {}

    def add(what: str, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.experiment:
                wanted.setdefault(verdict.experiment, []).append(what)

    add('delay', [described.effort_delay, *vars(described.command).values()])
    for joint in described.joints:
        add(
            joint.name,
            [
                *joint.effort.get_verdicts().values(),
                joint.velocity.source,
                joint.position_step,
                joint.velocity_step,
                joint.effort_step,
            ],
        )
    return [
        f'{experiment} ({", ".join(dict.fromkeys(whose))})' for experiment, whose in wanted.items()
    ]


def find_parameters(described: DriverDescription) -> Reasoned:
    """Return the node's parameters that follow, each with its reason."""
    found: Reasoned = {'state_effort': _find_state_effort(described)}
    found |= _find_timeout(described)
    obstacles = find_obstacles(described)
    if obstacles:
        found['state_effort'] = 'ignore', obstacles[0]
        return found
    found |= _find_velocity(described)
    command = described.command
    for name, verdict in (('gravity', command.gravity), ('friction', command.friction)):
        # That a driver adds something has to be sure: an arm without it falls.
        if verdict.value is True or (verdict.value is False and verdict.level is Certainty.KNOWN):
            found[f'terms.{name}'] = bool(verdict.value), f'{verdict.level.value}: {verdict.text}'
    return found


def find_obstacles(described: DriverDescription) -> list[str]:
    """Return why no parameter makes the node right for this driver; none where some do.

    Positions that are not the joints' own, in rad or m, and commands that move other joints, push
    the other way or are not in N m or N: an arm that the node controls would move wrongly.
    """
    found = [
        fault.text
        for fault in described.faults
        if fault.severity == 'error' and fault.code in POSITION_CODES
    ]
    return found + find_command_faults(described.command)


def write_profile(described: DriverDescription) -> str:
    """Return the parameter file, as text."""
    lines = [
        '# Driver profile of the node, written by `ne_dynamics whatis` from',
        *_comment(described.source, ''),
        '#',
        '#     ros2 launch ne_dynamics computed_torque.launch.py params_file:=THIS_FILE',
        '#',
        '# A parameter file of your own comes after this one and wins. What is not here could not',
        '# be told, and keeps its default.',
        *_obstacles(described),
        *_remarks(described),
        '/**:',
        '  ros__parameters:',
    ]
    groups: set[str] = set()
    parameters = find_parameters(described)
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


def _find_state_effort(described: DriverDescription) -> tuple[str, str]:
    reversed_joints = [joint.name for joint in described.joints if joint.effort.sign.value == -1.0]
    verdict = described.effort
    if reversed_joints:
        return 'ignore', f'the sign of {", ".join(reversed_joints)} is the opposite'
    silent = [joint.name for joint in described.joints if joint.effort.meaning.value == NOTHING]
    stands = [
        joint.name
        for joint in described.joints
        if not (joint.moved or joint.effort.meaning.is_identifiable)
    ]
    if verdict.value in (TORQUE, WITHOUT_GRAVITY) and stands and not silent:
        return 'ignore', (
            f'{verdict.value} as far as the others tell, but sign and unit of the effort of '
            f'{", ".join(stands)} were not seen: no motion of it was recorded'
        )
    wrong = [
        fault
        for fault in described.faults
        if fault.code in EFFORT_CODES
        or (fault.code in ('effort-delay', 'effort-filtered') and fault.severity == 'error')
    ]
    if wrong:
        return 'ignore', wrong[0].text
    delay = described.effort_delay
    if isinstance(delay.value, float) and abs(delay.value) >= LateEffort.harmful:
        return 'ignore', f'efforts are late behind the motion by {delay.text}'
    strange = [joint.name for joint in described.joints if joint.effort.is_unexplained]
    if strange:
        return 'ignore', f'no arm like the given one explains the effort of {", ".join(strange)}'
    if verdict.value in (TORQUE, WITHOUT_GRAVITY) and not silent:
        return str(verdict.value), f'{verdict.level.value}: {verdict.text}'
    if silent and verdict.value != NOTHING:
        return 'ignore', f'{", ".join(silent)}: none is reported'
    if verdict.value is None:
        return 'ignore', f'what the efforts are cannot be told: {verdict.text}'
    return 'ignore', f'{verdict.level.value}: {verdict.value}, {verdict.text}'


def _find_timeout(described: DriverDescription) -> Reasoned:
    timing = described.timing
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


def _find_velocity(described: DriverDescription) -> Reasoned:
    joints = described.joints
    unusable = [joint for joint in joints if not joint.velocity.can_be_used]
    told = [joint for joint in unusable if joint.velocity.source.is_identifiable]
    if told:
        first = told[0]
        rate = described.timing.rate
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
    untold = [joint.name for joint in joints if not joint.velocity.source.is_identifiable]
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


def _obstacles(described: DriverDescription) -> list[str]:
    obstacles = find_obstacles(described)
    if not obstacles:
        return []
    lines = ['#', '# WRONG, and no parameter of the node makes it right:']
    for text in obstacles:
        lines += _comment(f'- {text}', '')
    return lines


def _remarks(described: DriverDescription) -> list[str]:
    """Return what was found and has no parameter."""
    lines = ['#', '# Found, and no parameter of the node:']
    for name, verdict in (
        ('delay from command to effect', described.command.delay),
        ('its jitter', described.command.jitter),
        ('delay of the efforts behind the motion', described.effort_delay),
    ):
        lines += _comment(f'- {name}: {verdict.level.value}: {verdict.text}', '')
    if described.effort.value == OTHER_UNIT:
        scale = described.effort_scale
        lines += _comment(f'- unit of the efforts: {scale.level.value}: {scale.text}', '')
    for joint in described.joints:
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
