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

    Raises
    ------
    InputError
        When the file cannot be read, lacks a column, or too little of it can be used.
    """
    place, names = Path(path), tuple(joint_names)
    called = names if called is None else tuple(called)
    columns = columns or read_columns(place, None, called)
    header = list(columns.names)
    needed = [TIME_COLUMN, *(f'{joint}.position' for joint in called)]
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f'{place}: expected the columns {", ".join(missing)} too, got the '
            f'header {", ".join(columns.titles) or "(none)"}'
        )
    table = _read_table(place, columns)
    if not table.size:
        raise InputError(f'{place}: expected samples below the header, got none')
    used = tuple(map(header.index, needed))
    if not np.isfinite(table[:, used]).all(axis=1).any():
        require_numbers(place, RowFormat(columns, used))

    def read(key: str) -> FloatArray:
        """Return a column a joint, of NaN where there is none."""
        absent = np.full(len(table), math.nan)
        names = [f'{joint}.{key}' for joint in called]
        return np.stack(
            [table[:, header.index(name)] if name in header else absent for name in names], axis=1
        )

    stamps, position, command = table[:, used[0]], read('position'), read(COMMAND)
    commands, is_state = None, np.ones(len(table), dtype=bool)
    if any(f'{joint}.{COMMAND}' in header for joint in called):
        is_state = np.asarray(np.isfinite(position).any(axis=1))
    if np.isfinite(command).any():
        commands = CommandLog.from_samples(names, stamps, command, source=f'{place}: commands')
    received = None
    if RECEIVED_COLUMN in header:
        received = table[is_state, header.index(RECEIVED_COLUMN)]
    return DriverRecording.from_samples(
        names,
        stamps[is_state],
        position[is_state],
        read('velocity')[is_state],
        read('effort')[is_state],
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
    header, tables = [TIME_COLUMN], [recording.stamps[:, np.newaxis]]
    if recording.received is not None:
        header.append(RECEIVED_COLUMN)
        tables.append(recording.received[:, np.newaxis])
    for key in ('position', 'velocity', 'effort'):
        if (part := getattr(recording, key)) is not None:
            header += [f'{joint}.{key}' for joint in recording.joint_names]
            tables.append(part)
    table, commands = np.hstack(tables), recording.commands
    if commands is not None:
        header += [f'{joint}.{COMMAND}' for joint in recording.joint_names]
        (states, width), n = table.shape, len(recording.joint_names)
        both = np.full((states + commands.times.size, width + n), math.nan)
        both[:states, :width], both[states:, width:] = table, commands.effort
        both[states:, 0] = commands.times
        # States stay in the order in which they came.
        moments = np.where(np.isfinite(both[:, 0]), both[:, 0], math.inf)
        table = both[np.argsort(moments, kind='stable')]
    text = io.StringIO(newline='')
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in table.tolist())
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
    return repr(value) if math.isfinite(value) else ''
