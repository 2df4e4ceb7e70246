"""Recordings of drivers from CSV or ROS 2 bags, and as CSV again.

CSV: the columns of :mod:`~ne_dynamics.logs.log`, of which efforts may be missing;
``received`` [s] where there is one; and for all joints ``<joint>.command`` [N m or N]. A row that
has commands and no position is a command by itself; a row that has both was answered by it.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ne_dynamics.driver.collecting import COMMAND_TYPES, MessageCollector
from ne_dynamics.driver.recording import CommandLog, DriverRecording
from ne_dynamics.errors import InputError
from ne_dynamics.logs.readers.bag import choose_joint_states, find_folder, open_reader
from ne_dynamics.logs.readers.csv_log import (
    RowFormat,
    read_columns,
    read_csv_rows,
    require_numbers,
)
from ne_dynamics.logs.readers.layouts import NANOSECONDS, TIME_COLUMN, Columns
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.prepared_file import write_whole

RECEIVED_COLUMN = 'received'
COMMAND = 'command'
ARRAY = COMMAND_TYPES[0]


def read_bag(
    path: str | os.PathLike[str],
    command_names: Sequence[str],
    topic: str | None = None,
    command_topic: str | None = None,
) -> MessageCollector:
    """Read states and commands of a bag.

    Parameters
    ----------
    path : path
        Folder of a bag, or a file of one.
    command_names : sequence of str
        Joints of a command that carries no names, in its order.
    topic : str, optional
        Of the states; default: the only one of JointState.
    command_topic : str, optional
        Of the commands; default: the only one of Float64MultiArray, if there is one.

    Returns
    -------
    MessageCollector

    Raises
    ------
    InputError
        When the bag cannot be read, or does not have the topics.
    MissingDependencyError
        When the library `rosbags` is missing.
    """
    place = Path(path)
    folder = find_folder(place)
    collector = MessageCollector(command_names, str(folder))
    with ExitStack() as stack:
        reader = open_reader(stack, place)
        topics = {item.topic: str(item.msgtype) for item in reader.connections}
        commands = _choose_commands(topics, command_topic, folder)
        others = [item for item in reader.connections if item.topic != commands]
        states = choose_joint_states(others, topic, folder)[0].topic
        chosen = [item for item in reader.connections if item.topic in (states, commands)]
        try:
            for connection, received, data in reader.messages(connections=chosen):
                message = reader.deserialize(data, connection.msgtype)
                if connection.topic == states:
                    collector.add_state(message, 1e-9 * received)
                else:
                    collector.add_command(message, 1e-9 * received)
        except Exception as error:
            raise InputError(f'{folder}: a message cannot be read: {error}') from error
    return collector


def read_csv(
    path: str | os.PathLike[str],
    joint_names: Sequence[str],
    called: Sequence[str] | None = None,
    columns: Columns | None = None,
) -> DriverRecording:
    """Read states and commands of a CSV file.

    Parameters
    ----------
    path : path
    joint_names : sequence of str
        Joints that are wanted, in the order in which they are.
    called : sequence of str, optional
        What they are called in the file; default: the same.
    columns : Columns, optional
        Which of them are what; default: as the header says.

    Returns
    -------
    DriverRecording

    Raises
    ------
    InputError
        When the file cannot be read, lacks a column, or too little of it can be used.
    """
    place, names = Path(path), tuple(joint_names)
    called = names if called is None else tuple(called)
    columns = columns or read_columns(place, None, called)
    header = list(columns.names)
    missing = [
        name
        for name in (TIME_COLUMN, *(f'{joint}.position' for joint in called))
        if name not in header
    ]
    if missing:
        raise InputError(
            f'{place}: expected the columns {", ".join(missing)} too, got the '
            f'header {", ".join(columns.titles) or "(none)"}'
        )
    table = _read_table(place, columns)
    if not table.size:
        raise InputError(f'{place}: expected samples below the header, got none')
    used = tuple(
        header.index(name) for name in (TIME_COLUMN, *(f'{joint}.position' for joint in called))
    )
    if not np.isfinite(table[:, used]).all(axis=1).any():
        require_numbers(place, RowFormat(columns, used))
    tables = {
        key: _columns(table, header, called, key)
        for key in ('position', 'velocity', 'effort', COMMAND)
    }
    stamps = table[:, header.index(TIME_COLUMN)]
    position, command = tables['position'], tables[COMMAND]
    assert position is not None
    is_state = np.ones(len(table), dtype=bool)
    if command is not None:
        is_state = np.asarray(np.isfinite(position).any(axis=1))
    commands = None
    if command is not None and np.isfinite(command).any():
        commands = CommandLog.from_samples(names, stamps, command, source=f'{place}: commands')
    received = None
    if RECEIVED_COLUMN in header:
        received = table[is_state, header.index(RECEIVED_COLUMN)]
    velocity, effort = (
        None if part is None else part[is_state] for part in (tables['velocity'], tables['effort'])
    )
    return DriverRecording.from_samples(
        names,
        stamps[is_state],
        position[is_state],
        velocity,
        effort,
        received=received,
        commands=commands,
        source=str(place),
    )


def write_csv(path: str | os.PathLike[str], recording: DriverRecording) -> None:
    """Write a recording so that :func:`read_csv`, and `identify`, read it.

    Commands are rows of their own, in the order of time.

    Parameters
    ----------
    path : path
    recording : DriverRecording

    Raises
    ------
    OSError
        When the file cannot be written; what was there before is then still there.
    """
    tables = {'position': recording.position}
    for key, part in (('velocity', recording.velocity), ('effort', recording.effort)):
        if part is not None:
            tables[key] = part
    header = [TIME_COLUMN, *([RECEIVED_COLUMN] * (recording.received is not None))]
    header += [f'{joint}.{key}' for key in tables for joint in recording.joint_names]
    commands, n = recording.commands, len(recording.joint_names)
    width = len(header)
    if commands is not None:
        header += [f'{joint}.{COMMAND}' for joint in recording.joint_names]
    lines: list[tuple[float, list[str]]] = []
    for index, stamp in enumerate(recording.stamps):
        cells = [] if recording.received is None else [recording.received[index]]
        cells += [value for table in tables.values() for value in table[index]]
        lines.append((float(stamp), [_cell(value) for value in (stamp, *cells)]))
    if commands is not None:
        for line in lines:
            line[1].extend([''] * n)
        for moment, efforts in zip(commands.times, commands.effort, strict=True):
            cells = [_cell(moment), *[''] * (width - 1), *(_cell(value) for value in efforts)]
            lines.append((float(moment), cells))
        # States stay in the order in which they came.
        lines.sort(key=lambda line: line[0] if math.isfinite(line[0]) else math.inf)
    text = io.StringIO(newline='')
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(header)
    writer.writerows(cells for _, cells in lines)
    write_whole(Path(path), text.getvalue())


def _choose_commands(topics: dict[str, str], topic: str | None, folder: Path) -> str | None:
    if topic is None:
        found = [name for name, kind in topics.items() if kind == ARRAY]
        return found[0] if len(found) == 1 else None
    if topics.get(topic) not in COMMAND_TYPES:
        able = sorted(name for name, kind in topics.items() if kind in COMMAND_TYPES)
        raise InputError(
            f'{folder}: command topic: expected one of {", ".join(able) or "(none)"}, of the '
            f'types {", ".join(COMMAND_TYPES)}, got {topic!r}'
            + (f' of {topics[topic]}' if topic in topics else '')
        )
    return topic


def _read_table(path: Path, columns: Columns) -> FloatArray:
    """Return the numbers of all rows that hold something, NaN for what is none."""
    width = len(columns.names)
    form = RowFormat(columns, (0,))
    with read_csv_rows(path, columns.separator) as rows:
        if not columns.repeated:
            next(rows)
        table = np.array(
            [
                [_number(cell) for cell in (*row[:width], *[''] * (width - len(row)))]
                for row in rows
                if row and not form.find_fault(row)
            ]
        )
    if table.size and NANOSECONDS in columns.names:
        table[:, 0] += 1e-9 * table[:, columns.names.index(NANOSECONDS)]
    return table


def _number(cell: str) -> float:
    try:
        return float(cell or 'nan')
    except ValueError:
        return math.nan


def _cell(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ''


def _columns(
    table: FloatArray, header: list[str], joints: tuple[str, ...], key: str
) -> FloatArray | None:
    """Return a column a joint, NaN where there is none; None where no joint has one."""
    places = [
        header.index(name) if (name := f'{joint}.{key}') in header else -1 for joint in joints
    ]
    if all(place < 0 for place in places):
        return None
    return np.stack(
        [table[:, place] if place >= 0 else np.full(len(table), math.nan) for place in places],
        axis=1,
    )
