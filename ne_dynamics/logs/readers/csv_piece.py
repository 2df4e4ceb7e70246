"""Pieces of a CSV log: ranges of bytes that end with a line.

Rows are read by NumPy's parser, which is fast and knows plain numbers only. Where it finds
anything else, the piece is read row by row, as a short log is.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.logs.log import csv_errors, find_columns, parse_rows
from ne_dynamics.logs.piece_samples import PieceSamples
from ne_dynamics.model.rigid_body import FloatArray

LONGEST_HEADER = 1 << 20
"""Bytes in which comments and the header have to end, for a log to be cut."""

WIDEST = 64
"""How many times more bytes are read beside a piece, at most, when the first ones were too few."""


@dataclass(frozen=True)
class CsvLayout:
    """What a CSV log has where.

    Attributes
    ----------
    path : Path
        Absolute.
    size : int
        Bytes of the file.
    body : int
        Byte at which the rows begin.
    columns : tuple of int
        Of time, positions, efforts and velocities.
    joint_names : tuple of str
        What the joints are called by the model.
    """

    path: Path
    size: int
    body: int
    columns: tuple[int, ...]
    joint_names: tuple[str, ...]

    @classmethod
    def find(
        cls, path: Path, recorded: tuple[str, ...], names: tuple[str, ...]
    ) -> CsvLayout | None:
        """Return the layout of a file; None when its header is none that a piece can do without.

        Parameters
        ----------
        path : Path
        recorded : tuple of str
            Joints as the log calls them.
        names : tuple of str
            As the model does.

        Raises
        ------
        InputError
            When the file cannot be read, or has not the columns.
        """
        with csv_errors(path), path.open('rb') as stream:
            size = os.fstat(stream.fileno()).st_size
            header = stream.readline(LONGEST_HEADER).removeprefix(b'\xef\xbb\xbf')
            while header.startswith(b'#') and stream.tell() < LONGEST_HEADER:
                header = stream.readline(LONGEST_HEADER)
            body = stream.tell()
            if not header.endswith(b'\n') or header.count(b'\r') > header.endswith(b'\r\n'):
                return None
            cells = next(csv.reader([header.decode('utf-8')]), [])
        columns, _ = find_columns([cell.strip() for cell in cells], recorded, path)
        return cls(path.absolute(), size, body, tuple(columns), names)


@dataclass(frozen=True)
class CsvPiece:
    """A range of bytes; a row belongs to the range in which its first byte is.

    Attributes
    ----------
    layout : CsvLayout
    first, end : int
        Bytes.
    margin : int
        Bytes to either side that are read as well.
    overlap : float
        Time to either side that is needed [s].
    time_factor : float
        Of the times.
    """

    layout: CsvLayout
    first: int
    end: int
    margin: int = 0
    overlap: float = 0.0
    time_factor: float = 1.0

    def read(self) -> PieceSamples:
        """Return the samples.

        Raises
        ------
        InputError
            When the file cannot be read, or is shorter than it was.
        """
        margin = self.margin
        while True:
            samples, begins, ends = self._read(margin)
            summary, log = samples.summary, samples.log
            if log is None or not summary.count or margin >= WIDEST * self.margin:
                return samples
            reached = summary.first - log.times[0], log.times[-1] - summary.last
            is_enough = [
                is_end or time >= self.overlap
                for is_end, time in zip((begins, ends), reached, strict=True)
            ]
            if all(is_enough):
                return samples
            margin *= 2

    def _read(self, margin: int) -> tuple[PieceSamples, bool, bool]:
        """Return the samples, and whether those of the log begin and end with them."""
        layout = self.layout
        begin = max(self.first - margin, layout.body)
        stop = min(self.end + margin, layout.size)
        try:
            with layout.path.open('rb') as stream:
                stream.seek(begin - 1)
                data = stream.read(stop - begin + 1)
                # The line that goes on beyond what is read.
                data += stream.readline() if data[-1:] != b'\n' else b''
        except OSError as error:
            raise InputError(
                f'cannot read the log {str(layout.path)!r}: {error.strerror}'
            ) from error
        if len(data) < stop - begin + 1:
            raise InputError(
                f'{layout.path}: expected {layout.size} bytes, as when it was first looked at, '
                f'got {begin - 1 + len(data)}: was it written to meanwhile?'
            )
        borders = [_find_line(data, place - begin + 1) for place in (begin, self.first, self.end)]
        tables, dropped = [], {}
        for place, (start, end) in enumerate(zip(borders, [*borders[1:], len(data)], strict=True)):
            table, lost = parse_lines(data[start:end], layout)
            table[:, 0] *= self.time_factor
            tables.append(table)
            if place == 1:
                dropped = lost
        samples = PieceSamples.of_rows(
            layout.joint_names, tables, dropped, str(layout.path), f'byte {self.first}'
        )
        return samples, begin == layout.body, stop == layout.size


def _find_line(data: bytes, place: int) -> int:
    """Return where the first line begins that begins at a place or after it."""
    found = data.find(b'\n', place - 1)
    return len(data) if found < 0 else found + 1


def parse_lines(data: bytes, layout: CsvLayout) -> tuple[FloatArray, dict[str, int]]:
    """Return the numbers of lines, shape (N, columns), and what was dropped.

    Raises
    ------
    InputError
        When they are no CSV.
    """
    columns = list(layout.columns)
    try:
        text = data.decode('utf-8')
        if not text.strip():
            return np.zeros((0, len(columns))), {}
        is_plain = b'"' not in data and not data.startswith(b'#') and b'\n#' not in data
        if is_plain:
            try:
                table = np.loadtxt(
                    text.split('\n'),
                    delimiter=',',
                    comments=None,
                    usecols=columns,
                    ndmin=2,
                )
            except ValueError:
                pass
            else:
                return np.asarray(table, dtype=np.float64), {}
        lines = io.StringIO(text, newline='')
        return parse_rows(csv.reader(line for line in lines if line[:1] != '#'), columns)
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f'{layout.path}: expected a CSV file in UTF-8: {error}') from error
