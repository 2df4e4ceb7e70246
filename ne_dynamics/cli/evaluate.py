"""``ne_dynamics evaluate --model MODEL LOG``: what a model leaves of the efforts in a log."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from ne_dynamics.cli.options.log_changes import add_log_changes
from ne_dynamics.cli.options.log_source import add_repair, diagnose, read_log_source
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file
from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.printable import print_lines


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'evaluate',
        help='compare the efforts in a log with those of a model, joint by joint',
        description='Compute the efforts that the motion in a log takes by a model, and compare '
        'them with those that were measured, both without what is above the cut-off frequency.',
    )
    add_log_arguments(parser)
    parser.add_argument(
        '--plot', type=Path, metavar='FILE.png', help='draw both efforts of every joint'
    )
    parser.set_defaults(run=run)


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, log and what both are read with; `identify` takes the same."""
    add_model_file(parser)
    parser.add_argument(
        'log',
        metavar='LOG',
        help='CSV with a header (time, <joint>.position, <joint>.effort, and <joint>.velocity '
        'where there is one), or ROS 2 bag of JointState',
    )
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=_number,
        metavar=('X', 'Y', 'Z'),
        default=STANDARD_GRAVITY,
        help='in the axes of the base link [m/s^2] (default: 0 0 -9.80665)',
    )
    parser.add_argument('--topic', help='of the bag, when it has several of JointState')
    parser.add_argument(
        '--cutoff',
        type=positive,
        metavar='HZ',
        help='low-pass for positions and efforts (default: by their spectra, three to six times '
        'the highest frequency of the motion)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    add_repair(parser)
    add_log_changes(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print and draw; return 0.

    Raises
    ------
    NeDynamicsError
        When model or log cannot be read or do not go together; nothing is written then.
    """
    from ne_dynamics.identification.evaluation import evaluate

    source = read_log_source(args, ModelFile(args))
    robot = source.robot
    dynamics = Dynamics(robot, args.gravity, backend='python')
    diagnosis, log, doubts = diagnose(args, dynamics, source.log)
    result = evaluate(dynamics, log, cutoff_frequency=args.cutoff)
    if args.plot is not None:
        from ne_dynamics.identification.plots import plot_efforts

        plot_efforts(args.plot, robot, result)
    if args.json:
        document = {
            'model': args.model,
            'log': log.summary(),
            'cutoff_frequency': result.signals.cutoff_frequency,
            'joints': [joint.as_json() for joint in result.joints],
            'locked': source.locked,
            'diagnosis': diagnosis.as_json(),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
        return 0
    width = max(len(joint.name) for joint in result.joints)
    lines = [
        f'{args.log}: {log.summary()}',
        *source.lines(),
        f'low-pass {result.signals.cutoff_frequency:.4g} Hz; RMS of the efforts [N m or N]',
        '',
        f'  {"":{width}}  {"measured":>10}  {"model":>10}  {"difference":>10}  explained',
    ]
    for joint in result.joints:
        explained = f'{100.0 * joint.explained:8.1f} %' if math.isfinite(joint.explained) else '-'
        lines.append(
            f'  {joint.name:{width}}  {joint.rms_measured:10.4g}  {joint.rms_model:10.4g}  '
            f'{joint.rms_difference:10.4g}  {explained:>9}'
        )
    print_lines(lines + ['', *doubts] * bool(doubts))
    return 0


def positive(text: str) -> float:
    """Return a finite number > 0."""
    value = _number(text)
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f'expected a number > 0, got {text}')
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'expected a finite number, got {text!r}')
    return value
