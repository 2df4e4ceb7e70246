"""``ne_dynamics annotate IN OUT``: fill a trajectory with the efforts that it takes."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ne_dynamics.cli.options.arguments import add_gravity
from ne_dynamics.cli.options.model_file import ModelFile, add_lock, add_model_file
from ne_dynamics.errors import ParameterError, TrajectoryError
from ne_dynamics.printable import print_lines

ENDING = '_annotated.yaml'
MODEL_VARIABLE = 'NE_DYNAMICS_MODEL'
"""Environment variable that names the model when the option does not."""

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
DEFAULT_TOLERANCE = 0.1


def add_parser(subparsers: Any) -> None:
    """Add the arguments of the subcommand."""
    parser = subparsers.add_parser(
        'annotate',
        description='Add efforts to a trajectory_msgs/JointTrajectory. Points are added until '
        "linear interpolation of the efforts, as in ros2_controllers' "
        'joint_trajectory_controller, is within a tolerance of the inverse dynamics. '
        'Files are YAML, as `ros2 topic echo --full-length --once` prints and `ros2 '
        'topic pub` reads.',
    )
    add_model_file(parser, 'input', 'output', variable=MODEL_VARIABLE)
    parser.add_argument('input', metavar='IN', help='file to read; - for standard input')
    parser.add_argument(
        'output',
        metavar='OUT',
        nargs='?',
        help=f'file to write; - for standard output (default: IN{ENDING}, with a number where '
        'that is there)',
    )
    add_lock(parser)
    parser.add_argument(
        '--effort-tolerance',
        metavar='X[,X...]',
        default=(DEFAULT_TOLERANCE,),
        type=_numbers,
        help='tolerance of the efforts [N m or N]: one for all joints, or one each in '
        f'the order of joint_names (default: {DEFAULT_TOLERANCE})',
    )
    parser.add_argument(
        '--start',
        metavar='Q[,Q...]',
        type=_numbers,
        help='joint positions at time 0, in the order of joint_names, if the first point is '
        'later; with a leading minus --start=-0.5,...',
    )
    parser.add_argument(
        '--retime',
        action='store_true',
        help='slow the motion down on its path where it exceeds the limits of effort, velocity '
        'or acceleration; never faster than in IN. It stops at corners of linear segments',
    )
    parser.add_argument(
        '--fastest',
        action='store_true',
        help='with --retime: as fast as the limits allow, from rest to rest',
    )
    parser.add_argument(
        '--effort-share',
        metavar='X',
        type=float,
        help='with --retime: part of the effort limits for the motion; the rest is for the '
        "controller's feedback (default: 0.95)",
    )
    add_gravity(parser)
    parser.add_argument(
        '--without',
        metavar='TERM',
        choices=TERMS,
        action='append',
        default=[],
        help=f'leave out a term that the robot compensates itself: {", ".join(TERMS)}; may be '
        'repeated',
    )
    parser.add_argument(
        '--payload-mass',
        metavar='M',
        type=float,
        default=0.0,
        help='mass of a load at the tip link [kg]',
    )
    parser.add_argument(
        '--payload-com',
        metavar=('X', 'Y', 'Z'),
        nargs=3,
        type=float,
        default=(0.0, 0.0, 0.0),
        help='its centre of mass in the frame of the tip link [m]',
    )
    parser.add_argument(
        '--allow-nonzero-velocity-at-end',
        action='store_true',
        help='accept a last point with a velocity; a point at rest is added',
    )
    parser.add_argument(
        '--max-points',
        metavar='N',
        type=int,
        default=100_000,
        help='largest number of points to write (default: %(default)s)',
    )
    parser.add_argument(
        '--json',
        action='store_true',
        help='print a summary as JSON; OUT must be a file',
    )


def run(args: argparse.Namespace) -> int:
    """Annotate one file.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    int
        0; what went wrong is raised, and nothing is written then.

    Raises
    ------
    ParameterError
        When there is no model, or an option does not fit it.
    ModelError
        When the model cannot be used.
    TrajectoryError
        When the trajectory cannot be read or annotated; the message names file, point and field.
    """
    import numpy as np

    from ne_dynamics.cli.options.output_file import STANDARD, choose_name, write_text
    from ne_dynamics.cli.options.trajectory_file import read_trajectory, trajectory_text
    from ne_dynamics.dynamics import Dynamics
    from ne_dynamics.dynamics.compensation import Terms
    from ne_dynamics.model.rigid_body import Inertia
    from ne_dynamics.motion import (
        Waypoints,
        annotate,
        check_positions,
        resting_state,
        retime,
    )

    is_alone = args.output is None and args.input != STANDARD and not Path(args.input).exists()
    if not args.model or is_alone:
        # Two names may be IN and OUT, or MODEL and IN.
        raise ParameterError(
            f'model: expected --model MODEL or the environment variable {MODEL_VARIABLE}, or '
            f'MODEL before IN, got neither{f" and no file {args.input}" * is_alone}'
        )
    if args.output is None:
        args.output = STANDARD if args.input == STANDARD else str(choose_name(args.input, ENDING))
    _check_options(args)
    source = read_trajectory(args.input)
    robot = ModelFile(args).load()
    dynamics = Dynamics(
        robot,
        gravity=args.gravity,
        backend='python',
    )
    payload = None
    if args.payload_mass:
        payload = robot.payload_parameters(
            Inertia(args.payload_mass, args.payload_com, np.zeros((3, 3)))
        )
    try:
        waypoints = Waypoints.from_points(
            robot.joints,
            source.joint_names,
            source.points,
            allow_nonzero_velocity_at_end=args.allow_nonzero_velocity_at_end,
        )
        # From the sender's order to the robot's.
        order = [source.joint_names.index(name) for name in robot.joint_names]
        start = None
        if args.start is not None:
            start = resting_state(_one_each(args.start, order, '--start'))
        tolerance: Sequence[float] = args.effort_tolerance
        if len(tolerance) > 1:
            tolerance = _one_each(tolerance, order, '--effort-tolerance')
        retimed = None
        if args.retime:
            retimed = retime(
                dynamics,
                waypoints,
                effort_share=args.effort_share,
                is_fastest=args.fastest,
                payload=payload,
                start=start,
            )
            waypoints = retimed.waypoints
        else:
            check_positions(robot.joints, waypoints, start=start)
        result = annotate(
            dynamics,
            source.joint_names,
            waypoints,
            effort_tolerance=tolerance,
            terms=Terms(**dict.fromkeys(args.without, False)),
            payload=payload,
            start=start,
            max_points=args.max_points,
        )
    except TrajectoryError as error:
        raise TrajectoryError(f'{_called(args.input, "standard input")}: {error}') from error
    write_text(args.output, trajectory_text(result, source.stamp, source.frame_id))

    names = _called(args.input, 'standard input'), _called(args.output, 'standard output')
    remarks = [*(retimed.remarks if retimed else ()), *result.remarks]
    duration = result.nanoseconds[-1] * 1e-9
    if args.json:
        said: dict[str, Any] = {
            'input': {
                'name': names[0],
                'points': len(source.points),
                'duration': source.points[-1].time_from_start,
            },
            'output': {'name': names[1], 'points': len(result), 'duration': duration},
            'effort_deviation': dict(
                zip(result.joint_names, result.deviation.tolist(), strict=True)
            ),
            'remarks': remarks,
        }
        if retimed:
            said['path_deviation'] = retimed.deviation
            said['stops'] = retimed.stops
        print(json.dumps(said))
        return 0
    worst = int(np.argmax(result.deviation / np.array(args.effort_tolerance)))
    summary = (
        f'{names[0]}: {len(source.points)} points, '
        f'{source.points[-1].time_from_start if retimed else duration:.6g} s; '
        f'{names[1]}: {len(result)} points with efforts, '
        + (f'{duration:.6g} s, ' if retimed else '')
        + f'straight lines within {result.deviation[worst]:.3g} of the inverse dynamics '
        f'({result.joint_names[worst]})'
    )
    print_lines([summary, *(f'note: {remark}' for remark in remarks)], sys.stderr)
    return 0


def _check_options(args: argparse.Namespace) -> None:
    for option, given in (('--fastest', args.fastest), ('--effort-share', args.effort_share)):
        if given and not args.retime:
            raise ParameterError(f'{option}: expected with --retime, got it alone')
    if args.json and args.output == '-':
        raise ParameterError('--json: expected a file as OUT, got standard output')


def _called(path: str, standard: str) -> str:
    return standard if path == '-' else path


def _numbers(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(','))
    except ValueError:
        numbers = (math.nan,)
    if not all(map(math.isfinite, numbers)):
        raise argparse.ArgumentTypeError(f'expected numbers with commas between, got {text!r}')
    return numbers


def _one_each(values: Sequence[float], order: list[int], option: str) -> list[float]:
    if len(values) != len(order):
        raise ParameterError(
            f'{option}: expected {len(order)} values, one per joint of the trajectory, got '
            f'{len(values)}'
        )
    return [values[index] for index in order]
