"""``ne_dynamics whatis --model MODEL LOG``: what a driver reports, and how late."""

from __future__ import annotations

import argparse
import json
import sys

from ne_dynamics.cli.describing.source import command_joints, read_driver_source
from ne_dynamics.cli.options.log_changes import name_pair
from ne_dynamics.cli.options.model_file import ModelFile, add_model_file
from ne_dynamics.cli.options.numbers import number, positive
from ne_dynamics.cli.options.output_file import check_apart, check_output
from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.motion import STANDARD, write_text
from ne_dynamics.printable import print_lines

LISTENING = 20.0
"""How long topics are heard by default [s]."""

JOINT_STATES = 'joint_states'


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'whatis',
        help='find what a driver reports, and how late, and write its profile for the node',
        description='Find, joint by joint, whether the efforts that a driver reports are torques '
        'or currents, with gravity and friction or without, their sign, scale and offset; where '
        'its velocities come from; steps, rate and gaps; and by how much a command acts late. '
        'Each is known, likely, or cannot be told, and then what would tell. Nothing is ever '
        'commanded.',
    )
    add_model_file(parser)
    parser.add_argument(
        'log',
        metavar='LOG',
        nargs='?',
        help='CSV with a header (time, <joint>.position, and .velocity, .effort, .command where '
        'there are), or ROS 2 bag',
    )
    parser.add_argument(
        '--live', action='store_true', help='listen to topics instead; nothing is sent'
    )
    parser.add_argument(
        '--seconds',
        type=positive,
        default=LISTENING,
        metavar='S',
        help='how long to listen (default: %(default)g)',
    )
    parser.add_argument(
        '--topic',
        help='of the joint states (default: the only one of a bag; live: joint_states)',
    )
    parser.add_argument(
        '--command-topic',
        metavar='TOPIC',
        help='of the commands (default: the only array of a bag; live: none)',
    )
    parser.add_argument(
        '--command-joints',
        nargs='+',
        metavar='JOINT',
        help='order of an array of commands (default: that of the model)',
    )
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=number,
        metavar=('X', 'Y', 'Z'),
        default=STANDARD_GRAVITY,
        help='in the axes of the base link [m/s^2] (default: 0 0 -9.80665)',
    )
    parser.add_argument(
        '--rename',
        action='append',
        type=name_pair,
        default=[],
        metavar='A=B',
        help='joint A of the log is joint B of the model; one * in both stands for the same text; '
        'may be repeated',
    )
    parser.add_argument(
        '-o',
        '--output',
        metavar='FILE',
        help='driver profile to write: a parameter file of the node; - for standard output',
    )
    parser.add_argument('--save-log', metavar='FILE.csv', help='keep what was read or heard')
    parser.add_argument('--json', action='store_true', help='print JSON instead of text')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Describe a driver, print it and write its profile; return 0.

    Raises
    ------
    NeDynamicsError
        When model or recording cannot be read or do not go together, or, once all is printed,
        when no profile would make the node right for the driver; no profile is written then.
    """
    from ne_dynamics.driver import describe_driver
    from ne_dynamics.driver.reading import write_csv

    if args.live == (args.log is not None):
        raise InputError(
            f'expected a LOG or --live, got {"both" if args.live else "neither"} of them'
        )
    for path in (args.output, args.save_log):
        if path is not None:
            check_output(path)
    check_apart(
        [('-o', args.output), ('--save-log', args.save_log)],
        {'LOG': args.log, '--model': args.model, '--extras': args.extras},
    )
    model = ModelFile(args)
    heard = None
    if args.live:
        from ne_dynamics.cli.describing.listener import listen

        names = command_joints(args, model.load())
        topic = JOINT_STATES if args.topic is None else args.topic
        heard = listen(topic, args.command_topic, names, args.seconds)
    source = read_driver_source(args, model, heard)
    # What was heard is not lost if it cannot be described.
    if args.save_log is not None:
        write_csv(args.save_log, source.recording)
    dynamics = Dynamics(source.robot, args.gravity, backend='python')
    description = describe_driver(dynamics, source.recording)
    obstacles = description.obstacles()
    is_written = args.output is not None and not obstacles
    if is_written:
        write_text(args.output, description.profile())
    out = sys.stderr if args.output == STANDARD else sys.stdout
    if args.json:
        document = {'model': args.model, 'notes': list(source.notes), **description.as_json()}
        print(json.dumps(document, indent=2, allow_nan=False), file=out)
    else:
        print_lines([*source.notes, *description.text().split('\n')], out)
        if is_written and args.output != STANDARD:
            print_lines(['', f'wrote {args.output}'], out)
    if args.output is not None and obstacles:
        raise InputError(
            '\n'.join(
                [
                    f'{args.output}: not written: no parameter of the node makes this right:',
                    *obstacles,
                ]
            )
        )
    return 0
