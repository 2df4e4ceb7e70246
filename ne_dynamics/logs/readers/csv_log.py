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
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.readers.joint_state_cdr import SHORT
from ne_dynamics.logs.readers.layouts import TIME_COLUMN, read_header
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import FloatArray

NO_NUMBER = 'no number'

BLOCK_BYTES = 8 << 20

LONGEST_HEADER = 1 << 20
"""Bytes in which comments and the header have to end, for the rows to be read in blocks."""


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
def read_csv_rows(path: str | os.PathLike[str]) -> Iterator[Iterator[list[str]]]:
    """Open a CSV file, and give its rows without lines of comment.

    Raises
    ------
    InputError
        When it cannot be read, at the begin or later.
    """
    with csv_errors(path), Path(path).open(encoding='utf-8-sig', newline='') as stream:
        yield csv.reader(line for line in stream if not line.startswith('#'))


def read_csv_tables(
    path: Path, joints: tuple[str, ...], work: Work
) -> Iterator[tuple[FloatArray, dict[str, int]]]:
    """Yield tables of time, positions, efforts and velocities, and what was dropped.

    Parameters
    ----------
    path : Path
    joints : tuple of str
        n names.
    work : Work

    Yields
    ------
    table : array, shape (N, 1 + 2 n) or (N, 1 + 3 n)
        [s], [rad or m], [N m or N], [rad/s or m/s].
    dropped : dict of str to int
        Rows by reason.

    Raises
    ------
    InputError
        When the file cannot be read, or has not the columns.
    """
    with read_csv_rows(path) as rows:
        columns = find_columns(read_header(next(rows, []), path), joints, path)
    with csv_errors(path), path.open('rb') as stream:
        size = os.fstat(stream.fileno()).st_size
        if not _skip_header(stream):
            with read_csv_rows(path) as rows:
                next(rows)
                yield parse_rows(rows, columns)
            return
        blocks = ((data,) for data in _generate_blocks(stream))
        count = -(-(size - stream.tell()) // BLOCK_BYTES)
        yield from work.map('read', parse_lines, blocks, columns, str(path), total=max(count, 1))


def _skip_header(stream: io.BufferedReader) -> bool:
    """Go to the first row; return whether from there on a line is a row."""
    header = stream.readline(LONGEST_HEADER).removeprefix(b'\xef\xbb\xbf')
    while header.startswith(b'#') and stream.tell() < LONGEST_HEADER:
        header = stream.readline(LONGEST_HEADER)
    return header.endswith(b'\n') and header.count(b'\r') <= header.endswith(b'\r\n')


def _generate_blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield blocks that end with a line, one at least."""
    data = stream.read(BLOCK_BYTES)
    yield data + stream.readline()
    while data := stream.read(BLOCK_BYTES):
        yield data + stream.readline()


def find_columns(header: list[str], joints: tuple[str, ...], path: Path) -> list[int]:
    """Return the indices of time, positions, efforts and, where all are there, velocities."""
    for name in header:
        if name and header.count(name) > 1:
            raise InputError(f'{path}: column {name!r}: expected once, got {header.count(name)}')
    wanted = [
        TIME_COLUMN,
        *(f'{joint}.{key}' for key in ('position', 'effort') for joint in joints),
    ]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(
            f'{path}: expected the columns {", ".join(missing)} too, got the '
            f'header {", ".join(header) or "(none)"}; lock a joint that was not '
            'recorded, or end the chain before it with --tip-link'
        )
    rates = [f'{joint}.velocity' for joint in joints]
    if all(name in header for name in rates):
        wanted += rates
    return [header.index(name) for name in wanted]


def parse_lines(data: bytes, columns: list[int], path: str) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of lines, shape (N, columns), and what was dropped.

    Raises
    ------
    InputError
        When they are no CSV.
    """
    with csv_errors(path):
        text = data.decode('utf-8')
        if not text.strip():
            return np.zeros((0, len(columns))), {}
        is_plain = b'"' not in data and not data.startswith(b'#') and b'\n#' not in data
        if is_plain:
            with contextlib.suppress(ValueError):
                lines = text.split('\n')
                table = np.loadtxt(lines, delimiter=',', comments=None, usecols=columns, ndmin=2)
                return np.asarray(table, dtype=np.float64), {}
        stream = io.StringIO(text, newline='')
        return parse_rows(csv.reader(line for line in stream if line[:1] != '#'), columns)


def parse_rows(rows: Iterable[list[str]], columns: list[int]) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of rows, shape (N, columns), and what was dropped."""
    table = array('d')
    dropped: Counter[str] = Counter()
    last = max(columns)
    for row in rows:
        if not row:
            continue
        if len(row) <= last:
            dropped[SHORT] += 1
            continue
        try:
            table.extend([float(row[index] or 'nan') for index in columns])
        except ValueError:
            dropped[NO_NUMBER] += 1
    return np.array(table).reshape(-1, len(columns)), dropped
