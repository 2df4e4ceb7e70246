"""A trajectory as YAML: what ``ros2 topic echo`` prints and ``ros2 topic pub`` takes."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ne_dynamics.errors import ModelError, TrajectoryError
from ne_dynamics.model.yaml_text import UniqueKeys
from ne_dynamics.model.yaml_values import check_mapping, read_any_number, show_value
from ne_dynamics.motion.annotated.annotated_trajectory import AnnotatedTrajectory
from ne_dynamics.motion.waypoints import NANO, TrajectoryPoint
from ne_dynamics.prepared_file import STANDARD, name_stream

_TOP_KEYS = ('header', 'joint_names', 'points')
_HEADER_KEYS = ('stamp', 'frame_id')
_TIME_KEYS = ('sec', 'nanosec')
_FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
_CUT_OFF = '...'
_DEEPEST = 16


@dataclass(frozen=True, eq=False)
class TrajectoryFile:
    """What a file says.

    Attributes
    ----------
    stamp : tuple of int
        Seconds and nanoseconds.
    frame_id : str
    joint_names : tuple of str
    points : tuple of TrajectoryPoint
        Their numbers are not yet checked against a robot.
    """

    stamp: tuple[int, int]
    frame_id: str
    joint_names: tuple[str, ...]
    points: tuple[TrajectoryPoint, ...]


# The loader in C reads ten thousand points in seconds, the one in Python in minutes.
_FastLoader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _TrajectoryLoader(UniqueKeys, _FastLoader):  # type: ignore[misc]
    """Plain data, no key twice."""


def parse_trajectory(text: bytes) -> TrajectoryFile:
    """Read a trajectory.

    Parameters
    ----------
    text : bytes
        One document; what ``ros2 topic echo`` separates by ``---`` may end in one. ``header`` and
        all fields of a point but its positions may be left out.

    Raises
    ------
    TrajectoryError
        When it is no such document; the message names point and field.
    """
    try:
        return _parsed(_document(text))
    except ModelError as error:
        raise TrajectoryError(str(error)) from error


def read_trajectory(path: str) -> TrajectoryFile:
    """Read a trajectory of a file, or of standard input for `-`; errors name it too."""
    source = name_stream(path, 'input')
    try:
        text = sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()
        return parse_trajectory(text)
    except TrajectoryError as error:
        raise TrajectoryError(f'{source}: {error}') from error
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise TrajectoryError(f'{source}: cannot be read: {reason}') from error


def _document(text: bytes) -> Any:
    try:
        _check_depth(text)
        documents = [
            document
            for document in yaml.load_all(text, Loader=_TrajectoryLoader)
            if document is not None
        ]
    except (TrajectoryError, ModelError):
        raise
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise TrajectoryError(f'malformed YAML: {error}') from error
    if len(documents) != 1:
        raise TrajectoryError(
            f'expected one trajectory, got {len(documents) or "nothing"}'
            + ('; `ros2 topic echo --once` prints one' if documents else '')
        )
    return documents[0]


def _check_depth(text: bytes) -> None:
    """Refuse what is nested deeper than a message: the loader in C would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_FastLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise TrajectoryError('malformed YAML: nested too deeply')
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _parsed(document: Any) -> TrajectoryFile:
    top = check_mapping(document, _TOP_KEYS, 'trajectory')
    header = check_mapping(top.get('header', {}), _HEADER_KEYS, 'header')
    stamp = check_mapping(header.get('stamp', {}), _TIME_KEYS, 'header.stamp')
    frame_id = header.get('frame_id', '')
    if not isinstance(frame_id, str):
        raise TrajectoryError(f'header.frame_id: expected a text, got {show_value(frame_id)}')
    for key in ('joint_names', 'points'):
        if key not in top:
            raise TrajectoryError(f'{key}: missing')
    names = _list(top['joint_names'], 'joint_names')
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise TrajectoryError(f'joint_names[{index}]: expected a name, got {show_value(name)}')
    return TrajectoryFile(
        _read_time(stamp, 'header.stamp'),
        frame_id,
        tuple(names),
        tuple(
            _point(point, f'point {index}')
            for index, point in enumerate(_list(top['points'], 'points'))
        ),
    )


def _point(value: Any, what: str) -> TrajectoryPoint:
    point = check_mapping(value, (*_FIELDS, 'time_from_start'), what)
    if 'positions' not in point:
        raise TrajectoryError(f'{what}: positions: missing')
    key = f'{what}: time_from_start'
    time = check_mapping(point.get('time_from_start', {}), _TIME_KEYS, key)
    seconds, nanoseconds = _read_time(time, key)
    return TrajectoryPoint(
        (seconds * NANO + nanoseconds) / NANO,
        *(_numbers(point.get(field, ()), f'{what}: {field}') for field in _FIELDS),
    )


def _list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise TrajectoryError(f'{what}: expected a list, got {show_value(value)}')
    if value and value[-1] == _CUT_OFF:
        raise TrajectoryError(
            f'{what}: cut off after {len(value) - 1}: use `ros2 topic echo --full-length`'
        )
    return value


def _numbers(value: Any, what: str) -> list[float]:
    numbers = _list(value, what)
    if all(type(number) is float for number in numbers):
        return list(numbers)
    return [read_any_number(number, f'{what}[{index}]') for index, number in enumerate(numbers)]


def _read_time(time: Mapping[str, Any], what: str) -> tuple[int, int]:
    """Return seconds and nanoseconds; the seconds are an int32, as in ROS."""
    return (
        _whole(time.get('sec', 0), -(2**31), 2**31 - 1, f'{what}.sec'),
        _whole(time.get('nanosec', 0), 0, NANO - 1, f'{what}.nanosec'),
    )


def _whole(value: Any, lowest: int, highest: int, what: str) -> int:
    if type(value) is not int or not lowest <= value <= highest:
        raise TrajectoryError(
            f'{what}: expected a whole number from {lowest} to {highest}, got {show_value(value)}'
        )
    return int(value)


def trajectory_text(trajectory: AnnotatedTrajectory, stamp: tuple[int, int], frame_id: str) -> str:
    """Return a trajectory as the YAML of one message.

    Parameters
    ----------
    trajectory : AnnotatedTrajectory
    stamp : tuple of int
        Seconds and nanoseconds of the header.
    frame_id : str
    """
    lines = [
        'header:',
        f'  stamp: {{sec: {stamp[0]}, nanosec: {stamp[1]}}}',
        f'  frame_id: {_quoted(frame_id)}',
        f'joint_names: [{", ".join(map(_quoted, trajectory.joint_names))}]',
        'points:' if len(trajectory) else 'points: []',
    ]
    for i, (nanoseconds, order) in enumerate(
        zip(trajectory.nanoseconds.tolist(), trajectory.orders.tolist(), strict=True)
    ):
        seconds, rest = divmod(nanoseconds, NANO)
        lines += [
            f'- positions: {_row(trajectory.positions[i])}',
            f'  velocities: {_row(trajectory.velocities[i]) if order >= 1 else "[]"}',
            f'  accelerations: {_row(trajectory.accelerations[i]) if order >= 2 else "[]"}',
            f'  effort: {_row(trajectory.efforts[i])}',
            f'  time_from_start: {{sec: {seconds}, nanosec: {rest}}}',
        ]
    return '\n'.join(lines) + '\n'


def _quoted(text: str) -> str:
    dumped: str = yaml.safe_dump(
        text, default_style='"', width=math.inf, allow_unicode=True, explicit_end=False
    )
    return dumped.rstrip('\n')


def _row(values: Any) -> str:
    return f'[{", ".join(map(_number_text, values.tolist()))}]'


def _number_text(value: float) -> str:
    """Return the shortest text of a number that YAML 1.1 takes for one."""
    text = repr(value)
    return text.replace('e', '.0e') if 'e' in text and '.' not in text else text
