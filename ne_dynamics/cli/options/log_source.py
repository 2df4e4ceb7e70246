"""What is said of a log that is read for a model: its columns, what was locked, what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ne_dynamics.cli.options.thresholds import COMMAND_LINE
from ne_dynamics.errors import InputError
from ne_dynamics.logs import LogDiagnosis
from ne_dynamics.logs.names import find_unrecorded
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.readers.csv_log import read_columns
from ne_dynamics.logs.readers.layouts import KINDS, TIME_COLUMN, Columns, Layout, by_hand
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.printable import print_lines
from ne_dynamics.tables import align_lines


class ModelText(Protocol):
    """A description, and the robot of it."""

    @property
    def text(self) -> str:
        """URDF, or a DH file."""

    def load(self, locked_joints: Mapping[str, float] | None = None) -> Robot:
        """Return the robot, with joints locked where they are given [rad or m]."""


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


def find_columns(args: argparse.Namespace, robot: Robot, name: str) -> Columns | None:
    """Return which column of a CSV file is what; None for a bag.

    Raises
    ------
    InputError
        When the file cannot be read, or its columns are not known.
    """
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

    Parameters
    ----------
    args : argparse.Namespace
    robot : Robot
    columns : Columns or None
        Of the file.
    matched : mapping of str to str
        What it calls the joints of the robot.
    name : str
        Of the file.
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


def describe_locked(locked: Mapping[str, float], logs: int = 1) -> list[str]:
    """Return what was locked, for people."""
    if not locked:
        return []
    joints = ', '.join(f'{name} at {place:.4g}' for name, place in locked.items())
    who = 'the log does not move' if logs == 1 else 'no log moves'
    return [f'locked, since {who} them: {joints}']


def find_locked(
    robot: Robot, recorded: Sequence[str], matched: Mapping[str, str]
) -> dict[str, float]:
    """Return joints that a log lacks and that are locked, and where [rad or m]."""
    return {name: _zero(robot, name) for name in find_unrecorded(robot, recorded, matched)}


def _zero(robot: Robot, name: str) -> float:
    """Return the position nearest to zero that a joint can have [rad or m]."""
    joint = robot.joints[robot.joint_names.index(name)]
    return min(max(0.0, joint.lower), joint.upper)


def describe_remedy(is_certain: bool) -> str:
    """Return what can be done about a log that is wrong; `is_certain`: all of it is repairable."""
    return '--repair takes out what is wrong' if is_certain else 'not all of it can be repaired'


def describe_diagnosis(args: argparse.Namespace, diagnosis: LogDiagnosis) -> list[str]:
    """Return lines for people on what is wrong with a log, and what was repaired."""
    lines = [f'  {fault.text}' for fault in diagnosis.faults]
    repaired = [fault.code for fault in diagnosis.faults if fault.is_certain]
    if args.repair and repaired:
        lines.append(f'  repaired: {", ".join(repaired)}')
    if lines:
        lines += [f'  this log does not show {sentence}' for sentence in diagnosis.untold]
    return lines
