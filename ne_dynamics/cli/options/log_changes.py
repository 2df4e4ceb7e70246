"""Options that change a log by hand before it is used."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ne_dynamics.cli.options.log_source import COLUMN_READERS
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


LOG_READERS: dict[str, Any] = {**COLUMN_READERS, 'time_unit': ('s', *TIME_UNITS)}
"""Of the shared options `logs`; :func:`change_log` does what they say."""


CHANGES: dict[str, tuple[Callable[..., LogReading], str]] = {
    'position_sign': (LogReading.with_position, 'factor'),
    'zero': (LogReading.with_position, 'offset'),
    'sign': (LogReading.with_effort, 'factor'),
    'scale': (LogReading.with_effort, 'factor'),
    'delay': (LogReading.with_effort, 'delay'),
}
"""What the options of a joint change, in this order; a sign is reversed."""


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

    Raises
    ------
    InputError
        When a joint is not one of the model.
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
