"""What is said of recordings by hand, and which of a model's joints they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import Log, list_joints
from ne_dynamics.logs.names import find_unrecorded, match_names, name_misfit
from ne_dynamics.logs.parts import change_in_parts
from ne_dynamics.logs.readers.bag import is_bag
from ne_dynamics.logs.readers.csv_log import read_columns
from ne_dynamics.logs.readers.layouts import KINDS, TIME_COLUMN, Columns, Layout
from ne_dynamics.logs.reading import LogReading
from ne_dynamics.logs.samples.sample_faults import (
    TIME_UNITS,
    scale_positions,
    scale_time,
    unwrap_positions,
)
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.logs.work import Work
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Joint, Robot
from ne_dynamics.tables import align_lines

Say = Callable[[Sequence[str]], Any]
"""Shows lines to whoever waits."""

ALL = 'all'
"""In the place of a joint: every joint."""

CHANGES: dict[str, tuple[Callable[..., LogReading], str]] = {
    'position_sign': (LogReading.with_position, 'factor'),
    'zero': (LogReading.with_position, 'offset'),
    'sign': (LogReading.with_effort, 'factor'),
    'scale': (LogReading.with_effort, 'factor'),
    'delay': (LogReading.with_effort, 'delay'),
}
"""What a request changes of a joint, in this order; a sign is reversed."""


@dataclass(frozen=True)
class LogRequest:
    """How logs are to be read, beside what their files say.

    Attributes
    ----------
    topic : str, optional
        Topic of a bag with several topics of JointState.
    columns : Layout, optional
        Of a CSV file whose header is none that is known.
    rename : sequence of (str, str)
        Name in the log, and in the model; one ``*`` in both stands for the same text.
    time_unit : str
        Unit of the times: s, ms, us or ns.
    degrees : bool
        Positions and velocities are in degrees.
    unwrap : bool
        Remove jumps of angles by whole turns.
    position_sign : sequence of str
        Reverse the sign of its position. Here and below, of a joint of the model, or of `all`.
    sign : sequence of str
        Reverse the sign of its effort.
    zero : sequence of (str, float)
        Add to its position [rad or m].
    scale : sequence of (str, float)
        Multiply its effort, for example by torque per motor current.
    delay : sequence of (str, float)
        Delay of its effort behind its position [s].
    """

    topic: str | None = None
    columns: Layout | None = None
    rename: Sequence[tuple[str, str]] = ()
    time_unit: str = 's'
    degrees: bool = False
    unwrap: bool = False
    position_sign: Sequence[str] = ()
    sign: Sequence[str] = ()
    zero: Sequence[tuple[str, float]] = ()
    scale: Sequence[tuple[str, float]] = ()
    delay: Sequence[tuple[str, float]] = ()

    def change(self, robot: Robot, log: Log, work: Work) -> Log:
        """Return a log of the robot's joints as it is meant.

        In the order units, signs, zeros, turns, efforts.

        Raises
        ------
        InputError
            When a joint is not the robot's, or a delay is half as long as the log.
        """
        if self.time_unit != 's':
            log = scale_time(log, TIME_UNITS[self.time_unit])
        moved = LogReading.as_recorded(robot.n)
        for option, (with_change, quantity) in CHANGES.items():
            for given in getattr(self, option):
                name, value = (given, -1.0) if isinstance(given, str) else given
                joints = _find_joints(robot, name, f'--{option.replace("_", "-")}')
                moved = with_change(moved, joints, **{quantity: value})
        longest = float(np.abs(moved.effort_delay).max())
        if longest >= 0.5 * log.duration:
            raise InputError(
                f'--delay: expected less than half of the log, {0.5 * log.duration:.4g} s, '
                f'got {longest:g} s'
            )
        is_read_anew = any(getattr(self, option) for option in CHANGES)

        def change(part: Log) -> Log:
            if self.degrees:
                turning = np.array([not joint.type.is_prismatic for joint in robot.joints])
                part = scale_positions(part, turning, math.pi / 180.0)
            if is_read_anew:
                part = moved.read_log(part)
            if self.unwrap:
                position = unwrap_positions(robot, part.position)
                position.setflags(write=False)
                part = replace(part, position=position)
            return part

        if self.degrees or is_read_anew or self.unwrap:
            log = change_in_parts(log, change, work, longest)
        return log


def _find_joints(robot: Robot, name: str, option: str) -> list[int]:
    if name == ALL:
        return list(range(robot.n))
    if name not in robot.joint_names:
        raise InputError(
            f'{option}: expected a joint of the model, {", ".join(robot.joint_names)}, or '
            f'{ALL}, got {name!r}'
        )
    return [robot.joint_names.index(name)]


@dataclass(frozen=True, eq=False)
class RecordedJoints:
    """The joints of a recording, and which of a model's they are.

    Attributes
    ----------
    source : str
        Name of the recording.
    columns : Columns or None
        Of a CSV file.
    names : tuple of str
        As the recording calls them.
    matched : mapping of str to str
        From a joint of the model to its name in the recording.
    """

    source: str
    columns: Columns | None
    names: tuple[str, ...]
    matched: Mapping[str, str]

    @classmethod
    def find(
        cls, robot: Robot, request: LogRequest, source: str, names: Sequence[str] = ()
    ) -> RecordedJoints:
        """Return those of a file, or of messages with these names of joints.

        Raises
        ------
        InputError
            When the file cannot be read, or a name to be changed does not fit.
        """
        columns = None
        if names or is_bag(source):
            if request.columns is not None:
                raise InputError(f'{source}: --columns: expected none with a bag')
            names = names or list_joints(source, request.topic)
        else:
            known = () if request.rename else robot.joint_names
            columns = read_columns(source, request.columns, known)
            names = columns.joints
        return cls(
            source, columns, tuple(names), match_names(robot, names, request.rename, source)
        )

    def lock_missing(self, model: ModelSource, robot: Robot) -> tuple[Robot, dict[str, float]]:
        """Return the robot with joints locked for want of a record, and where [rad or m]."""
        locked = find_unrecorded(robot, self.names, self.matched) if model.is_urdf else {}
        return model.load(locked) if locked else robot, locked

    def has_all(self, robot: Robot) -> bool:
        """Return whether every joint of a robot is recorded."""
        return all(name in self.matched for name in robot.joint_names)

    def explain_misfit(self, robot: Robot) -> str:
        """Return a sentence on the names of model and recording, and how to make them fit."""
        return name_misfit(robot, self.names, self.matched)

    def describe_columns(self, robot: Robot, request: LogRequest) -> list[str]:
        """Return what the columns of a file were taken for; nothing where the file says so."""
        columns = self.columns
        if columns is None or not columns.layout:
            return []
        rows = [
            [joint.name, *self._describe(columns, joint, request.degrees)]
            for joint in robot.joints
            if joint.name in self.matched
        ]
        table = align_lines([['joint', *KINDS]], rows, is_text=True)
        pairs = zip(columns.titles, columns.names, strict=True)
        unused = [title for title, ours in pairs if not (ours or columns.repeated)]
        most = LOGS.most_unused
        rest = ', '.join(unused[:most]) + ', ...' * (len(unused) > most)
        return [
            f'{self.source}: read as {columns.layout}; columns and units as taken:',
            *(f'  {line}' for line in table),
            f'  time: {columns.get_title(TIME_COLUMN)} [{request.time_unit}]'
            + (f'; not used: {rest}' if rest else ''),
        ]

    def _describe(self, columns: Columns, joint: Joint, in_degrees: bool) -> Iterator[str]:
        """Yield title and unit of a joint's columns; '-' for one that is not there."""
        length = 'm' if joint.type.is_prismatic else 'deg' if in_degrees else 'rad'
        units = (length, f'{length}/s', joint.type.effort_unit)
        for kind, unit in zip(KINDS, units, strict=True):
            title = columns.get_title(f'{self.matched[joint.name]}.{kind}')
            yield f'{title} [{unit}]' if title else '-'
