"""Another reading of the same log: other signs, factors, zeros, names and instants of its columns.

A reading maps the columns of a log, joint by joint, to what they are taken to mean:

    position_j = position_factor_j * recorded position of joint position_source_j + offset_j
    effort_j(t) = effort_factor_j * recorded effort of joint effort_source_j(t + delay_j)
                  + effort_offset_j

Faults of recording are such maps, and so is what undoes them. What a driver takes out of the
efforts, by which low-pass they are late, how they drift, how the base stands and how good the
model is, is no map of columns: a reading names it, and who explains the log takes it into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ne_dynamics.logs.log import Log
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class LogReading:
    """Interpretation of a log's columns: which joint, factor, offset and delay each has.

    Attributes
    ----------
    position_source, effort_source : int array, shape (n,)
        Index of the log's column that belongs to each joint.
    position_factor : array, shape (n,)
    position_offset : array, shape (n,)
        Added after the factor [rad or m].
    effort_factor : array, shape (n,)
    effort_delay : array, shape (n,)
        By how much an effort was recorded later than the position of the same time [s].
    effort_offset : array, shape (n,)
        Added after the factor [N m or N].
    effort_drift : array, shape (n,)
        Change of a constant in the efforts with the time, which the reading takes out
        [N m/s or N/s]; :meth:`read_log` does not.
    effort_lag : array, shape (n,)
        Time constant of a first-order low-pass that efforts have passed [s]; :meth:`read_log` does
        not undo it.
    without_gravity : bool
        Whether the efforts lack gravity; :meth:`read_log` does not add it.
    tilt : tuple of two float
        Rotation of gravity from the given direction about two axes perpendicular to it [rad]; see
        :func:`~ne_dynamics.driver.evidence.gravity_columns.turn_gravity`.
    doubt : float
        Factor on the usual prior scale of the given inertias.
    has_load : bool
        Whether the arm carries a load that the given model lacks.
    couplings : tuple of (int, int, float, bool)
        Joint, other joint and ratio: the recorded position of the one is its own and ratio times
        that of the other. Whether the recorded effort of the one acts on the other by that, too.
    """

    position_source: NDArray[np.intp]
    position_factor: FloatArray
    position_offset: FloatArray
    effort_source: NDArray[np.intp]
    effort_factor: FloatArray
    effort_delay: FloatArray
    effort_offset: FloatArray
    effort_drift: FloatArray
    effort_lag: FloatArray
    without_gravity: bool = False
    tilt: tuple[float, float] = (0.0, 0.0)
    doubt: float = 1.0
    has_load: bool = False
    couplings: tuple[tuple[int, int, float, bool], ...] = ()

    @classmethod
    def as_recorded(cls, n: int) -> LogReading:
        """Return the reading that changes nothing, for n joints."""
        order, ones, zeros = np.arange(n), np.ones(n), np.zeros(n)
        return cls(order, ones, zeros, order, ones, zeros, zeros, zeros, zeros)

    def with_position(
        self, joints: Sequence[int], *, factor: float = 1.0, offset: float = 0.0
    ) -> LogReading:
        """Return the reading with positions of joints multiplied, then shifted [rad or m]."""
        factors, offsets = self.position_factor.copy(), self.position_offset.copy()
        chosen = list(joints)
        factors[chosen] *= factor
        offsets[chosen] = offsets[chosen] * factor + offset
        return replace(self, position_factor=factors, position_offset=offsets)

    def with_effort(
        self, joints: Sequence[int], *, factor: float = 1.0, delay: float = 0.0
    ) -> LogReading:
        """Return the reading with efforts of joints multiplied and taken `delay` [s] later."""
        factors, delays = self.effort_factor.copy(), self.effort_delay.copy()
        offsets = self.effort_offset.copy()
        factors[list(joints)] *= factor
        drifts = self.effort_drift.copy()
        for table in (offsets, drifts):
            table[list(joints)] *= factor
        delays[list(joints)] += delay
        return replace(
            self,
            effort_factor=factors,
            effort_delay=delays,
            effort_offset=offsets,
            effort_drift=drifts,
        )

    def with_effort_lag(self, joints: Sequence[int], lag: float) -> LogReading:
        """Return the reading with efforts of joints before a low-pass of a time constant [s]."""
        return self._add('effort_lag', joints, lag)

    def with_effort_drift(self, joint: int, drift: float) -> LogReading:
        """Return the reading without a drift of an effort [N m/s or N/s]."""
        return self._add('effort_drift', (joint,), drift)

    def with_effort_offset(self, joints: Sequence[int], offset: Sequence[float]) -> LogReading:
        """Return the reading with a constant added to each effort of some joints [N m or N]."""
        return self._add('effort_offset', joints, offset)

    def _add(self, name: str, joints: Sequence[int], amount: ArrayLike) -> LogReading:
        table = getattr(self, name).copy()
        table[list(joints)] += np.asarray(amount)
        return replace(self, **{name: table})

    def with_swap(self, first: int, second: int, *, position: bool, effort: bool) -> LogReading:
        """Return the reading with the columns of two joints exchanged."""
        order = np.arange(self.effort_factor.size)
        order[[first, second]] = order[[second, first]]
        result = self
        if position:
            result = replace(
                result,
                position_source=self.position_source[order],
                position_factor=self.position_factor[order],
                position_offset=self.position_offset[order],
            )
        if effort:
            result = replace(
                result,
                effort_source=self.effort_source[order],
                effort_factor=self.effort_factor[order],
                effort_delay=self.effort_delay[order],
                effort_offset=self.effort_offset[order],
                effort_drift=self.effort_drift[order],
                effort_lag=self.effort_lag[order],
            )
        return result

    def with_coupling(self, joint: int, other: int, ratio: float, of_motors: bool) -> LogReading:
        """Return the reading in which a joint was recorded coupled to another one."""
        return replace(self, couplings=(*self.couplings, (joint, other, ratio, of_motors)))

    def read_positions(self, table: FloatArray) -> FloatArray:
        """Return corrected positions, shape (N, n), from recorded ones."""
        return self.read_rates(table) + self.position_offset

    def read_rates(self, table: FloatArray) -> FloatArray:
        """Return corrected time derivatives of positions, shape (N, n), from recorded ones."""
        rates: FloatArray = table[:, self.position_source] * self.position_factor
        for joint, other, ratio, _ in self.couplings:
            rates[:, joint] -= ratio * rates[:, other]
        return rates

    def uncouple_efforts(self, efforts: FloatArray) -> FloatArray:
        """Return efforts of joints, shape (N, n), from those that were recorded."""
        for joint, other, ratio, of_motors in self.couplings:
            if of_motors:
                efforts[:, other] += ratio * efforts[:, joint]
        return efforts

    def read_log(self, log: Log) -> Log:
        """Return a log with the corrections of this reading.

        Samples at the ends without an effort of the same time are left out. A velocity is
        corrected with its position, unless it agrees with the corrected position already.
        """
        last = log.times[-1] - max(float(self.effort_delay.max()), 0.0)
        first = log.times[0] - min(float(self.effort_delay.min()), 0.0)
        kept = (log.times >= first) & (log.times <= last)
        times = log.times[kept]
        effort = np.empty((times.size, self.effort_factor.size))
        for joint, source in enumerate(self.effort_source):
            recorded = log.effort[:, source]
            delay = self.effort_delay[joint]
            values = recorded[kept]
            if delay != 0.0:
                values = np.interp(times + delay, log.times, recorded)
            effort[:, joint] = self.effort_factor[joint] * values + self.effort_offset[joint]
        effort = self.uncouple_efforts(effort)
        position = self.read_positions(log.position)[kept]
        velocity = None
        if log.velocity is not None:
            velocity = self._read_velocity(log.velocity[kept], times, position)
        for table in (times, position, effort, velocity):
            if table is not None:
                table.setflags(write=False)
        return replace(log, times=times, position=position, effort=effort, velocity=velocity)

    def _read_velocity(
        self, recorded: FloatArray, times: FloatArray, position: FloatArray
    ) -> FloatArray:
        """Return velocities: as recorded where that agrees better with the new positions."""
        meant = self.read_rates(recorded)
        if times.size < 3:
            return meant
        derived = np.gradient(position, times, axis=0)
        errors = [
            np.nan_to_num(np.abs(table - derived)).sum(axis=0) for table in (meant, recorded)
        ]
        return np.where(errors[0] <= errors[1], meant, recorded)
