"""What options say of a log: which columns are what, and what is changed by hand before use."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ne_dynamics.cli.options.thresholds import COMMAND_LINE
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Log, LogReading
from ne_dynamics.logs.parts import change_in_parts
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.readers.csv_log import read_columns
from ne_dynamics.logs.readers.layouts import KINDS, TIME_COLUMN, Columns, Layout, by_hand
from ne_dynamics.logs.samples.sample_faults import (
    TIME_UNITS,
    scale_positions,
    scale_time,
    unwrap_positions,
)
from ne_dynamics.logs.work import Work
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.printable import print_lines
from ne_dynamics.tables import align_lines


def _columns(text: str) -> Layout:
    try:
        return by_hand(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def name_pair(text: str) -> tuple[str, str]:
    """Return the names of a joint in a log and in a model, of A=B."""
    old, _, new = text.partition('=')
    if not old or not new or old.count('*') != new.count('*') or old.count('*') > 1:
        raise argparse.ArgumentTypeError(
            f'expected NAME=NAME, with one * in both or none, got {text!r}'
        )
    return old, new


COLUMN_READERS: dict[str, Any] = {'columns': _columns, 'name_pair': name_pair}
"""Of the shared options `columns`."""

LOG_READERS: dict[str, Any] = {**COLUMN_READERS, 'time_unit': ('s', *TIME_UNITS)}
"""Of the shared options `logs`; :func:`change_log` does what they say."""

ALL = 'all'
"""In the place of a joint: every joint."""


def find_columns(args: argparse.Namespace, robot: Robot, name: str) -> Columns | None:
    """Return which column of a CSV file is what; None for a bag."""
    if is_bag(name):
        if args.columns is not None:
            raise InputError(f'{name}: --columns: expected none with a bag')
        return None
    return read_columns(name, args.columns, () if args.rename else robot.joint_names)


def show_columns(
    args: argparse.Namespace,
    robot: Robot,
    columns: Columns | None,
    matched: Mapping[str, str],
    name: str,
) -> None:
    """Say on standard error what the columns of a file were taken for, unless it says so itself.

    It calls the joints of the robot as `matched` has it.
    """
    if columns is None or not columns.layout:
        return
    rows = [
        [
            joint.name,
            *(_describe_column(args, columns, joint, matched[joint.name], kind) for kind in KINDS),
        ]
        for joint in robot.joints
        if joint.name in matched
    ]
    table = align_lines([['joint', *KINDS]], rows, is_text=True)
    unused = [title for title, ours in zip(columns.titles, columns.names, strict=True) if not ours]
    if columns.repeated:
        unused = []
    time = f'{columns.get_title(TIME_COLUMN)} [{getattr(args, "time_unit", "s")}]'
    most = COMMAND_LINE.most_unused
    rest = ', '.join(unused[:most]) + ', ...' * (len(unused) > most)
    print_lines(
        [
            f'{name}: read as {columns.layout}; columns and units as taken:',
            *(f'  {line}' for line in table),
            f'  time: {time}' + (f'; not used: {rest}' if rest else ''),
        ],
        sys.stderr,
    )


def _describe_column(
    args: argparse.Namespace, columns: Columns, joint: Joint, called: str, kind: str
) -> str:
    """Return title and unit of a column; '-' where there is none."""
    title = columns.get_title(f'{called}.{kind}')
    if not title:
        return '-'
    angle = 'deg' if getattr(args, 'degrees', False) else 'rad'
    length = 'm' if joint.type.is_prismatic else angle
    force = 'N' if joint.type.is_prismatic else 'N m'
    unit = {'position': length, 'velocity': f'{length}/s', 'effort': force}[kind]
    return f'{title} [{unit}]'


CHANGES: dict[str, tuple[Callable[..., LogReading], str]] = {
    'position_sign': (LogReading.with_position, 'factor'),
    'zero': (LogReading.with_position, 'offset'),
    'sign': (LogReading.with_effort, 'factor'),
    'scale': (LogReading.with_effort, 'factor'),
    'delay': (LogReading.with_effort, 'delay'),
}
"""What the options of a joint change, in this order; a sign is reversed."""


def change_log(args: argparse.Namespace, robot: Robot, log: Log, work: Work) -> Log:
    """Return a log of the robot's joints with what the options say.

    In the order units, signs, zeros, turns, efforts.
    """
    if args.time_unit != 's':
        log = scale_time(log, TIME_UNITS[args.time_unit])
    moved = LogReading.as_recorded(robot.n)
    for option, (with_change, quantity) in CHANGES.items():
        for given in getattr(args, option):
            name, value = (given, -1.0) if isinstance(given, str) else given
            joints = _find(robot, name, f'--{option.replace("_", "-")}')
            moved = with_change(moved, joints, **{quantity: value})
    longest = float(np.abs(moved.effort_delay).max())
    if longest >= 0.5 * log.duration:
        raise InputError(
            f'--delay: expected less than half of the log, {0.5 * log.duration:.4g} s, '
            f'got {longest:g} s'
        )
    is_read_anew = any(getattr(args, option) for option in CHANGES)

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
