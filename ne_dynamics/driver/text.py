"""What is known of a driver, for people, joint by joint, and what would tell more."""

from __future__ import annotations

from collections.abc import Iterable

from ne_dynamics.driver.command import find_command_faults
from ne_dynamics.driver.findings import DriverFindings, JointDriver
from ne_dynamics.driver.verdict import Verdict


def write_lines(findings: DriverFindings) -> list[str]:
    """Return the lines of a findings.

    Parameters
    ----------
    findings : DriverFindings

    Returns
    -------
    list of str
    """
    command = findings.command
    lines = [f'{findings.source}:', *(f'  {line}' for line in findings.timing.lines())]
    lines += ['', *_write('effort', findings.effort)]
    lines += _write('effort behind the motion', findings.effort_delay)
    lines += _write('from command to effect', command.delay)
    if any(verdict.is_told for verdict in vars(command).values()):
        lines += _write('  by the motion', command.by_motion)
        lines += _write('  by the reported effort', command.by_effort)
        lines += _write('  jitter', command.jitter)
        lines += _write('efforts are the commands', command.echo)
        lines += _write('commands are in their order', command.order)
        lines += _write('sign of the commands', command.sign)
        lines += _write('unit of the commands', command.unit)
        lines += _write('commands contain gravity', command.gravity)
        lines += _write('commands contain friction', command.friction)
    for joint in findings.joints:
        lines += ['', f'joint {joint.name}', *_write_joint(joint)]
    unseen = {joint.name: ', '.join(joint.list_unseen()) for joint in findings.joints}
    if any(unseen.values()):
        lines += ['', 'not seen, since the joint did not move']
        lines += [f'  {name}: {what}' for name, what in unseen.items() if what]
    wrong = [fault.text for fault in findings.faults] + find_command_faults(findings.command)
    if wrong:
        lines += [
            '',
            'what is wrong (options are those of `identify`)',
            *(f'  {text}' for text in wrong),
        ]
    experiments = _list_experiments(findings)
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
        if verdict.is_told:
            lines += _write(name, verdict)
    return lines


def _write(name: str, verdict: Verdict) -> list[str]:
    value = ''
    if isinstance(verdict.value, str):
        value = f'{verdict.value}: '
    return [f'  {name:26}{verdict.level.value:>15}  {value}{verdict.text}']


def _list_experiments(findings: DriverFindings) -> list[str]:
    """Return each experiment once, with what it would tell of which joints."""
    wanted: dict[str, list[str]] = {}

    def add(what: str, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.experiment:
                wanted.setdefault(verdict.experiment, []).append(what)

    add('delay', [findings.effort_delay, *vars(findings.command).values()])
    for joint in findings.joints:
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
