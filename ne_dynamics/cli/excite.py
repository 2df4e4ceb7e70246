"""``ne_dynamics excite --model MODEL -o FILE``: the motion that tells most about an arm."""

from __future__ import annotations

import argparse

from ne_dynamics.cli.options import files
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.model import read_model, require_packages
from ne_dynamics.cli.options.readers import number
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.excitation import FLOOR, ExcitationLimits, KeepOut, Shares, plan_excitation
from ne_dynamics.excitation.solids import load_model_solids
from ne_dynamics.excitation.start_pose import arrange_start
from ne_dynamics.excitation.text import describe_excitation, make_document
from ne_dynamics.motion import trajectory_text
from ne_dynamics.prepared_file import name_stream, write_text
from ne_dynamics.progress_bar import say_expected_time, show_share

ENDING = '_excitation.yaml'

OPTIONS = f"""
@model_file
@lock
{files.declare_output('FILE', ENDING, 'file to write; - for standard output', 'str')}
--start J... : value
    start pose [rad or m]: all joints in order, or NAME=VALUE for some (default: the first without
    collision of zero, the middle of the limits, random poses; it is printed)
--seed N : int
@json
# the motion
--duration S : number
--base-frequency HZ : number
--harmonics N : int
--points-per-second N : number
--objective : objective
--noise-share X : share
--starts N : int
@gravity
# limits: JOINT=VALUE, or VALUE for all joints
--position-share X > position : share
--velocity-share X > velocity : share
--acceleration-share X > acceleration : share
--effort-share X > effort : share
--velocity-limit JOINT=VALUE * > velocity_limits : value
    velocity limit (default: the model's); may be repeated
--acceleration-limit JOINT=VALUE * > acceleration_limits : value
    acceleration limit (default: the model's, or from half of the effort that gravity leaves); may
    be repeated
--effort-limit JOINT=VALUE * > effort_limits : value
    effort limit (default: the model's); may be repeated
# distances
--keep-out NX NY NZ D * : number
    forbidden half-space n . p < d, in the axes of the base link [m]; may be repeated (default: 0
    0 1 0, below the base)
--no-keep-out
    no forbidden half-space, not even the floor
--margin M : number
--no-self-collision
    ignore shapes: links may touch, and only their origins keep out of half-spaces
--ignore-pair LINK LINK * > ignored
    pair of links that may touch; may be repeated
--package-path FOLDER *
    folder with packages of package:// names, beside those of the model, ROS_PACKAGE_PATH and
    AMENT_PREFIX_PATH; may be repeated
"""


def _read_value(text: str) -> tuple[str, float]:
    """Return NAME=VALUE, or VALUE alone with the name ''."""
    name, separator, amount = text.rpartition('=')
    if separator and not name:
        raise InputError(f'expected VALUE or NAME=VALUE, got {text!r}')
    return name, number(amount)


add_parser = declare(
    'excite',
    'Plan the motion from a pose and back that is most informative about inertias and friction, '
    'within limits of position, velocity, acceleration and effort, without self-collision, '
    'outside of keep-out half-spaces. It is checked every millisecond and written as '
    'trajectory_msgs/JointTrajectory (YAML). `ne_dynamics identify` fits a model to a log of it.',
    OPTIONS,
    request=(Shares, plan_excitation),
    value=_read_value,
    objective=('log-det', 'condition'),
)


def run(args: argparse.Namespace) -> int:
    """Plan, write and report; return 0."""
    require_packages(args, excite=True)
    files.settle_output(args, ENDING, is_always=True)
    args.output = str(args.output)
    files.check_files(args, [('-o', args.output)])
    if args.keep_out and args.no_keep_out:
        raise InputError('--no-keep-out: expected no --keep-out beside it')
    model = read_model(args)
    robot = model.load()
    dynamics = Dynamics(robot, args.gravity)
    solids = () if args.no_self_collision else load_model_solids(model, robot, args.package_path)
    planes = [KeepOut(plane[:3], plane[3]) for plane in args.keep_out]
    planes = planes or [FLOOR] * (not args.no_keep_out)
    shares = Shares(**take(Shares, args))
    start, notes = arrange_start(dynamics, args.start or (), solids, planes, args.margin, shares)
    wanted = {'dynamics': dynamics, 'start': start, 'shares': shares}
    limits = ExcitationLimits.of_robot(**take(ExcitationLimits.of_robot, args, **wanted))
    say_expected_time(5.0 * args.starts * (robot.n / 6) ** 2 * (1.7 if solids else 1.0))
    with show_share('seeking') as progress:
        wanted |= {'limits': limits, 'solids': solids, 'keep_out': planes, 'progress': progress}
        found = plan_excitation(**take(plan_excitation, args, **wanted))
    write_text(args.output, trajectory_text(found.trajectory, (0, 0), ''))
    notes += found.notes
    document = {'output': args.output, **make_document(found, robot), 'notes': notes}
    lines = describe_excitation(found, robot, name_stream(args.output, 'output'))
    files.print_result(args, document, [*lines, '', *(f'note: {note}' for note in notes)])
    return 0
