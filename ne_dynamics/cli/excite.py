"""``ne_dynamics excite --model MODEL -o FILE``: the motion that tells most about an arm."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.cli.options.arguments import accept_exponents, add_gravity, number
from ne_dynamics.cli.options.expected_time import say_expected_time
from ne_dynamics.cli.options.model_file import (
    ModelFile,
    add_lock,
    add_model_file,
    require_packages,
)
from ne_dynamics.cli.options.output_file import (
    STANDARD,
    add_output,
    check_apart,
    check_output,
    settle_output,
    write_text,
)
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.printable import print_lines
from ne_dynamics.progress_bar import show_share

if TYPE_CHECKING:
    from ne_dynamics.excitation import Excitation
    from ne_dynamics.excitation.solids import Solid
    from ne_dynamics.model.robot import FloatArray, Robot

OBJECTIVES = ('log-det', 'condition')

ENDING = '_excitation.yaml'

NEAREST = 5
"""Distances that are listed."""

Value = tuple[str, float]
"""A joint, or '' for a value without name, and the value."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand to a parser."""
    parser = subparsers.add_parser(
        'excite',
        description='Plan the motion from a pose and back that is most informative about '
        'inertias and friction, within limits of position, velocity, acceleration '
        'and effort, without self-collision, outside of keep-out half-spaces. It is '
        'checked every millisecond and written as trajectory_msgs/JointTrajectory '
        '(YAML). `ne_dynamics identify` fits a model to a log of it.',
    )
    accept_exponents(parser)
    add_model_file(parser)
    add_lock(parser)
    add_output(
        parser, ENDING, 'file to write; - for standard output', metavar='FILE', default=True
    )
    parser.add_argument(
        '--start',
        nargs='+',
        type=_read_value,
        default=None,
        metavar='J',
        help='start pose [rad or m]: all joints in order, or NAME=VALUE for some (default: the '
        'first without collision of zero, the middle of the limits, random poses; it is '
        'printed)',
    )
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed (default: %(default)s)'
    )
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
        help='duration [s] (default: 20 to 60, from how long the slowest joint takes to cross '
        'its range)',
    )
    group.add_argument(
        '--base-frequency',
        type=number,
        metavar='HZ',
        help='lowest frequency (default: for a highest one of 0.5 Hz)',
    )
    group.add_argument(
        '--harmonics',
        type=int,
        default=10,
        metavar='N',
        help='number of frequencies (default: %(default)s)',
    )
    group.add_argument(
        '--points-per-second',
        type=number,
        metavar='N',
        help='points of the trajectory (default: 80 in the shortest period)',
    )
    group.add_argument(
        '--objective',
        choices=OBJECTIVES,
        default='log-det',
        help='minimise the volume of the uncertainty of all parameters, or the condition number '
        '(default: %(default)s)',
    )
    group.add_argument(
        '--noise-share',
        type=_read_share,
        default=0.01,
        metavar='X',
        help="noise of the efforts as a part of each joint's effort limit (default: %(default)s)",
    )
    group.add_argument(
        '--starts',
        type=int,
        default=2,
        metavar='N',
        help='number of random motions to optimise; the best one is taken (default: %(default)s)',
    )
    add_gravity(group)


def _add_limits(group: argparse._ArgumentGroup) -> None:
    for what, default, meaning in (
        ('position', 0.95, 'usable part of the range, about its middle'),
        ('velocity', 0.7, 'usable part of the velocity limit'),
        ('acceleration', 0.9, 'usable part of the acceleration limit'),
        (
            'effort',
            0.7,
            'usable part of the effort limit; the rest is for errors of the model',
        ),
    ):
        group.add_argument(
            f'--{what}-share',
            type=_read_share,
            default=default,
            metavar='X',
            help=f'{meaning} (default: %(default)s)',
        )
    for what, default_text in (
        ('velocity', "the model's"),
        ('acceleration', "the model's, or from half of the effort that gravity leaves"),
        ('effort', "the model's"),
    ):
        group.add_argument(
            f'--{what}-limit',
            action='append',
            type=_read_value,
            default=[],
            metavar='JOINT=VALUE',
            help=f'{what} limit (default: {default_text}); may be repeated',
        )


def _add_distances(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--keep-out',
        action='append',
        nargs=4,
        type=number,
        default=None,
        metavar=('NX', 'NY', 'NZ', 'D'),
        help='forbidden half-space n . p < d, in the axes of the base link [m]; may be repeated '
        '(default: 0 0 1 0, below the base)',
    )
    group.add_argument(
        '--no-keep-out',
        action='store_true',
        help='no forbidden half-space, not even the floor',
    )
    group.add_argument(
        '--margin',
        type=number,
        default=0.02,
        metavar='M',
        help='minimum distance [m] (default: %(default)s)',
    )
    group.add_argument(
        '--no-self-collision',
        action='store_true',
        help='ignore shapes: links may touch, and only their origins keep out of half-spaces',
    )
    group.add_argument(
        '--ignore-pair',
        action='append',
        nargs=2,
        default=[],
        metavar=('LINK', 'LINK'),
        help='pair of links that may touch; may be repeated',
    )
    group.add_argument(
        '--package-path',
        action='append',
        default=[],
        metavar='FOLDER',
        help='folder with packages of package:// names, beside those of the model, '
        'ROS_PACKAGE_PATH and AMENT_PREFIX_PATH; may be repeated',
    )


def run(args: argparse.Namespace) -> int:
    """Plan, write and report; return 0.

    Raises
    ------
    NeDynamicsError
        When the model cannot be used, an option does not fit it, or no motion keeps what is
        asked; nothing is written then.
    """
    from ne_dynamics.cli.options.trajectory_file import trajectory_text
    from ne_dynamics.dynamics import Dynamics
    from ne_dynamics.excitation import (
        FLOOR,
        ExcitationLimits,
        KeepOut,
        Shares,
        load_solids,
        plan_excitation,
    )
    from ne_dynamics.excitation.start_pose import choose_start
    from ne_dynamics.model.description_file import looks_like_xml

    require_packages(args, excite=True)
    settle_output(args, ENDING)
    args.output = str(args.output)
    check_output(args.output)
    check_apart([('-o', args.output)], {'--model': args.model, '--extras': args.extras})
    if args.keep_out and args.no_keep_out:
        raise InputError('--no-keep-out: expected no --keep-out beside it')
    model = ModelFile(args)
    robot = model.load()
    dynamics = Dynamics(robot, args.gravity)
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
    start = _arrange_start(args.start or [], names, default)
    limits = ExcitationLimits.of_robot(
        dynamics,
        start,
        shares,
        velocity_limits=_arrange_limits(args.velocity_limit, names, '--velocity-limit'),
        acceleration_limits=_arrange_limits(
            args.acceleration_limit, names, '--acceleration-limit'
        ),
        effort_limits=_arrange_limits(args.effort_limit, names, '--effort-limit'),
    )
    _check_links([link.name for link in robot.links], args.ignore_pair)
    say_expected_time(5.0 * args.starts * (robot.n / 6) ** 2 * (1.7 if solids else 1.0))
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
        document = _make_document(excitation, robot, args.output)
        document['notes'] = notes
        print(json.dumps(document, indent=2, allow_nan=False), file=out)
        return 0
    written = 'standard output' if args.output == STANDARD else args.output
    lines = _describe(excitation, robot, written)
    print_lines([*lines, '', *(f'note: {note}' for note in notes)], out)
    return 0


def _check_links(names: Sequence[str], pairs: Sequence[Sequence[str]]) -> None:
    for name in (name for pair in pairs for name in pair):
        if name not in names:
            raise InputError(
                f'--ignore-pair: expected a link, one of {", ".join(names)}, got {name!r}'
            )


def _read_value(text: str) -> Value:
    """Return NAME=VALUE, or VALUE alone with the name ''."""
    name, separator, amount = text.rpartition('=')
    if separator and not name:
        raise argparse.ArgumentTypeError(f'expected VALUE or NAME=VALUE, got {text!r}')
    return name, number(amount)


def _read_share(text: str) -> float:
    """Return a number above 0 and at most 1."""
    value = number(text)
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f'expected more than 0 and at most 1, got {text!r}')
    return value


def _arrange_limits(
    values: Sequence[Value], names: Sequence[str], option: str
) -> dict[str, float]:
    """Return limits by joint; one without a name is that of all joints.

    Raises
    ------
    InputError
        When a joint is unknown.
    """
    result: dict[str, float] = {}
    for name, value in values:
        if name and name not in names:
            raise InputError(
                f'{option}: expected a joint, one of {", ".join(names)}, got {name!r}'
            )
        result.update({name: value} if name else dict.fromkeys(names, value))
    return result


def _arrange_start(
    values: Sequence[Value], names: Sequence[str], default: Mapping[str, float] | FloatArray
) -> FloatArray:
    """Return a pose of values in the joints' order, or by name; the others by default.

    Raises
    ------
    InputError
        When there are too many or too few, or a joint is unknown or named twice.
    """
    listed = [value for name, value in values if not name]
    if listed:
        if len(listed) != len(values) or len(listed) != len(names):
            raise InputError(
                f'--start: expected {len(names)} positions, {", ".join(names)}, or NAME=VALUE '
                f'for some, got {len(values)} values'
            )
        return np.array(listed)
    pose = dict(zip(names, np.asarray(default).tolist(), strict=True))
    seen: set[str] = set()
    for name, value in values:
        if name not in pose or name in seen:
            what = (
                'twice'
                if name in seen
                else f'for an unknown joint; the joints are {", ".join(names)}'
            )
            raise InputError(f'--start: expected one value for a joint, got {name!r} {what}')
        seen.add(name)
        pose[name] = value
    return np.array([pose[name] for name in names])


def _describe(excitation: Excitation, robot: Robot, written: str) -> list[str]:
    """Return the lines of the report."""
    trajectory, series = excitation.trajectory, excitation.series
    highest = series.base_frequency * series.harmonics
    lines = [
        f'{robot.name}: {excitation.duration:.4g} s, {series.harmonics} frequencies up to '
        f'{highest:.3g} Hz; {len(trajectory)} points: {written}',
        f'condition number {excitation.condition_number:.4g}, log det '
        f'{excitation.log_determinant:.4g} ({len(excitation.parameters)} parameters)',
        '',
    ]
    width = max(len(joint.name) for joint in robot.joints)
    lines.append(f'  {"":{width}}  {"start":>9}  {"range":>6}  {"speed":>6}  {"effort":>6}')
    for index, joint in enumerate(robot.joints):
        lines.append(
            f'  {joint.name:{width}}  {excitation.start[index] + 0.0:9.4f}'
            f'  {_percent(excitation.range_shares[index])}'
            f'  {_percent(excitation.velocity_shares[index])}'
            f'  {_percent(excitation.effort_shares[index])}'
        )
    lines.append('  parts of the position range it may use, and of the speed and effort limits')
    if excitation.nearest:
        lines += ['', 'nearest']
        lines += [
            f'  {each.distance:.3f} m (to keep: {each.margin:.3f} m) at {each.time:.2f} s: '
            f'{each.name}'
            for each in excitation.nearest[:NEAREST]
        ]
    lines += ['', 'expected standard deviations']
    width = max(len(each.name) for each in excitation.parameters)
    lines += [
        f'  {each.name:{width}}  {each.value:10.4g} +- {each.deviation:8.2g} {each.unit}'
        for each in excitation.parameters
    ]
    return lines


def _percent(share: float) -> str:
    return f'{100.0 * share:5.0f}%'


def _make_document(excitation: Excitation, robot: Robot, output: str) -> dict[str, Any]:
    """Return the report for programs."""
    trajectory, series = excitation.trajectory, excitation.series
    names = robot.joint_names
    condition = excitation.condition_number

    def by_joint(values: Any) -> dict[str, float]:
        return dict(zip(names, np.asarray(values, dtype=float).tolist(), strict=True))

    return {
        'output': output,
        'joints': list(names),
        'duration': excitation.duration,
        'points': len(trajectory),
        'base_frequency': series.base_frequency,
        'harmonics': series.harmonics,
        'objective': excitation.objective,
        'condition_number': finite_or_none(condition),
        'log_determinant': excitation.log_determinant,
        'start': by_joint(excitation.start),
        'range_shares': by_joint(excitation.range_shares),
        'velocity_shares': by_joint(excitation.velocity_shares),
        'effort_shares': by_joint(excitation.effort_shares),
        'effort_deviation': by_joint(trajectory.deviation),
        'nearest': [
            {
                'what': each.name,
                'distance': each.distance,
                'margin': each.margin,
                'time': each.time,
            }
            for each in excitation.nearest
        ],
        'parameters': [
            {
                'name': each.name,
                'unit': each.unit,
                'value': each.value,
                'deviation': each.deviation,
            }
            for each in excitation.parameters
        ],
        'notes': list(excitation.notes),
    }
