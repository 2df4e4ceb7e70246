"""What a driver published, as it came: nothing is dropped, nothing is put in order.

A :class:`~ne_dynamics.logs.log.Log` holds the samples that a fit can use. Here are those
too that it cannot use: stamps that repeat or go back, numbers that are missing, a velocity or an
effort that nobody reports; and what was commanded, by its own times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.driver.thresholds import STATES
from ne_dynamics.errors import InputError
from ne_dynamics.logs import Log
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class CommandLog:
    """Commanded efforts over time; each is held until the next one.

    Attributes
    ----------
    joint_names : tuple of str
    times : array, shape (M,)
        Times of sending, not decreasing, by the clock of the states' stamps [s].
    effort : array, shape (M, n)
        [N m or N]
    source : str
        Name of the log, for messages.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    effort: FloatArray
    source: str = ''

    @classmethod
    def from_samples(
        cls,
        joint_names: Sequence[str],
        times: ArrayLike,
        effort: ArrayLike,
        *,
        source: str = 'commands',
    ) -> CommandLog:
        """Return a log of commands; commands with missing numbers are dropped.

        Parameters
        ----------
        joint_names : sequence of str
            n names.
        times : array-like, shape (M,)
            [s]
        effort : array-like, shape (M, n)
            [N m or N]
        source : str
            Name of the log, for messages.

        Returns
        -------
        CommandLog

        Raises
        ------
        InputError
            When shapes do not match, or fewer than two commands can be used.
        """
        names = tuple(joint_names)
        stamps, efforts = _table(times), _table(effort)
        _require_shape(source, 'commanded effort', efforts, (stamps.size, len(names)))
        kept = np.isfinite(stamps) & np.isfinite(efforts).all(axis=1)
        if kept.sum() < STATES.fewest_states:
            raise InputError(
                f'{source}: expected at least {STATES.fewest_states} commands with finite numbers '
                f'for {", ".join(names)}, got {int(kept.sum())} of {stamps.size}'
            )
        order = np.argsort(stamps[kept], kind='stable')
        stamps, efforts = stamps[kept][order], efforts[kept][order]
        for table in (stamps, efforts):
            table.setflags(write=False)
        return cls(names, stamps, efforts, source)

    def hold(self, times: FloatArray) -> FloatArray:
        """Return the command held at each time, shape (N, n) [N m or N]; NaN before the first."""
        place = np.searchsorted(self.times, times, side='right') - 1
        held = np.array(self.effort[np.maximum(place, 0)])
        held[place < 0] = np.nan
        return held

    def average(self, times: FloatArray, width: float) -> FloatArray:
        """Return the mean of the held command over a window around each time, shape (N, n).

        NaN if the window begins before the first command.

        Parameters
        ----------
        times : array, shape (N,)
            Middles of the windows [s].
        width : float
            Length of a window [s].
        """
        first, last = times - 0.5 * width, times + 0.5 * width
        # By the width as it is after rounding: large times have few digits.
        mean: FloatArray = (self._sum_up(last) - self._sum_up(first)) / (last - first)[:, None]
        return mean

    def acting(self, times: FloatArray, position: FloatArray, delay: float) -> Log:
        """Return a motion with the commands that acted at its times as its efforts.

        A command acts from `delay` after it was sent until the next one does: at a state it is the
        mean of the period about it.

        Parameters
        ----------
        times : array, shape (N,)
            [s]
        position : array, shape (N, n)
            [rad or m]
        delay : float
            From a command to its effect [s].

        Returns
        -------
        Log
            Without the states for which no command was recorded.

        Raises
        ------
        InputError
            When too few are left for a log.
        """
        effort = self.average(times - delay, float(np.median(np.diff(times))))
        kept = np.isfinite(effort).all(axis=1) & (times <= self.times[-1])
        return Log.from_samples(
            self.joint_names, times[kept], position[kept], effort[kept], source=self.source
        )

    def _sum_up(self, times: FloatArray) -> FloatArray:
        """Return the integral of the held command up to each time, shape (N, n)."""
        steps = np.diff(self.times)[:, None] * self.effort[:-1]
        sums = np.concatenate([np.zeros((1, self.effort.shape[1])), np.cumsum(steps, axis=0)])
        place = np.maximum(np.searchsorted(self.times, times, side='right') - 1, 0)
        return sums[place] + (times - self.times[place])[:, None] * self.hold(times)


@dataclass(frozen=True, eq=False)
class DriverRecording:
    """Joint states as a driver published them, in the order in which they arrived.

    Attributes
    ----------
    joint_names : tuple of str
    stamps : array, shape (N,)
        Stamps of the headers, unchanged [s].
    position : array, shape (N, n)
        [rad or m]; NaN for missing values.
    velocity, effort : array, shape (N, n), or None
        None if no state has any.
    received : array, shape (N,), or None
        Arrival times by the clock of the recording [s].
    commands : CommandLog or None
    source : str
        Name of the recording, for messages.
    """

    joint_names: tuple[str, ...]
    stamps: FloatArray
    position: FloatArray
    velocity: FloatArray | None = None
    effort: FloatArray | None = None
    received: FloatArray | None = None
    commands: CommandLog | None = None
    source: str = ''

    @classmethod
    def from_samples(
        cls,
        joint_names: Sequence[str],
        stamps: ArrayLike,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        *,
        received: ArrayLike | None = None,
        commands: CommandLog | None = None,
        source: str = 'recording',
    ) -> DriverRecording:
        """Return a recording of samples; a table without any number counts as None.

        Parameters
        ----------
        joint_names : sequence of str
            n names.
        stamps : array-like, shape (N,)
            [s]
        position : array-like, shape (N, n)
            [rad or m]
        velocity, effort : array-like, shape (N, n), optional
            [rad/s or m/s], [N m or N, or the driver's unit]
        received : array-like, shape (N,), optional
            Arrival times [s].
        commands : CommandLog, optional
        source : str
            Name of the recording, for messages.

        Returns
        -------
        DriverRecording

        Raises
        ------
        InputError
            When shapes do not match, commands are for other joints, or fewer than two
            states have a stamp and all positions.
        """
        names = tuple(joint_names)
        times, places = _table(stamps), _table(position)
        shape = (times.size, len(names))
        _require_shape(source, 'position', places, shape)
        tables: dict[str, FloatArray | None] = {}
        for key, values, wanted in (
            ('velocity', velocity, shape),
            ('effort', effort, shape),
            ('received', received, shape[:1]),
        ):
            table = None if values is None else _table(values)
            if table is not None:
                _require_shape(source, key, table, wanted)
                table.setflags(write=False)
            tables[key] = None if table is None or not np.isfinite(table).any() else table
        if commands is not None and commands.joint_names != names:
            raise InputError(
                f'{commands.source}: expected commands for {", ".join(names)}, got '
                f'{", ".join(commands.joint_names)}'
            )
        usable = np.isfinite(times) & np.isfinite(places).all(axis=1)
        if usable.sum() < STATES.fewest_states:
            raise InputError(
                f'{source}: expected at least {STATES.fewest_states} states with a stamp and '
                f'positions of {", ".join(names)}, got {int(usable.sum())} of {times.size}'
                f'{_list_missing(names, times, places)}'
            )
        for table in (times, places):
            table.setflags(write=False)
        return cls(names, times, places, commands=commands, source=source, **tables)

    @classmethod
    def from_log(cls, log: Log, commands: CommandLog | None = None) -> DriverRecording:
        """Return the states of a log as a recording; states that the log dropped are missing."""
        return cls.from_samples(
            log.joint_names,
            log.times,
            log.position,
            log.velocity,
            log.effort,
            commands=commands,
            source=log.source or 'log',
        )

    def as_log(self) -> Log:
        """Return the states as a log for a fit.

        A velocity or effort column without any number becomes zero.

        Raises
        ------
        InputError
            When fewer than two samples can be used.
        """
        effort, velocity = (
            None if table is None else _without_empty(table)
            for table in (self.effort, self.velocity)
        )
        return Log.from_samples(
            self.joint_names,
            self.stamps,
            self.position,
            np.zeros_like(self.position) if effort is None else effort,
            velocity,
            source=self.source,
        )


def _list_missing(names: tuple[str, ...], times: FloatArray, position: FloatArray) -> str:
    """Return what is no finite number anywhere, for the end of a message."""
    empty = find_empty(position, len(names))
    missing = [
        f'the position of {name}' for name, is_empty in zip(names, empty, strict=True) if is_empty
    ]
    missing += [] if np.isfinite(times).any() else ['the stamp']
    return f': {", ".join(missing)} is never a finite number' if missing and times.size else ''


def rename_joints(recording: DriverRecording, joint_names: Sequence[str]) -> DriverRecording:
    """Return a recording whose joints, and those of its commands, are called otherwise.

    Parameters
    ----------
    recording : DriverRecording
    joint_names : sequence of str
        In the same order.
    """
    names, commands = tuple(joint_names), recording.commands
    if commands is not None:
        commands = replace(commands, joint_names=names)
    return replace(recording, joint_names=names, commands=commands)


def find_empty(table: FloatArray | None, n: int) -> NDArray[np.bool_]:
    """Return which columns of a table have no number at all, shape (n,)."""
    if table is None:
        return np.ones(n, dtype=bool)
    empty: NDArray[np.bool_] = np.logical_not(np.isfinite(table).any(axis=0))
    return empty


def _without_empty(table: FloatArray) -> FloatArray:
    return np.where(find_empty(table, table.shape[1]), 0.0, table)


def _table(values: ArrayLike) -> FloatArray:
    return np.array(values, dtype=np.float64)


def _require_shape(source: str, name: str, table: FloatArray, expected: tuple[int, ...]) -> None:
    if table.shape != expected:
        raise InputError(f'{source}: {name}: expected shape {expected}, got {table.shape}')
