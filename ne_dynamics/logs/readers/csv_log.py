"""CSV logs: blocks of lines, read by NumPy's parser, which is fast and knows plain numbers only.

Where it finds anything else, the block is read row by row.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.readers.joint_state_cdr import JOINTS_MISSING, SHORT
from ne_dynamics.logs.readers.layouts import (
    LAYOUTS,
    NAMES_PLACE,
    NANOSECONDS,
    OURS,
    TIME_COLUMN,
    Columns,
    Layout,
    describe_unknown,
    fit_header,
    fit_message,
    is_number,
    name_case,
    number_joints,
)
from ne_dynamics.logs.thresholds import LOGS
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray

NO_NUMBER = 'no number'
UNRECORDED = 'a joint that was not recorded has to be locked, or be beyond the tip link'


SEPARATORS = (',', ';', '\t', ' ')


@contextlib.contextmanager
def csv_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise what goes wrong with a CSV file as an InputError that names it."""
    try:
        yield
    except OSError as error:
        raise InputError(f'cannot read the log {str(path)!r}: {error.strerror}') from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f'{path}: expected a CSV file in UTF-8: {error}') from error


@contextlib.contextmanager
def read_csv_rows(path: str | os.PathLike[str], separator: str) -> Iterator[Iterator[list[str]]]:
    """Open a CSV file, and give its rows without lines of comment.

    Raises
    ------
    InputError
        When it cannot be read, at the begin or later.
    """
    with csv_errors(path), Path(path).open(encoding='utf-8-sig', newline='') as stream:
        yield _split(stream, separator)


def _split(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Return the cells of lines that are no comment."""
    kept = (line for line in lines if not line.startswith('#'))
    return csv.reader(kept, delimiter=separator, skipinitialspace=True)


def read_columns(
    path: str | os.PathLike[str], given: Layout | None = None, joint_names: Sequence[str] = ()
) -> Columns:
    """Return which column of a CSV file is what.

    Parameters
    ----------
    path : path
    given : Layout, optional
        The one that was described by hand; default: the one that the header fits.
    joint_names : sequence of str
        Of the model: joints that the file numbers get them. Where there are none, numbers stay.

    Raises
    ------
    InputError
        When the file cannot be read, or its header fits no layout, or several; when it numbers
        other than as many joints.
    """
    with csv_errors(path), Path(path).open(encoding='utf-8-sig', newline='') as stream:
        line = next((line for line in stream if not line.startswith('#')), '').rstrip('\r\n')
        layouts = LAYOUTS if given is None else (given,)
        found: list[Columns] = []
        for separator in SEPARATORS:
            stream.seek(0)
            cells = next(_split(stream, separator), [])
            found = found or list(fit_header(cells, separator, layouts))
    if not found and given is None:
        found = _find_messages(path)
    if not found:
        unknown = describe_unknown(line, joint_names, given)
        raise InputError('\n'.join([f'{path}: {unknown[0]}', *unknown[1:]]))
    if len(found) > 1:
        texts = ' and '.join(f'`{columns.layout or OURS}`' for columns in found)
        raise InputError(f'{path}: the header fits {texts}: expected one of them')
    (columns,) = found
    _require_once(columns, path)
    if not (columns.is_numbered and joint_names):
        return columns
    try:
        numbered = number_joints(columns.joints, joint_names)
    except InputError as error:
        raise InputError(f'{path}: {error}') from error
    parts = (name.rpartition('.') for name in columns.names)
    named = tuple(f'{numbered[joint]}.{kind}' if joint else kind for joint, _, kind in parts)
    return replace(columns, names=named, is_numbered=False)


def _find_messages(path: str | os.PathLike[str]) -> list[Columns]:
    """Return what the rows of a file of messages mean: of its first ones that with most joints."""
    with read_csv_rows(path, ',') as rows:
        first = list(islice(rows, LOGS.rows_for_names))
    if not first or fit_message(first[0]) is None:
        return []
    found = [columns for row in first if (columns := fit_message(row))]
    return [max(found, key=lambda columns: len(columns.joints))]


def _require_once(columns: Columns, path: str | os.PathLike[str]) -> None:
    for name, title in zip(columns.names, columns.titles, strict=True):
        if name and columns.titles.count(title) > 1:
            raise InputError(
                f'{path}: column {title!r}: expected once, got {columns.titles.count(title)}'
            )


@dataclass(frozen=True)
class RowFormat:
    """Where in a row what is wanted is.

    Attributes
    ----------
    columns : Columns
    indices : tuple of int
        Of time, positions, efforts, velocities; last, where times are in two parts, nanoseconds.
    """

    columns: Columns
    indices: tuple[int, ...]

    @classmethod
    def find(cls, columns: Columns, joints: Sequence[str], path: Path) -> RowFormat:
        """Return where joints are; velocities are left out where a joint has none.

        Raises
        ------
        InputError
            When a column is missing.
        """
        wanted = [
            TIME_COLUMN,
            *(f'{joint}.{key}' for key in ('position', 'effort') for joint in joints),
        ]
        missing = [name for name in wanted if name not in columns.names]
        if missing:
            raise InputError(
                f'{path}: expected the columns {", ".join(missing)} too, got the '
                f'header {", ".join(columns.titles) or "(none)"}; '
                + '; '.join(name_case(missing, columns.titles) or [UNRECORDED])
            )
        rates = [f'{joint}.velocity' for joint in joints]
        if all(name in columns.names for name in rates):
            wanted += rates
        if NANOSECONDS in columns.names:
            wanted.append(NANOSECONDS)
        return cls(columns, tuple(columns.names.index(name) for name in wanted))

    def find_fault(self, row: list[str]) -> str:
        """Return why a row is not one of these; '' where it is."""
        repeated = self.columns.repeated
        names = row[NAMES_PLACE : NAMES_PLACE + len(repeated)]
        if names and tuple(names) != repeated and repeated:
            return JOINTS_MISSING
        is_cut = repeated and len(row) != len(self.columns.names)
        return SHORT if is_cut or len(row) <= max(self.indices) else ''

    def gather(self, table: FloatArray) -> FloatArray:
        """Return numbers, a column each of the indices, with times in one part."""
        if NANOSECONDS not in self.columns.names:
            return table
        table[:, 0] += 1e-9 * table[:, -1]
        return table[:, :-1]


def read_csv_tables(
    path: Path, joints: tuple[str, ...], work: Work, columns: Columns
) -> Iterator[tuple[FloatArray, dict[str, int]]]:
    """Yield tables of time, positions, efforts and velocities of n joints, and what was dropped.

    Yields
    ------
    table : array, shape (N, 1 + 2 n) or (N, 1 + 3 n)
        [s], [rad or m], [N m or N], [rad/s or m/s].
    dropped : dict of str to int
        Rows by reason.

    Raises
    ------
    InputError
        When the file cannot be read, has not the columns, or no row of numbers.
    """
    form = RowFormat.find(columns, joints, path)
    is_empty = True
    for table, dropped in _read_tables(path, work, form):
        is_empty = is_empty and not len(table)
        if is_empty and dropped.get(NO_NUMBER):
            require_numbers(path, form)
        yield table, dropped


def _read_tables(
    path: Path, work: Work, form: RowFormat
) -> Iterator[tuple[FloatArray, dict[str, int]]]:
    with csv_errors(path), path.open('rb') as stream:
        size = os.fstat(stream.fileno()).st_size
        if not _skip_header(stream, form.columns):
            with read_csv_rows(path, form.columns.separator) as rows:
                next(rows)
                yield parse_rows(rows, form)
            return
        blocks = ((data,) for data in _generate_blocks(stream))
        count = -(-(size - stream.tell()) // LOGS.block_size)
        yield from work.map('read', parse_lines, blocks, form, str(path), total=max(count, 1))


def require_numbers(path: Path, form: RowFormat) -> None:
    """Refuse a file none of whose first rows has numbers; the InputError names the first cell."""
    wrong = ''
    with read_csv_rows(path, form.columns.separator) as rows:
        for count, row in enumerate(islice(rows, LOGS.rows_for_names)):
            if (count == 0 and not form.columns.repeated) or not row or form.find_fault(row):
                continue
            bad = [index for index in form.indices if not is_number(row[index] or 'nan')]
            if not bad:
                return
            title = form.columns.titles[bad[0]]
            wrong = wrong or f'column {title!r}, row {count + 1}: {row[bad[0]]!r}'
    raise InputError(
        f'{path}: expected numbers with a decimal point in the rows, got none; {wrong}'
    )


def _skip_header(stream: io.BufferedReader, columns: Columns) -> bool:
    """Go to the first row; return whether from there on a line is a row."""
    mark = b'\xef\xbb\xbf'
    if columns.repeated:
        stream.seek(len(mark) if stream.peek(len(mark)).startswith(mark) else 0)
        return True
    header = stream.readline(LOGS.longest_header).removeprefix(mark)
    while header.startswith(b'#') and stream.tell() < LOGS.longest_header:
        header = stream.readline(LOGS.longest_header)
    return header.endswith(b'\n') and header.count(b'\r') <= header.endswith(b'\r\n')


def _generate_blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield blocks that end with a line, one at least."""
    data = stream.read(LOGS.block_size)
    yield data + stream.readline()
    while data := stream.read(LOGS.block_size):
        yield data + stream.readline()


def parse_lines(data: bytes, form: RowFormat, path: str) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of lines, shape (N, columns), and what was dropped.

    An InputError where they are no CSV.
    """
    with csv_errors(path):
        text = data.decode('utf-8')
        if not text.strip():
            return np.zeros((0, len(form.indices))), {}
        is_plain = b'"' not in data and not data.startswith(b'#') and b'\n#' not in data
        if is_plain and not form.columns.repeated:
            # NumPy counts spaces together when it is told of no separator.
            separator = form.columns.separator.strip(' ') or None
            with contextlib.suppress(ValueError):
                lines = text.split('\n')
                table = np.loadtxt(
                    lines, delimiter=separator, comments=None, usecols=form.indices, ndmin=2
                )
                return np.asarray(table, dtype=np.float64), {}
        stream = io.StringIO(text, newline='')
        return parse_rows(_split(stream, form.columns.separator), form)


def parse_rows(rows: Iterable[list[str]], form: RowFormat) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of rows, shape (N, columns), and what was dropped."""
    table = array('d')
    dropped: Counter[str] = Counter()
    for row in rows:
        if not row:
            continue
        fault = form.find_fault(row)
        if fault:
            dropped[fault] += 1
            continue
        try:
            table.extend([float(row[index] or 'nan') for index in form.indices])
        except ValueError:
            dropped[NO_NUMBER] += 1
    return form.gather(np.array(table).reshape(-1, len(form.indices))), dropped
