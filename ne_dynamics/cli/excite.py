"""``ne_dynamics excite --model MODEL -o FILE``: the motion that tells most about an arm."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ne_dynamics.cli.exciting.given import (
    arrange_limits,
    arrange_start,
    read_share,
    read_value,
)
from ne_dynamics.cli.options.exponents import accept_exponents
from ne_dynamics.cli.options.model_file import ModelFile, add_lock, add_model_file
from ne_dynamics.cli.options.numbers import number
from ne_dynamics.cli.options.output_file import check_apart, check_output
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import show_share

if TYPE_CHECKING:
    from ne_dynamics.excitation.solids import Solid

OBJECTIVES = ('log-det', 'condition')


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser.

    Parameters
    ----------
    subparsers : argparse action
        What ``ArgumentParser.add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        'excite',
        help='plan the motion that tells most about inertias and friction',
        description='Plan a motion from a pose and back that tells as much as can be about '
        'inertias and friction, within limits of position, velocity, acceleration and effort, '
        'without touching the arm itself or entering keep-out half-spaces. It is written as '
        'trajectory_msgs/JointTrajectory (YAML), after a check in every millisecond. '
        '`ne_dynamics identify` fits a model to a log of it.',
    )
    accept_exponents(parser)
    add_model_file(parser)
    add_lock(parser)
    parser.add_argument(
        '-o', '--output', required=True, metavar='FILE', help='to write; - for standard output'
    )
    parser.add_argument(
        '--start',
        nargs='+',
        type=read_value,
        default=None,
        metavar='J',
        help='where the arm is [rad or m]: all joints in their order, or NAME=VALUE for some and '
        'the default for the others (default: zero, or the middle of the limits, or a random '
        'pose: the first that is free; it is said)',
    )
    parser.add_argument('--seed', type=int, default=0, metavar='N', help='(default: %(default)s)')
    parser.add_argument('--json', action='store_true', help='print the report as JSON')
    _add_motion(parser.add_argument_group('the motion'))
    _add_limits(parser.add_argument_group('limits', 'JOINT=VALUE, or VALUE for all joints'))
    _add_distances(parser.add_argument_group('distances'))
    parser.set_defaults(run=run)


def _add_motion(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--duration',
        type=number,
        metavar='S',
        help='[s] (default: by how long the slowest joint takes to cross its range, 20 to 60)',
    )
    group.add_argument(
        '--base-frequency',
        type=number,
        metavar='HZ',
        help='lowest frequency (default: so that the highest is 0.5 Hz)',
    )
    group.add_argument(
        '--harmonics', type=int, default=10, metavar='N', help='frequencies (default: %(default)s)'
    )
    group.add_argument(
        '--points-per-second',
        type=number,
        metavar='N',
        help='of the trajectory (default: 80 in the shortest period)',
    )
    group.add_argument(
        '--objective',
        choices=OBJECTIVES,
        default='log-det',
        help='what is made small: the volume of the uncertainty of all parameters, or the '
        'condition number (default: %(default)s)',
    )
    group.add_argument(
        '--noise-share',
        type=read_share,
        default=0.01,
        metavar='X',
        help="noise of the efforts as a part of each joint's effort limit (default: %(default)s)",
    )
    group.add_argument(
        '--starts',
        type=int,
        default=2,
        metavar='N',
        help='random motions that are improved; the best result counts (default: %(default)s)',
    )
    group.add_argument(
        '--gravity',
        nargs=3,
        type=number,
        metavar=('X', 'Y', 'Z'),
        help='acceleration of free fall in axes of the base link [m/s^2] (default: 0 0 -9.80665)',
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    for what, default, meaning in (
        ('position', 0.95, 'part of the range that is used, about its middle'),
        ('velocity', 0.7, 'part of the velocity limit that is used'),
        ('acceleration', 0.9, 'part of the acceleration limit that is used'),
        (
            'effort',
            0.7,
            'part of the effort limit that is used, by the given model: the rest is for its '
            'errors',
        ),
    ):
        group.add_argument(
            f'--{what}-share',
            type=read_share,
            default=default,
            metavar='X',
            help=f'{meaning} (default: %(default)s)',
        )
    for what, default_text in (
        ('velocity', "the model's"),
        ('acceleration', "the model's, or what half of the effort that holding leaves can do"),
        ('effort', "the model's"),
    ):
        group.add_argument(
            f'--{what}-limit',
            action='append',
            type=read_value,
            default=[],
            metavar='JOINT=VALUE',
            help=f'(default: {default_text}); may be repeated',
        )


def _add_distances(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--keep-out',
        action='append',
        nargs=4,
        type=number,
        default=None,
        metavar=('NX', 'NY', 'NZ', 'D'),
        help='nothing of the arm goes where n . p < d, in axes of the base link [m]; may be '
        'repeated (default: 0 0 1 0, what is below the base)',
    )
    group.add_argument(
        '--no-keep-out',
        action='store_true',
        help='no half-space is kept out of, not even the floor',
    )
    group.add_argument(
        '--margin',
        type=number,
        default=0.02,
        metavar='M',
        help='distance that is kept [m] (default: %(default)s)',
    )
    group.add_argument(
        '--no-self-collision',
        action='store_true',
        help='do not read shapes: links may touch, and of each the origin alone is kept out of '
        'half-spaces',
    )
    group.add_argument(
        '--ignore-pair',
        action='append',
        nargs=2,
        default=[],
        metavar=('LINK', 'LINK'),
        help='two links that may touch; may be repeated',
    )
    group.add_argument(
        '--package-path',
        action='append',
        default=[],
        metavar='FOLDER',
        help='where package:// is looked for, beside the folders of the model, ROS_PACKAGE_PATH '
        'and AMENT_PREFIX_PATH; may be repeated',
    )


def run(args: argparse.Namespace) -> int:
    """Plan, write and report; return 0.

    Raises
    ------
    NeDynamicsError
        When the model cannot be used, an option does not fit it, or no motion keeps what is
        asked; nothing is written then.
    """
    from ne_dynamics.cli.exciting.text import describe, make_document
    from ne_dynamics.dynamics import STANDARD_GRAVITY, Dynamics
    from ne_dynamics.excitation import (
        FLOOR,
        KeepOut,
        MotionLimits,
        Shares,
        load_solids,
        plan_excitation,
    )
    from ne_dynamics.excitation.start_pose import choose_start
    from ne_dynamics.model.description_file import looks_like_xml
    from ne_dynamics.motion import STANDARD, trajectory_text, write_text

    check_output(args.output)
    check_apart([('-o', args.output)], {'--model': args.model, '--extras': args.extras})
    if args.keep_out and args.no_keep_out:
        raise InputError('--no-keep-out: expected no --keep-out beside it')
    model = ModelFile(args)
    robot = model.load()
    gravity = STANDARD_GRAVITY if args.gravity is None else args.gravity
    dynamics = Dynamics(robot, gravity)
    solids: tuple[Solid, ...] = ()
    if not args.no_self_collision:
        if not looks_like_xml(model.text):
            raise ModelError(
                f'{args.model}: expected a URDF, whose shapes tell what may touch what, got a DH '
                'file; --no-self-collision plans without'
            )
        try:
            solids = load_solids(model.text, robot, args.model, args.package_path)
        except ModelError as error:
            raise ModelError(
                f'{error}; --package-path says where packages are, --no-self-collision plans '
                'without shapes'
            ) from error
    planes = [FLOOR] if args.keep_out is None else [KeepOut(n[:3], n[3]) for n in args.keep_out]
    planes = [] if args.no_keep_out else planes
    shares = Shares(
        args.position_share, args.velocity_share, args.acceleration_share, args.effort_share
    )
    notes = []
    names = dynamics.joint_names
    if args.start is None or any(name for name, _ in args.start):
        default = np.zeros(robot.n)
        if args.start is None or len(args.start) < robot.n:
            default, called = choose_start(dynamics, solids, planes, args.margin, shares)
            notes.append(f'the start is {called}, for want of --start')
    else:
        default = np.zeros(robot.n)
    start = arrange_start(args.start or [], names, default)
    limits = MotionLimits.of_robot(
        dynamics,
        start,
        shares,
        velocity_limits=arrange_limits(args.velocity_limit, names, '--velocity-limit'),
        acceleration_limits=arrange_limits(args.acceleration_limit, names, '--acceleration-limit'),
        effort_limits=arrange_limits(args.effort_limit, names, '--effort-limit'),
    )
    _check_links([link.name for link in robot.links], args.ignore_pair)
    with show_share('seeking') as progress:
        excitation = plan_excitation(
            dynamics,
            start,
            limits=limits,
            solids=solids,
            keep_out=planes,
            margin=args.margin,
            ignored=args.ignore_pair,
            duration=args.duration,
            base_frequency=args.base_frequency,
            harmonics=args.harmonics,
            points_per_second=args.points_per_second,
            objective=args.objective,
            noise_share=args.noise_share,
            starts=args.starts,
            seed=args.seed,
            progress=progress,
        )
    write_text(args.output, trajectory_text(excitation.trajectory, (0, 0), ''))
    notes += excitation.notes
    out = sys.stderr if args.output == STANDARD else sys.stdout
    if args.json:
        document = make_document(excitation, robot, args.output)
        document['notes'] = notes
        print(json.dumps(document, indent=2, allow_nan=False), file=out)
        return 0
    written = 'standard output' if args.output == STANDARD else args.output
    lines = describe(excitation, robot, written)
    print_lines([*lines, '', *(f'note: {note}' for note in notes)], out)
    return 0


def _check_links(names: Sequence[str], pairs: Sequence[Sequence[str]]) -> None:
    for name in (name for pair in pairs for name in pair):
        if name not in names:
            raise InputError(
                f'--ignore-pair: expected a link, one of {", ".join(names)}, got {name!r}'
            )
