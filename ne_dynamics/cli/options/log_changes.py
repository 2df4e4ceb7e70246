"""Options that change a log by hand before it is used."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace

import numpy as np

from ne_dynamics.cli.options.arguments import named_number
from ne_dynamics.cli.options.log_source import add_columns
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Log, LogReading
from ne_dynamics.logs.parts import change_in_parts
from ne_dynamics.logs.samples.sample_faults import (
    TIME_UNITS,
    scale_positions,
    scale_time,
    unwrap_positions,
)
from ne_dynamics.logs.work import Work
from ne_dynamics.model.robot import Robot

ALL = 'all'
"""In the place of a joint: every joint."""


def add_log_changes(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; :func:`change_log` does what they say."""
    group = parser.add_argument_group(
        'changes of the log', f'JOINT is a joint of the model, or `{ALL}`; all may be repeated'
    )
    add_columns(group)
    group.add_argument(
        '--scale',
        action='append',
        type=named_number,
        default=[],
        metavar='JOINT=FACTOR',
        help='multiply its effort, for example by torque per motor current',
    )
    group.add_argument(
        '--sign',
        action='append',
        default=[],
        metavar='JOINT',
        help='reverse the sign of its effort',
    )
    group.add_argument(
        '--delay',
        action='append',
        type=named_number,
        default=[],
        metavar='JOINT=S',
        help='delay of its effort behind its position [s]',
    )
    group.add_argument(
        '--position-sign',
        action='append',
        default=[],
        metavar='JOINT',
        help='reverse the sign of its position',
    )
    group.add_argument(
        '--zero',
        action='append',
        type=named_number,
        default=[],
        metavar='JOINT=ANGLE',
        help='add to its position [rad or m]',
    )
    group.add_argument(
        '--degrees', action='store_true', help='positions and velocities are in degrees'
    )
    group.add_argument(
        '--time-unit',
        choices=('s', *TIME_UNITS),
        default='s',
        help='unit of the times (default: %(default)s)',
    )
    group.add_argument(
        '--unwrap', action='store_true', help='remove jumps of angles by whole turns'
    )


def change_log(args: argparse.Namespace, robot: Robot, log: Log, work: Work) -> Log:
    """Return a log with what the options say, in the order units, signs, zeros, turns, efforts.

    Parameters
    ----------
    args : argparse.Namespace
    robot : Robot
    log : Log
        With the joints of the robot.
    work : Work
        Where it is kept.

    Returns
    -------
    Log

    Raises
    ------
    InputError
        When a joint is not one of the model.
    """
    if args.time_unit != 's':
        log = scale_time(log, TIME_UNITS[args.time_unit])
    moved = LogReading.as_recorded(robot.n)
    for name in args.position_sign:
        moved = moved.with_position(_find(robot, name, '--position-sign'), factor=-1.0)
    for name, angle in args.zero:
        moved = moved.with_position(_find(robot, name, '--zero'), offset=angle)
    for name in args.sign:
        moved = moved.with_effort(_find(robot, name, '--sign'), factor=-1.0)
    for name, factor in args.scale:
        moved = moved.with_effort(_find(robot, name, '--scale'), factor=factor)
    for name, delay in args.delay:
        moved = moved.with_effort(_find(robot, name, '--delay'), delay=delay)
    longest = float(np.abs(moved.effort_delay).max())
    if longest >= 0.5 * log.duration:
        raise InputError(
            f'--delay: expected less than half of the log, {0.5 * log.duration:.4g} s, '
            f'got {longest:g} s'
        )
    is_read_anew = any((args.position_sign, args.zero, args.sign, args.scale, args.delay))

    def change(part: Log) -> Log:
        if args.degrees:
            turning = np.array([not joint.type.is_prismatic for joint in robot.joints])
            part = scale_positions(part, turning, math.pi / 180.0)
        if is_read_anew:
            part = moved.read_log(part)
        if args.unwrap:
            position = unwrap_positions(robot, part.position)
            position.setflags(write=False)
            part = replace(part, position=position)
        return part

    if args.degrees or is_read_anew or args.unwrap:
        log = change_in_parts(log, change, work, longest)
    return log


def _find(robot: Robot, name: str, option: str) -> list[int]:
    if name == ALL:
        return list(range(robot.n))
    if name not in robot.joint_names:
        raise InputError(
            f'{option}: expected a joint of the model, {", ".join(robot.joint_names)}, or '
            f'{ALL}, got {name!r}'
        )
    return [robot.joint_names.index(name)]
