"""What the filtered samples of all logs say together, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ne_dynamics.identification.pieces.log_set import FilteredLogs
from ne_dynamics.identification.thresholds import IDENTIFICATION
from ne_dynamics.logs import Signals
from ne_dynamics.logs.sums import Sums
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class SignalSums(Sums):
    """Sums over the filtered samples of a log, or of some; shape (n,) each.

    Attributes
    ----------
    count : int
        Samples.
    effort, acceleration : array
        Squares.
    used, used_fitted : array
        Samples of a moving joint with an effort below its limit: of all, and of those that are
        fitted before the others are predicted.
    product, used_measured, used_computed : array
        Products of measured and computed efforts in samples that are used, and their squares.
    power, power_size : array
        Products of measured effort and velocity in samples that are used, and their magnitudes.
    with_velocity : array
        Squares of velocities where the log has its own, too.
    velocity_error : array
        Squares of the difference of both.
    """

    count: int
    effort: FloatArray
    acceleration: FloatArray
    used: FloatArray
    used_fitted: FloatArray
    product: FloatArray
    used_measured: FloatArray
    used_computed: FloatArray
    power: FloatArray
    power_size: FloatArray
    with_velocity: FloatArray
    velocity_error: FloatArray

    @classmethod
    def of(cls, signals: Signals, computed: FloatArray, fitted: int) -> SignalSums:
        """Return the sums of signals, of which the first `fitted` ones are fitted."""
        usable = signals.usable.astype(np.float64)
        measured, computed = signals.effort * usable, computed * usable
        power = measured * signals.velocity
        velocity = np.zeros_like(signals.velocity)
        error = velocity
        if signals.measured_velocity is not None:
            velocity, error = signals.velocity, signals.measured_velocity - signals.velocity
        return cls(
            signals.times.size,
            (signals.effort**2).sum(axis=0),
            (signals.acceleration**2).sum(axis=0),
            usable.sum(axis=0),
            usable[: max(fitted, 0)].sum(axis=0),
            (measured * computed).sum(axis=0),
            (measured**2).sum(axis=0),
            (computed**2).sum(axis=0),
            power.sum(axis=0),
            np.abs(power).sum(axis=0),
            (velocity**2).sum(axis=0),
            (error**2).sum(axis=0),
        )

    def find_opposed(self) -> NDArray[np.bool_]:
        """Return which efforts run against the computed ones and give energy, shape (n,)."""
        size = np.sqrt(self.used_measured) * np.sqrt(self.used_computed)
        return (self.product < IDENTIFICATION.opposed_correlation * size) & (
            self.power < -IDENTIFICATION.opposed_power * self.power_size
        )


@dataclass(frozen=True, eq=False)
class SignalSummary:
    """Figures of the joints in all logs, shape (n,) each.

    Attributes
    ----------
    effort, acceleration : array
        Root mean squares.
    without_effort : tuple of tuples of str
        For each joint the logs in which its effort is 0 throughout; ('',) where it is in all.
    is_excited : bool
        Whether any sample that is fitted is of use.
    saturated : array
        Part of the samples in which the effort is at its limit.
    moves : bool array
    acceleration_noise : array
        [rad/s^2 or m/s^2]
    opposed : bool array
        Joints whose measured effort runs against the given model's, and which give energy: a load
        that the model lacks may turn the effort of a light joint around, but only an effort with
        the wrong sign takes energy out of a joint that rubs, too.
    velocity_error : array
        By what part of the velocity the logs' own ones differ; 0 where they have none.
    """

    effort: FloatArray
    acceleration: FloatArray
    without_effort: tuple[tuple[str, ...], ...]
    is_excited: bool
    saturated: FloatArray
    moves: NDArray[np.bool_]
    acceleration_noise: FloatArray
    opposed: NDArray[np.bool_]
    velocity_error: FloatArray


def summarize_signals(logs: FilteredLogs, parts: Sequence[SignalSums]) -> SignalSummary:
    """Return what all logs say together, by the sums of each piece."""
    sums = SignalSums.merge(parts)
    statistics, criteria = logs.statistics, logs.find_criteria()
    kept = np.array([part.kept for part in statistics], dtype=np.float64)
    counts = np.array([part.count for part in statistics], dtype=np.float64)
    has_effort = np.array([part.has_effort for part in statistics])
    sources = [log.source for log in logs.logs]
    saturated = np.array([each.saturated for each in criteria])
    noise = np.array([each.acceleration_noise for each in criteria])
    velocity = np.sqrt(np.where(sums.with_velocity > 0.0, sums.with_velocity, 1.0))
    return SignalSummary(
        effort=np.sqrt(sums.effort / max(sums.count, 1)),
        acceleration=np.sqrt(sums.acceleration / max(sums.count, 1)),
        without_effort=tuple(
            ('',)
            if not own.any()
            else tuple(name for name, has in zip(sources, own, strict=True) if not has)
            for own in has_effort.T
        ),
        is_excited=bool(sums.used_fitted.any()),
        saturated=counts @ saturated / counts.sum(),
        moves=np.any([each.moves for each in criteria], axis=0),
        acceleration_noise=np.sqrt(kept @ noise**2 / kept.sum()),
        opposed=sums.find_opposed(),
        velocity_error=np.where(
            sums.with_velocity > 0.0, np.sqrt(sums.velocity_error) / velocity, 0.0
        ),
    )
