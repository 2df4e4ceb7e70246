"""What was heard of an arm during a motion, and its CSV file. Needs no ROS."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.driver import CommandLog
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.prepared_file import write_whole

KINDS = ('position', 'velocity', 'effort', 'command', 'desired')


@dataclass(frozen=True, eq=False)
class Record:
    """States of an arm, and what answered them; NaN where there is nothing.

    Attributes
    ----------
    joint_names : tuple of str
    times : array, shape (N,)
        Stamps of the states [s].
    position, velocity, effort : array, shape (N, n)
        As the arm reports them.
    command : array, shape (N, n)
        Effort that answered the state [N m or N].
    desired : array, shape (N, n)
        Position that was aimed at [rad or m].
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    command: FloatArray
    desired: FloatArray

    def part(self, chosen: Any) -> Record:
        """Return some of the samples, by whatever selects rows."""
        return replace(
            self,
            times=self.times[chosen],
            **{kind: getattr(self, kind)[chosen] for kind in KINDS},
        )

    @property
    def answered(self) -> Record:
        """The samples that have a command."""
        return self.part(np.isfinite(self.command).all(axis=1))

    @property
    def commands(self) -> CommandLog:
        """The commands, two at least, by the stamps of the states that they answer."""
        return CommandLog.from_samples(self.joint_names, self.times, self.command)

    @property
    def error(self) -> FloatArray:
        """Desired minus reported position, where something was desired, shape (M, n)."""
        error = self.desired - self.position
        found: FloatArray = error[np.isfinite(error).all(axis=1)]
        return found

    @property
    def rms_error(self) -> FloatArray:
        """Root mean square of that for each joint [rad or m]; NaN without any."""
        error = self.error
        if not error.size:
            return np.full(len(self.joint_names), np.nan)
        rms: FloatArray = np.sqrt(np.mean(error**2, axis=0))
        return rms

    def write(self, file: Path) -> None:
        """Write a CSV file that `ne_dynamics identify` and `whatis` read, whole or not at all.

        Columns in which there is no number are left out.
        """
        columns: dict[str, FloatArray] = {'time': self.times}
        for kind in KINDS:
            values = getattr(self, kind)
            for index, name in enumerate(self.joint_names):
                if np.isfinite(values[:, index]).any():
                    columns[f'{name}.{kind}'] = values[:, index]
        text = io.StringIO(newline='')
        writer = csv.writer(text)
        writer.writerow(columns)
        rows = np.column_stack(list(columns.values()))
        writer.writerows([[_cell(value) for value in row] for row in rows.tolist()])
        write_whole(file, text.getvalue())

    @classmethod
    def read(cls, file: Path, joint_names: tuple[str, ...]) -> Record:
        """Read what :meth:`write` has written."""
        try:
            with file.open(newline='', encoding='utf-8') as stream:
                rows = list(csv.reader(stream))
            header = rows[0]
            table = np.array([[float(cell or 'nan') for cell in row] for row in rows[1:]])
            columns = dict(zip(header, table.reshape(-1, len(header)).T, strict=True))
            missing = np.full(len(rows) - 1, np.nan)
            arrays = {
                kind: np.column_stack(
                    [columns.get(f'{name}.{kind}', missing) for name in joint_names]
                )
                for kind in KINDS
            }
            return cls(joint_names, columns['time'], **arrays)
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise InputError(f'{file}: expected a log as it was recorded, got: {error}') from error


def _cell(value: float) -> str:
    return '' if value != value else f'{value:.9g}' if abs(value) < 1e6 else repr(value)
