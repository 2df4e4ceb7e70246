"""``ne_dynamics excite --model MODEL -o FILE``: the motion that tells most about an arm."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from ne_dynamics.cli.options.arguments import number
from ne_dynamics.cli.options.declaration import declare, take
from ne_dynamics.cli.options.expected_time import say_expected_time
from ne_dynamics.cli.options.model_file import ModelFile, require_packages
from ne_dynamics.cli.options.output_file import (
    STANDARD,
    check_files,
    declare_output,
    print_result,
    settle_output,
    write_text,
)
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.excitation import (
    FLOOR,
    ExcitationLimits,
    KeepOut,
    Shares,
    load_solids,
    plan_excitation,
)
from ne_dynamics.excitation.solids import Solid
from ne_dynamics.excitation.start_pose import choose_start
from ne_dynamics.excitation.text import describe_excitation, make_document
from ne_dynamics.model.description_file import looks_like_xml
from ne_dynamics.model.robot import FloatArray, Robot
from ne_dynamics.motion import trajectory_text
from ne_dynamics.progress_bar import show_share

OBJECTIVES = ('log-det', 'condition')
LIMITED = ('velocity', 'acceleration', 'effort')

ENDING = '_excitation.yaml'

Value = tuple[str, float]
"""A joint, or '' for a value without name, and the value."""


OPTIONS = f"""
@model_file
@lock
{declare_output('FILE', ENDING, 'file to write; - for standard output', 'str = True')}
--start J... : value
    start pose [rad or m]: all joints in order, or NAME=VALUE for some (default: the first without
    collision of zero, the middle of the limits, random poses; it is printed)
--seed N : int
    seed
@json
# the motion
--duration S : number
    duration [s] (default: 20 to 60, from how long the slowest joint takes to cross its range)
--base-frequency HZ : number
    lowest frequency (default: for a highest one of 0.5 Hz)
--harmonics N : int
    number of frequencies
--points-per-second N : number
    points of the trajectory (default: 80 in the shortest period)
--objective : objective
    minimise the volume of the uncertainty of all parameters, or the condition number
--noise-share X : share
    noise of the efforts as a part of each joint's effort limit
--starts N : int
    number of random motions to optimise; the best one is taken
@gravity
# limits: JOINT=VALUE, or VALUE for all joints
--position-share X : share = 0.95
    usable part of the range, about its middle
--velocity-share X : share = 0.7
    usable part of the velocity limit
--acceleration-share X : share = 0.9
    usable part of the acceleration limit
--effort-share X : share = 0.7
    usable part of the effort limit; the rest is for errors of the model
--velocity-limit JOINT=VALUE * : value
    velocity limit (default: the model's); may be repeated
--acceleration-limit JOINT=VALUE * : value
    acceleration limit (default: the model's, or from half of the effort that gravity leaves); may
    be repeated
--effort-limit JOINT=VALUE * : value
    effort limit (default: the model's); may be repeated
# distances
--keep-out NX NY NZ D * : number
    forbidden half-space n . p < d, in the axes of the base link [m]; may be repeated (default: 0
    0 1 0, below the base)
--no-keep-out
    no forbidden half-space, not even the floor
--margin M : number
    minimum distance [m]
--no-self-collision
    ignore shapes: links may touch, and only their origins keep out of half-spaces
--ignore-pair LINK LINK * > ignored
    pair of links that may touch; may be repeated
--package-path FOLDER *
    folder with packages of package:// names, beside those of the model, ROS_PACKAGE_PATH and
    AMENT_PREFIX_PATH; may be repeated
"""


def _read_value(text: str) -> Value:
    """Return NAME=VALUE, or VALUE alone with the name ''."""
    name, separator, amount = text.rpartition('=')
    if separator and not name:
        raise argparse.ArgumentTypeError(f'expected VALUE or NAME=VALUE, got {text!r}')
    return name, number(amount)


add_parser = declare(
    'excite',
    'Plan the motion from a pose and back that is most informative about inertias and friction, '
    'within limits of position, velocity, acceleration and effort, without self-collision, '
    'outside of keep-out half-spaces. It is checked every millisecond and written as '
    'trajectory_msgs/JointTrajectory (YAML). `ne_dynamics identify` fits a model to a log of it.',
    OPTIONS,
    request=plan_excitation,
    value=_read_value,
    objective=OBJECTIVES,
)


def run(args: argparse.Namespace) -> int:
    """Plan, write and report; return 0."""
    _check_files(args)
    model = ModelFile(args)
    robot = model.load()
    dynamics = Dynamics(robot, args.gravity)
    solids = () if args.no_self_collision else _load_solids(args, model, robot)
    planes = [KeepOut(plane[:3], plane[3]) for plane in args.keep_out]
    planes = planes or [FLOOR] * (not args.no_keep_out)
    shares = Shares(*(getattr(args, f'{what}_share') for what in ('position', *LIMITED)))
    start, notes = _choose_pose(args, dynamics, solids, planes, shares)
    own = {f'{what}_limits': _arrange_limits(args, what, dynamics.joint_names) for what in LIMITED}
    limits = ExcitationLimits.of_robot(dynamics, start, shares, **own)
    _check_links([link.name for link in robot.links], args.ignored)
    say_expected_time(5.0 * args.starts * (robot.n / 6) ** 2 * (1.7 if solids else 1.0))
    with show_share('seeking') as progress:
        wanted = {'limits': limits, 'solids': solids, 'keep_out': planes, 'progress': progress}
        wanted |= {'dynamics': dynamics, 'start': start}
        excitation = plan_excitation(**take(plan_excitation, args, **wanted))
    write_text(args.output, trajectory_text(excitation.trajectory, (0, 0), ''))
    notes += excitation.notes
    document = {'output': args.output, **make_document(excitation, robot), 'notes': notes}
    written = 'standard output' if args.output == STANDARD else args.output
    lines = describe_excitation(excitation, robot, written)
    lines += ['', *(f'note: {note}' for note in notes)]
    print_result(args, document, lines)
    return 0


def _check_files(args: argparse.Namespace) -> None:
    """Refuse what is missing or cannot be written, before any work; name the output."""
    require_packages(args, excite=True)
    settle_output(args, ENDING)
    args.output = str(args.output)
    check_files(args, [('-o', args.output)])
    if args.keep_out and args.no_keep_out:
        raise InputError('--no-keep-out: expected no --keep-out beside it')


def _load_solids(args: argparse.Namespace, model: ModelFile, robot: Robot) -> tuple[Solid, ...]:
    if not looks_like_xml(model.text):
        raise ModelError(
            f'{args.model}: expected a URDF, whose shapes tell what may touch what, got a DH '
            'file; --no-self-collision plans without'
        )
    try:
        return load_solids(model.text, robot, args.model, args.package_path)
    except ModelError as error:
        raise ModelError(
            f'{error}; --package-path says where packages are, --no-self-collision plans '
            'without shapes'
        ) from error


def _choose_pose(
    args: argparse.Namespace,
    dynamics: Dynamics,
    solids: Sequence[Solid],
    planes: Sequence[KeepOut],
    shares: Shares,
) -> tuple[FloatArray, list[str]]:
    """Return the start, and a note where it was not given."""
    given: list[Value] = args.start or []
    default, notes = np.zeros(dynamics.n), []
    if not given or (any(name for name, _ in given) and len(given) < dynamics.n):
        default, called = choose_start(dynamics, solids, planes, args.margin, shares)
        notes.append(f'the start is {called}, for want of --start')
    return _arrange_start(given, dynamics.joint_names, default), notes


def _check_links(names: Sequence[str], pairs: Sequence[Sequence[str]]) -> None:
    for name in (name for pair in pairs for name in pair):
        if name not in names:
            raise InputError(
                f'--ignore-pair: expected a link, one of {", ".join(names)}, got {name!r}'
            )


def _arrange_limits(args: argparse.Namespace, what: str, names: Sequence[str]) -> dict[str, float]:
    """Return limits by joint; one without a name is that of all joints."""
    result: dict[str, float] = {}
    for name, value in getattr(args, f'{what}_limit'):
        if name and name not in names:
            raise InputError(
                f'--{what}-limit: expected a joint, one of {", ".join(names)}, got {name!r}'
            )
        result.update({name: value} if name else dict.fromkeys(names, value))
    return result


def _arrange_start(
    values: Sequence[Value], names: Sequence[str], default: FloatArray
) -> FloatArray:
    """Return a pose of values in the joints' order, or by name; the others by default."""
    listed = [value for name, value in values if not name]
    if listed:
        if len(listed) != len(values) or len(listed) != len(names):
            raise InputError(
                f'--start: expected {len(names)} positions, {", ".join(names)}, or NAME=VALUE '
                f'for some, got {len(values)} values'
            )
        return np.array(listed)
    pose = dict(zip(names, default.tolist(), strict=True))
    seen: set[str] = set()
    for name, value in values:
        if name not in pose or name in seen:
            unknown = f'for an unknown joint; the joints are {", ".join(names)}'
            what = 'twice' if name in seen else unknown
            raise InputError(f'--start: expected one value for a joint, got {name!r} {what}')
        seen.add(name)
        pose[name] = value
    return np.array([pose[name] for name in names])
