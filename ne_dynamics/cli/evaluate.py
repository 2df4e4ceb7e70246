"""``ne_dynamics evaluate --model MODEL LOG...``: what a model leaves of the efforts in logs."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

from ne_dynamics.cli.options.arguments import add_gravity, add_work, open_work, positive
from ne_dynamics.cli.options.log_changes import add_log_changes
from ne_dynamics.cli.options.log_set_source import diagnose_logs, find_logs, require_log_packages
from ne_dynamics.cli.options.log_source import add_repair
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file
from ne_dynamics.cli.options.report_file import (
    add_report,
    report_errors,
    write_evaluated,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.identification import FilteredLogs, JointResidual, evaluate
from ne_dynamics.identification.effort_sums import EffortSums
from ne_dynamics.identification.logs_evaluation import evaluate_filtered
from ne_dynamics.logs.parts import is_long
from ne_dynamics.printable import print_lines
from ne_dynamics.simulation.demo.ros_process import terminated_in_order


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser."""
    parser = subparsers.add_parser(
        'evaluate',
        description='Compare the measured efforts of a log with those that the model computes '
        'for its motion, both low-pass filtered.',
    )
    add_log_arguments(parser)
    parser.add_argument(
        '--plot', type=Path, metavar='FILE.png', help='plot measured and modelled efforts'
    )
    add_report(parser)
    parser.set_defaults(run=run, command='evaluate')


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, log and what both are read with; `identify` takes the same."""
    add_model_file(parser, 'log')
    parser.add_argument(
        'log',
        metavar='LOG',
        nargs='+',
        help='CSV with a header (time, <joint>.position, <joint>.effort, optionally '
        "<joint>.velocity; or t, q1, dq1, tau1; UR's RTDE; PlotJuggler; `ros2 topic echo --csv`), "
        'or ROS 2 bag of JointState',
    )
    add_gravity(parser)
    parser.add_argument('--topic', help='topic of a bag with several topics of JointState')
    parser.add_argument(
        '--cutoff',
        type=positive,
        metavar='HZ',
        help='low-pass for positions and efforts (default: three to six times the highest '
        'frequency of the motion, from the spectra)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    add_work(parser)
    add_repair(parser)
    add_log_changes(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print and draw; return 0.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read or do not go together; nothing is written then.
    """
    require_log_packages(args)
    # A bag may have been unpacked into temporary files: whatever ends this removes them.
    with terminated_in_order(), report_errors(args):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    """Compare; see :func:`run`."""
    with open_work(args) as work:
        source = find_logs(args, ModelFile(args), work)
        robot = source.robot
        if args.plot is not None and (len(source.logs) > 1 or is_long(source.logs[0])):
            raise InputError('--plot: expected one log that is read at once')
        dynamics = Dynamics(robot, args.gravity, backend='python')
        found = diagnose_logs(args, dynamics, source, work)
        logs = FilteredLogs.read(robot, found.logs, work, args.cutoff)
        sums = evaluate_filtered(dynamics, logs)
    if args.plot is not None:
        from ne_dynamics.identification.report.plots import plot_efforts

        (used,) = found.logs
        plot_efforts(args.plot, robot, evaluate(dynamics, used, cutoff_frequency=args.cutoff))
    results = [part.describe(robot) for part in sums]
    together = EffortSums.merge(sums).describe(robot)
    write_evaluated(args, source, found, dynamics, logs, together)
    if args.json:
        document = {
            'model': args.model,
            'log': '; '.join(log.text for log in logs.logs),
            'logs': [
                {
                    'source': log.source,
                    'summary': log.text,
                    'joints': [joint.as_json() for joint in joints],
                }
                for log, joints in zip(logs.logs, results, strict=True)
            ],
            'cutoff_frequency': logs.cutoff_frequency,
            'joints': [joint.as_json() for joint in together],
            'locked': source.locked,
            **found.as_json(),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
        return 0
    low_pass = f'low-pass {logs.cutoff_frequency:.4g} Hz; RMS of the efforts [N m or N]'
    if len(results) == 1:
        head = f'{logs.logs[0].source}: {logs.logs[0].text}'
        lines = [head, *source.lines(), low_pass, '', *_describe(together)]
    else:
        lines = [*source.lines(), low_pass]
        for log, joints in zip(logs.logs, results, strict=True):
            lines += ['', f'{log.source}: {log.text}', *_describe(joints)]
        lines += ['', f'all {len(results)} logs together', *_describe(together)]
    doubts = found.lines(args)
    print_lines(lines + ['', *doubts] * bool(doubts))
    return 0


def _describe(joints: Sequence[JointResidual]) -> list[str]:
    width = max(len(joint.name) for joint in joints)
    lines = [f'  {"":{width}}  {"measured":>10}  {"model":>10}  {"difference":>10}  explained']
    for joint in joints:
        explained = f'{100.0 * joint.explained:8.1f} %' if math.isfinite(joint.explained) else '-'
        lines.append(
            f'  {joint.name:{width}}  {joint.rms_measured:10.4g}  {joint.rms_model:10.4g}  '
            f'{joint.rms_difference:10.4g}  {explained:>9}'
        )
    return lines
